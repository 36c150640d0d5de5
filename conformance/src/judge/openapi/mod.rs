//! Wire check: validates every exchange of a run against the suite's OpenAPI documents.
//!
//! A request that its document does not allow is a defect of the suite, unless the step says that
//! it breaks the contract on purpose. A response that the document does not allow is a defect of
//! the target. The OpenAPI documents omit behaviour that is left open, so responses on undocumented
//! paths and methods are not checked.

mod keys;
mod load;
mod message;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;

pub use message::{Message, media_type};

use crate::assets::SPECS;
use crate::catalogue::Document;

/// Maximum length of a violation that is shown with its value, in bytes.
const LONGEST_SHOWN: usize = 2000;

/// The two OpenAPI documents with their schemas compiled.
#[derive(Debug)]
pub struct Contract {
    control: Vec<Operation>,
    engine: Vec<Operation>,
}

/// Error of an unusable OpenAPI document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("specs/{file}.yaml: {what}")]
pub struct ContractError {
    file: String,
    what: String,
}

/// One method of one path.
#[derive(Debug)]
struct Operation {
    method: String,
    template: Template,
    parameters: Vec<Parameter>,
    request: Option<Content>,
    request_required: bool,
    /// Content by status: `200`, `4XX`, `default`.
    responses: BTreeMap<String, Content>,
    /// Documented members of the responses, as pointers; same keys as `responses`.
    members: BTreeMap<String, Vec<String>>,
}

/// A path with its parameters.
#[derive(Debug)]
struct Template {
    text: String,
    segments: Vec<Segment>,
}

#[derive(Debug)]
enum Segment {
    Literal(String),
    /// One segment, or with `many` the whole rest of the path.
    Parameter {
        many: bool,
    },
}

/// A parameter of the query string.
#[derive(Debug)]
struct Parameter {
    name: String,
    required: bool,
    /// Whether a name without a value is allowed.
    allow_empty: bool,
    reading: ParameterFormat,
    schema: Schema,
}

/// Conversion of a parameter's string to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParameterFormat {
    /// The string itself.
    Text,
    /// A number, a boolean, or any JSON.
    Json,
    /// Every occurrence, as an array of strings.
    List,
}

/// Violation in a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// One sentence: the operation, and what is not documented.
    pub what: String,
    /// The status of the response.
    pub status: u16,
    /// Documented statuses that would fit instead. Empty unless the status is not documented, or is
    /// documented with a body and the response has none.
    pub documented: Vec<u16>,
}

/// Documentation of a response.
#[derive(Debug)]
pub(crate) struct Documented<'c> {
    /// The operation, such as `PUT /v1/data/{path}`.
    pub(crate) operation: String,
    /// The members of the body, as pointers in which `*` stands for the items of an array.
    pub(crate) members: &'c [String],
    /// Whether the media type is documented.
    pub(crate) names_media: bool,
}

/// Media types and their schemas; empty if no body is documented.
type Content = Vec<(String, Schema)>;

/// A compiled schema, shared by all places that refer to it; `None` allows everything.
#[derive(Clone)]
struct Schema(Option<Arc<Validator>>);

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("<schema>")
    }
}

impl Contract {
    /// Returns the embedded contract.
    ///
    /// # Errors
    /// An OpenAPI document has a defect.
    pub fn embedded() -> Result<&'static Self, &'static ContractError> {
        static CONTRACT: OnceLock<Result<Contract, ContractError>> = OnceLock::new();
        CONTRACT.get_or_init(|| Self::read(SPECS)).as_ref()
    }

    /// Reads `control.openapi` and `engine.openapi` from pairs of path and contents.
    ///
    /// # Errors
    /// A document is missing, is not YAML, or has an unusable reference or schema.
    pub fn read(files: &[(&str, &str)]) -> Result<Self, ContractError> {
        Ok(Self {
            control: load::operations(files, Document::Control)?,
            engine: load::operations(files, Document::Engine)?,
        })
    }

    /// Checks a request and returns a violation, if any. `target` is path and query below the base
    /// address of the API.
    pub fn check_request(
        &self,
        api: Document,
        method: &str,
        target: &str,
        message: Message<'_>,
    ) -> Option<String> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let Some(operation) = self.operation(api, method, path) else {
            return Some(format!(
                "{method} {path} is not in specs/{}.openapi.yaml",
                api.name()
            ));
        };
        operation
            .query_finding(query)
            .or_else(|| operation.request_finding(message))
            .map(|finding| format!("request of {operation}: {finding}"))
    }

    /// Checks a response and returns a violation, if any. `vendor` is the target's part of
    /// `application/vnd.VENDOR.…`.
    pub fn check_response(
        &self,
        api: Document,
        method: &str,
        target: &str,
        status: u16,
        vendor: &str,
        message: Message<'_>,
    ) -> Option<Finding> {
        let path = target.split('?').next().unwrap_or(target);
        let operation = self.operation(api, method, path)?;
        let finding = operation.response_finding(status, vendor, message)?;
        Some(Finding {
            what: format!("answer {status} of {operation}: {finding}"),
            status,
            documented: operation.statuses_for(status, message.body.is_empty()),
        })
    }

    /// Returns the documentation of a response; `None` if its operation is not documented.
    pub(crate) fn documented(
        &self,
        api: Document,
        method: &str,
        target: &str,
        status: u16,
    ) -> Option<Documented<'_>> {
        let path = target.split('?').next().unwrap_or(target);
        let operation = self.operation(api, method, path)?;
        let key = operation.response_key(status);
        let members = key.as_ref().and_then(|key| operation.members.get(key));
        let content = key.and_then(|key| operation.responses.get(&key));
        Some(Documented {
            operation: format!("{method} {}", operation.template.text),
            members: members.map(Vec::as_slice).unwrap_or_default(),
            names_media: content
                .is_none_or(|content| content.iter().all(|(name, _)| name != "*/*")),
        })
    }

    /// Returns the path of the request's operation with its parameters, such as `/v1/data/{path}`.
    /// None if it is not documented.
    pub(crate) fn template(&self, api: Document, method: &str, target: &str) -> Option<&str> {
        let path = target.split('?').next().unwrap_or(target);
        let operation = self.operation(api, method, path)?;
        Some(&operation.template.text)
    }

    /// Returns the operation for a path: of several matches, the one with most literal segments.
    fn operation(&self, api: Document, method: &str, path: &str) -> Option<&Operation> {
        let operations = match api {
            Document::Control => &self.control,
            Document::Engine => &self.engine,
        };
        operations
            .iter()
            .filter(|operation| operation.method == method && operation.template.matches(path))
            .max_by_key(|operation| operation.template.literals())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{} {}`", self.method, self.template.text)
    }
}

impl Template {
    fn matches(&self, path: &str) -> bool {
        let mut parts = path.strip_prefix('/').unwrap_or(path).split('/');
        for segment in &self.segments {
            let Some(part) = parts.next() else {
                return false;
            };
            match segment {
                Segment::Literal(literal) if literal != part => return false,
                Segment::Parameter { many: true } => return true,
                Segment::Literal(_) | Segment::Parameter { .. } => {}
            }
        }
        parts.next().is_none()
    }

    fn literals(&self) -> usize {
        let literal = |segment: &&Segment| matches!(segment, Segment::Literal(_));
        self.segments.iter().filter(literal).count()
    }
}

impl Operation {
    fn query_finding(&self, query: &str) -> Option<String> {
        let pairs = message::query_pairs(query);
        for (name, _) in &pairs {
            if !self.parameters.iter().any(|known| known.name == *name) {
                return Some(format!("no query parameter `{name}` is documented"));
            }
        }
        self.parameters.iter().find_map(|parameter| {
            let values: Vec<_> = pairs
                .iter()
                .filter(|(name, _)| *name == parameter.name)
                .map(|(_, value)| value.as_deref())
                .collect();
            parameter.finding(&values)
        })
    }

    fn request_finding(&self, message: Message<'_>) -> Option<String> {
        if message.body.is_empty() {
            return self
                .request_required
                .then(|| "a body is required".to_owned());
        }
        let Some(content) = &self.request else {
            // Applies to GET and DELETE too: RFC 9110 gives their bodies no meaning, but servers
            // receive them.
            return Some("no body is documented".to_owned());
        };
        message::finding(content, message, "engine", true)
    }

    fn response_finding(&self, status: u16, vendor: &str, message: Message<'_>) -> Option<String> {
        let content = self.response_key(status);
        match content.and_then(|key| self.responses.get(&key)) {
            None => Some("the status is not documented".to_owned()),
            Some(content) if content.is_empty() || self.method == "HEAD" => None,
            Some(content) => message::finding(content, message, vendor, false),
        }
    }
}

impl Operation {
    /// Key under which a status is documented.
    fn response_key(&self, status: u16) -> Option<String> {
        let range = format!("{}XX", status / 100);
        let keys = [status.to_string(), range, "default".to_owned()];
        keys.into_iter()
            .find(|key| self.responses.contains_key(key))
    }

    /// Returns the documented statuses that would fit instead of this one. For an undocumented
    /// status, these are all; for an empty response, the successes without a body.
    fn statuses_for(&self, status: u16, is_empty: bool) -> Vec<u16> {
        let is_documented = self.response_key(status).is_some();
        let matches = |code: u16, content: &Content| {
            let successes = code.max(status) < 400;
            !is_documented || (is_empty && content.is_empty() && successes)
        };
        let codes = self.responses.iter().filter_map(|(key, content)| {
            let code = key.parse().ok()?;
            matches(code, content).then_some(code)
        });
        codes.collect()
    }
}

impl Parameter {
    fn finding(&self, values: &[Option<&str>]) -> Option<String> {
        let name = &self.name;
        match values {
            [] => self
                .required
                .then(|| format!("query parameter `{name}` is required")),
            [None | Some("")] if self.allow_empty => None,
            _ if self.reading == ParameterFormat::List => {
                let texts = values
                    .iter()
                    .map(|value| value.unwrap_or_default().into())
                    .collect();
                self.schema.finding(&serde_json::Value::Array(texts), name)
            }
            [value] => {
                let text = value.unwrap_or_default();
                let value = match self.reading {
                    ParameterFormat::Json => {
                        serde_json::from_str(text).unwrap_or_else(|_| text.into())
                    }
                    ParameterFormat::Text | ParameterFormat::List => text.into(),
                };
                self.schema.finding(&value, name)
            }
            _ => Some(format!(
                "query parameter `{name}` is given {} times",
                values.len()
            )),
        }
    }
}

impl Schema {
    /// Formats the first violations, each with its place below `root`.
    fn finding(&self, value: &serde_json::Value, root: &str) -> Option<String> {
        let validator = self.0.as_ref()?;
        if validator.is_valid(value) {
            return None;
        }
        let violations: Vec<_> = validator
            .iter_errors(value)
            .take(3)
            .map(|error| format!("{root}{}: {}", error.instance_path(), describe(&error)))
            .collect();
        Some(violations.join("; "))
    }
}

/// Formats a violation with its value, unless that is too long.
fn describe(error: &jsonschema::ValidationError<'_>) -> String {
    let violation = error.to_string();
    match violation.len() {
        ..=LONGEST_SHOWN => violation,
        _ => error.masked().to_string(),
    }
}

#[cfg(test)]
mod tests;

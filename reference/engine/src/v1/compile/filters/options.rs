//! Request body of filters.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use rego::filter::{ColumnTypes, FilterAnnotations, Mappings, Target};
use rego::value::Object;
use rego::{References, Value};

use crate::column_types::KnownColumns;
use crate::v1::compile::post::texts;
use crate::{errors, request_body};
use http_server::{ApiError, Request};

/// Options in the request body, not yet combined with those of the policy's METADATA.
#[derive(Debug, Default)]
pub(super) struct FilterOptions {
    pub(super) input: Option<Value>,
    /// Unknowns; `None` if the request has no list of them, or an empty one.
    pub(super) unknowns: Option<References>,
    pub(super) disable_inlining: References,
    /// Name of the mask rule, from the root or relative to the package of the compiled rule.
    pub(super) mask_rule: Option<String>,
    /// Targets of a response with several targets.
    pub(super) targets: Vec<Target>,
    /// Column types that the request need not specify.
    pub(super) known_columns: Arc<KnownColumns>,
    mappings: Option<Value>,
    column_types: Option<Value>,
    /// The members `unknowns` and `options` as they were sent.
    sent: Object,
}

impl FilterOptions {
    /// Parses the body, which may be empty. The response is for `target` or, if absent, for the
    /// targets in the body.
    ///
    /// # Errors
    /// `invalid_parameter` when a member has the wrong type, a reference cannot be parsed, or a
    /// target is unknown or missing.
    pub(super) fn read(request: &Request, target: Option<Target>) -> Result<Self, ApiError> {
        let mut read = Self::default();
        if !request.body.iter().all(u8::is_ascii_whitespace) {
            read.read_body(&request_body::json(request)?, target.is_none())?;
        }
        read.targets.extend(target);
        if read.targets.is_empty() {
            let message = "an answer for several targets needs `targetDialects`";
            return Err(ApiError::invalid_parameter(message));
        }
        Ok(read)
    }

    fn read_body(&mut self, body: &Value, has_targets: bool) -> Result<(), ApiError> {
        if object(body, "the request body")?.is_none() {
            return Ok(());
        }
        self.input = body.get("input").cloned();
        for name in ["unknowns", "options"] {
            if let Some(sent) = body.get(name) {
                self.sent.insert(name, sent.clone());
            }
        }
        if let Some(texts) = texts(body, "unknowns")?.filter(|texts| !texts.is_empty()) {
            self.unknowns = Some(references(&texts)?);
        }
        match body.get("options") {
            None | Some(Value::Null) => Ok(()),
            Some(options) => self.read_options(options, has_targets),
        }
    }

    fn read_options(&mut self, options: &Value, has_targets: bool) -> Result<(), ApiError> {
        object(options, "`options`")?;
        if let Some(texts) = texts(options, "disableInlining")? {
            self.disable_inlining = references(&texts)?;
        }
        self.mask_rule = match options.get("maskRule") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name.to_string()).filter(|name| !name.is_empty()),
            Some(_) => {
                return Err(ApiError::invalid_parameter("`maskRule` must be a string"));
            }
        };
        let targets = texts(options, "targetDialects")?.unwrap_or_default();
        if has_targets {
            let targets = targets.into_iter().map(target);
            self.targets = targets.collect::<Result<_, _>>()?;
        }
        self.mappings = member(options, "targetSQLTableMappings")?;
        self.column_types = member(options, "targetSQLColumnTypes")?;
        Ok(())
    }

    /// Members of the request that the decision log records in addition to its input: the options,
    /// and the unknowns and the mask rule, or those of the policy if the request lacks them.
    pub(super) fn for_the_log(&self, declared: &FilterAnnotations) -> Value {
        let unknowns = match self
            .sent
            .get("unknowns")
            .filter(|_| self.unknowns.is_some())
        {
            Some(texts) => texts.clone(),
            None if declared.unknowns.is_empty() => Value::Null,
            None => {
                let texts = declared.unknowns.iter().map(String::as_str);
                Value::from(texts.map(Value::from).collect::<Vec<_>>())
            }
        };
        let mask = match (&self.mask_rule, &declared.mask_rule) {
            (Some(name), _) => name.clone(),
            (None, Some(path)) => {
                let names = path.iter().filter_map(Value::as_str);
                let names: Vec<&str> = std::iter::once("data").chain(names).collect();
                names.join(".")
            }
            (None, None) => String::new(),
        };
        let options = self
            .sent
            .get("options")
            .filter(|sent| **sent != Value::Null);
        let options = options.cloned();
        Value::object([
            ("type", Value::from("open-policy-agent/compile")),
            ("unknowns", unknowns),
            ("mask_rule", Value::from(mask)),
            (
                "options",
                options.unwrap_or_else(|| Value::from(Object::new())),
            ),
        ])
    }

    /// Table and column names for a target.
    ///
    /// # Errors
    /// `invalid_parameter` when a name is not a string.
    pub(super) fn mappings(&self, target: Target) -> Result<Mappings, ApiError> {
        let Some(all) = &self.mappings else {
            return Ok(Mappings::default());
        };
        Mappings::select(all, target).map_err(|message| {
            ApiError::invalid_parameter(format!("`targetSQLTableMappings`: {message}"))
        })
    }

    /// Column types for a target: those of the request, and the known ones of other columns.
    ///
    /// # Errors
    /// `invalid_parameter` when a type is invalid.
    pub(super) fn column_types(&self, target: Target) -> Result<Cow<'_, ColumnTypes>, ApiError> {
        let known = self.known_columns.of(target);
        let Some(all) = &self.column_types else {
            return Ok(known.map(Cow::Borrowed).unwrap_or_default());
        };
        let declared = ColumnTypes::select(all, target).map_err(|message| {
            ApiError::invalid_parameter(format!("`targetSQLColumnTypes`: {message}"))
        })?;
        Ok(Cow::Owned(match known {
            Some(known) => declared.or(known),
            None => declared,
        }))
    }

    /// Names of columns that occur without their table.
    pub(super) fn short_names(&self) -> BTreeSet<Arc<str>> {
        let mappings = self.mappings.as_ref();
        mappings.map(Mappings::short_names).unwrap_or_default()
    }
}

/// Parses references of a request or policy.
///
/// # Errors
/// `invalid_parameter` for a malformed reference.
pub(super) fn references(texts: &[&str]) -> Result<References, ApiError> {
    References::parse(texts.iter().copied()).map_err(|errors| errors::unknowns(&errors))
}

/// Parses a target of language and dialect, such as `sql+sqlite`.
fn target(text: &str) -> Result<Target, ApiError> {
    let found = text.split_once('+');
    let found = found.and_then(|(language, dialect)| Target::find(language, dialect));
    found.ok_or_else(|| {
        ApiError::invalid_parameter(format!("`targetDialects`: unknown target {text:?}"))
    })
}

/// Option that must be an object, if present.
fn member(options: &Value, name: &str) -> Result<Option<Value>, ApiError> {
    let Some(value) = options.get(name) else {
        return Ok(None);
    };
    let is_there = object(value, &format!("`{name}`"))?.is_some();
    Ok(is_there.then(|| value.clone()))
}

/// Members of a value that must be an object; `None` for null.
fn object<'v>(value: &'v Value, name: &str) -> Result<Option<&'v Object>, ApiError> {
    match value {
        Value::Null => Ok(None),
        Value::Object(members) => Ok(Some(members)),
        other => Err(ApiError::invalid_parameter(format!(
            "{name} must be an object, found {}",
            other.kind()
        ))),
    }
}

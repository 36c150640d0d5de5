//! What is wrong with documents and schemas, in the words of clients.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value as Json;

/// One thing that is wrong with a document.
#[derive(PartialEq)]
pub(super) struct Complaint {
    pub(super) kind: &'static str,
    pub(super) text: String,
    /// The names and indices that lead to it.
    pub(super) path: Vec<String>,
}

/// Every kind, in the order in which they are told of one place.
const KINDS: &[&str] = &[
    "number_any_of",
    "number_one_of",
    "number_not",
    "missing_dependency",
    "condition_then",
    "condition_else",
    "false",
    "invalid_type",
    "const",
    "enum",
    "required",
    "additional_property_not_allowed",
    "invalid_property_name",
    "array_no_additional_items",
    "array_min_items",
    "array_max_items",
    "unique",
    "contains",
    "array_min_properties",
    "array_max_properties",
    "string_gte",
    "string_lte",
    "pattern",
    "format",
    "multiple_of",
    "number_lte",
    "number_lt",
    "number_gte",
    "number_gt",
    "internal",
    "number_all_of",
];

impl Complaint {
    /// Where it stands among others: outer places first.
    pub(super) fn order(&self) -> (&[String], usize) {
        let kind = KINDS.iter().position(|kind| *kind == self.kind);
        (&self.path, kind.unwrap_or(KINDS.len()))
    }
}

fn list(values: &Json) -> String {
    let values = values.as_array().map_or(&[][..], Vec::as_slice);
    let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
    shown.join(", ")
}

/// The kind of a document, integers apart.
fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) => {
            let text = number.to_string();
            let whole = crate::value::Number::parse(&text)
                .is_some_and(|number| matches!(number.to_integer(), Ok(Some(_))));
            if whole { "integer" } else { "number" }
        }
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// The types that a schema allows at the place that an error names.
fn allowed(schema: &Json, error: &ValidationError<'_>) -> String {
    match schema.pointer(error.schema_path().as_str()) {
        Some(Json::String(only)) => only.clone(),
        Some(Json::Array(several)) => {
            let names: Vec<&str> = several.iter().filter_map(Json::as_str).collect();
            format!("[{}]", names.join(","))
        }
        // Behind a reference the place is in another part of the schema.
        _ => {
            let text = error.to_string();
            let quoted: Vec<&str> = text.rsplit('"').skip(1).step_by(2).collect();
            match quoted.as_slice() {
                [only, ..] if !text.contains(" types ") => (*only).to_owned(),
                several => {
                    let mut several = several.to_vec();
                    several.reverse();
                    format!("[{}]", several.join(","))
                }
            }
        }
    }
}

/// The schemas in which an error stands and of which clients are told, too: those of `allOf`,
/// `then` and `else` on the way to it.
fn around(error: &ValidationError<'_>, path: &[String]) -> Vec<Complaint> {
    let mut found = Vec::new();
    let mut depth = 0;
    let mut segments = error.schema_path().as_str().split('/').skip(1);
    while let Some(segment) = segments.next() {
        let (kind, text) = match segment {
            "properties" | "patternProperties" => {
                segments.next();
                depth += 1;
                continue;
            }
            "items" | "additionalItems" | "additionalProperties" | "contains" => {
                depth += 1;
                continue;
            }
            "allOf" => ("number_all_of", "Must validate all the schemas (allOf)"),
            "then" => (
                "condition_then",
                "Must validate \"then\" as \"if\" was valid",
            ),
            "else" => (
                "condition_else",
                "Must validate \"else\" as \"if\" was not valid",
            ),
            _ => continue,
        };
        found.push(Complaint {
            kind,
            text: text.to_owned(),
            path: path.iter().take(depth).cloned().collect(),
        });
    }
    found
}

/// What an error of the library comes to, with those that it contains and stands in.
pub(super) fn complaints(schema: &Json, error: &ValidationError<'_>) -> Vec<Complaint> {
    let segments = error.instance_path();
    let path: Vec<String> = segments.iter().map(|segment| segment.to_string()).collect();
    let mut all = own(schema, error);
    all.extend(around(error, &path));
    all
}

fn own(schema: &Json, error: &ValidationError<'_>) -> Vec<Complaint> {
    let segments = error.instance_path();
    let path: Vec<String> = segments.iter().map(|segment| segment.to_string()).collect();
    let field = match path.as_slice() {
        [] => "(Root)".to_owned(),
        path => path.join("."),
    };
    let said = |kind, text: String| Complaint {
        kind,
        text,
        path: path.clone(),
    };
    let one = |kind, text: String| vec![said(kind, text)];
    match error.kind() {
        Kind::Type { .. } => {
            let (wanted, given) = (allowed(schema, error), kind_of(error.instance()));
            let text = format!("Invalid type. Expected: {wanted}, given: {given}");
            one("invalid_type", text)
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            if error.schema_path().as_str().ends_with("/dependencies") {
                return one("missing_dependency", format!("Has a dependency on {name}"));
            }
            one("required", format!("{name} is required"))
        }
        Kind::AdditionalProperties { unexpected } => unexpected
            .iter()
            .map(|name| {
                let text = format!("Additional property {name} is not allowed");
                said("additional_property_not_allowed", text)
            })
            .collect(),
        Kind::PropertyNames { error: inner } => {
            let name = inner.instance().to_string();
            let text = format!("Property name of {name} does not match");
            let mut all = one("invalid_property_name", text);
            all.extend(
                complaints(schema, inner)
                    .into_iter()
                    .map(|inner| Complaint {
                        path: path.clone(),
                        ..inner
                    }),
            );
            all
        }
        Kind::AnyOf { context } => {
            let text = "Must validate at least one schema (anyOf)".to_owned();
            with_best(schema, said("number_any_of", text), context)
        }
        Kind::OneOfNotValid { context } => {
            let text = "Must validate one and only one schema (oneOf)".to_owned();
            with_best(schema, said("number_one_of", text), context)
        }
        other => {
            let (kind, text) = plain(&field, other);
            one(
                kind,
                text.unwrap_or_else(|| format!("Internal Error {error}")),
            )
        }
    }
}

/// An error with those of the alternative that is wrong in the fewest ways.
fn with_best(
    schema: &Json,
    first: Complaint,
    alternatives: &[Vec<ValidationError<'static>>],
) -> Vec<Complaint> {
    let mut all = vec![first];
    if let Some(best) = alternatives.iter().min_by_key(|errors| errors.len()) {
        all.extend(best.iter().flat_map(|error| own(schema, error)));
    }
    all
}

/// The kinds whose text needs nothing but themselves and the name of the field.
fn plain(field: &str, kind: &Kind) -> (&'static str, Option<String>) {
    let (kind, text) = match kind {
        Kind::OneOfMultipleValid { .. } => (
            "number_one_of",
            "Must validate one and only one schema (oneOf)".to_owned(),
        ),
        Kind::Not { .. } => (
            "number_not",
            "Must not validate the schema (not)".to_owned(),
        ),
        Kind::Constant { expected_value } => {
            ("const", format!("{field} does not match: {expected_value}"))
        }
        Kind::Enum { options } => (
            "enum",
            format!("{field} must be one of the following: {}", list(options)),
        ),
        Kind::FalseSchema => ("false", "False always fails validation".to_owned()),
        Kind::AdditionalItems { .. } => (
            "array_no_additional_items",
            "No additional items allowed on array".to_owned(),
        ),
        Kind::MinItems { limit } => (
            "array_min_items",
            format!("Array must have at least {limit} items"),
        ),
        Kind::MaxItems { limit } => (
            "array_max_items",
            format!("Array must have at most {limit} items"),
        ),
        Kind::UniqueItems => ("unique", "array items must be unique".to_owned()),
        Kind::Contains => (
            "contains",
            "At least one of the items must match".to_owned(),
        ),
        Kind::MinProperties { limit } => (
            "array_min_properties",
            format!("Must have at least {limit} properties"),
        ),
        Kind::MaxProperties { limit } => (
            "array_max_properties",
            format!("Must have at most {limit} properties"),
        ),
        Kind::MinLength { limit } => (
            "string_gte",
            format!("String length must be greater than or equal to {limit}"),
        ),
        Kind::MaxLength { limit } => (
            "string_lte",
            format!("String length must be less than or equal to {limit}"),
        ),
        Kind::Pattern { pattern } => ("pattern", format!("Does not match pattern '{pattern}'")),
        Kind::Format { format } => ("format", format!("Does not match format '{format}'")),
        Kind::MultipleOf { multiple_of } => (
            "multiple_of",
            format!("Must be a multiple of {multiple_of}"),
        ),
        Kind::Minimum { limit } => (
            "number_gte",
            format!("Must be greater than or equal to {limit}"),
        ),
        Kind::ExclusiveMinimum { limit } => ("number_gt", format!("Must be greater than {limit}")),
        Kind::Maximum { limit } => (
            "number_lte",
            format!("Must be less than or equal to {limit}"),
        ),
        Kind::ExclusiveMaximum { limit } => ("number_lt", format!("Must be less than {limit}")),
        _ => return ("internal", None),
    };
    (kind, Some(text))
}

/// What is wrong with a schema.
pub(super) fn misdeclared(error: &ValidationError<'_>) -> String {
    let path = error.instance_path();
    let keyword = path.as_str().rsplit('/').next().unwrap_or_default();
    match keyword {
        "type" => {
            let given = error.instance();
            let given = given
                .as_str()
                .map_or_else(|| given.to_string(), str::to_owned);
            format!(
                "has a primitive type that is NOT VALID -- given: /{given}/ Expected valid values are:[array boolean integer number null object string]"
            )
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            format!("{keyword} must be of a Number")
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            format!("{keyword} must be of an integer")
        }
        "properties" => "Properties must be of type object".to_owned(),
        "required" => "required must be of an array".to_owned(),
        "pattern" => "pattern must be a valid regex".to_owned(),
        _ => error.to_string(),
    }
}

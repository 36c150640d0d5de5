//! Supported drafts of JSON Schema.

use super::fault::{Fault, invalid_schema};
use super::reference::Reference;
use crate::Value;

/// A draft of JSON Schema. Later drafts compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Four,
    Six,
    Seven,
    /// Draft of schemas that name no known draft: the keywords of all drafts.
    Hybrid,
}

/// Drafts by name, each with its meta-schema.
const DRAFTS: [(&str, Draft, &str); 3] = [
    (
        "http://json-schema.org/draft-04/schema",
        Draft::Four,
        include_str!("drafts/draft-04.json"),
    ),
    (
        "http://json-schema.org/draft-06/schema",
        Draft::Six,
        include_str!("drafts/draft-06.json"),
    ),
    (
        "http://json-schema.org/draft-07/schema",
        Draft::Seven,
        include_str!("drafts/draft-07.json"),
    ),
];

impl Draft {
    /// Returns the draft that a document names, if it is known.
    ///
    /// # Errors
    /// When the document is not a schema, or `$schema` is not a string.
    pub(super) fn of(document: &Value) -> Result<Option<Self>, Fault> {
        let members = match document {
            Value::Bool(_) => return Ok(None),
            Value::Object(members) => members,
            _ => return invalid_schema("schema is invalid"),
        };
        let name = match members.get("$schema") {
            None => return Ok(None),
            Some(Value::String(name)) => Reference::parse(name).map_err(Fault::Schema)?,
            Some(_) => return invalid_schema("$schema must be of type string"),
        };
        let name = name.text();
        let known = DRAFTS.iter().find(|(known, ..)| *known == name);
        Ok(known.map(|(_, draft, _)| *draft))
    }
}

/// Returns the source of the meta-schema with this name.
pub(super) fn text_of(name: &str) -> Option<&'static str> {
    let known = DRAFTS.iter().find(|(known, ..)| *known == name);
    known.map(|(_, _, text)| *text)
}

//! Definitions that hold every field that the document does not mark as optional: what a rule is
//! not about is no reason to refuse one.
//!
//! Each takes the fields that a rule is about, which replace those of the same names. Fields that
//! name something else stay out: credentials want a secret, which a repository that everybody may
//! read has no use for. Which of repository, directory and built-in source may be combined is not
//! shown, so a source has one of them.

use crate::scenario::*;

/// The bundle whose name has this end, with a place of its own in the storage.
pub(super) fn bundle(end: &str, fields: Value) -> Value {
    let name = end.replace('%', "_");
    let complete = json!({
        "labels": {},
        "object_storage": {"filesystem": {"path": format!("{{ns}}{name}.tar.gz")}},
        "requirements": [],
        "excluded_files": [],
    });
    with(complete, fields)
}

/// A source: a repository, where the fields say nothing else.
pub(super) fn source(fields: Value) -> Value {
    let origin = if fields.get("directory").is_some() {
        json!({"paths": ["app.rego"]})
    } else if fields.get("builtin").is_some() {
        json!({})
    } else {
        json!({"git": git(json!({}))})
    };
    let complete = with(json!({"datasources": [], "requirements": []}), origin);
    with(complete, fields)
}

/// A repository.
pub(super) fn git(fields: Value) -> Value {
    let complete = json!({
        "repo": "https://git.example.com/policies.git",
        "reference": "refs/heads/main",
        "included_files": ["*.rego"],
        "excluded_files": ["*_test.rego"],
    });
    with(complete, fields)
}

/// A stack.
pub(super) fn stack(fields: Value) -> Value {
    let complete = json!({"selector": {"env": ["prod"]}, "requirements": []});
    with(complete, fields)
}

/// A secret.
pub(super) fn secret(fields: Value) -> Value {
    let complete = json!({"value": {"type": "token_auth", "token": "first-token"}});
    with(complete, fields)
}

/// The definition with these fields.
pub(super) fn with(mut definition: Value, fields: Value) -> Value {
    if let (Some(own), Value::Object(fields)) = (definition.as_object_mut(), fields) {
        own.extend(fields);
    }
    definition
}

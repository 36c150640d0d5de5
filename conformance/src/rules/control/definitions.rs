//! Definitions of resources. They have every field that the document does not mark as optional, so
//! that a server rejects none for fields that a rule is not about.
//!
//! Each function takes the fields that a rule is about, which replace those of the same names.
//! Fields that name other resources are omitted: credentials require a secret, which a public
//! repository does not need. The document does not show which of repository, directory and built-in
//! source may be combined, so a source has one of them.

use crate::scenario::*;

/// A bundle whose name has this suffix, with a separate location in the storage.
pub(super) fn bundle(suffix: &str, fields: Value) -> Value {
    let name = suffix.replace('%', "_");
    let complete = json!({
        "labels": {},
        "object_storage": {"filesystem": {"path": format!("{{ns}}{name}.tar.gz")}},
        "requirements": [],
        "excluded_files": [],
    });
    with(complete, fields)
}

/// A source: a repository, unless the fields define another origin.
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

/// The Git object of a source.
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

/// Returns the definition with these fields added or replaced.
pub(super) fn with(mut definition: Value, fields: Value) -> Value {
    if let (Some(members), Value::Object(fields)) = (definition.as_object_mut(), fields) {
        members.extend(fields);
    }
    definition
}

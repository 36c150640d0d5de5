//! Data files, and their merge into one document.

use rego::Value;
use rego::value::{Object, from_json, from_yaml};

use super::file_selection::Kind;

/// Parses the document of a data file; `None` for other kinds of files.
///
/// # Errors
/// When the document is invalid, with the position.
pub(super) fn read(kind: Kind, bytes: &[u8]) -> Result<Option<Value>, String> {
    match kind {
        Kind::Json => from_json(bytes)
            .map(Some)
            .map_err(|error| error.to_string()),
        Kind::Yaml => from_yaml(bytes)
            .map(Some)
            .map_err(|error| error.to_string()),
        Kind::Policy | Kind::Manifest => Ok(None),
    }
}

/// Returns the folders of a file.
pub(super) fn folders(path: &str) -> Vec<String> {
    match path.rsplit_once('/') {
        Some((folders, _)) => folders.split('/').map(str::to_owned).collect(),
        None => Vec::new(),
    }
}

/// Merges a document into the root at a path. Objects are merged recursively.
///
/// # Errors
/// The path with a conflicting value.
pub(super) fn place(root: &mut Value, path: &[String], document: Value) -> Result<(), String> {
    if path.is_empty() && document.as_object().is_none() {
        return Err("the document at the root must be an object".to_owned());
    }
    let nested = path.iter().rev().fold(document, |inner, name| {
        Value::object([(name.as_str(), inner)])
    });
    let mut location = Vec::new();
    merge(root, nested, &mut location).map_err(|()| {
        let location = location.join("/");
        format!("conflicts with the document of another file at `{location}`")
    })
}

/// Creates an empty root.
pub(super) fn root() -> Value {
    Value::from(Object::new())
}

/// The parser limits the nesting of documents, and so the recursion.
fn merge(into: &mut Value, from: Value, location: &mut Vec<String>) -> Result<(), ()> {
    let (Some(members), Value::Object(added)) = (into.as_object_mut(), from) else {
        return Err(());
    };
    for (name, value) in added.iter() {
        let Some(member) = members.get_value_mut(name) else {
            members.insert(name.clone(), value.clone());
            continue;
        };
        location.push(name.as_str().unwrap_or_default().to_owned());
        merge(member, value.clone(), location)?;
        location.pop();
    }
    Ok(())
}

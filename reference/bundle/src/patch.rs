//! Delta bundles: patches for the data of an active bundle.

use rego::Value;
use rego::value::from_json_prefix;

use super::{BundleError, roots};

/// Name of the patch file.
pub(super) const NAME: &str = "patch.json";

/// A change to one document.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Path of the document.
    pub path: Vec<String>,
    /// Change to apply.
    pub change: Change,
}

/// Change to a document.
#[derive(Debug, Clone)]
pub enum Change {
    /// Inserts the value; missing objects on the path are created.
    Upsert(Value),
    /// Replaces the document, which must exist.
    Replace(Value),
    /// Removes the document.
    Remove,
}

/// Parses the operations of the file, in order.
///
/// # Errors
/// When the file does not list operations on paths.
pub(super) fn read(text: &[u8]) -> Result<Vec<Operation>, BundleError> {
    let wrong = |reason: String| BundleError::of_file(NAME, reason);
    let document = from_json_prefix(text).map_err(|error| wrong(error.to_string()))?;
    if document.as_object().is_none() {
        let message = format!("expected an object, found {}", document.kind());
        return Err(wrong(message));
    }
    let operations = match document.get("data") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(operations)) => operations,
        Some(_) => return Err(wrong("`data` must be an array".to_owned())),
    };
    let numbered = operations.iter().enumerate();
    let read = numbered.map(|(at, value)| {
        operation(value).map_err(|reason| wrong(format!("operation {at} of `data`: {reason}")))
    });
    read.collect()
}

fn operation(document: &Value) -> Result<Operation, String> {
    let text = |name| {
        let text = document.get(name).and_then(Value::as_str);
        text.ok_or(format!("`{name}` must be a string"))
    };
    let value = || document.get("value").cloned().unwrap_or(Value::Null);
    let change = match text("op")? {
        "upsert" => Change::Upsert(value()),
        "replace" => Change::Replace(value()),
        "remove" => Change::Remove,
        other => {
            return Err(format!(
                "`op` must be upsert, replace or remove, found `{other}`"
            ));
        }
    };
    let path = roots::segments(text("path")?)?.into_iter();
    Ok(Operation {
        path: path
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .collect(),
        change,
    })
}

//! Tree of base documents: lookup, insertion, replacement and removal by path. A change copies only
//! the shared objects and arrays on its path.

use rego::Value;
use rego::value::{MAX_DEPTH, Number, Object};

/// Error of a change of the documents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no document at the path.
    #[error("no document at `{0}`")]
    NotFound(String),
    /// A document on the path is not an object.
    #[error("the document at `{0}` cannot hold others")]
    Conflict(String),
    /// The root cannot be removed.
    #[error("the root document cannot be removed")]
    RootRemoved,
    /// The root must be an object.
    #[error("the root document must be an object")]
    RootNotObject,
    /// The path has more segments than the maximum nesting of documents.
    #[error("the path has more than {MAX_DEPTH} segments")]
    PathTooLong,
}

/// Resolves a segment below a document to a step, and the document there. A segment denotes the
/// integer that it spells unless the document has a member with that name.
pub(super) fn resolve<'d>(parent: Option<&'d Value>, segment: &str) -> (Value, Option<&'d Value>) {
    let name = || Value::from(segment);
    let Some(integer) = integer(segment) else {
        return (name(), parent.and_then(|parent| parent.get(segment)));
    };
    let number = Number::parse(&integer).map_or_else(name, Value::Number);
    match parent {
        Some(Value::Object(members)) => match (members.get(segment), members.get(&integer)) {
            (Some(member), _) => (name(), Some(member)),
            (None, Some(member)) => (Value::from(integer), Some(member)),
            (None, None) => (number, None),
        },
        other => (number, other.and_then(|parent| step(parent, segment))),
    }
}

/// Finds the document at a path.
pub(super) fn find<'d>(documents: &'d Value, path: &[String]) -> Option<&'d Value> {
    path.iter()
        .try_fold(documents, |parent, segment| step(parent, segment))
}

fn step<'d>(parent: &'d Value, segment: &str) -> Option<&'d Value> {
    match parent {
        Value::Array(items) => items.get(index(segment)?),
        Value::Object(members) => members.get(segment),
        _ => None,
    }
}

/// Writes a document at a path and creates missing objects on it. In an array, the document is
/// inserted before the item at the index.
pub(super) fn put(documents: &mut Value, path: &[String], value: Value) -> Result<(), StoreError> {
    let Some((_, parents)) = path.split_last() else {
        return set_root(documents, value);
    };
    if path.len() > MAX_DEPTH {
        return Err(StoreError::PathTooLong);
    }
    if find(documents, path).is_none() {
        make(documents, parents)?;
    }
    add(documents, path, value)
}

/// Adds a document after creating missing objects on its path.
pub(super) fn upsert(
    documents: &mut Value,
    path: &[String],
    value: Value,
) -> Result<(), StoreError> {
    if path.len() > MAX_DEPTH {
        return Err(StoreError::PathTooLong);
    }
    if let Some((_, parents)) = path.split_last()
        && find(documents, parents).is_none()
    {
        make(documents, parents)?;
    }
    add(documents, path, value)
}

/// Creates missing objects on a path, including its end.
fn make(documents: &mut Value, path: &[String]) -> Result<(), StoreError> {
    let mut parent = documents;
    for (at, segment) in path.iter().enumerate() {
        let conflict = || StoreError::Conflict(display_path(path.get(..at).unwrap_or(path)));
        parent = match parent {
            Value::Object(members) => {
                members.insert_if_missing(segment.as_str(), || Value::from(Object::new()));
                members.get_mut(segment).ok_or_else(conflict)?
            }
            Value::Array(items) => index(segment)
                .and_then(|index| items.get_mut(index))
                .ok_or_else(conflict)?,
            _ => return Err(conflict()),
        };
    }
    match parent {
        Value::Object(_) => Ok(()),
        _ => Err(StoreError::Conflict(display_path(path))),
    }
}

/// Adds a document whose parent exists: replaces an object's member, or inserts before an array's
/// item or after the last item.
pub(super) fn add(documents: &mut Value, path: &[String], value: Value) -> Result<(), StoreError> {
    let Some((last, parents)) = path.split_last() else {
        return set_root(documents, value);
    };
    if path.len() > MAX_DEPTH {
        return Err(StoreError::PathTooLong);
    }
    match find_mut(documents, parents)? {
        Value::Object(members) => {
            members.insert(last.as_str(), value);
            Ok(())
        }
        Value::Array(items) => {
            let at = if last == "-" {
                Some(items.len())
            } else {
                index(last)
            };
            let at = at.filter(|at| *at <= items.len());
            let at = at.ok_or_else(|| StoreError::NotFound(display_path(path)))?;
            items.insert(at, value);
            Ok(())
        }
        _ => Err(StoreError::NotFound(display_path(path))),
    }
}

/// Replaces an existing document.
pub(super) fn replace(
    documents: &mut Value,
    path: &[String],
    value: Value,
) -> Result<(), StoreError> {
    if path.is_empty() {
        return set_root(documents, value);
    }
    *find_mut(documents, path)? = value;
    Ok(())
}

/// Removes an existing document.
pub(super) fn remove(documents: &mut Value, path: &[String]) -> Result<(), StoreError> {
    let (last, parents) = path.split_last().ok_or(StoreError::RootRemoved)?;
    let missing = || StoreError::NotFound(display_path(path));
    match find_mut(documents, parents)? {
        Value::Object(members) => {
            let removed = members.remove(last.as_str());
            removed.ok_or_else(missing)?;
        }
        Value::Array(items) => {
            let at = index(last).filter(|at| *at < items.len());
            items.remove(at.ok_or_else(missing)?);
        }
        _ => return Err(missing()),
    }
    Ok(())
}

fn set_root(documents: &mut Value, value: Value) -> Result<(), StoreError> {
    if value.as_object().is_none() {
        return Err(StoreError::RootNotObject);
    }
    *documents = value;
    Ok(())
}

/// Finds the document at a path for modification.
fn find_mut<'d>(documents: &'d mut Value, path: &[String]) -> Result<&'d mut Value, StoreError> {
    let missing = || StoreError::NotFound(display_path(path));
    path.iter()
        .try_fold(documents, |parent, segment| match parent {
            Value::Array(items) => {
                let at = index(segment).filter(|at| *at < items.len());
                let at = at.ok_or_else(missing)?;
                items.get_mut(at).ok_or_else(missing)
            }
            Value::Object(members) => {
                let found = members.get_mut(segment.as_str());
                found.ok_or_else(missing)
            }
            _ => Err(missing()),
        })
}

/// Index in an array that a segment denotes, if any: an integer with or without sign, leading zeros
/// and a fraction of zeros.
fn index(segment: &str) -> Option<usize> {
    integer(segment)?.parse().ok()
}

/// Canonical spelling of the integer that a segment denotes, if any.
pub(super) fn integer(segment: &str) -> Option<String> {
    let (sign, digits) = match segment.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", segment.strip_prefix('+').unwrap_or(segment)),
    };
    let (digits, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let numeric = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !numeric(digits) || !numeric(fraction) || fraction.bytes().any(|byte| byte != b'0') {
        return None;
    }
    match digits.trim_start_matches('0') {
        "" => Some("0".to_owned()),
        digits => Some(format!("{sign}{digits}")),
    }
}

/// Formats a path for messages.
pub(super) fn display_path(path: &[String]) -> String {
    format!("/{}", path.join("/"))
}

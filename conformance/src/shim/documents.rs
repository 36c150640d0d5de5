//! Base documents of the shim.

use serde_json::{Map, Value};

/// Error for a path at which no document exists, or can exist.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Absent;

/// Writes a document at a path, and creates missing parent objects.
///
/// # Errors
/// A parent cannot have such a member, because it is a scalar or an array.
pub(super) fn put(root: &mut Value, path: &[String], document: Value) -> Result<(), Absent> {
    let mut target = root;
    for segment in path {
        target = match target {
            Value::Object(members) => members
                .entry(segment.clone())
                .or_insert_with(|| Value::Object(Map::new())),
            Value::Array(items) => item(items, segment).ok_or(Absent)?,
            _ => return Err(Absent),
        };
    }
    *target = document;
    Ok(())
}

/// Removes the document at a path.
///
/// # Errors
/// There is no document.
pub(super) fn remove(root: &mut Value, path: &[String]) -> Result<(), Absent> {
    let Some((last, parents)) = path.split_last() else {
        *root = Value::Object(Map::new());
        return Ok(());
    };
    let mut target = root;
    for segment in parents {
        target = match target {
            Value::Object(members) => members.get_mut(segment).ok_or(Absent)?,
            Value::Array(items) => item(items, segment).ok_or(Absent)?,
            _ => return Err(Absent),
        };
    }
    match target {
        Value::Object(members) => members.remove(last).map(drop).ok_or(Absent),
        Value::Array(items) => {
            let index = last.parse().ok().filter(|index| *index < items.len());
            index.map(|index| drop(items.remove(index))).ok_or(Absent)
        }
        _ => Err(Absent),
    }
}

fn item<'a>(items: &'a mut [Value], segment: &str) -> Option<&'a mut Value> {
    items.get_mut(segment.parse::<usize>().ok()?)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> Vec<String> {
        let segments = text.split('/').filter(|segment| !segment.is_empty());
        segments.map(str::to_owned).collect()
    }

    #[rstest]
    #[case::put_root("", Some(json!({"d": 1})), Ok(json!({"d": 1})))]
    #[case::put_new_path(
        "x/y",
        Some(json!(4)),
        Ok(json!({"a": {"b": [1, 2]}, "c": 3, "x": {"y": 4}}))
    )]
    #[case::put_item("a/b/1", Some(json!(4)), Ok(json!({"a": {"b": [1, 4]}, "c": 3})))]
    #[case::put_behind_the_last("a/b/2", Some(json!(4)), Err(Absent))]
    #[case::put_no_index("a/b/x", Some(json!(4)), Err(Absent))]
    #[case::put_below_a_scalar("c/x", Some(json!(4)), Err(Absent))]
    #[case::remove_root("", None, Ok(json!({})))]
    #[case::remove_item("a/b/0", None, Ok(json!({"a": {"b": [2]}, "c": 3})))]
    #[case::remove_member("a/b", None, Ok(json!({"a": {}, "c": 3})))]
    #[case::remove_absent_member("a/x", None, Err(Absent))]
    #[case::remove_absent_path("x/y", None, Err(Absent))]
    #[case::remove_below_a_scalar("c/x", None, Err(Absent))]
    fn documents_are_changed_by_path(
        #[case] at: &str,
        #[case] document: Option<Value>,
        #[case] expected: Result<Value, Absent>,
    ) {
        let start = json!({"a": {"b": [1, 2]}, "c": 3});
        let mut root = start.clone();
        let changed = match &document {
            Some(document) => put(&mut root, &path(at), document.clone()),
            None => remove(&mut root, &path(at)),
        };
        let expected = match expected {
            Ok(expected) => (expected, Ok(())),
            Err(absent) => (start.clone(), Err(absent)),
        };
        assert_eq!((root, changed), expected);
    }
}

//! Documents: reading and changing the value at a path.

use serde_json::{Map, Value, json};

/// Why a change of a document is rejected.
pub(crate) enum Unchanged {
    /// There is no value at a path that must have one.
    Missing,
    /// The change is invalid at this path; contains the reason.
    Nonsense(&'static str),
}

/// One operation of a JSON Patch, with its full path.
pub(crate) enum Operation {
    Add(Vec<String>, Value),
    Remove(Vec<String>),
    Replace(Vec<String>, Value),
    Move(Vec<String>, Vec<String>),
    Copy(Vec<String>, Vec<String>),
    Test(Vec<String>, Value),
}

pub(crate) fn find<'d>(root: &'d Map<String, Value>, path: &[&str]) -> Option<&'d Value> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(root.get(*first)?, |place, key| match place {
            Value::Object(members) => members.get(*key),
            Value::Array(elements) => elements.get(index(key)?),
            _ => None,
        })
}

/// Writes a document at a path, and creates missing parent objects.
///
/// # Errors
///
/// A parent is not an object.
pub(crate) fn put(
    root: &mut Map<String, Value>,
    path: &[&str],
    value: Value,
) -> Result<(), Unchanged> {
    let (last, parents) = path.split_last().ok_or(Unchanged::Missing)?;
    let mut place = root;
    for key in parents {
        let next = place.entry(*key).or_insert_with(|| json!({}));
        place = next.as_object_mut().ok_or(Unchanged::Missing)?;
    }
    place.insert((*last).to_owned(), value);
    Ok(())
}

/// Applies all operations, or none of them if one fails.
pub(crate) fn patch(
    root: &mut Map<String, Value>,
    operations: Vec<Operation>,
) -> Result<(), Unchanged> {
    let mut changed = Value::Object(std::mem::take(root));
    let before = changed.clone();
    let outcome = operations
        .into_iter()
        .try_for_each(|operation| apply(&mut changed, operation));
    let result = if outcome.is_ok() { changed } else { before };
    if let Value::Object(members) = result {
        *root = members;
    }
    outcome
}

fn apply(root: &mut Value, operation: Operation) -> Result<(), Unchanged> {
    match operation {
        Operation::Add(path, value) => add(root, &path, value),
        Operation::Remove(path) => remove(root, &path).map(drop),
        Operation::Replace(path, value) => {
            *at(root, &path)? = value;
            Ok(())
        }
        Operation::Move(from, to) if to.len() > from.len() && to.starts_with(&from) => {
            Err(Unchanged::Nonsense("nothing moves into itself"))
        }
        Operation::Move(from, to) => {
            let value = remove(root, &from)?;
            add(root, &to, value)
        }
        Operation::Copy(from, to) => {
            let value = at(root, &from)?.clone();
            add(root, &to, value)
        }
        Operation::Test(path, value) => match *at(root, &path)? == value {
            true => Ok(()),
            false => Err(Unchanged::Nonsense("the document is another one")),
        },
    }
}

fn at<'d>(root: &'d mut Value, path: &[String]) -> Result<&'d mut Value, Unchanged> {
    let mut keys = path.iter();
    let found = keys.try_fold(root, |place, key| match place {
        Value::Object(members) => members.get_mut(key),
        Value::Array(elements) => elements.get_mut(index(key)?),
        _ => None,
    });
    found.ok_or(Unchanged::Missing)
}

fn add(root: &mut Value, path: &[String], value: Value) -> Result<(), Unchanged> {
    let (last, parents) = path.split_last().ok_or(Unchanged::Missing)?;
    match at(root, parents)? {
        Value::Object(members) => {
            members.insert(last.clone(), value);
            Ok(())
        }
        Value::Array(elements) => {
            let end = elements.len();
            let place = if last == "-" { Some(end) } else { index(last) };
            let place = place.filter(|place| *place <= end);
            let place = place.ok_or(Unchanged::Nonsense("the array has no such place"))?;
            elements.insert(place, value);
            Ok(())
        }
        _ => Err(Unchanged::Nonsense("the parent holds nothing")),
    }
}

fn remove(root: &mut Value, path: &[String]) -> Result<Value, Unchanged> {
    let (last, parents) = path.split_last().ok_or(Unchanged::Missing)?;
    let removed = match at(root, parents)? {
        Value::Object(members) => members.remove(last),
        Value::Array(elements) => index(last)
            .filter(|index| *index < elements.len())
            .map(|index| elements.remove(index)),
        _ => None,
    };
    removed.ok_or(Unchanged::Missing)
}

/// Parses a segment as an array index, without leading zeros or a sign.
fn index(key: &str) -> Option<usize> {
    let index: usize = key.parse().ok()?;
    (index.to_string() == key).then_some(index)
}

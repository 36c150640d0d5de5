//! Merges the documents of several files.

use rego::Value;
use rego::value::Object;

/// Merges a document into another, objects member by member. Other values at the same path
/// conflict, unless `repeats` is set and they are equal.
///
/// # Errors
/// Returns the path of the values that conflict.
pub fn merge(into: &mut Value, from: Value, repeats: bool) -> Result<(), Vec<String>> {
    merge_at(into, from, repeats, &mut Vec::new())
}

fn merge_at(
    into: &mut Value,
    from: Value,
    repeats: bool,
    at: &mut Vec<String>,
) -> Result<(), Vec<String>> {
    if repeats && *into == from {
        return Ok(());
    }
    let takes_all = into.as_object().is_some_and(Object::is_empty);
    if takes_all && from.as_object().is_some() {
        // Taken as a whole, because visiting the members of a large document takes long.
        *into = from;
        return Ok(());
    }
    let (Some(members), Value::Object(added)) = (into.as_object_mut(), from) else {
        return Err(at.clone());
    };
    for (name, value) in added.iter() {
        let Some(member) = members.get_value_mut(name) else {
            members.insert(name.clone(), value.clone());
            continue;
        };
        at.push(name.as_str().unwrap_or_default().to_owned());
        merge_at(member, value.clone(), repeats, at)?;
        at.pop();
    }
    Ok(())
}

/// Returns an object that contains a document at a path.
pub fn nested<'s, S>(path: S, document: Value) -> Value
where
    S: DoubleEndedIterator<Item = &'s str>,
{
    path.rev()
        .fold(document, |inner, name| Value::object([(name, inner)]))
}

//! Masks: what a mask policy removes from decisions.

use percent_encoding::percent_decode_str;
use rego::Value;
use rego::value::{MAX_DEPTH, Object};

use super::redact::MaskedValues;

/// Members of events that can be masked.
const MASKABLE: [&str; 3] = ["input", "result", "nd_builtin_cache"];

/// Mask of one value in an event.
#[derive(Debug)]
struct Mask<'m> {
    /// Path of the value, as the policy spells it.
    path: &'m str,
    /// Path segments, of which the first is a member of events.
    segments: Vec<String>,
    /// Replacement; `None` if the value is removed.
    value: Option<Value>,
}

/// Whether there are no masks to apply.
pub(super) fn is_none(masks: &Value) -> bool {
    match masks {
        Value::Array(items) => items.is_empty(),
        Value::Set(members) => members.is_empty(),
        _ => true,
    }
}

/// Applies masks to an event, covers other copies of the masked values, and records the masked
/// paths in the event.
///
/// # Errors
/// When a mask is malformed. Then the event must not be shown.
pub(super) fn apply(event: &mut Object, masks: &Value) -> Result<(), String> {
    let masks: Vec<&Value> = match masks {
        Value::Array(items) => items.iter().collect(),
        Value::Set(members) => members.iter().collect(),
        other => return Err(format!("masks: expected an array, found {}", other.kind())),
    };
    let (mut erased, mut masked, mut hidden) = (Vec::new(), Vec::new(), MaskedValues::default());
    for mask in masks {
        let mask = Mask::read(mask)?;
        let (paths, before) = match &mask.value {
            None => match remove(event, &mask.segments) {
                None => continue,
                removed => (&mut erased, removed),
            },
            Some(value) => match put(event, &mask.segments, value) {
                None => continue,
                Some(replaced) => (&mut masked, replaced),
            },
        };
        paths.push(Value::from(mask.path));
        if let Some(before) = before {
            hidden.add(&before, mask.value.as_ref());
        }
    }
    if !(erased.is_empty() && masked.is_empty()) {
        hidden.cover(event);
    }
    for (name, paths) in [("erased", erased), ("masked", masked)] {
        if !paths.is_empty() {
            event.insert(name, Value::from(paths));
        }
    }
    Ok(())
}

impl<'m> Mask<'m> {
    fn read(mask: &'m Value) -> Result<Self, String> {
        let member = |name| mask.get(name).and_then(Value::as_str);
        let (path, value) = match mask {
            Value::String(path) => (path.as_str(), None),
            Value::Object(members) => {
                let value = match member("op") {
                    Some("remove") => None,
                    Some("upsert") => Some(members.get("value").cloned().unwrap_or(Value::Null)),
                    _ => return Err(format!("mask {mask}: `op` must be `remove` or `upsert`")),
                };
                let path = member("path").ok_or_else(|| format!("mask {mask}: no `path`"))?;
                (path, value)
            }
            other => return Err(format!("expected a mask, found {}", other.kind())),
        };
        let wrong = |reason: &str| format!("mask `{path}`: {reason}");
        let below = path
            .strip_prefix('/')
            .ok_or_else(|| wrong("the path must begin with a slash"))?;
        let segments = below.split('/').map(|segment| {
            let decoded = percent_decode_str(segment).decode_utf8();
            let decoded = decoded.map_err(|_| wrong("the path is not UTF-8"))?;
            Ok(decoded.into_owned())
        });
        let segments: Vec<String> = segments.collect::<Result<_, String>>()?;
        match segments.first() {
            _ if segments.len() > MAX_DEPTH => Err(wrong("the path is too long")),
            Some(first) if MASKABLE.contains(&first.as_str()) => Ok(Self {
                path,
                segments,
                value,
            }),
            _ => Err(wrong(
                "the path must begin with `/input`, `/result` or `/nd_builtin_cache`",
            )),
        }
    }
}

/// Removes the value at a path, and returns it if present.
fn remove(event: &mut Object, path: &[String]) -> Option<Value> {
    match path {
        [] => None,
        [last] => event.remove(last),
        [first, below @ ..] => event.get_mut(first).and_then(|at| cut(at, below)),
    }
}

fn cut(value: &mut Value, path: &[String]) -> Option<Value> {
    match (value, path) {
        (Value::Object(members), path) => remove(members, path),
        (Value::Array(items), [last]) => match last.parse() {
            Ok(at) if at < items.len() => items.remove(at),
            _ => None,
        },
        (Value::Array(items), [first, below @ ..]) => {
            let item = first.parse().ok().and_then(|at| items.get_mut(at));
            item.and_then(|item| cut(item, below))
        }
        _ => None,
    }
}

/// Sets the value at a path, and creates missing objects on it. On success returns the previous
/// value, if any.
fn put(event: &mut Object, path: &[String], value: &Value) -> Option<Option<Value>> {
    match path {
        [] => None,
        [part] if !event.contains_key(part) => None,
        [part] => Some(event.insert(part.as_str(), value.clone())),
        [part, below @ ..] => event.get_mut(part).and_then(|at| set(at, below, value)),
    }
}

fn set(at: &mut Value, path: &[String], value: &Value) -> Option<Option<Value>> {
    let [first, below @ ..] = path else {
        return Some(Some(std::mem::replace(at, value.clone())));
    };
    match at {
        Value::Object(members) => {
            members.insert_if_missing(first.as_str(), || Value::from(Object::new()));
            members
                .get_mut(first)
                .and_then(|member| set(member, below, value))
        }
        Value::Array(items) => {
            let item = first.parse().ok().and_then(|at| items.get_mut(at));
            item.and_then(|item| set(item, below, value))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rego::value::from_json;
    use rstest::rstest;

    use super::apply;

    #[rstest]
    #[case::members_and_items(
        r#"["/input/a/b", "/input/c/0", "/input/x%20y"]"#,
        r#"{"erased":["/input/a/b","/input/c/0","/input/x%20y"],"input":{"a":{},"c":[{"d":2}]},"result":7}"#
    )]
    #[case::nested_and_missing(
        r#"["/input/c/1/d", "/result", "/input/none", "/input/c/9", "/input/a/b/c"]"#,
        r#"{"erased":["/input/c/1/d","/result"],"input":{"a":{"b":1},"c":[1,{}],"x y":3}}"#
    )]
    #[case::whole_input(
        r#"["/input", "/nd_builtin_cache"]"#,
        r#"{"erased":["/input"],"result":7}"#
    )]
    #[case::upserts(
        r#"[{"op": "upsert", "path": "/input/a/b", "value": "*"}, {"op": "upsert", "path": "/input/n/m", "value": 1}]"#,
        r#"{"input":{"a":{"b":"*"},"c":[1,{"d":2}],"n":{"m":1},"x y":3},"masked":["/input/a/b","/input/n/m"],"result":7}"#
    )]
    #[case::upserts_and_removals(
        r#"[{"op": "upsert", "path": "/result", "value": null}, {"op": "upsert", "path": "/input/c/1", "value": 0}, {"op": "upsert", "path": "/input/c/2", "value": 0}, {"op": "remove", "path": "/input/a"}]"#,
        r#"{"erased":["/input/a"],"input":{"c":[1,0],"x y":3},"masked":["/result","/input/c/1"],"result":null}"#
    )]
    #[case::none(
        r#"[]"#,
        r#"{"input":{"a":{"b":1},"c":[1,{"d":2}],"x y":3},"result":7}"#
    )]
    fn masks_hide_what_they_name(
        #[case] masks: &str,
        #[case] expected: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let event = r#"{"input": {"a": {"b": 1}, "c": [1, {"d": 2}], "x y": 3}, "result": 7}"#;
        let event = from_json(event.as_bytes())?;
        let mut masked = event.as_object().cloned().unwrap_or_default();
        apply(&mut masked, &from_json(masks.as_bytes())?)?;
        assert_eq!(rego::Value::from(masked).to_string(), expected);
        assert!(event.get("erased").is_none());
        Ok(())
    }

    #[rstest]
    #[case::number("7")]
    #[case::object("{}")]
    #[case::number_in_a_list("[7]")]
    #[case::path_without_a_slash(r#"["input/a"]"#)]
    #[case::empty_path(r#"[""]"#)]
    #[case::other_document(r#"["/labels/id"]"#)]
    #[case::invalid_escape(r#"["/input/%ff"]"#)]
    #[case::no_operation(r#"[{"path": "/input/a"}]"#)]
    #[case::no_path(r#"[{"op": "upsert"}]"#)]
    #[case::unknown_operation(r#"[{"op": "move", "path": "/input/a"}]"#)]
    fn what_is_no_mask_is_refused(#[case] masks: &str) -> Result<(), Box<dyn std::error::Error>> {
        let masks = from_json(masks.as_bytes())?;
        let refused = apply(&mut rego::value::Object::new(), &masks);
        assert!(refused.is_err());
        Ok(())
    }
}

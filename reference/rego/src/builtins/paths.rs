//! Paths into documents, as JSON pointers or arrays of keys: `json.filter` and `json.remove`.

use std::collections::BTreeMap;

use bstr::ByteSlice;

use super::expected::{CallResult, items, mismatch};
use super::operand::{answer, any, object};
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::value::{Object, Set};

pub(super) const BUILTINS: Group = &[
    ("json.filter", Cost::Linear, filter),
    ("json.remove", Cost::Linear, remove),
];

/// Returns the keys of a path: the segments of a JSON pointer, or the items of an array.
pub(super) fn keys(call: &Call<'_>, path: &Value) -> Result<Vec<Value>, Failure> {
    match path {
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::String(_) | Value::Bytes(_) => {
            let pointer = path.as_bytes().unwrap_or_default();
            call.make(pointer.len() / 16)?;
            let pointer = pointer.trim_start_with(|character| character == '/');
            let parts = pointer.split_str("/");
            let keys = parts.map(|part| {
                call.make(2)?;
                Ok(Value::string(&part.replace("~1", "/").replace("~0", "~")))
            });
            keys.collect()
        }
        Value::Array(items) => Ok(items.to_vec()),
        other => mismatch(format!(
            "operand 2 must be one of {{set, array}} containing string paths or array of path segments but got {}",
            other.kind()
        )),
    }
}

/// Trie of paths by key. INVARIANT: a tree is as deep as its longest path, and recursion over a
/// tree is never deeper than the document that the tree is applied to.
#[derive(Default)]
struct Tree<'k>(BTreeMap<&'k Value, Option<Tree<'k>>>);

impl<'k> Tree<'k> {
    fn of(paths: &'k [Vec<Value>]) -> Self {
        let mut tree = Self::default();
        for path in paths {
            let Some((last, parents)) = path.split_last() else {
                continue;
            };
            let mut at = Some(&mut tree);
            for key in parents {
                at = at.and_then(|tree| {
                    let below = tree.0.entry(key).or_insert_with(|| Some(Tree::default()));
                    below.as_mut()
                });
            }
            // A path below one that is already present has no effect.
            if let Some(tree) = at {
                tree.0.insert(last, None);
            }
        }
        tree
    }
}

impl Drop for Tree<'_> {
    /// Drops long paths without recursion.
    fn drop(&mut self) {
        let mut rest: Vec<Tree<'_>> = std::mem::take(&mut self.0)
            .into_values()
            .flatten()
            .collect();
        while let Some(mut tree) = rest.pop() {
            rest.extend(std::mem::take(&mut tree.0).into_values().flatten());
        }
    }
}

fn paths(call: &Call<'_>, operands: &[Value]) -> Result<Vec<Vec<Value>>, Failure> {
    let paths = items(operands, 2, &["set", "array"])?;
    paths.map(|path| keys(call, path)).collect()
}

fn filter(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    object(operands, 1)?;
    let paths = paths(call, operands)?;
    answer(filtered(call, any(operands, 1), &Tree::of(&paths))?)
}

fn filtered(call: &Call<'_>, value: &Value, tree: &Tree<'_>) -> Result<Value, Failure> {
    call.check()?;
    let below = |key: &Value, value: &Value| -> Result<Option<Value>, Failure> {
        Ok(match tree.0.get(key) {
            None => None,
            Some(None) => Some(value.clone()),
            Some(Some(tree)) => Some(filtered(call, value, tree)?),
        })
    };
    Ok(match value {
        Value::Object(members) => {
            let mut result = Object::new();
            for key in tree.0.keys() {
                if let Some((key, value)) = members.get_member(key) {
                    result.extend(below(key, value)?.map(|value| (key.clone(), value)));
                }
            }
            Value::from(result)
        }
        Value::Array(items) => {
            let mut result = Vec::new();
            for (at, item) in items.iter().enumerate() {
                result.extend(below(&Value::from(at.to_string()), item)?);
            }
            Value::from(result)
        }
        Value::Set(members) => {
            let mut result = Set::new();
            for member in members.iter() {
                result.extend(below(member, member)?);
            }
            Value::from(result)
        }
        scalar => scalar.clone(),
    })
}

fn remove(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    object(operands, 1)?;
    let paths = paths(call, operands)?;
    answer(removed(call, any(operands, 1), &Tree::of(&paths))?)
}

fn removed(call: &Call<'_>, value: &Value, tree: &Tree<'_>) -> Result<Value, Failure> {
    call.check()?;
    let below = |key: &Value, value: &Value| -> Result<Option<Value>, Failure> {
        Ok(match tree.0.get(key) {
            None => Some(value.clone()),
            Some(None) => None,
            Some(Some(tree)) => Some(removed(call, value, tree)?),
        })
    };
    Ok(match value {
        Value::Object(members) => {
            let mut result = members.clone();
            for key in tree.0.keys() {
                let Some((key, value)) = members.get_member(key) else {
                    continue;
                };
                match below(key, value)? {
                    Some(value) => result.insert(key.clone(), value),
                    None => result.remove_value(key),
                };
            }
            Value::from(result)
        }
        Value::Array(items) => {
            let mut result = Vec::new();
            for (at, item) in items.iter().enumerate() {
                result.extend(below(&Value::from(at.to_string()), item)?);
            }
            Value::from(result)
        }
        Value::Set(members) => {
            let mut result = Set::new();
            for member in members.iter() {
                result.extend(below(member, member)?);
            }
            Value::from(result)
        }
        scalar => scalar.clone(),
    })
}

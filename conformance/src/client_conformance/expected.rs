//! Expected replies of a client.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::adapter_reply::AdapterReply;
use crate::judge::verdict::Difference;
use crate::scenario::numbers::same;

/// Expected reply of an adapter. An error is an error, however the client's language shows it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum Expected {
    /// Exactly this value.
    Value(Value),
    /// These items, in any order.
    Unordered(Vec<Value>),
    /// A value that contains these values at these JSON pointers.
    At(BTreeMap<String, Value>),
    /// A value that contains any value at each of these JSON pointers.
    Has(Vec<String>),
    /// A decision, and details that contain any value at each of these JSON pointers.
    Details(Vec<String>),
    /// An undefined value.
    Undefined,
    /// An error. If it reports a status, it must be one of these, unless the list is empty.
    Error(Vec<u64>),
    /// An undefined value, or an error.
    NoValue,
    /// Anything but one of these values.
    Not(Vec<Value>),
    /// Success.
    Done,
    /// Failure: false, undefined or an error.
    NotDone,
    /// The value at this JSON pointer in the server's last response.
    Answered(String),
    /// A string that contains all of these.
    Text(Vec<String>),
    /// An array of this length.
    Length(usize),
    /// One of these expectations is met.
    Any(Vec<Expected>),
    /// All of these expectations are met.
    All(Vec<Expected>),
}

impl Expected {
    /// Returns the first difference; `whole` is the complete reply line, and `last` the server's
    /// last response, if it is JSON.
    pub(super) fn difference(
        &self,
        result: &AdapterReply,
        full_reply: &Value,
        last: Option<&Value>,
    ) -> Option<Difference> {
        let (expected, matches) = self.check(result, full_reply, last);
        (!matches).then(|| Difference {
            path: "result".to_owned(),
            expected,
            got: full_reply.to_string(),
        })
    }

    /// Describes the expectation, and whether it is met.
    fn check(
        &self,
        result: &AdapterReply,
        full_reply: &Value,
        last: Option<&Value>,
    ) -> (String, bool) {
        let value = match result {
            AdapterReply::Value(value) => Some(value),
            _ => None,
        };
        match self {
            Self::Value(expected) => (
                format!("the value {expected}"),
                value.is_some_and(|value| same(expected, value)),
            ),
            Self::Unordered(expected) => (
                format!(
                    "these items in any order: {}",
                    Value::from(expected.clone())
                ),
                value.and_then(Value::as_array).is_some_and(|items| {
                    items.len() == expected.len()
                        && expected
                            .iter()
                            .all(|one| count(expected, one) == count(items, one))
                }),
            ),
            Self::At(pointers) => {
                let text: Vec<_> = pointers
                    .iter()
                    .map(|(pointer, expected)| format!("{expected} at {pointer}"))
                    .collect();
                let matches = |(pointer, expected): (&String, &Value)| {
                    let found = value.and_then(|value| value.pointer(pointer));
                    found.is_some_and(|found| same(expected, found))
                };
                (
                    format!("a value with {}", text.join(", ")),
                    pointers.iter().all(matches),
                )
            }
            Self::Has(pointers) => (
                format!("a value with something at {}", pointers.join(", ")),
                has(value, pointers),
            ),
            Self::Details(pointers) => (
                format!(
                    "a value, and details with something at {}",
                    pointers.join(", ")
                ),
                value.is_some() && has(full_reply.get("details"), pointers),
            ),
            Self::Undefined => ("undefined".to_owned(), *result == AdapterReply::Undefined),
            Self::Error(statuses) => {
                let text = match statuses.as_slice() {
                    [] => "an error".to_owned(),
                    statuses => format!(
                        "an error, and {} if it tells a status",
                        joined(statuses.iter().map(u64::to_string))
                    ),
                };
                let matches = match result {
                    AdapterReply::Error(None) => true,
                    AdapterReply::Error(Some(status)) => {
                        statuses.is_empty() || statuses.contains(status)
                    }
                    _ => false,
                };
                (text, matches)
            }
            Self::NoValue => (
                "undefined or an error".to_owned(),
                matches!(result, AdapterReply::Undefined | AdapterReply::Error(_)),
            ),
            Self::Not(values) => (
                format!(
                    "anything but {}",
                    joined(values.iter().map(Value::to_string))
                ),
                !value.is_some_and(|value| values.iter().any(|one| same(one, value))),
            ),
            Self::Done => (
                "that it is done".to_owned(),
                value.is_some_and(|value| *value != Value::Bool(false)),
            ),
            Self::NotDone => (
                "that it is not done: false, undefined or an error".to_owned(),
                value.is_none_or(|value| *value == Value::Bool(false)),
            ),
            Self::Answered(pointer) => {
                let expected = last.and_then(|last| last.pointer(pointer));
                let text = match expected {
                    Some(expected) => format!("what was answered: {expected}"),
                    None => format!("an answer with something at {pointer}"),
                };
                let same = |(expected, value)| same(expected, value);
                (text, expected.zip(value).is_some_and(same))
            }
            Self::Text(texts) => {
                let expected = texts
                    .iter()
                    .map(|text| Value::from(text.as_str()).to_string());
                let expected = expected.collect::<Vec<_>>().join(" and ");
                let value = value.and_then(Value::as_str);
                let holds = |value: &str| texts.iter().all(|text| value.contains(text));
                (format!("a text with {expected}"), value.is_some_and(holds))
            }
            Self::Length(expected) => (
                format!("{expected} items"),
                value
                    .and_then(Value::as_array)
                    .is_some_and(|items| items.len() == *expected),
            ),
            Self::All(all) => {
                let all: Vec<_> = all
                    .iter()
                    .map(|one| one.check(result, full_reply, last))
                    .collect();
                let matches = all.iter().all(|(_, matches)| *matches);
                let texts = all.into_iter().map(|(text, _)| text);
                (texts.collect::<Vec<_>>().join(", and "), matches)
            }
            Self::Any(all) => {
                let all: Vec<_> = all
                    .iter()
                    .map(|one| one.check(result, full_reply, last))
                    .collect();
                let matches = all.iter().any(|(_, matches)| *matches);
                (joined(all.into_iter().map(|(text, _)| text)), matches)
            }
        }
    }
}

fn has(value: Option<&Value>, pointers: &[String]) -> bool {
    let mut pointers = pointers.iter();
    value.is_some_and(|value| pointers.all(|pointer| value.pointer(pointer).is_some()))
}

fn count(items: &[Value], expected: &Value) -> usize {
    items.iter().filter(|item| same(item, expected)).count()
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(" or ")
}

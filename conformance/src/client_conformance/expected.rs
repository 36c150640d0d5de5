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
    pub(super) fn differs(
        &self,
        result: &AdapterReply,
        whole: &Value,
        last: Option<&Value>,
    ) -> Option<Difference> {
        let (expected, fits) = self.fits(result, whole, last);
        (!fits).then(|| Difference {
            path: "result".to_owned(),
            expected,
            got: whole.to_string(),
        })
    }

    /// Describes the expectation, and whether it is met.
    fn fits(&self, result: &AdapterReply, whole: &Value, last: Option<&Value>) -> (String, bool) {
        let value = match result {
            AdapterReply::Value(value) => Some(value),
            _ => None,
        };
        match self {
            Self::Value(wanted) => (
                format!("the value {wanted}"),
                value.is_some_and(|value| same(wanted, value)),
            ),
            Self::Unordered(wanted) => (
                format!("these items in any order: {}", Value::from(wanted.clone())),
                value.and_then(Value::as_array).is_some_and(|items| {
                    items.len() == wanted.len()
                        && wanted
                            .iter()
                            .all(|one| count(wanted, one) == count(items, one))
                }),
            ),
            Self::At(places) => {
                let text: Vec<_> = places
                    .iter()
                    .map(|(pointer, wanted)| format!("{wanted} at {pointer}"))
                    .collect();
                let fits = |(pointer, wanted): (&String, &Value)| {
                    let found = value.and_then(|value| value.pointer(pointer));
                    found.is_some_and(|found| same(wanted, found))
                };
                (
                    format!("a value with {}", text.join(", ")),
                    places.iter().all(fits),
                )
            }
            Self::Has(places) => (
                format!("a value with something at {}", places.join(", ")),
                has(value, places),
            ),
            Self::Details(places) => (
                format!(
                    "a value, and details with something at {}",
                    places.join(", ")
                ),
                value.is_some() && has(whole.get("details"), places),
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
                let fits = match result {
                    AdapterReply::Error(None) => true,
                    AdapterReply::Error(Some(status)) => {
                        statuses.is_empty() || statuses.contains(status)
                    }
                    _ => false,
                };
                (text, fits)
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
                let wanted = last.and_then(|last| last.pointer(pointer));
                let text = match wanted {
                    Some(wanted) => format!("what was answered: {wanted}"),
                    None => format!("an answer with something at {pointer}"),
                };
                let same = |(wanted, value)| same(wanted, value);
                (text, wanted.zip(value).is_some_and(same))
            }
            Self::Text(texts) => {
                let wanted = texts
                    .iter()
                    .map(|text| Value::from(text.as_str()).to_string());
                let wanted = wanted.collect::<Vec<_>>().join(" and ");
                let value = value.and_then(Value::as_str);
                let holds = |value: &str| texts.iter().all(|text| value.contains(text));
                (format!("a text with {wanted}"), value.is_some_and(holds))
            }
            Self::Length(wanted) => (
                format!("{wanted} items"),
                value
                    .and_then(Value::as_array)
                    .is_some_and(|items| items.len() == *wanted),
            ),
            Self::All(all) => {
                let all: Vec<_> = all
                    .iter()
                    .map(|one| one.fits(result, whole, last))
                    .collect();
                let fits = all.iter().all(|(_, fits)| *fits);
                let texts = all.into_iter().map(|(text, _)| text);
                (texts.collect::<Vec<_>>().join(", and "), fits)
            }
            Self::Any(all) => {
                let all: Vec<_> = all
                    .iter()
                    .map(|one| one.fits(result, whole, last))
                    .collect();
                let fits = all.iter().any(|(_, fits)| *fits);
                (joined(all.into_iter().map(|(text, _)| text)), fits)
            }
        }
    }
}

fn has(value: Option<&Value>, places: &[String]) -> bool {
    let mut places = places.iter();
    value.is_some_and(|value| places.all(|pointer| value.pointer(pointer).is_some()))
}

fn count(items: &[Value], wanted: &Value) -> usize {
    items.iter().filter(|item| same(item, wanted)).count()
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(" or ")
}

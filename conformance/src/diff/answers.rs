//! Comparison of responses to the same request.

use std::collections::BTreeSet;

use serde_json::Value;

use super::normalize::Normalizer;
use crate::evidence::{ReceivedResponse, recording};
use crate::judge::openapi::media_type;
use crate::judge::truncate::shorten;
use crate::scenario::resource_names::canonical;

/// A response without its run-dependent parts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NormalizedResponse {
    status: u16,
    /// Media type of the body; `None` without a body.
    media_type: Option<String>,
    body: Body,
}

#[derive(Debug, Clone, PartialEq)]
enum Body {
    None,
    Json(Value),
    Text(String),
}

/// Kind of a difference between responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DifferenceKind {
    /// A value is present in only some responses, or has another type.
    Shape,
    /// Different values of one type.
    Value,
    /// Different sentences for people, whose wording every implementation may choose.
    Words,
}

/// A location at which responses differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerDifference {
    /// Location: `status`, `media-type`, `body`, or a JSON pointer with `*` for the items of
    /// arrays.
    pub(crate) place: String,
    pub(crate) kind: DifferenceKind,
    /// Value at this location in each response.
    pub(crate) values: Vec<String>,
}

impl NormalizedResponse {
    pub(crate) fn of(
        received: &ReceivedResponse,
        vendor: &str,
        normalizer: &Normalizer<'_>,
    ) -> Self {
        let answer = recording::answer(received.clone());
        let text = answer.text();
        let body = match answer.json() {
            _ if text.trim().is_empty() => Body::None,
            Some(json) => Body::Json(normalizer.value(json)),
            None => Body::Text(normalizer.text(text.trim())),
        };
        let media_type = answer
            .header("content-type")
            .map_or_else(|| "absent".to_owned(), |value| media_type(&value, vendor));
        Self {
            status: answer.status,
            media_type: (body != Body::None).then_some(media_type),
            body,
        }
    }
}

impl NormalizedResponse {
    /// If `are`, retains only the first of the messages that the fixture server received: their
    /// number depends on timing.
    pub(crate) fn of_messages(mut self, are: bool) -> Self {
        if are && let Body::Json(Value::Array(messages)) = &mut self.body {
            messages.truncate(1);
        }
        self
    }
}

/// Returns the differences of responses. Bodies of responses with different statuses, and
/// multi-line strings, are not compared.
pub(crate) fn compare_answers(answers: &[NormalizedResponse]) -> Vec<AnswerDifference> {
    let statuses: Vec<String> = answers.iter().map(|one| one.status.to_string()).collect();
    if !all_equal(&statuses) {
        return vec![AnswerDifference {
            place: "status".to_owned(),
            kind: DifferenceKind::Shape,
            values: statuses,
        }];
    }
    let mut found = Vec::new();
    let bodies: Vec<&'static str> = answers.iter().map(|one| one.body.kind()).collect();
    if !all_equal(&bodies) {
        add(&mut found, "body", DifferenceKind::Shape, bodies);
        return found;
    }
    let types: Vec<&str> = answers
        .iter()
        .filter_map(|one| one.media_type.as_deref())
        .collect();
    if !all_equal(&types) {
        add(&mut found, "media-type", DifferenceKind::Shape, types);
    }
    let json = |one: &NormalizedResponse| match &one.body {
        Body::Json(value) => Some(value.clone()),
        // Multi-line strings are for people, or have a format of their own.
        Body::Text(text) if !text.contains('\n') => Some(Value::String(text.clone())),
        Body::Text(_) | Body::None => None,
    };
    let values: Vec<Value> = answers.iter().filter_map(json).collect();
    if values.len() == answers.len() {
        found.extend(compare_values("body", &values));
    }
    found
}

/// Returns the differences between values; `place` is the location of the values.
pub(super) fn compare_values(place: &str, values: &[Value]) -> Vec<AnswerDifference> {
    let mut found = Vec::new();
    let values: Vec<Option<&Value>> = values.iter().map(Some).collect();
    compare(
        if place == "body" { "" } else { place },
        &values,
        &mut found,
    );
    found
}

impl Body {
    fn kind(&self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::Json(_) => "JSON",
            Self::Text(_) => "text",
        }
    }
}

fn all_equal<T: PartialEq>(all: &[T]) -> bool {
    all.windows(2)
        .all(|pair| matches!(pair, [one, other] if one == other))
}

/// Adds a difference, unless one at the same location is known: one array item represents all.
fn add(
    found: &mut Vec<AnswerDifference>,
    place: &str,
    kind: DifferenceKind,
    values: impl IntoIterator<Item = impl Into<String>>,
) {
    let place = if place.is_empty() { "body" } else { place };
    if !found
        .iter()
        .any(|one| one.place == place && one.kind == kind)
    {
        found.push(AnswerDifference {
            place: place.to_owned(),
            kind,
            values: values.into_iter().map(Into::into).collect(),
        });
    }
}

/// Adds the topmost differences between the values at a location.
fn compare(place: &str, values: &[Option<&Value>], found: &mut Vec<AnswerDifference>) {
    if all_equal(values) {
        return;
    }
    let kinds: Vec<&str> = values.iter().map(|value| kind(*value)).collect();
    if !all_equal(&kinds) {
        return add(found, place, DifferenceKind::Shape, kinds);
    }
    match kinds.first() {
        Some(&"an object") => {
            let members = values
                .iter()
                .filter_map(|value| value.and_then(Value::as_object));
            let names: BTreeSet<&String> = members.flat_map(|members| members.keys()).collect();
            for name in names {
                let children: Vec<Option<&Value>> = values
                    .iter()
                    .map(|value| value.and_then(|value| value.get(name)))
                    .collect();
                let name = name.replace('~', "~0").replace('/', "~1");
                compare(&format!("{place}/{name}"), &children, found);
            }
        }
        Some(&"an array") => items(place, values, found),
        _ => add(
            found,
            place,
            kind_of(place, values),
            values.iter().map(|one| described(*one)),
        ),
    }
}

/// Returns the kind of a difference between scalars of one type.
fn kind_of(place: &str, values: &[Option<&Value>]) -> DifferenceKind {
    let name = place.rsplit('/').next().unwrap_or_default();
    let sentence = |value: &Option<&Value>| {
        let text = value.and_then(Value::as_str);
        text.is_some_and(|text| text.contains(' '))
    };
    match name {
        "" | "message" | "error" if values.iter().any(sentence) => DifferenceKind::Words,
        _ => DifferenceKind::Value,
    }
}

fn items(place: &str, values: &[Option<&Value>], found: &mut Vec<AnswerDifference>) {
    let lists: Vec<&Vec<Value>> = values
        .iter()
        .filter_map(|value| value.and_then(Value::as_array))
        .collect();
    let lengths: Vec<usize> = lists.iter().map(|list| list.len()).collect();
    let sorted = |list: &&Vec<Value>| {
        let mut items: Vec<String> = list.iter().map(|item| canonical(item, "")).collect();
        items.sort();
        items
    };
    let orders: Vec<Vec<String>> = lists.iter().map(sorted).collect();
    if !all_equal(&lengths) {
        let descriptions = lengths.iter().map(|length| format!("a list of {length}"));
        return add(found, place, DifferenceKind::Value, descriptions);
    }
    if all_equal(&orders) {
        // The same items in another order.
        return add(
            found,
            place,
            DifferenceKind::Value,
            values.iter().map(|one| described(*one)),
        );
    }
    for index in 0..lengths.first().copied().unwrap_or_default() {
        let children: Vec<Option<&Value>> = lists.iter().map(|list| list.get(index)).collect();
        compare(&format!("{place}/*"), &children, found);
    }
}

fn described(value: Option<&Value>) -> String {
    value.map_or_else(
        || "absent".to_owned(),
        |value| shorten(&canonical(value, "")),
    )
}

fn kind(value: Option<&Value>) -> &'static str {
    match value {
        None => "absent",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(Value::String(_)) => "a string",
        Some(Value::Array(_)) => "an array",
        Some(Value::Object(_)) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::evidence::Payload;

    fn answer(status: u16, media_type: &str, body: &str) -> NormalizedResponse {
        let received = ReceivedResponse {
            status,
            headers: vec![("content-type".to_owned(), media_type.to_owned())],
            body: Payload::of(body.as_bytes()),
        };
        NormalizedResponse::of(&received, "opa", &Normalizer::new("c1", "engine/a/b"))
    }

    const JSON: &str = "application/json";

    #[rstest]
    #[case::status((200, JSON, "{}"), (404, "text/plain", "x"), "status: 200, 404")]
    #[case::no_body((200, JSON, "{}"), (200, JSON, ""), "body: JSON, nothing")]
    #[case::media_type(
        (200, JSON, "1"),
        (200, "text/plain", "1"),
        "media-type: application/json, text/plain"
    )]
    #[case::media_type_of_no_body((204, JSON, ""), (204, "text/plain", ""), "")]
    #[case::absent_member(
        (200, JSON, r#"{"w": {"a": 1}, "r": 1}"#),
        (200, JSON, r#"{"r": 1}"#),
        "/w: an object, absent"
    )]
    #[case::members_of_items(
        (200, JSON, r#"{"r": [{"a": 1, "n/m": "x"}, {"a": 2}]}"#),
        (200, JSON, r#"{"r": [{"a": 1, "n/m": "y"}, {"a": "2"}]}"#),
        r#"/r/*/n~1m: "x", "y"; /r/*/a: a number, a string"#
    )]
    #[case::order((200, JSON, "[1,2]"), (200, JSON, "[2,1]"), "body: [1,2], [2,1]")]
    #[case::length((200, JSON, "[1,2]"), (200, JSON, "[1]"), "body: a list of 2, a list of 1")]
    #[case::text((400, "a/b", "no"), (400, "a/b", "never"), r#"body: "no", "never""#)]
    #[case::later_lines_of_a_text((200, "a/b", "x\ny"), (200, "a/b", "x\nz"), "")]
    #[case::version(
        (200, "application/vnd.opa.x+json", "{\"v\":\"1.2.3\"}"),
        (200, "application/vnd.opa.x+json", "{\"v\":\"2.0.0\"}"),
        ""
    )]
    fn answers_differ_at_their_topmost_places(
        #[case] one: (u16, &str, &str),
        #[case] other: (u16, &str, &str),
        #[case] expected: &str,
    ) {
        let normalized = |(status, media_type, body)| answer(status, media_type, body);
        let found = compare_answers(&[normalized(one), normalized(other)]);
        let lines: Vec<String> = found
            .iter()
            .map(|difference| format!("{}: {}", difference.place, difference.values.join(", ")))
            .collect();
        assert_eq!(lines.join("; "), expected);
    }
}

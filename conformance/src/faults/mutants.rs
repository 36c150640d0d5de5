//! Mutants: general changes of responses, tried for every rule.

use serde_json::Value;

use super::operations::json::{change_at, take_at};
use super::operations::response::{copy, with_body};
use super::operations::set_header;
use crate::http_client::answer::Answer;
use crate::scenario::pointer_globs::places;

/// A response with one general change.
#[derive(Debug)]
pub(crate) struct Mutant {
    /// The change, such as `status 201` or `without /result`.
    pub(crate) change: String,
    pub(crate) answer: Answer,
}

/// Returns every mutant of a response: with another status, without the body, with another content
/// type if the type is documented, with a documented member removed or of another type, and an
/// earlier response to the same request.
pub(crate) fn mutants(
    answer: &Answer,
    members: &[String],
    documents_media_type: bool,
    earlier: Option<&Answer>,
) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let mut add = |change: String, answer: Answer| mutants.push(Mutant { change, answer });
    for status in other_statuses(answer.status) {
        let mut other = copy(answer);
        other.status = status;
        add(format!("status {status}"), other);
    }
    if !answer.body.is_empty() {
        add("no body".to_owned(), with_body(answer, Vec::new()));
    }
    if !answer.body.is_empty() && documents_media_type {
        let mut other = copy(answer);
        set_header(&mut other.headers, "content-type", "text/html");
        add("content type text/html".to_owned(), other);
    }
    if let Some(json) = answer.json() {
        let exists = |pointer: &&String| places(json, pointer).iter().any(Option::is_some);
        for pointer in members.iter().filter(exists) {
            let mut without = json.clone();
            take_at(&mut without, pointer);
            add(format!("without {pointer}"), with_json(answer, &without));
            let mut retyped = json.clone();
            change_at(&mut retyped, pointer, &mut retype);
            add(
                format!("{pointer} of another type"),
                with_json(answer, &retyped),
            );
        }
    }
    if let Some(earlier) = earlier
        && (earlier.status, earlier.plain()) != (answer.status, answer.plain())
    {
        add("stale".to_owned(), copy(earlier));
    }
    mutants
}

/// Returns two other statuses: the next number, and one of another class.
fn other_statuses(status: u16) -> [u16; 2] {
    match status {
        200..300 => [status + 1, 500],
        _ => [status + 1, 200],
    }
}

fn with_json(answer: &Answer, json: &Value) -> Answer {
    with_body(answer, json.to_string().into_bytes())
}

/// Replaces the value by one of another type.
fn retype(value: &mut Value) {
    *value = match value {
        Value::Null | Value::Bool(_) => Value::String(value.to_string()),
        Value::Number(number) => Value::String(number.to_string()),
        Value::String(_) => Value::from(7),
        Value::Array(_) => Value::Object(serde_json::Map::new()),
        Value::Object(_) => Value::Array(Vec::new()),
    };
}

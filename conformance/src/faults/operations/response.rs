//! Changes of responses.

use std::collections::BTreeMap;
use std::io::Write as _;

use bytes::Bytes;
use regex::Regex;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::json::{self, NumberForm, ValuesByPointer, change_at, put_all, put_at, take_at};
use super::spelling::Spelling;
use super::{Replacement, drop_header, set_header, set_headers};
use crate::http_client::answer::Answer;

/// A response in place of the server's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::faults) struct Reply {
    status: u16,
    #[serde(default)]
    header: BTreeMap<String, String>,
    /// A JSON body.
    json: Option<Value>,
    /// A body that is not JSON.
    #[serde(default)]
    body: String,
}

impl Reply {
    pub(in crate::faults) fn answer(&self) -> Answer {
        let mut headers: Vec<(String, String)> = Vec::new();
        let body = match &self.json {
            Some(json) => {
                headers.push(("content-type".to_owned(), "application/json".to_owned()));
                json.to_string()
            }
            None => self.body.clone(),
        };
        set_headers(&mut headers, &self.header);
        Answer::new(self.status, headers, Bytes::from(body))
    }
}

/// A change of a response. Pointers refer to its JSON body; a `*` in them matches every item of an
/// array and any substring of a member's name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::faults) enum AnswerChange {
    /// Sets the status.
    Status(u16),
    /// Removes a header.
    DropHeader(String),
    /// Sets headers.
    SetHeader(BTreeMap<String, String>),
    /// Removes values.
    Drop(String),
    /// Sets values; a missing member is added.
    Set(ValuesByPointer),
    /// Appends items to arrays.
    Push(ValuesByPointer),
    /// Moves a value to another pointer.
    Move(Replacement),
    /// Reverses arrays.
    Reverse(String),
    /// Removes the first item of arrays, the first member of objects.
    DropFirst(String),
    /// Removes the last item of arrays, the last member of objects.
    DropLast(String),
    /// Appends a copy of the first item to arrays.
    Repeat(String),
    /// Empties arrays, objects and strings.
    Empty(String),
    /// Replaces a substring of the body.
    Text(Replacement),
    /// Replaces the body with this string.
    Body(String),
    /// Replaces the body with this JSON.
    Json(Value),
    /// Formats a JSON body on several lines, or on one.
    Pretty(bool),
    /// Encodes a body with gzip, or decodes it.
    Gzip(bool),
    /// Writes a JSON body in another spelling of the same JSON.
    Spell(Spelling),
    /// Prepends a string to the body.
    Prepend(String),
    /// Appends a string to the body.
    Append(String),
    /// Adds a prefix and a suffix to strings.
    Affix {
        at: String,
        #[serde(default)]
        before: String,
        #[serde(default)]
        after: String,
    },
    /// Replaces the matches of a regular expression in the strings at or below `at`; `$1` in `to`
    /// is the first group. Member names are unchanged.
    Replace {
        #[serde(default)]
        at: String,
        #[serde(deserialize_with = "regex")]
        from: Regex,
        to: String,
    },
    /// Replaces each value at `at`, unless it is empty, with `into`, which then has the value at
    /// `to`.
    Wrap { at: String, into: Value, to: String },
    /// Joins the strings in the arrays at `at` into one, with a separator.
    Join { at: String, with: String },
    /// Adds a number to the integers at these pointers.
    Shift { at: Vec<String>, by: i64 },
    /// Writes the numbers at or below these pointers in another form.
    Respell { at: Vec<String>, form: NumberForm },
}

fn regex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Regex, D::Error> {
    let text = String::deserialize(deserializer)?;
    Regex::new(&text).map_err(serde::de::Error::custom)
}

/// Applies these changes to a response.
pub(in crate::faults) fn changed(answer: &Answer, changes: &[AnswerChange]) -> Answer {
    let mut changed = copy(answer);
    for change in changes {
        change.apply(&mut changed);
    }
    changed
}

pub(in crate::faults) fn copy(answer: &Answer) -> Answer {
    Answer::new(answer.status, answer.headers.clone(), answer.body.clone())
}

impl AnswerChange {
    fn apply(&self, answer: &mut Answer) {
        let body = match self {
            Self::Status(status) => {
                answer.status = *status;
                None
            }
            Self::DropHeader(name) => {
                drop_header(&mut answer.headers, name);
                None
            }
            Self::SetHeader(headers) => {
                set_headers(&mut answer.headers, headers);
                None
            }
            Self::Text(replacement) => Some(replacement.apply(&answer.text()).into_bytes()),
            Self::Body(text) => Some(text.clone().into_bytes()),
            Self::Json(value) => Some(value.to_string().into_bytes()),
            Self::Prepend(text) => Some([text.as_bytes(), answer.plain()].concat()),
            Self::Append(text) => Some([answer.plain(), text.as_bytes()].concat()),
            Self::Gzip(encoded) => {
                let decoded = answer.plain().to_vec();
                drop_header(&mut answer.headers, "content-encoding");
                if *encoded {
                    set_header(&mut answer.headers, "content-encoding", "gzip");
                }
                Some(decoded)
            }
            Self::Pretty(pretty) => answer.json().map(|json| serialize(json, *pretty)),
            Self::Spell(spelling) => answer.json().map(|json| spelling.write(json).into_bytes()),
            _ => answer.json().cloned().map(|mut json| {
                self.edit(&mut json);
                serialize(&json, answer.text().trim().contains('\n'))
            }),
        };
        if let Some(body) = body {
            *answer = with_body(answer, body);
        }
    }

    /// Applies the change to the values of a JSON body.
    fn edit(&self, body: &mut Value) {
        let mut change = |at: &str, change: &dyn Fn(&mut Value)| {
            change_at(body, at, &mut |target| change(target));
        };
        match self {
            Self::Drop(at) => drop(take_at(body, at)),
            Self::Set(values) => put_all(body, values),
            Self::Push(values) => {
                for (at, value) in values {
                    change(at, &|target| json::push(target, value));
                }
            }
            Self::Move(Replacement { from, to }) => {
                if let Some(value) = take_at(body, from) {
                    put_at(body, to, &value);
                }
            }
            Self::Reverse(at) => change(at, &json::reverse),
            Self::DropFirst(at) => change(at, &json::drop_first),
            Self::DropLast(at) => change(at, &json::drop_last),
            Self::Repeat(at) => change(at, &json::repeat_first),
            Self::Empty(at) => change(at, &json::empty),
            Self::Affix { at, before, after } => change(at, &|target| {
                if let Value::String(text) = target {
                    *text = format!("{before}{text}{after}");
                }
            }),
            Self::Replace { at, from, to } => change(at, &|target| json::replace(target, from, to)),
            Self::Wrap { at, into, to } => change(at, &|target| json::wrap(target, into, to)),
            Self::Join { at, with } => change(at, &|target| json::join(target, with)),
            Self::Shift { at, by } => at.iter().for_each(|at| {
                change(at, &|target| json::shift(target, *by));
            }),
            Self::Respell { at, form } => at.iter().for_each(|at| {
                change(at, &|target| form.respell(target));
            }),
            _ => {}
        }
    }
}

fn serialize(json: &Value, pretty: bool) -> Vec<u8> {
    if pretty {
        serde_json::to_vec_pretty(json).unwrap_or_default()
    } else {
        json.to_string().into_bytes()
    }
}

/// Returns the response with another body, encoded as the headers say. An existing length is
/// updated.
pub(in crate::faults) fn with_body(answer: &Answer, decoded_body: Vec<u8>) -> Answer {
    let mut headers = answer.headers.clone();
    let gzip = answer.header("content-encoding");
    let body = match gzip.is_some_and(|value| value.eq_ignore_ascii_case("gzip")) {
        true => gzipped(&decoded_body),
        false => decoded_body,
    };
    if answer.header("content-length").is_some() {
        set_header(&mut headers, "content-length", &body.len().to_string());
    }
    Answer::new(answer.status, headers, Bytes::from(body))
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

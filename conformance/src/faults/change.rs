//! Changes of requests and responses.

use std::collections::BTreeMap;
use std::io::Write as _;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::alteration::Places;
use super::json_edit::{Step, change_at, put_at, take_at};
use super::reword::{Affix, Join, Replace, Respell, Shift, Wrap};
use super::select::pairs;
use super::spelling::Spelling;
use crate::http_client::answer::Answer;
use crate::http_client::wire::Outgoing;

/// A change of a request. Pointers refer to its JSON body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum RequestChange {
    /// Removes a header.
    DropHeader(String),
    /// Sets headers.
    SetHeader(BTreeMap<String, String>),
    /// Removes a query parameter.
    DropQuery(String),
    /// Sets query parameters, in encoded form.
    SetQuery(BTreeMap<String, String>),
    /// Uses another method.
    Method(Method),
    /// Replaces a part of the path.
    Path(Swap),
    /// Removes a value from the body.
    Drop(String),
    /// Sets values in the body.
    Set(Places),
    /// Replaces a substring of the body.
    Text(Swap),
    /// Sends this string as the body.
    Body(String),
    /// Sends the request as the administrator, whatever its identity.
    AsAdministrator(bool),
}

/// The methods that a request may be changed to.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Method {
    Get,
    Put,
    Post,
    Patch,
    Delete,
}

/// Replacement of every occurrence of a substring.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Swap {
    from: String,
    to: String,
}

impl Swap {
    fn apply(&self, text: &str) -> String {
        text.replace(&self.from, &self.to)
    }
}

/// A response in place of the server's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Reply {
    status: u16,
    #[serde(default)]
    header: BTreeMap<String, String>,
    /// A JSON body.
    json: Option<Value>,
    /// Any other body.
    #[serde(default)]
    body: String,
}

impl Reply {
    pub(super) fn answer(&self) -> Answer {
        let mut headers: Vec<(String, String)> = Vec::new();
        let body = match &self.json {
            Some(json) => {
                headers.push(("content-type".to_owned(), "application/json".to_owned()));
                json.to_string()
            }
            None => self.body.clone(),
        };
        for (name, value) in &self.header {
            set(&mut headers, name, value);
        }
        Answer::new(self.status, headers, Bytes::from(body))
    }
}

/// A change of a response. Pointers refer to its JSON body; a `*` in them matches every item of an
/// array and any substring of a member's name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum AnswerChange {
    /// Sets the status.
    Status(u16),
    /// Removes a header.
    DropHeader(String),
    /// Sets headers.
    SetHeader(BTreeMap<String, String>),
    /// Removes values.
    Drop(String),
    /// Sets values; a missing member is added.
    Set(Places),
    /// Appends items to arrays.
    Push(Places),
    /// Moves a value to another pointer.
    Move(Swap),
    /// Reverses arrays.
    Reverse(String),
    /// Removes the first item of arrays, the first member of objects.
    DropFirst(String),
    /// Removes the last item of arrays, the last member of objects.
    DropLast(String),
    /// Repeats the first item of arrays.
    Repeat(String),
    /// Empties arrays, objects and strings.
    Empty(String),
    /// Replaces a substring of the body.
    Text(Swap),
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
    Affix(Affix),
    /// Replaces the matches of a regular expression in strings.
    Replace(Replace),
    /// Wraps values in others.
    Wrap(Wrap),
    /// Joins an array of strings into one string.
    Join(Join),
    /// Adds a number to whole numbers.
    Shift(Shift),
    /// Writes numbers in another form.
    Respell(Respell),
}

/// Applies these changes to a request; `administrator` is the administrator's Authorization header.
pub(super) fn request<'a>(
    request: &Outgoing,
    changes: impl IntoIterator<Item = &'a RequestChange>,
    administrator: Option<&str>,
) -> Outgoing {
    let mut sent = request.clone();
    for change in changes {
        match change {
            RequestChange::DropHeader(name) => drop_header(&mut sent.headers, name),
            RequestChange::SetHeader(headers) => {
                for (name, value) in headers {
                    set(&mut sent.headers, name, value);
                }
            }
            RequestChange::DropQuery(name) => {
                sent.path =
                    with_query(&sent.path, |pairs| pairs.retain(|(known, _)| known != name));
            }
            RequestChange::SetQuery(values) => {
                sent.path = with_query(&sent.path, |pairs| {
                    pairs.retain(|(known, _)| !values.contains_key(known));
                    let added = values.iter().map(|(name, to)| (name.clone(), to.clone()));
                    pairs.extend(added);
                });
            }
            RequestChange::Method(method) => {
                sent.method = match method {
                    Method::Get => "GET",
                    Method::Put => "PUT",
                    Method::Post => "POST",
                    Method::Patch => "PATCH",
                    Method::Delete => "DELETE",
                };
            }
            RequestChange::Path(swap) => sent.path = swap.apply(&sent.path),
            RequestChange::Drop(pointer) => json_body(&mut sent.body, |body| {
                take_at(body, pointer);
            }),
            RequestChange::Set(values) => json_body(&mut sent.body, |body| {
                for (pointer, value) in values {
                    put_at(body, pointer, value);
                }
            }),
            RequestChange::Text(swap) => {
                let text = swap.apply(&String::from_utf8_lossy(&sent.body));
                sent.body = Bytes::from(text);
            }
            RequestChange::Body(text) => sent.body = Bytes::from(text.clone()),
            RequestChange::AsAdministrator(on) => {
                if let Some(value) = administrator.filter(|_| *on) {
                    set(&mut sent.headers, "authorization", value);
                }
            }
        }
    }
    sent
}

/// Applies these changes to a raw request; only [`RequestChange::Text`] applies to one.
pub(super) fn raw_request<'a>(
    bytes: &[u8],
    changes: impl IntoIterator<Item = &'a RequestChange>,
) -> Vec<u8> {
    changes.into_iter().fold(bytes.to_vec(), |sent, change| {
        if let RequestChange::Text(swap) = change {
            swap.apply(&String::from_utf8_lossy(&sent)).into_bytes()
        } else {
            sent
        }
    })
}

/// Applies these changes to a response.
pub(super) fn answer(answer: &Answer, changes: &[AnswerChange]) -> Answer {
    changes.iter().fold(copy(answer), changed)
}

pub(super) fn copy(answer: &Answer) -> Answer {
    Answer::new(answer.status, answer.headers.clone(), answer.body.clone())
}

fn changed(mut answer: Answer, change: &AnswerChange) -> Answer {
    let at = |pointer: &str, change: &dyn Fn(&mut Value)| {
        with_json(&answer, |body| change_at(body, pointer, change))
    };
    match change {
        AnswerChange::Status(status) => answer.status = *status,
        AnswerChange::DropHeader(name) => drop_header(&mut answer.headers, name),
        AnswerChange::SetHeader(headers) => {
            for (name, value) in headers {
                set(&mut answer.headers, name, value);
            }
        }
        AnswerChange::Drop(pointer) => {
            return with_json(&answer, |body| {
                take_at(body, pointer);
            });
        }
        AnswerChange::Set(values) => {
            return with_json(&answer, |body| {
                for (pointer, value) in values {
                    put_at(body, pointer, value);
                }
            });
        }
        AnswerChange::Push(values) => {
            return with_json(&answer, |body| {
                for (pointer, value) in values {
                    let push = |place: &mut Value| {
                        if let Value::Array(items) = place {
                            items.push(value.clone());
                        }
                    };
                    change_at(body, pointer, &push);
                }
            });
        }
        AnswerChange::Move(Swap { from, to }) => {
            return with_json(&answer, |body| {
                if let Some(value) = take_at(body, from) {
                    put_at(body, to, &value);
                }
            });
        }
        AnswerChange::Reverse(pointer) => return at(pointer, &|place| Step::Reverse.apply(place)),
        AnswerChange::DropFirst(pointer) => {
            return at(pointer, &|place| Step::DropFirst.apply(place));
        }
        AnswerChange::DropLast(pointer) => {
            return at(pointer, &|place| Step::DropLast.apply(place));
        }
        AnswerChange::Repeat(pointer) => return at(pointer, &|place| Step::Repeat.apply(place)),
        AnswerChange::Empty(pointer) => return at(pointer, &|place| Step::Empty.apply(place)),
        AnswerChange::Text(swap) => {
            let text = swap.apply(&answer.text());
            return with_body(&answer, text.into_bytes());
        }
        AnswerChange::Body(text) => return with_body(&answer, text.clone().into_bytes()),
        AnswerChange::Json(value) => return with_body(&answer, value.to_string().into_bytes()),
        AnswerChange::Pretty(pretty) => {
            if let Some(json) = answer.json() {
                return with_body(&answer, serialize(json, *pretty));
            }
        }
        AnswerChange::Gzip(encoded) => {
            let plain = answer.plain().to_vec();
            drop_header(&mut answer.headers, "content-encoding");
            if *encoded {
                set(&mut answer.headers, "content-encoding", "gzip");
            }
            return with_body(&answer, plain);
        }
        AnswerChange::Spell(spelling) => {
            if let Some(json) = answer.json() {
                return with_body(&answer, spelling.write(json).into_bytes());
            }
        }
        AnswerChange::Prepend(text) => {
            let body = [text.as_bytes(), answer.plain()].concat();
            return with_body(&answer, body);
        }
        AnswerChange::Append(text) => {
            let body = [answer.plain(), text.as_bytes()].concat();
            return with_body(&answer, body);
        }
        AnswerChange::Affix(affix) => return with_json(&answer, |body| affix.apply(body)),
        AnswerChange::Replace(replace) => return with_json(&answer, |body| replace.apply(body)),
        AnswerChange::Wrap(wrap) => return with_json(&answer, |body| wrap.apply(body)),
        AnswerChange::Join(join) => return with_json(&answer, |body| join.apply(body)),
        AnswerChange::Shift(shift) => return with_json(&answer, |body| shift.apply(body)),
        AnswerChange::Respell(respell) => return with_json(&answer, |body| respell.apply(body)),
    }
    answer
}

/// Returns the response with a changed JSON body in the original format; without JSON, a copy.
fn with_json(answer: &Answer, change: impl FnOnce(&mut Value)) -> Answer {
    let Some(mut body) = answer.json().cloned() else {
        return copy(answer);
    };
    change(&mut body);
    let pretty = answer.text().trim().contains('\n');
    with_body(answer, serialize(&body, pretty))
}

fn serialize(json: &Value, pretty: bool) -> Vec<u8> {
    if pretty {
        serde_json::to_vec_pretty(json).unwrap_or_default()
    } else {
        json.to_string().into_bytes()
    }
}

/// Returns the response with another body, under the encoding and length of its headers.
pub(super) fn with_body(answer: &Answer, plain: Vec<u8>) -> Answer {
    let mut headers = answer.headers.clone();
    let gzip = answer.header("content-encoding");
    let body = match gzip.is_some_and(|value| value.eq_ignore_ascii_case("gzip")) {
        true => gzipped(&plain),
        false => plain,
    };
    if answer.header("content-length").is_some() {
        set(&mut headers, "content-length", &body.len().to_string());
    }
    Answer::new(answer.status, headers, Bytes::from(body))
}

fn gzipped(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(plain);
    encoder.finish().unwrap_or_default()
}

fn json_body(body: &mut Bytes, change: impl FnOnce(&mut Value)) {
    if let Ok(mut json) = serde_json::from_slice::<Value>(body) {
        change(&mut json);
        *body = Bytes::from(json.to_string());
    }
}

fn with_query(target: &str, change: impl FnOnce(&mut Vec<(String, String)>)) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut pairs = pairs(query);
    change(&mut pairs);
    let parts: Vec<String> = pairs
        .into_iter()
        .map(|(name, value)| match value.is_empty() {
            true => name,
            false => format!("{name}={value}"),
        })
        .collect();
    match parts.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", parts.join("&")),
    }
}

pub(super) fn drop_header(headers: &mut Vec<(String, String)>, name: &str) {
    headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
}

pub(super) fn set(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    drop_header(headers, name);
    headers.push((name.to_owned(), value.to_owned()));
}

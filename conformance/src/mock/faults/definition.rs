//! Fault definitions in files and requests.

use std::collections::BTreeSet;

use http::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::faults::{Alteration, Fault, Recipient};

/// A fault: an alteration of exchanges, and how an exchange ends without a complete response.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    /// Behaviour of the broken server, as a sentence; may be empty.
    pub(super) breaks: String,
    pub(super) alteration: Alteration,
    pub(super) ending: Option<Ending>,
    /// Number of requests that the fault affects once enabled; none for any number.
    pub(super) times: Option<u64>,
}

/// How an exchange without a complete response ends, ordered by how much of the response is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::mock) enum Ending {
    /// No response is sent, and the connection stays open.
    Hang,
    /// The connection is closed without a response.
    Close,
    /// The connection is closed after this number of bytes of the body.
    Cut(usize),
}

/// Keys of a fault definition that do not belong to its alteration.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FaultFile {
    breaks: String,
    hang: bool,
    close: bool,
    cut: Option<usize>,
    times: Option<u64>,
}

/// Keys of `FaultFile`, and keys of the suite's fault files that are ignored here.
const FAULT_FIELDS: [&str; 8] = [
    "fault", "breaks", "kills", "also", "hang", "close", "cut", "times",
];

/// Reads a fault file: a list of faults in YAML.
///
/// # Errors
/// The text is not such a list, or a fault has a defect or a repeated name.
pub(super) fn list(text: &str) -> Result<Vec<Definition>, String> {
    let written: Vec<Map<String, Value>> =
        serde_yaml::from_str(text).map_err(|error| error.to_string())?;
    let mut names = BTreeSet::new();
    let mut faults = Vec::with_capacity(written.len());
    for one in written {
        let Some(Value::String(name)) = one.get("fault").cloned() else {
            return Err("a fault without a name; each has one as the text `fault`".to_owned());
        };
        faults.push(Definition::read(&name, one)?);
        if !names.insert(name.clone()) {
            return Err(format!("duplicate name {name}"));
        }
    }
    Ok(faults)
}

impl Definition {
    /// Reads a definition; a fault without a condition affects every request.
    ///
    /// # Errors
    /// An unknown key, a bad pattern, a value that cannot be sent, or no effect.
    pub(super) fn read(name: &str, written: Map<String, Value>) -> Result<Self, String> {
        Self::read_parts(name, written).map_err(|reason| format!("{name}: {reason}"))
    }

    fn read_parts(name: &str, mut alteration: Map<String, Value>) -> Result<Self, String> {
        check_name(name)?;
        check_sent(&alteration)?;
        let mut fields = Map::new();
        for key in FAULT_FIELDS {
            fields.extend(alteration.remove_entry(key));
        }
        let fields: FaultFile =
            serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())?;
        let ending = match (fields.hang, fields.close, fields.cut) {
            (false, false, None) => None,
            (true, false, None) => Some(Ending::Hang),
            (false, true, None) => Some(Ending::Close),
            (false, false, Some(bytes)) => Some(Ending::Cut(bytes)),
            _ => return Err("only one of hang, close and cut can be".to_owned()),
        };
        let unanswered = matches!(ending, Some(Ending::Hang | Ending::Close));
        let answered = ["request", "reply", "answer", "answered", "delay"];
        if unanswered && answered.iter().any(|key| alteration.contains_key(*key)) {
            return Err("there is no answer, so nothing else can be done to it".to_owned());
        }
        if !alteration.contains_key("on") {
            let all = json!(["engine * /", "engine * /**", "control * /", "control * /**"]);
            alteration.insert("on".to_owned(), all);
        }
        let api = Some(Recipient::Engine);
        let alteration = match ending {
            Some(_) => Alteration::read_idle(alteration, api)?,
            None => Alteration::read(alteration, api)?,
        };
        Ok(Self {
            name: name.to_owned(),
            breaks: fields.breaks,
            alteration,
            ending,
            times: fields.times,
        })
    }

    /// Converts a fault of the suite's self tests to one of the mock.
    pub(super) fn of_suite(fault: Fault) -> Self {
        Self {
            name: fault.id,
            breaks: fault.breaks,
            alteration: fault.alteration,
            ending: None,
            times: None,
        }
    }
}

/// Checks that a name is valid in a path and in a header.
fn check_name(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    match !name.is_empty() && name.len() <= 200 && name.chars().all(is_allowed) {
        true => Ok(()),
        false => Err("a name has letters, digits, `-`, `_`, `.` and `/`, 200 at most".to_owned()),
    }
}

/// Checks that statuses and headers named by the fault can be sent.
fn check_sent(written: &Map<String, Value>) -> Result<(), String> {
    let reply = written.get("reply");
    let answer = written.get("answer").and_then(Value::as_array);
    let changes = answer.into_iter().flatten();
    let statuses = changes.clone().chain(reply);
    for status in statuses.filter_map(|one| one.get("status")) {
        if !status
            .as_u64()
            .is_some_and(|status| (200..600).contains(&status))
        {
            return Err(format!("invalid status {status}: expected 200 to 599"));
        }
    }
    let request = written.get("request").and_then(Value::as_array);
    let changes = changes.chain(request.into_iter().flatten());
    let headers = changes.filter_map(|one| one.get("set-header"));
    let headers = headers.chain(reply.and_then(|reply| reply.get("header")));
    for (name, value) in headers.filter_map(Value::as_object).flatten() {
        let value = value.as_str().unwrap_or_default();
        if HeaderName::from_bytes(name.as_bytes()).is_err() || HeaderValue::from_str(value).is_err()
        {
            return Err(format!("invalid header `{name}: {value}`"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::no_list("fault: x", "invalid type: map, expected a sequence")]
    #[case::no_name("- breaks: x", "a fault without a name")]
    #[case::no_effect("- {fault: x}", "x: no effect")]
    #[case::two_endings(
        "- {fault: x, hang: true, close: true}",
        "only one of hang, close and cut"
    )]
    #[case::delay_of_no_answer("- {fault: x, hang: true, delay: 5}", "there is no answer")]
    #[case::no_boolean("- {fault: x, hang: 1}", "x: invalid type: number, expected a boolean")]
    #[case::negative("- {fault: x, cut: -1}", "x: invalid number")]
    #[case::unknown_field("- {fault: x, hangs: true}", "x: unknown field `hangs`")]
    #[case::no_path(
        "- {fault: x, on: GET, hang: true}",
        "x: invalid endpoint `GET`: expected `METHOD /path`"
    )]
    #[case::status_of_a_reply(
        "- {fault: x, reply: {status: 101}}",
        "x: invalid status 101: expected 200 to 599"
    )]
    #[case::status_of_an_answer("- {fault: x, answer: [{status: 1000}]}", "x: invalid status 1000")]
    #[case::header_name(
        "- {fault: x, reply: {status: 200, header: {a b: c}}}",
        "invalid header `a b: c`"
    )]
    #[case::header_value(
        "- {fault: x, answer: [{set-header: {a: \"b\\n\"}}]}",
        "invalid header"
    )]
    #[case::name("- {fault: x y, hang: true}", "x y: a name has letters")]
    #[case::duplicate_name(
        "- {fault: x, hang: true}\n- {fault: x, hang: true}",
        "duplicate name x"
    )]
    fn bad_files_are_refused_with_the_reason(#[case] text: &str, #[case] reason: &str) {
        let refused = list(text).map(|_| ()).err().unwrap_or_default();
        assert!(refused.contains(reason), "{refused}");
    }

    #[rstest]
    #[case::hang(
        "- {fault: x, hang: true, on: 'control GET /v1/sources'}",
        Some(Ending::Hang)
    )]
    #[case::close("- {fault: x, close: true, times: 2}", Some(Ending::Close))]
    #[case::cut("- {fault: x, cut: 3, delay: 5}", Some(Ending::Cut(3)))]
    #[case::delay("- {fault: a/x, kills: [a/b], delay: 5}", None)]
    fn a_fault_is_an_alteration_or_an_ending_or_both(
        #[case] text: &str,
        #[case] ending: Option<Ending>,
    ) {
        let read = list(text).map(|faults| faults.first().map(|fault| fault.ending));
        assert_eq!(read, Ok(Some(ending)));
    }
}

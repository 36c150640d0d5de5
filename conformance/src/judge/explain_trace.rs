//! Facts about the evaluation traces in responses.
//!
//! The document does not name the member that contains a trace, so the array next to `result`
//! counts as the trace. The number of evaluation steps is up to the engine, so rules state some
//! events and their order, never a whole trace. Operations are compared case-insensitively; only
//! one rule checks the spelling of `op`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::http_client::answer::Answer;
use crate::judge::truncate::shorten;
use crate::scenario::numbers::same;
use crate::scenario::pointer_globs::places;
use crate::scenario::resource_names::{canonical, quoted};
use crate::scenario::value_types::kind_names;
use crate::scenario::{Trace, TraceEvent};

/// Maximum number of events in a difference.
const MAX_EVENTS: usize = 40;

impl TraceEvent {
    /// Whether the event matches the pattern and the ids bound so far. If so, binds the event's
    /// ids.
    fn matches<'a>(&self, event: &'a Value, ids: &mut Ids<'a>) -> bool {
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        let same_op = |op: &str| text("op").is_some_and(|found| found.eq_ignore_ascii_case(op));
        let binds = |value: &Value| {
            let bound = places(event, "/locals/*/value/value");
            bound
                .iter()
                .any(|bound| bound.is_some_and(|bound| same(bound, value)))
        };
        let holds = |value: &Value| event.get("node").is_some_and(|node| contains(node, value));
        let is_same = self.op.is_none_or(same_op)
            && self
                .node_type
                .is_none_or(|expected| text("type") == Some(expected))
            && self.holds.as_ref().is_none_or(holds)
            && self.binds.as_ref().is_none_or(binds)
            && !self.binds_not.as_ref().is_some_and(binds);
        if !is_same {
            return false;
        }
        let mut bindings = ids.clone();
        let is_consistent = bindings.bind(self.parent, event.get("parent_id"))
            && bindings.bind(self.query, event.get("query_id"));
        if is_consistent {
            *ids = bindings;
        }
        is_consistent
    }
}

/// Ids of queries, by the names in the patterns.
#[derive(Debug, Clone, Default)]
struct Ids<'a>(BTreeMap<&'static str, &'a Value>);

impl<'a> Ids<'a> {
    /// Binds the name to the id, or checks an existing binding. Returns whether they agree.
    fn bind(&mut self, name: Option<&'static str>, id: Option<&'a Value>) -> bool {
        let Some(name) = name else {
            return true;
        };
        let Some(id) = id else {
            return false;
        };
        match self.0.get(name) {
            Some(known) => *known == id,
            None if self.0.values().any(|taken| *taken == id) => false,
            None => {
                self.0.insert(name, id);
                true
            }
        }
    }
}

/// Whether a value equals another, or contains it at any depth.
fn contains(value: &Value, expected: &Value) -> bool {
    same(value, expected)
        || match value {
            Value::Array(items) => items.iter().any(|item| contains(item, expected)),
            Value::Object(members) => members.values().any(|member| contains(member, expected)),
            _ => false,
        }
}

/// Returns the trace of a response: the array next to `result`.
fn trace_of(answer: &Answer) -> Option<&Vec<Value>> {
    let members = answer.json()?.as_object()?;
    members
        .iter()
        .filter(|(name, _)| *name != "result")
        .find_map(|(_, value)| value.as_array())
}

impl Trace {
    /// Returns the key and value of the transcript line for a response.
    pub(crate) fn line(&self, answer: &Answer, ns: &str) -> (String, String) {
        let trace = trace_of(answer);
        match (self, trace) {
            (Self::Readable(text), _) => ("trace".to_owned(), readable(answer, text, ns)),
            (Self::Absent, None) if answer.json().is_some() => line("trace", "<absent>"),
            // An empty array need not be a trace: it has no event that identifies one.
            (Self::Absent, Some(events)) if events.is_empty() => line("trace", "<absent>"),
            (_, None) => line("trace", &format!("<no trace, status {}>", answer.status)),
            (Self::Absent, Some(events)) => line("trace", &describe_events(events)),
            (Self::Order(expected), Some(events)) => ("trace".to_owned(), order(events, expected)),
            (Self::Without(like), Some(events)) => {
                let found = matching_events(events, like).next();
                let value = found.map_or_else(
                    || "<none>".to_owned(),
                    |event| shorten(&canonical(event, ns)),
                );
                (format!("trace, {like}"), value)
            }
            (Self::Types(like, pointer, kinds), Some(events)) => {
                let is = |found: Option<&Value>| kinds.iter().any(|kind| kind.is(found));
                let values = EventValues {
                    events,
                    like,
                    pointer,
                    ns,
                };
                values.line(&kind_names(kinds), &is)
            }
            (Self::Texts(like, pointer, texts), Some(events)) => {
                let is = |found: Option<&Value>| {
                    let found = found.and_then(Value::as_str);
                    found.is_some_and(|found| texts.contains(&found))
                };
                let values = EventValues {
                    events,
                    like,
                    pointer,
                    ns,
                };
                values.line(&texts.join(" or "), &is)
            }
        }
    }
}

/// Checks the human-readable trace: a string that contains `expected`, or a list of strings, one of
/// which does.
fn readable(answer: &Answer, expected: &str, ns: &str) -> String {
    let members = answer.json().and_then(Value::as_object);
    let mut entries = members.into_iter().flatten();
    let is_trace = |(name, value): &(&String, &Value)| {
        let named = |item: &Value| item.as_str().is_some_and(|text| text.contains(expected));
        *name != "result"
            && match value {
                Value::Array(items) => {
                    items.iter().all(Value::is_string) && items.iter().any(named)
                }
                other => named(other),
            }
    };
    match entries.find(is_trace) {
        Some(_) => format!("<readable, with {}>", quoted(expected)),
        None => shorten(&canonical(answer.json().unwrap_or(&Value::Null), ns)),
    }
}

fn line(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

/// Returns the events that match a pattern. Names of queries are bound anew for each event.
fn matching_events<'a>(
    events: &'a [Value],
    like: &'a TraceEvent,
) -> impl Iterator<Item = &'a Value> {
    events
        .iter()
        .filter(|event| like.matches(event, &mut Ids::default()))
}

/// Finds the events in order, each after the previous one.
fn order(events: &[Value], expected: &[TraceEvent]) -> String {
    let mut ids = Ids::default();
    let mut rest = events.iter();
    for like in expected {
        if !rest.any(|event| like.matches(event, &mut ids)) {
            return format!("<no {like} in its place> {}", describe_events(events));
        }
    }
    let names: Vec<String> = expected.iter().map(ToString::to_string).collect();
    format!("<{}>", names.join(", then "))
}

/// The values at a pointer in each event that matches a pattern.
struct EventValues<'a> {
    events: &'a [Value],
    like: &'a TraceEvent,
    pointer: &'a str,
    ns: &'a str,
}

impl EventValues<'_> {
    /// Returns the line with `allowed` if every value satisfies `is`, otherwise with the first
    /// violation.
    fn line(&self, allowed: &str, is: &dyn Fn(Option<&Value>) -> bool) -> (String, String) {
        let mut found = matching_events(self.events, self.like)
            .flat_map(|event| places(event, self.pointer))
            .peekable();
        let value = if found.peek().is_none() {
            format!("<nowhere> {}", describe_events(self.events))
        } else {
            match found.find(|value| !is(*value)) {
                None => format!("<{allowed}>"),
                Some(None) => "<absent>".to_owned(),
                Some(Some(other)) => shorten(&canonical(other, self.ns)),
            }
        };
        let key = format!("trace, {} {}", self.like, self.pointer);
        (key.trim_end().to_owned(), value)
    }
}

/// Summarizes a trace: operation, type, query and parent of its first events.
fn describe_events(events: &[Value]) -> String {
    let mut short: Vec<String> = events
        .iter()
        .take(MAX_EVENTS)
        .map(|event| {
            let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or("?");
            let id = |name: &str| event.get(name).map_or("?".to_owned(), Value::to_string);
            let (query, parent) = (id("query_id"), id("parent_id"));
            format!("{} {} {query}<{parent}", text("op"), text("type"))
        })
        .collect();
    if events.len() > MAX_EVENTS {
        short.push(format!("… ({} events)", events.len()));
    }
    format!("[{}]", short.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Kind, any_event, event, json};
    use bytes::Bytes;

    /// Response with the trace of a rule that reads a value, compares it, and calls another rule.
    fn answer() -> Answer {
        let event = |op: &str, node_type: &str, ids: (u8, u8), node: Value, bound: Option<u8>| {
            let local = |value| {
                json!({"key": {"type": "var", "value": "x"},
                       "value": {"type": "number", "value": value}})
            };
            let locals: Vec<Value> = bound.into_iter().map(local).collect();
            json!({"op": op, "type": node_type, "query_id": ids.0, "parent_id": ids.1,
                   "node": node, "locals": locals})
        };
        let events = [
            event(
                "enter",
                "rule",
                (1, 0),
                json!({"head": {"name": "p"}}),
                None,
            ),
            event(
                "eval",
                "expr",
                (1, 0),
                json!({"terms": [{"value": 17}]}),
                Some(18),
            ),
            event(
                "enter",
                "rule",
                (2, 1),
                json!({"head": {"name": "q"}}),
                None,
            ),
            event("exit", "rule", (1, 0), json!({"head": {"name": "p"}}), None),
        ];
        let body = json!({"result": [1], "trail": events}).to_string();
        Answer::new(200, Vec::new(), Bytes::from(body))
    }

    #[test]
    fn what_is_said_of_a_trace() {
        let p = || event("Enter").of("rule").holding("p").query("outer");
        let q = || event("Enter").holding("q").query("inner");
        let description = "[enter rule 1<0, eval expr 1<0, enter rule 2<1, exit rule 1<0]";
        let cases = [
            (Trace::Absent, format!("trace = {description}")),
            (
                Trace::Order(vec![p(), q().parent("outer"), event("EXIT").query("outer")]),
                "trace = <Enter rule with \"p\" in outer, then Enter with \"q\" in inner called \
                 from outer, then EXIT in outer>"
                    .to_owned(),
            ),
            (
                Trace::Order(vec![q(), p()]),
                format!("trace = <no Enter rule with \"p\" in outer in its place> {description}"),
            ),
            (
                Trace::Order(vec![p(), q().query("outer")]),
                format!("trace = <no Enter with \"q\" in outer in its place> {description}"),
            ),
            (
                Trace::Order(vec![p(), event("Eval").query("inner")]),
                format!("trace = <no Eval in inner in its place> {description}"),
            ),
            (
                Trace::Order(vec![event("Eval").binding(18)]),
                "trace = <Eval binding 18>".to_owned(),
            ),
            (
                Trace::Order(vec![event("Eval").not_binding(18)]),
                format!("trace = <no Eval not binding 18 in its place> {description}"),
            ),
            (
                Trace::Without(event("Fail")),
                "trace, Fail = <none>".to_owned(),
            ),
            (
                Trace::Texts(any_event(), "/op", vec!["enter", "eval"]),
                "trace, any event /op = \"exit\"".to_owned(),
            ),
            (
                Trace::Types(any_event(), "", vec![Kind::Object]),
                "trace, any event = <object>".to_owned(),
            ),
            (
                Trace::Types(any_event(), "/locals/*/value/type", vec![Kind::String]),
                "trace, any event /locals/*/value/type = <string>".to_owned(),
            ),
            (
                Trace::Types(event("Eval"), "/node/head", vec![Kind::Object]),
                "trace, Eval /node/head = <absent>".to_owned(),
            ),
            (
                Trace::Types(event("Fail"), "/op", vec![Kind::String]),
                format!("trace, Fail /op = <nowhere> {description}"),
            ),
        ];
        let answer = answer();
        for (trace, expected) in cases {
            let (key, value) = trace.line(&answer, "ns");
            assert_eq!(format!("{key} = {value}"), expected, "{trace:?}");
        }
        let untraced = Answer::new(200, Vec::new(), Bytes::from_static(br#"{"result": [1]}"#));
        for (trace, expected) in [
            (Trace::Absent, "<absent>"),
            (Trace::Order(vec![any_event()]), "<no trace, status 200>"),
            (Trace::Without(any_event()), "<no trace, status 200>"),
        ] {
            assert_eq!(trace.line(&untraced, "").1, expected, "{trace:?}");
        }
        let empty = Bytes::from_static(br#"{"result": [1], "warnings": []}"#);
        let empty = Answer::new(200, Vec::new(), empty);
        assert_eq!(Trace::Absent.line(&empty, "").1, "<absent>");
    }
}

//! Expectations on responses, and their conditions.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::scenario::Rows;
use crate::scenario::resource_names::canonical;
use crate::scenario::value_types::kind_names;
use crate::scenario::{Trace, TraceEvent};

/// A fact of a response in the transcript. Pointers are JSON pointers into the body.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// The status code, exactly.
    Status,
    /// The status is one of these: `<200 or 204>`.
    StatusAmong(Vec<u16>),
    /// The status lies in 200–299: `<success>`.
    Success,
    /// The status is 400 or above: `<error>`.
    Error,
    /// The media type without parameters, the target's vendor written as `engine`.
    MediaType,
    /// A header's value, exactly; absent is shown as `<absent>`.
    Header(&'static str),
    /// The string of the body without surrounding white space.
    Text,
    /// Whether the body is empty.
    NoBody,
    /// Whether the JSON body of a success is pretty-printed.
    Pretty,
    /// The value at a pointer (`""` is the whole body), exactly.
    At(String),
    /// The JSON type at a pointer, one of these: `<string>`, `<string or null>`.
    Type(String, Vec<Kind>),
    /// The JSON type wherever the pointer leads: `*` in it matches every item of an array and any
    /// substring of a member's name. It must match something.
    Each(String, Vec<Kind>),
    /// Nothing at the pointer.
    Lacks(String),
    /// Nothing, null or an empty value at the pointer.
    Unset(String),
    /// The array at the pointer, in canonical order.
    Sorted(String),
    /// The queries of a residual at the pointer, in canonical form.
    Residual(String),
    /// The scenario's own names in the array at the pointer (strings, or objects' `name` or `id`),
    /// sorted. A repeated name is shown repeatedly.
    Names(String),
    /// Each query of the residual at the pointer matches one of these lists of patterns: its
    /// conditions, in the form of [`Expectation::Residual`], and the patterns match one to one. `*`
    /// matches anything.
    ResidualLike(String, Vec<Vec<&'static str>>),
    /// The answers to a query at the pointer, restricted to the named variables, in canonical
    /// order.
    Bindings(String, Vec<&'static str>),
    /// The value at the pointer exists, and differs from the one captured under this name.
    OtherThan(String, &'static str),
    /// The body has as many lines as the string captured under this name.
    LinesOf(&'static str),
    /// The memory usage in the body, which is metrics of the process, is at most this many times
    /// that in the metrics captured under this name.
    MemoryWithin(&'static str, u32),
    /// None of the responses during the step's wait took more than half of the whole wait.
    NoLongAnswer,
    /// The object at the pointer has no other members than these.
    NoneBut(String, &'static [&'static str]),
    /// The number of items of the array, exactly.
    Length(String),
    /// The array at the pointer has at most this many items.
    AtMost(String, usize),
    /// Cursors of the list led to further pages, and none of them is empty.
    FilledPages,
    /// The array at the pointer contains this item.
    Includes(String, Value),
    /// Neither the body, as a string, nor a header's value contains this anywhere.
    Without(String),
    /// The body, as a string, contains this, case-insensitively.
    Mentions(&'static str),
    /// One of the named alternatives is met; the transcript names all of them.
    Either(Vec<Alternative>),
    /// Facts of the evaluation trace in the response.
    Trace(Trace),
    /// The rows that the condition of a data filter selects.
    Rows(Rows),
    /// A value that is at the pointer or, at any depth, below it.
    Holds(String, Value),
    /// The value at the pointer has at least this: objects may have further members, and arrays
    /// further items in between.
    Part(String, Value),
}

/// JSON types, and narrower kinds of their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number without fraction.
    Integer,
    /// Any number.
    Number,
    /// A number that is not negative.
    Amount,
    /// A number without fraction that is at least 1.
    Positive,
    /// A string.
    String,
    /// A string that is not empty.
    Text,
    /// A string that is a point in time in the format of RFC 3339 or of HTTP. The year 1 is
    /// excluded: programs write its start for an unset time.
    Time,
    /// An array.
    Array,
    /// An object.
    Object,
    /// No value at all.
    Absent,
}

/// One of several responses that a document allows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// Name in the transcript.
    pub label: &'static str,
    /// All of these must be met.
    pub checks: Vec<Check>,
}

/// A condition on a response inside an alternative.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The status is this.
    Status(u16),
    /// The status lies between these, both included.
    StatusFrom(u16, u16),
    /// The value at the pointer is this.
    Equals(String, Value),
    /// The value at the pointer exists, and differs from this.
    Differs(String, Value),
    /// The JSON type at the pointer is one of these.
    Type(String, Vec<Kind>),
    /// The array at the pointer has at most this many items.
    AtMost(String, usize),
    /// The array at the pointer has at least this many items.
    AtLeast(String, usize),
    /// Nothing at the pointer.
    Lacks(String),
    /// The value is at the pointer or, at any depth, below it.
    Holds(String, Value),
    /// The body is empty.
    NoBody,
    /// The body is metrics, one of which is the memory usage of the process.
    TellsMemory,
}

impl fmt::Display for Check {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = |pointer: &str| match pointer {
            "" => "body".to_owned(),
            pointer => pointer.to_owned(),
        };
        match self {
            Self::Status(status) => write!(out, "status is {status}"),
            Self::StatusFrom(low, high) => write!(out, "status is from {low} to {high}"),
            Self::Equals(pointer, value) => {
                write!(out, "{} is {}", location(pointer), canonical(value, ""))
            }
            Self::Differs(pointer, value) => {
                write!(out, "{} is not {}", location(pointer), canonical(value, ""))
            }
            Self::Type(pointer, kinds) => {
                write!(out, "{} is <{}>", location(pointer), kind_names(kinds))
            }
            Self::AtMost(pointer, most) => {
                write!(out, "length of {} is at most {most}", location(pointer))
            }
            Self::AtLeast(pointer, least) => {
                write!(out, "length of {} is at least {least}", location(pointer))
            }
            Self::Lacks(pointer) => write!(out, "{} is absent", location(pointer)),
            Self::Holds(pointer, value) => {
                write!(out, "{} holds {}", location(pointer), canonical(value, ""))
            }
            Self::NoBody => out.write_str("body is empty"),
            Self::TellsMemory => out.write_str("body tells how much memory is used"),
        }
    }
}

/// Records the status.
pub fn status() -> Expectation {
    Expectation::Status
}

/// Records that the status is one of these.
pub fn status_among(allowed: &[u16]) -> Expectation {
    Expectation::StatusAmong(allowed.to_vec())
}

/// Records that the response is a success (2xx).
pub fn success() -> Expectation {
    Expectation::Success
}

/// Records that the response is an error (400 and above).
pub fn error() -> Expectation {
    Expectation::Error
}

/// Records the media type without parameters.
pub fn media_type() -> Expectation {
    Expectation::MediaType
}

/// Records a header.
pub fn header(name: &'static str) -> Expectation {
    Expectation::Header(name)
}

/// Records the trimmed string of the body.
pub fn text() -> Expectation {
    Expectation::Text
}

/// Records that the body is empty.
pub fn no_body() -> Expectation {
    Expectation::NoBody
}

/// Records whether the JSON body is pretty-printed.
pub fn pretty() -> Expectation {
    Expectation::Pretty
}

/// Records the whole JSON body.
pub fn body() -> Expectation {
    at("")
}

/// Records the value at a pointer.
pub fn at(pointer: impl Into<String>) -> Expectation {
    Expectation::At(pointer.into())
}

/// Records the JSON type at a pointer.
pub fn kind(pointer: impl Into<String>, kind: Kind) -> Expectation {
    Expectation::Type(pointer.into(), vec![kind])
}

/// Records that the JSON type at a pointer is one of these.
pub fn kind_among(pointer: impl Into<String>, kinds: &[Kind]) -> Expectation {
    Expectation::Type(pointer.into(), kinds.to_vec())
}

/// Records the JSON type wherever the pointer, with `*`, leads.
pub fn each(pointer: impl Into<String>, kind: Kind) -> Expectation {
    Expectation::Each(pointer.into(), vec![kind])
}

/// Records that nothing is at the pointer.
pub fn lacks(pointer: impl Into<String>) -> Expectation {
    Expectation::Lacks(pointer.into())
}

/// Records that nothing, null or an empty value is at the pointer.
pub fn unset(pointer: impl Into<String>) -> Expectation {
    Expectation::Unset(pointer.into())
}

/// Records the array at the pointer, ignoring its order.
pub fn sorted(pointer: impl Into<String>) -> Expectation {
    Expectation::Sorted(pointer.into())
}

/// Records the queries of a residual at the pointer, whatever names, order and form of equations
/// the server chose.
pub fn residual(pointer: impl Into<String>) -> Expectation {
    Expectation::Residual(pointer.into())
}

/// Records that each query of a residual at the pointer matches one of these lists: a pattern for
/// each condition, in which `*` matches anything.
pub fn residual_like(
    pointer: impl Into<String>,
    queries: impl Into<Vec<Vec<&'static str>>>,
) -> Expectation {
    Expectation::ResidualLike(pointer.into(), queries.into())
}

/// Records the answers to a query with these variables, whatever names the server adds and in
/// whatever order.
pub fn bindings(pointer: impl Into<String>, variables: &[&'static str]) -> Expectation {
    Expectation::Bindings(pointer.into(), variables.to_vec())
}

/// Records that the value at the pointer differs from the one captured under this name.
pub fn other_than(pointer: impl Into<String>, captured: &'static str) -> Expectation {
    Expectation::OtherThan(pointer.into(), captured)
}

/// Records that the body has as many lines as the string captured under this name.
pub fn lines_of(captured: &'static str) -> Expectation {
    Expectation::LinesOf(captured)
}

/// Records that the memory usage in the body's metrics is at most this many times that in the
/// metrics captured under this name.
pub fn memory_within(captured: &'static str, times: u32) -> Expectation {
    Expectation::MemoryWithin(captured, times)
}

/// Records that no response during the step's wait took more than half of the wait.
pub fn no_long_answer() -> Expectation {
    Expectation::NoLongAnswer
}

/// Records that the object at the pointer has no other members than these.
pub fn none_but(pointer: impl Into<String>, members: &'static [&'static str]) -> Expectation {
    Expectation::NoneBut(pointer.into(), members)
}

/// Records the scenario's own names in the array at the pointer.
pub fn names(pointer: impl Into<String>) -> Expectation {
    Expectation::Names(pointer.into())
}

/// Records the length of the array at the pointer.
pub fn length(pointer: impl Into<String>) -> Expectation {
    Expectation::Length(pointer.into())
}

/// Records that the array at the pointer has at most this many items.
pub fn at_most(pointer: impl Into<String>, limit: usize) -> Expectation {
    Expectation::AtMost(pointer.into(), limit)
}

/// Records that no page after a cursor of the list is empty.
pub fn filled_pages() -> Expectation {
    Expectation::FilledPages
}

/// Records that the array at the pointer contains this item.
pub fn includes(pointer: impl Into<String>, item: Value) -> Expectation {
    Expectation::Includes(pointer.into(), item)
}

/// Records that neither the body nor a header's value contains this string.
pub fn without(text: impl Into<String>) -> Expectation {
    Expectation::Without(text.into())
}

/// Records that the body contains this string, case-insensitively.
pub fn mentions(text: &'static str) -> Expectation {
    Expectation::Mentions(text)
}

/// Records that the value at the pointer has at least these members and items.
pub fn part(pointer: impl Into<String>, value: Value) -> Expectation {
    Expectation::Part(pointer.into(), value)
}

/// Records that the value is at the pointer or, at any depth, below it.
pub fn holds(pointer: impl Into<String>, value: Value) -> Expectation {
    Expectation::Holds(pointer.into(), value)
}

/// Records the rows that the condition of a data filter selects.
pub fn rows(rows: Rows) -> Expectation {
    Expectation::Rows(rows)
}

/// Records that one of the alternatives is met.
pub fn either(alternatives: impl Into<Vec<Alternative>>) -> Expectation {
    Expectation::Either(alternatives.into())
}

/// A named alternative of [`either`].
pub fn alternative(label: &'static str, checks: impl Into<Vec<Check>>) -> Alternative {
    Alternative {
        label,
        checks: checks.into(),
    }
}

/// Records that the response has no trace.
pub fn no_trace() -> Expectation {
    Expectation::Trace(Trace::Absent)
}

/// Records that the trace has events like these, in this order.
pub fn trace(events: impl Into<Vec<TraceEvent>>) -> Expectation {
    Expectation::Trace(Trace::Order(events.into()))
}

/// Records that the trace is human-readable, as one string or as a string for each step, and
/// contains this string.
pub fn readable_trace(text: &'static str) -> Expectation {
    Expectation::Trace(Trace::Readable(text))
}

/// Records that the trace has no event like this.
pub fn trace_without(event: TraceEvent) -> Expectation {
    Expectation::Trace(Trace::Without(event))
}

/// Records the JSON types wherever the pointer leads in each event like this.
pub fn trace_types(event: TraceEvent, pointer: &'static str, kinds: &[Kind]) -> Expectation {
    Expectation::Trace(Trace::Types(event, pointer, kinds.to_vec()))
}

/// Records that each event like this has one of these strings at the pointer.
pub fn trace_texts(
    event: TraceEvent,
    pointer: &'static str,
    texts: &[&'static str],
) -> Expectation {
    Expectation::Trace(Trace::Texts(event, pointer, texts.to_vec()))
}

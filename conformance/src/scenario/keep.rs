//! What a step keeps of its answer, and conditions on it.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::filter::Rows;
use crate::kinds::kind_names;
use crate::names::canonical;
use crate::trace::{Trace, TraceEvent};

/// A fact of an answer that the transcript holds. Pointers are JSON pointers into the body.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
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
    /// The text of the body without white space around it.
    Text,
    /// Whether the body is empty.
    NoBody,
    /// Whether the JSON body of a success is spread over several lines.
    Pretty,
    /// The value at a pointer (`""` is the whole body), exactly.
    At(String),
    /// The JSON type at a pointer, one of these: `<string>`, `<string or null>`.
    Type(String, Vec<Kind>),
    /// The JSON type wherever the pointer leads: `*` in it stands for every item of an array and
    /// for any text in a member's name. It must lead somewhere.
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
    /// sorted.
    /// A name found twice is shown twice.
    Names(String),
    /// The number of the array's items, exactly.
    Length(String),
    /// The array at the pointer has at most this many items.
    AtMost(String, usize),
    /// Cursors of the walk led to further pages, and none of them is empty.
    FilledPages,
    /// The array at the pointer holds this item.
    Includes(String, Value),
    /// Neither the body, as text, nor a header's value holds this anywhere.
    Without(String),
    /// The body, as text and whatever the case of its letters, holds this.
    Mentions(&'static str),
    /// One of the named alternatives holds; the transcript names all of them.
    Either(Vec<Alternative>),
    /// What the evaluation trace of the answer holds.
    Trace(Trace),
    /// The rows that the condition of a data filter selects.
    Rows(Rows),
    /// A value that stands at the pointer or, at any depth, below it.
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
    /// A string that RFC 3339 makes a point in time. The year 1 is none: programs write its
    /// beginning where they have no time.
    Time,
    /// An array.
    Array,
    /// An object.
    Object,
    /// No value at all.
    Absent,
}

/// One of several answers a document allows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// What the transcript calls it.
    pub label: &'static str,
    /// All of these must hold.
    pub checks: Vec<Check>,
}

/// A condition on an answer inside an alternative.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The status is this.
    Status(u16),
    /// The status lies between these, both included.
    StatusFrom(u16, u16),
    /// The value at the pointer is this.
    Equals(String, Value),
    /// The JSON type at the pointer is one of these.
    Type(String, Vec<Kind>),
    /// The array at the pointer has at most this many items.
    AtMost(String, usize),
    /// The array at the pointer has at least this many items.
    AtLeast(String, usize),
    /// Nothing at the pointer.
    Lacks(String),
    /// The value stands at the pointer or, at any depth, below it.
    Holds(String, Value),
    /// The body is empty.
    NoBody,
}

impl fmt::Display for Check {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |pointer: &str| match pointer {
            "" => "body".to_owned(),
            pointer => pointer.to_owned(),
        };
        match self {
            Self::Status(status) => write!(out, "status is {status}"),
            Self::StatusFrom(low, high) => write!(out, "status is from {low} to {high}"),
            Self::Equals(pointer, value) => {
                write!(out, "{} is {}", place(pointer), canonical(value, ""))
            }
            Self::Type(pointer, kinds) => {
                write!(out, "{} is <{}>", place(pointer), kind_names(kinds))
            }
            Self::AtMost(pointer, most) => {
                write!(out, "length of {} is at most {most}", place(pointer))
            }
            Self::AtLeast(pointer, least) => {
                write!(out, "length of {} is at least {least}", place(pointer))
            }
            Self::Lacks(pointer) => write!(out, "{} is absent", place(pointer)),
            Self::Holds(pointer, value) => {
                write!(out, "{} holds {}", place(pointer), canonical(value, ""))
            }
            Self::NoBody => out.write_str("body is empty"),
        }
    }
}

/// Keeps the status.
pub fn status() -> Keep {
    Keep::Status
}

/// Keeps that the status is one of these.
pub fn status_among(allowed: &[u16]) -> Keep {
    Keep::StatusAmong(allowed.to_vec())
}

/// Keeps that the answer is a success (2xx).
pub fn success() -> Keep {
    Keep::Success
}

/// Keeps that the answer is an error (400 and above).
pub fn error() -> Keep {
    Keep::Error
}

/// Keeps the media type without parameters.
pub fn media_type() -> Keep {
    Keep::MediaType
}

/// Keeps a header.
pub fn header(name: &'static str) -> Keep {
    Keep::Header(name)
}

/// Keeps the trimmed text of the body.
pub fn text() -> Keep {
    Keep::Text
}

/// Keeps that the body is empty.
pub fn no_body() -> Keep {
    Keep::NoBody
}

/// Keeps whether the JSON body is spread over lines.
pub fn pretty() -> Keep {
    Keep::Pretty
}

/// Keeps the whole JSON body.
pub fn body() -> Keep {
    at("")
}

/// Keeps the value at a pointer.
pub fn at(pointer: impl Into<String>) -> Keep {
    Keep::At(pointer.into())
}

/// Keeps the JSON type at a pointer.
pub fn kind(pointer: impl Into<String>, kind: Kind) -> Keep {
    Keep::Type(pointer.into(), vec![kind])
}

/// Keeps that the JSON type at a pointer is one of these.
pub fn kind_among(pointer: impl Into<String>, kinds: &[Kind]) -> Keep {
    Keep::Type(pointer.into(), kinds.to_vec())
}

/// Keeps the JSON type wherever the pointer, which has `*`, leads.
pub fn each(pointer: impl Into<String>, kind: Kind) -> Keep {
    Keep::Each(pointer.into(), vec![kind])
}

/// Keeps that nothing is at the pointer.
pub fn lacks(pointer: impl Into<String>) -> Keep {
    Keep::Lacks(pointer.into())
}

/// Keeps that nothing, null or an empty value is at the pointer.
pub fn unset(pointer: impl Into<String>) -> Keep {
    Keep::Unset(pointer.into())
}

/// Keeps the array at the pointer without regard to order.
pub fn sorted(pointer: impl Into<String>) -> Keep {
    Keep::Sorted(pointer.into())
}

/// Keeps the queries of a residual at the pointer, whatever names, order and form of equations the
/// server chose.
pub fn residual(pointer: impl Into<String>) -> Keep {
    Keep::Residual(pointer.into())
}

/// Keeps the scenario's own names in the array at the pointer.
pub fn names(pointer: impl Into<String>) -> Keep {
    Keep::Names(pointer.into())
}

/// Keeps the length of the array at the pointer.
pub fn length(pointer: impl Into<String>) -> Keep {
    Keep::Length(pointer.into())
}

/// Keeps that the array at the pointer has at most this many items.
pub fn at_most(pointer: impl Into<String>, items: usize) -> Keep {
    Keep::AtMost(pointer.into(), items)
}

/// Keeps that no page that a cursor of the walk led to is empty.
pub fn filled_pages() -> Keep {
    Keep::FilledPages
}

/// Keeps that the array at the pointer holds this item.
pub fn includes(pointer: impl Into<String>, item: Value) -> Keep {
    Keep::Includes(pointer.into(), item)
}

/// Keeps that the body nowhere holds this text.
pub fn without(text: impl Into<String>) -> Keep {
    Keep::Without(text.into())
}

/// Keeps that the body holds this text, in whatever case.
pub fn mentions(text: &'static str) -> Keep {
    Keep::Mentions(text)
}

/// Keeps that the value at the pointer has at least these members and items.
pub fn part(pointer: impl Into<String>, value: Value) -> Keep {
    Keep::Part(pointer.into(), value)
}

/// Keeps that the value stands at the pointer or, at any depth, below it.
pub fn holds(pointer: impl Into<String>, value: Value) -> Keep {
    Keep::Holds(pointer.into(), value)
}

/// Keeps the rows that the condition of a data filter selects.
pub fn rows(rows: Rows) -> Keep {
    Keep::Rows(rows)
}

/// Keeps that one of the alternatives holds.
pub fn either(alternatives: impl Into<Vec<Alternative>>) -> Keep {
    Keep::Either(alternatives.into())
}

/// A named alternative of [`either`].
pub fn alternative(label: &'static str, checks: impl Into<Vec<Check>>) -> Alternative {
    Alternative {
        label,
        checks: checks.into(),
    }
}

/// Keeps that the answer has no trace.
pub fn no_trace() -> Keep {
    Keep::Trace(Trace::Absent)
}

/// Keeps that the trace has events like these, in this order.
pub fn trace(events: impl Into<Vec<TraceEvent>>) -> Keep {
    Keep::Trace(Trace::Order(events.into()))
}

/// Keeps that the trace has no event like this.
pub fn trace_without(event: TraceEvent) -> Keep {
    Keep::Trace(Trace::Without(event))
}

/// Keeps the JSON types wherever the pointer leads in each event like this.
pub fn trace_types(event: TraceEvent, pointer: &'static str, kinds: &[Kind]) -> Keep {
    Keep::Trace(Trace::Types(event, pointer, kinds.to_vec()))
}

/// Keeps that each event like this has one of these texts at the pointer.
pub fn trace_texts(event: TraceEvent, pointer: &'static str, texts: &[&'static str]) -> Keep {
    Keep::Trace(Trace::Texts(event, pointer, texts.to_vec()))
}

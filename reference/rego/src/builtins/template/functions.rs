//! Template functions.

use super::compare::{is_any, is_less};
use super::error::Wrong;
use super::escape;
use super::item::{Item, TemplateValue};
use super::parts::{index, length, slice};
use crate::builtins::format::formatted;
use crate::builtins::strings::bound;
use crate::builtins::{Call, Failure};
use crate::value::Characters;

/// Number of operands of a function.
#[derive(Clone, Copy)]
pub(super) enum Arity {
    Exactly(usize),
    AtLeast(usize),
}

/// Values that a parameter accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterType {
    /// Any value, unchanged.
    Items,
    /// Any value for output: an absent value and `null` are equivalent.
    Shown,
    /// A string.
    Text,
}

const FUNCTIONS: &[(&str, Arity)] = &[
    ("and", Arity::AtLeast(1)),
    ("call", Arity::AtLeast(1)),
    ("eq", Arity::AtLeast(1)),
    ("ge", Arity::Exactly(2)),
    ("gt", Arity::Exactly(2)),
    ("html", Arity::AtLeast(0)),
    ("index", Arity::AtLeast(1)),
    ("js", Arity::AtLeast(0)),
    ("le", Arity::Exactly(2)),
    ("len", Arity::Exactly(1)),
    ("lt", Arity::Exactly(2)),
    ("ne", Arity::Exactly(2)),
    ("not", Arity::Exactly(1)),
    ("or", Arity::AtLeast(1)),
    ("print", Arity::AtLeast(0)),
    ("printf", Arity::AtLeast(1)),
    ("println", Arity::AtLeast(0)),
    ("slice", Arity::AtLeast(1)),
    ("urlquery", Arity::AtLeast(0)),
];

/// Returns the name, if it is that of a function.
pub(super) fn function(name: &str) -> Option<&'static str> {
    let mut functions = FUNCTIONS.iter();
    let found = functions.find(|(known, _)| *known == name);
    found.map(|(known, _)| *known)
}

pub(super) fn arity(name: &str) -> Arity {
    let mut functions = FUNCTIONS.iter();
    let found = functions.find(|(known, _)| *known == name);
    found.map_or(Arity::AtLeast(0), |(_, arity)| *arity)
}

/// Returns the type of the parameter at a position, from 0.
pub(super) fn parameter_type(name: &str, position: usize) -> ParameterType {
    match (name, position) {
        ("printf", 0) => ParameterType::Text,
        ("html" | "js" | "print" | "printf" | "println" | "urlquery", _) => ParameterType::Shown,
        _ => ParameterType::Items,
    }
}

/// Calls a function other than `and` and `or`.
pub(super) fn called(call: &Call<'_>, name: &str, operands: &[Item]) -> Result<Item, Wrong> {
    match (name, operands) {
        ("not", [only]) => Ok(Item::from_bool(!only.is_true())),
        ("len", [only]) => length(only),
        ("index", [container, keys @ ..]) => index(call, container, keys),
        ("slice", [container, bounds @ ..]) => slice(call, container, bounds),
        ("eq", [first, others @ ..]) => is_any(call, first, others).map(Item::from_bool),
        ("ne", [left, others @ ..]) => Ok(Item::from_bool(!is_any(call, left, others)?)),
        ("lt", [left, right]) => is_less(call, left, right).map(Item::from_bool),
        ("ge", [left, right]) => Ok(Item::from_bool(!is_less(call, left, right)?)),
        ("le" | "gt", [left, right]) => {
            let is_most =
                is_less(call, left, right)? || is_any(call, left, std::slice::from_ref(right))?;
            Ok(Item::from_bool(is_most == (name == "le")))
        }
        ("printf", [format, arguments @ ..]) => printf(call, format, arguments),
        ("println", _) => write_text(call, |out| spaced(call, operands, out)),
        ("html", _) => escaped(call, operands, escape::html),
        ("js", _) => escaped(call, operands, escape::js),
        ("urlquery", _) => escaped(call, operands, escape::query),
        _ => write_text(call, |out| printed(call, operands, out)),
    }
}

/// Error of calling a value that is not a function.
pub(super) fn not_callable(name: &str, item: &Item) -> Wrong {
    match item.content {
        TemplateValue::Absent => Wrong::message("call of nil"),
        _ => Wrong::Message(format!("non-function {name} of type {}", item.kind())),
    }
}

/// Returns the string that a function writes, charged for its length.
fn write_text(
    call: &Call<'_>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Failure>,
) -> Result<Item, Wrong> {
    let mut out = Vec::new();
    write(&mut out)?;
    bound(out.len())?;
    call.make(out.len() / 16)?;
    Ok(Item::text(&out))
}

fn printf(call: &Call<'_>, format: &Item, arguments: &[Item]) -> Result<Item, Wrong> {
    let format = match &format.content {
        TemplateValue::Text(text, _) => text.as_bytes().unwrap_or_default(),
        _ => &[],
    };
    let arguments: Vec<_> = arguments.iter().map(Item::argument).collect();
    write_text(call, |out| {
        *out = formatted(call, &Characters::of(format), &arguments)?;
        Ok(())
    })
}

/// Prints operands, with a space between two that are not strings.
fn printed(call: &Call<'_>, operands: &[Item], out: &mut Vec<u8>) -> Result<(), Failure> {
    let mut is_after_text = true;
    for item in operands {
        let is_text = item.is_text();
        if !is_after_text && !is_text {
            out.push(b' ');
        }
        item.print(call, out)?;
        is_after_text = is_text;
    }
    Ok(())
}

/// Prints operands separated by spaces.
fn spaced(call: &Call<'_>, operands: &[Item], out: &mut Vec<u8>) -> Result<(), Failure> {
    for (at, item) in operands.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        item.print(call, out)?;
    }
    out.push(b'\n');
    Ok(())
}

/// Prints and escapes operands. Absent values count as strings here.
fn escaped(
    call: &Call<'_>,
    operands: &[Item],
    escape: impl Fn(&[u8]) -> Vec<u8>,
) -> Result<Item, Wrong> {
    let printable = operands.iter().map(|item| match item.content {
        TemplateValue::Absent => Item::text(NOTHING.as_bytes()),
        _ => item.clone(),
    });
    let printable: Vec<Item> = printable.collect();
    write_text(call, |out| {
        let mut unescaped = Vec::new();
        printed(call, &printable, &mut unescaped)?;
        call.make(unescaped.len() / 8)?;
        *out = escape(&unescaped);
        Ok(())
    })
}

/// Output for a missing value.
pub(super) const NOTHING: &str = "<no value>";

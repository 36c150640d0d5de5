//! Formatting with the directives of Go's `fmt`, for `sprintf` and for templates.

mod argument;
mod directive;
mod float;
mod integer;
mod text;
mod value;

pub(super) use argument::{ANY, Argument, LIST, MAP, NUMBER};

use super::strings::bound;
use super::{Call, Failure};
use crate::meter::AbortReason;
use crate::value::Characters;

/// The flags, width and precision between the percent sign and the verb.
#[derive(Default, Clone, Copy)]
struct Flags {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    /// `%+v`
    plus_value: bool,
    /// `%#v`: Go syntax.
    source: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

struct Formatter<'f, 'c> {
    call: &'f Call<'c>,
    arguments: &'f [Argument<'f>],
    next: usize,
    /// Whether a directive named an argument by index, so that other arguments may remain unused.
    reordered: bool,
    /// Whether the index of the current directive is invalid.
    bad_index: bool,
    out: Vec<u8>,
}

/// Whether a format may produce a result much longer than its arguments.
fn is_wide(format: &str) -> bool {
    let digits = |run: &[u8]| run.iter().all(u8::is_ascii_digit);
    format.contains('*') || format.as_bytes().windows(3).any(digits)
}

/// Formats the arguments.
pub(super) fn formatted(
    call: &Call<'_>,
    format: &Characters<'_>,
    arguments: &[Argument<'_>],
) -> Result<Vec<u8>, Failure> {
    if call.meter.is_inline() && is_wide(format.as_str()) {
        return Err(Failure::Aborted(AbortReason::NotInline));
    }
    let mut formatter = Formatter::new(call, arguments);
    formatter.out.reserve(format.as_str().len());
    let end = format.as_str().len();
    let mut rest = format.as_str();
    loop {
        let from = end - rest.len();
        let Some((literal, directive)) = rest.split_once('%') else {
            formatter.out.extend_from_slice(format.bytes(from..end));
            break;
        };
        let literal = format.bytes(from..from + literal.len());
        formatter.out.extend_from_slice(literal);
        formatter.check()?;
        rest = formatter.directive(directive)?;
    }
    formatter.check_unused_arguments()?;
    formatter.check()?;
    Ok(formatter.out)
}

/// Appends an argument formatted by a verb without flags; `v` is the default format.
pub(super) fn print(
    call: &Call<'_>,
    argument: &Argument<'_>,
    verb: char,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let mut formatter = Formatter::new(call, &[]);
    formatter.out = std::mem::take(out);
    let printed = formatter.argument(argument, verb, Flags::default());
    *out = formatter.out;
    printed
}

impl<'f, 'c> Formatter<'f, 'c> {
    fn new(call: &'f Call<'c>, arguments: &'f [Argument<'f>]) -> Self {
        Self {
            call,
            arguments,
            next: 0,
            reordered: false,
            bad_index: false,
            out: Vec::new(),
        }
    }

    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Fails when the evaluation has to end or the result is too long.
    fn check(&self) -> Result<(), Failure> {
        bound(self.out.len())?;
        self.call.check()
    }

    /// Appends a string padded to its width.
    fn pad(&mut self, text: &str, flags: Flags) {
        self.pad_bytes(text.as_bytes(), flags);
    }

    /// Appends bytes padded to their width. Zeros only pad on the left.
    fn pad_bytes(&mut self, text: &[u8], flags: Flags) {
        let missing = match flags.width {
            Some(width) => width.saturating_sub(Characters::count(text)),
            None => 0,
        };
        self.fill_around(missing, flags, |out| out.extend_from_slice(text));
    }

    /// Appends the output of a function, padded to the width on the side that the flags select.
    fn fill_around(&mut self, missing: usize, flags: Flags, write: impl FnOnce(&mut Vec<u8>)) {
        if flags.minus {
            write(&mut self.out);
            self.fill(missing, b' ');
        } else {
            self.fill(missing, if flags.zero { b'0' } else { b' ' });
            write(&mut self.out);
        }
    }

    fn fill(&mut self, count: usize, byte: u8) {
        self.out.resize(self.out.len() + count, byte);
    }
}

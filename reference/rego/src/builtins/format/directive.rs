//! Parses directives: flags, indexes, width, precision and verb.

use super::{Argument, Flags, Formatter};
use crate::builtins::Failure;

/// Minimum width or precision of an invalid directive: a number above a million, and another digit.
const MAX_SIZE: usize = 10_000_010;

/// Maximum width or precision that an argument may specify.
const MAX_ARGUMENT: u64 = 1_000_000;

impl Formatter<'_, '_> {
    /// Formats one directive and returns the rest of the format.
    pub(super) fn directive<'t>(&mut self, text: &'t str) -> Result<&'t str, Failure> {
        self.bad_index = false;
        let (rest, mut flags) = flags(text);
        let (rest, indexed) = self.index(rest);
        let (rest, indexed) = self.width(rest, indexed, &mut flags);
        let (mut rest, indexed) = self.precision(rest, indexed, &mut flags);
        // A width or precision that is too large hides the rest.
        let is_too_large = flags.width.max(flags.precision) >= Some(MAX_SIZE);
        if !indexed && !is_too_large {
            (rest, _) = self.index(rest);
        }
        let verb = rest.chars().next().filter(|_| !is_too_large);
        let Some(verb) = verb else {
            self.push("%!(NOVERB)");
            return Ok("");
        };
        let tail = rest.get(verb.len_utf8()..).unwrap_or_default();
        self.verb(verb, flags)?;
        Ok(tail)
    }

    fn verb(&mut self, verb: char, mut flags: Flags) -> Result<(), Failure> {
        if verb == '%' {
            self.push("%");
        } else if self.bad_index {
            self.push(&format!("%!{verb}(BADINDEX)"));
        } else if let Some(argument) = self.arguments.get(self.next) {
            self.next += 1;
            if matches!(verb, 'v' | 'w') {
                flags.source = std::mem::take(&mut flags.sharp);
                flags.plus_value = std::mem::take(&mut flags.plus);
            }
            self.argument(argument, verb, flags)?;
        } else {
            self.push(&format!("%!{verb}(MISSING)"));
        }
        Ok(())
    }

    fn width<'t>(&mut self, text: &'t str, indexed: bool, flags: &mut Flags) -> (&'t str, bool) {
        let Some(rest) = text.strip_prefix('*') else {
            let (rest, width) = size(text);
            self.bad_index |= indexed && width.is_some();
            flags.width = width;
            return (rest, indexed);
        };
        match self.size_argument() {
            Some(width) => {
                flags.minus |= width < 0;
                flags.width = usize::try_from(width.unsigned_abs()).ok();
            }
            None => self.push("%!(BADWIDTH)"),
        }
        (rest, false)
    }

    fn precision<'t>(
        &mut self,
        text: &'t str,
        indexed: bool,
        flags: &mut Flags,
    ) -> (&'t str, bool) {
        // At the end, a point is the verb.
        let is_hidden = flags.width >= Some(MAX_SIZE) || text == ".";
        let Some(tail) = text.strip_prefix('.').filter(|_| !is_hidden) else {
            return (text, indexed);
        };
        self.bad_index |= indexed;
        let (rest, indexed) = self.index(tail);
        let Some(tail) = rest.strip_prefix('*') else {
            let (tail, precision) = size(rest);
            flags.precision = Some(precision.unwrap_or(0));
            return (tail, indexed);
        };
        let precision = self.size_argument();
        flags.precision = precision.and_then(|precision| usize::try_from(precision).ok());
        if flags.precision.is_none() {
            self.push("%!(BADPREC)");
        }
        (tail, false)
    }

    /// Parses an argument index in brackets; returns the rest, and whether an index was parsed.
    fn index<'t>(&mut self, text: &'t str) -> (&'t str, bool) {
        let Some(tail) = text.strip_prefix('[') else {
            return (text, false);
        };
        self.reordered = true;
        let closed = tail.split_once(']').filter(|_| text.len() > 2);
        let Some((index, rest)) = closed else {
            self.bad_index = true;
            return (tail, false);
        };
        let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
        let index = index.parse::<usize>().unwrap_or(usize::MAX);
        if !is_number || index >= MAX_SIZE {
            self.bad_index = true;
            return (rest, false);
        }
        match index.checked_sub(1).filter(|at| *at < self.arguments.len()) {
            Some(at) => self.next = at,
            None => self.bad_index = true,
        }
        (rest, true)
    }

    /// Reads a width or precision from an argument.
    fn size_argument(&mut self) -> Option<i64> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        match argument {
            Argument::Integer(size, _) => (size.unsigned_abs() <= MAX_ARGUMENT).then_some(*size),
            _ => None,
        }
    }

    /// Reports the arguments that no directive used.
    pub(super) fn check_unused_arguments(&mut self) -> Result<(), Failure> {
        let rest = self.arguments.get(self.next..).unwrap_or_default();
        if self.reordered || rest.is_empty() {
            return Ok(());
        }
        self.push("%!(EXTRA ");
        for (at, argument) in rest.iter().enumerate() {
            self.check()?;
            self.push(if at > 0 { ", " } else { "" });
            self.push(argument.kind());
            if !matches!(argument, Argument::Nil) {
                self.push("=");
                self.argument(argument, 'v', Flags::default())?;
            }
        }
        self.push(")");
        Ok(())
    }
}

fn flags(text: &str) -> (&str, Flags) {
    let mut flags = Flags::default();
    let rest = text.trim_start_matches(|flag| {
        match flag {
            '-' => flags.minus = true,
            '+' => flags.plus = true,
            '#' => flags.sharp = true,
            ' ' => flags.space = true,
            '0' => flags.zero = true,
            _ => return false,
        }
        true
    });
    (rest, flags)
}

/// Parses a width or precision.
fn size(text: &str) -> (&str, Option<usize>) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.get(..text.len() - rest.len()).unwrap_or_default();
    if digits.is_empty() {
        return (text, None);
    }
    (rest, Some(digits.parse().unwrap_or(usize::MAX)))
}

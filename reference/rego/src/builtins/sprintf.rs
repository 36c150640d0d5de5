//! `sprintf`, with the verbs of Go.

use std::borrow::Cow;
use std::fmt::Write;

use num_bigint::{BigInt, Sign};

use super::expected::{CallResult, array};
use super::floats::{Style, exponential, fixed, hexadecimal, shortest};
use super::operand::{answer, characters};
use super::strings::bound;
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::meter::{Ended, Meter};
use crate::value::{Array, Characters, Literal, escape, escape_code, quoted_bytes};

pub(super) const BUILTINS: Group = &[("sprintf", Cost::Product, sprintf)];

/// Widths and precisions from here on are no formats: a digit follows more than a million.
const MAX_SIZE: usize = 10_000_010;

/// What is formatted.
enum Argument<'v> {
    Integer(BigInt),
    Float(f64),
    Text(Cow<'v, [u8]>),
}

impl<'v> Argument<'v> {
    fn of(value: &'v Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text.as_bytes().into()),
            Value::Bytes(bytes) => Self::Text(bytes.as_bytes().into()),
            Value::Number(number) => {
                let text = number.text();
                let float = number.as_f64();
                match number.as_i64() {
                    Some(integer) => Self::Integer(integer.into()),
                    None if !text.contains(['.', 'e', 'E']) => match number.to_integer() {
                        Ok(Some(integer)) => Self::Integer(integer),
                        _ => Self::of_text(text),
                    },
                    None if float.is_finite() => Self::Float(float),
                    None => Self::of_text(text),
                }
            }
            other => Self::Text(Literal(other).to_string().into_bytes().into()),
        }
    }

    fn of_text(text: Cow<'v, str>) -> Self {
        Self::Text(text.into_owned().into_bytes().into())
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Integer(integer) if i64::try_from(integer).is_ok() => "int64",
            Self::Integer(_) => "*big.Int",
            Self::Float(_) => "float64",
            Self::Text(_) => "string",
        }
    }

    fn is_small(&self) -> bool {
        self.kind() == "int64"
    }
}

/// What stands between the percent sign and the verb.
#[derive(Default, Clone, Copy)]
struct Flags {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

struct Formatter<'v> {
    meter: &'v Meter,
    arguments: &'v Array,
    next: usize,
    /// Whether an argument was named by its index, so that others may be left over.
    reordered: bool,
    /// Whether the index that stands here names no argument.
    bad_index: bool,
    out: Vec<u8>,
}

fn sprintf(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let format = characters(operands, 1)?;
    let formatted = formatted(call, &format, array(operands, 2)?)?;
    answer(Value::string(&formatted))
}

/// Whether a format may make its result much longer than its arguments.
fn is_wide(format: &str) -> bool {
    let digits = |run: &[u8]| run.iter().all(u8::is_ascii_digit);
    format.contains('*') || format.as_bytes().windows(3).any(digits)
}

/// The format with the arguments in their places.
pub(super) fn formatted(
    call: &Call<'_>,
    format: &Characters<'_>,
    arguments: &Array,
) -> Result<Vec<u8>, Failure> {
    let mut formatter = Formatter {
        meter: call.meter,
        arguments,
        next: 0,
        reordered: false,
        bad_index: false,
        out: Vec::with_capacity(format.as_str().len()),
    };
    if call.meter.is_trial() && is_wide(format.as_str()) {
        return Err(Failure::Ended(Ended::Trial));
    }
    let end = format.as_str().len();
    let mut rest = format.as_str();
    loop {
        let from = end - rest.len();
        let Some((plain, directive)) = rest.split_once('%') else {
            formatter.out.extend_from_slice(format.bytes(from..end));
            break;
        };
        let plain = format.bytes(from..from + plain.len());
        formatter.out.extend_from_slice(plain);
        bound(formatter.out.len())?;
        call.check()?;
        rest = formatter.directive(directive)?;
    }
    formatter.left_over();
    // An argument that is too large is left out, and ends the evaluation here.
    call.check()?;
    bound(formatter.out.len())?;
    Ok(formatter.out)
}

impl Formatter<'_> {
    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Formats what one directive says, and gives what stands behind it.
    fn directive<'t>(&mut self, text: &'t str) -> Result<&'t str, Failure> {
        let mut flags = Flags::default();
        let mut rest = text;
        self.bad_index = false;
        while let Some(flag) = rest.chars().next().filter(|c| "-+# 0".contains(*c)) {
            match flag {
                '-' => flags.minus = true,
                '+' => flags.plus = true,
                '#' => flags.sharp = true,
                ' ' => flags.space = true,
                _ => flags.zero = true,
            }
            rest = rest.get(1..).unwrap_or_default();
        }
        let mut indexed;
        (rest, indexed) = self.index(rest);
        if let Some(behind) = rest.strip_prefix('*') {
            rest = behind;
            match self.size_argument() {
                Some(width) => {
                    flags.minus |= width < 0;
                    flags.width = usize::try_from(width.unsigned_abs()).ok();
                }
                None => self.push("%!(BADWIDTH)"),
            }
            indexed = false;
        } else {
            let (behind, width) = size(rest);
            self.bad_index |= indexed && width.is_some();
            (rest, flags.width) = (behind, width);
        }
        if let Some(behind) = rest.strip_prefix('.') {
            self.bad_index |= indexed;
            (rest, indexed) = self.index(behind);
            if let Some(behind) = rest.strip_prefix('*') {
                rest = behind;
                flags.precision = match self.size_argument() {
                    Some(precision) => usize::try_from(precision).ok(),
                    None => {
                        self.push("%!(BADPREC)");
                        None
                    }
                };
                indexed = false;
            } else {
                let (behind, precision) = size(rest);
                (rest, flags.precision) = (behind, Some(precision.unwrap_or(0)));
            }
        }
        if !indexed {
            (rest, _) = self.index(rest);
        }
        let Some(verb) = rest.chars().next() else {
            self.push("%!(NOVERB)");
            return Ok(rest);
        };
        let behind = rest.get(verb.len_utf8()..).unwrap_or_default();
        if flags.width.or(flags.precision) >= Some(MAX_SIZE) {
            self.push("%!(NOVERB)");
            return Ok("");
        }
        if verb == '%' {
            self.push("%");
        } else if self.bad_index {
            self.push(&format!("%!{verb}(BADINDEX)"));
        } else if let Some(value) = self.arguments.get(self.next) {
            self.next += 1;
            self.value(value, verb, flags);
        } else {
            self.push(&format!("%!{verb}(MISSING)"));
        }
        Ok(behind)
    }

    /// Reads the index of an argument in brackets.
    fn index<'t>(&mut self, text: &'t str) -> (&'t str, bool) {
        let Some(behind) = text.strip_prefix('[') else {
            return (text, false);
        };
        self.reordered = true;
        let Some((index, behind)) = behind.split_once(']') else {
            self.bad_index = true;
            return (behind, false);
        };
        let index = index.parse::<usize>().ok().filter(|index| *index > 0);
        match index.filter(|index| *index <= self.arguments.len()) {
            Some(index) => {
                self.next = index - 1;
                (behind, true)
            }
            None => {
                self.bad_index = true;
                (behind, true)
            }
        }
    }

    /// The width or precision that an argument gives.
    fn size_argument(&mut self) -> Option<i64> {
        let value = self.arguments.get(self.next)?;
        self.next += 1;
        match value {
            Value::Number(number) => {
                let size = number.as_i64()?;
                let usual = size.unsigned_abs() <= 1_000_000;
                usual.then_some(size)
            }
            _ => None,
        }
    }

    fn value(&mut self, value: &Value, verb: char, mut flags: Flags) {
        // What is shown in its usual form has no sign that is not needed.
        flags.plus &= verb != 'v';
        if bound(self.out.len()).is_err() || !self.meter.unfolds(value) {
            return;
        }
        let argument = Argument::of(value);
        if verb == 'T' {
            let kind = argument.kind();
            return self.pad(kind, flags, false);
        }
        let done = match &argument {
            Argument::Integer(integer) => self.integer(integer, verb, flags, argument.is_small()),
            Argument::Float(float) => self.float(*float, verb, flags),
            Argument::Text(text) => self.text(text, verb, flags),
        };
        if done.is_none() {
            let kind = argument.kind().trim_start_matches('*');
            self.push(&format!("%!{verb}({kind}="));
            let _ = match &argument {
                Argument::Integer(integer) => self.integer(integer, 'v', flags, true),
                Argument::Float(float) => self.float(*float, 'v', flags),
                Argument::Text(text) => self.text(text, 'v', flags),
            };
            self.push(")");
        }
    }

    fn text(&mut self, text: &[u8], verb: char, flags: Flags) -> Option<()> {
        let text = match flags.precision {
            Some(count) => first_characters(text, count),
            None => text,
        };
        match verb {
            'v' if flags.sharp => self.pad(&quoted_bytes(text), flags, false),
            'v' | 's' => self.pad_bytes(text, flags, flags.zero),
            'q' => {
                let raw = str::from_utf8(text)
                    .ok()
                    .filter(|text| flags.sharp && is_raw(text));
                let shown = match raw {
                    Some(text) => format!("`{text}`"),
                    None if flags.plus => ascii_quoted(text),
                    None => quoted_bytes(text),
                };
                self.pad(&shown, flags, flags.zero);
            }
            'x' | 'X' => self.pad(&bytes(text, verb, flags), flags, flags.zero),
            _ => return None,
        }
        Some(())
    }

    fn integer(&mut self, integer: &BigInt, verb: char, flags: Flags, small: bool) -> Option<()> {
        let code = || u32::try_from(integer).ok().and_then(char::from_u32);
        let character = || code().unwrap_or(char::REPLACEMENT_CHARACTER);
        let (radix, prefix) = match verb {
            'v' | 'd' => (10, ""),
            's' if !small => (10, ""),
            'b' => (2, "0b"),
            'o' => (8, "0"),
            'O' => (8, "0o"),
            'x' => (16, "0x"),
            'X' => (16, "0X"),
            'c' if small => {
                self.pad(&character().to_string(), flags, flags.zero);
                return Some(());
            }
            'q' if small => {
                let mut shown = String::from("'");
                let _ = match character() {
                    '\'' => {
                        shown.push_str("\\'");
                        Ok(())
                    }
                    other => escape(other, &mut shown),
                };
                shown.push('\'');
                self.pad(&shown, flags, flags.zero);
                return Some(());
            }
            'U' if small => {
                let mut shown = format!("U+{:04X}", u64::try_from(integer).unwrap_or(0));
                if flags.sharp {
                    shown.push_str(&format!(" '{}'", character()));
                }
                self.pad(&shown, flags, false);
                return Some(());
            }
            _ => return None,
        };
        let negative = integer.sign() == Sign::Minus;
        let mut digits = integer.magnitude().to_str_radix(radix);
        if verb == 'X' {
            digits = digits.to_uppercase();
        }
        if flags.precision == Some(0) && digits == "0" {
            digits.clear();
        }
        let sign = sign(negative, flags);
        let prefix = if flags.sharp || verb == 'O' {
            prefix
        } else {
            ""
        };
        let mut least = flags.precision.unwrap_or(0);
        if flags.precision.is_none() && flags.zero && !flags.minus {
            // The sign counts, a prefix does not.
            least = flags.width.unwrap_or(0).saturating_sub(sign.len());
        }
        let zeros = "0".repeat(least.saturating_sub(digits.len()));
        self.pad(&format!("{sign}{prefix}{zeros}{digits}"), flags, false);
        Some(())
    }

    fn float(&mut self, float: f64, verb: char, flags: Flags) -> Option<()> {
        let size = float.abs();
        let digits = match verb {
            'v' => shortest(
                size,
                flags.precision,
                Style {
                    lower: true,
                    far: flags.sharp,
                },
            ),
            'g' | 'G' => shortest(
                size,
                flags.precision,
                Style {
                    lower: verb == 'g',
                    far: false,
                },
            ),
            'e' | 'E' => exponential(size, flags.precision.unwrap_or(6), verb == 'e'),
            'f' | 'F' => fixed(size, flags.precision.unwrap_or(6)),
            'x' | 'X' => hexadecimal(size, flags.precision, verb == 'x'),
            _ => return None,
        };
        let sign = sign(float.is_sign_negative(), flags);
        let width = flags.width.unwrap_or(0);
        let zeros = if flags.zero && !flags.minus {
            "0".repeat(width.saturating_sub(sign.len() + digits.len()))
        } else {
            String::new()
        };
        self.pad(&format!("{sign}{zeros}{digits}"), flags, false);
        Some(())
    }

    /// Appends a text in its width.
    fn pad(&mut self, text: &str, flags: Flags, zeros: bool) {
        self.pad_bytes(text.as_bytes(), flags, zeros);
    }

    /// Appends a string in its width.
    fn pad_bytes(&mut self, text: &[u8], flags: Flags, zeros: bool) {
        let missing = match flags.width {
            Some(width) => width.saturating_sub(Characters::count(text)),
            None => 0,
        };
        if flags.minus {
            self.out.extend_from_slice(text);
            self.push(&" ".repeat(missing));
        } else {
            let fill = if zeros { "0" } else { " " };
            self.push(&fill.repeat(missing));
            self.out.extend_from_slice(text);
        }
    }

    /// Says which arguments no directive used.
    fn left_over(&mut self) {
        let rest = self.arguments.iter().skip(self.next);
        if self.reordered || rest.len() == 0 {
            return;
        }
        self.push("%!(EXTRA ");
        for (at, value) in rest.enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            if bound(self.out.len()).is_err() || !self.meter.unfolds(value) {
                return;
            }
            let kind = Argument::of(value).kind();
            self.push(&format!("{comma}{kind}="));
            self.value(value, 'v', Flags::default());
        }
        self.push(")");
    }
}

fn sign(negative: bool, flags: Flags) -> &'static str {
    match (negative, flags.plus, flags.space) {
        (true, _, _) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

/// Reads a width or precision.
fn size(text: &str) -> (&str, Option<usize>) {
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.get(..text.len() - behind.len()).unwrap_or_default();
    if digits.is_empty() {
        return (text, None);
    }
    (behind, Some(digits.parse().unwrap_or(usize::MAX)))
}

/// The bytes in hexadecimal, apart if a space is asked for.
fn bytes(text: &[u8], verb: char, flags: Flags) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for (at, byte) in text.iter().enumerate() {
        if at > 0 && flags.space {
            out.push(' ');
        }
        if flags.sharp && (at == 0 || flags.space) {
            out.push_str(if verb == 'x' { "0x" } else { "0X" });
        }
        out.push_str(&match verb {
            'x' => format!("{byte:02x}"),
            _ => format!("{byte:02X}"),
        });
    }
    out
}

/// The string up to so many characters.
fn first_characters(text: &[u8], count: usize) -> &[u8] {
    if text.len() <= count {
        return text;
    }
    let characters = Characters::of(text);
    let mut places = characters.as_str().char_indices();
    match places.nth(count) {
        Some((end, _)) => characters.bytes(0..end),
        None => text,
    }
}

/// Whether a string can stand between backquotes.
fn is_raw(text: &str) -> bool {
    let is_control = |character: char| character.is_control() && character != '\t';
    !text.contains(['`', '\u{7f}', '\u{feff}']) && !text.contains(is_control)
}

/// The string in quotes, with escapes for what is not ASCII.
fn ascii_quoted(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            // Writing to a string does not fail.
            let _ = match character {
                '"' => out.write_str("\\\""),
                other if other.is_ascii() => escape(other, &mut out),
                other => escape_code(other, &mut out),
            };
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

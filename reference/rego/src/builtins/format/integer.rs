//! Formats integers.

use num_bigint::{BigInt, Sign};

use super::text::quoted_character;
use super::{Flags, Formatter};

impl Formatter<'_, '_> {
    /// Appends a 64-bit integer; returns false if the verb does not apply.
    pub(super) fn integer(&mut self, integer: i64, kind: &str, verb: char, flags: Flags) -> bool {
        let code = u32::try_from(integer).ok().and_then(char::from_u32);
        let character = code.unwrap_or(char::REPLACEMENT_CHARACTER);
        match verb {
            // In Go syntax, bytes are hexadecimal.
            'v' if flags.source && kind == "uint8" => {
                let sharp = Flags {
                    sharp: true,
                    ..flags
                };
                self.digits(false, integer.unsigned_abs(), 'x', sharp);
            }
            'v' | 'd' | 'b' | 'o' | 'O' | 'x' | 'X' => {
                self.digits(integer < 0, integer.unsigned_abs(), verb, flags);
            }
            'c' => self.pad(&character.to_string(), flags),
            'q' => self.pad(&quoted_character(character, flags), flags),
            'U' => self.code_point(integer, code, flags),
            _ => return false,
        }
        true
    }

    fn digits(&mut self, negative: bool, size: u64, verb: char, flags: Flags) {
        let blank = Flags {
            zero: false,
            ..flags
        };
        if flags.precision == Some(0) && size == 0 {
            return self.pad("", blank);
        }
        let digits = match verb {
            'b' => format!("{size:b}"),
            'o' | 'O' => format!("{size:o}"),
            'x' => format!("{size:x}"),
            'X' => format!("{size:X}"),
            _ => size.to_string(),
        };
        let sign = sign(negative, flags.plus, flags.space);
        // The sign counts towards the padded width, a prefix does not.
        let minimum = match (flags.precision, flags.width) {
            (Some(precision), _) => precision,
            (None, Some(width)) if flags.zero && !flags.minus => width.saturating_sub(sign.len()),
            _ => 0,
        };
        let zeros = "0".repeat(minimum.saturating_sub(digits.len()));
        let has_zero = !zeros.is_empty() || digits.starts_with('0');
        let prefix = match verb {
            'o' if has_zero => "",
            'O' if flags.sharp && !has_zero => "0o0",
            _ => prefix(verb, flags.sharp),
        };
        self.pad(&format!("{sign}{prefix}{zeros}{digits}"), blank);
    }

    fn code_point(&mut self, integer: i64, code: Option<char>, flags: Flags) {
        let digits = flags.precision.unwrap_or(0).max(4);
        let code_point = integer.cast_unsigned();
        let mut text = format!("U+{code_point:0digits$X}");
        let quoted = code.filter(|_| flags.sharp).map(|character| {
            let quoted = quoted_character(character, Flags::default());
            (character, quoted)
        });
        if let Some((character, quoted)) = quoted
            && (!quoted.contains('\\') || matches!(character, '\\' | '\''))
        {
            text.push_str(&format!(" '{character}'"));
        }
        let blank = Flags {
            zero: false,
            ..flags
        };
        self.pad(&text, blank);
    }

    /// Appends an integer of any size; returns false if the verb does not apply.
    pub(super) fn big_integer(&mut self, integer: &BigInt, verb: char, flags: Flags) -> bool {
        let radix = match verb {
            'v' | 'd' | 's' => 10,
            'b' => 2,
            'o' | 'O' => 8,
            'x' | 'X' => 16,
            _ => return false,
        };
        let mut digits = integer.magnitude().to_str_radix(radix);
        if verb == 'X' {
            digits = digits.to_uppercase();
        }
        let plus = flags.plus || flags.plus_value;
        let sign = sign(integer.sign() == Sign::Minus, plus, flags.space);
        let prefix = prefix(verb, flags.sharp);
        let minimum = flags.precision.unwrap_or(0);
        let mut zeros = minimum.saturating_sub(digits.len());
        let length = sign.len() + prefix.len() + zeros + digits.len();
        // Zeros fill the width, unless a precision is given.
        if flags.zero && !flags.minus && flags.precision.is_none() {
            zeros += flags.width.unwrap_or(0).saturating_sub(length);
        }
        let blank = Flags {
            zero: false,
            ..flags
        };
        let zeros = "0".repeat(zeros);
        self.pad(&format!("{sign}{prefix}{zeros}{digits}"), blank);
        true
    }

    /// Appends the fields of a big integer, as Go does for `w`, a verb that only applies to errors.
    pub(super) fn big_parts(&mut self, integer: &BigInt, flags: Flags) {
        let is_negative = integer.sign() == Sign::Minus;
        let names = flags.source || flags.plus_value;
        self.push(if flags.source { "&big.Int{" } else { "&{" });
        self.push(if names { "neg:" } else { "" });
        self.pad(if is_negative { "true" } else { "false" }, flags);
        self.push(match (flags.source, names) {
            (true, _) => ", abs:big.nat{",
            (_, true) => " abs:[",
            _ => " [",
        });
        let (verb, digits) = match flags.source {
            true => (
                'x',
                Flags {
                    sharp: true,
                    ..flags
                },
            ),
            false => ('d', flags),
        };
        for (at, word) in integer.magnitude().iter_u64_digits().enumerate() {
            self.push(match (at, flags.source) {
                (0, _) => "",
                (_, true) => ", ",
                _ => " ",
            });
            self.digits(false, word, verb, digits);
        }
        self.push(if flags.source { "}}" } else { "]}" });
    }
}

pub(super) fn sign(negative: bool, plus: bool, space: bool) -> &'static str {
    match (negative, plus, space) {
        (true, _, _) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

/// Returns the radix prefix of a verb.
fn prefix(verb: char, sharp: bool) -> &'static str {
    match (verb, sharp) {
        ('O', _) => "0o",
        ('b', true) => "0b",
        ('o', true) => "0",
        ('x', true) => "0x",
        ('X', true) => "0X",
        _ => "",
    }
}

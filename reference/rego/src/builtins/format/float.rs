//! Formats floats and complex numbers.

use super::integer::sign;
use super::{Flags, Formatter};
use crate::builtins::floats::{Style, binary, exponential, fixed, hexadecimal, shortest};

impl Formatter<'_, '_> {
    /// Appends a float; returns false if the verb does not apply.
    pub(super) fn float(&mut self, float: f64, verb: char, flags: Flags) -> bool {
        let Some(digits) = digits(float.abs(), verb, flags) else {
            return false;
        };
        let is_number = float.is_finite();
        let sign = match float.is_nan() {
            true => sign(false, flags.plus, flags.space),
            false => sign(float.is_sign_negative(), flags.plus, flags.space),
        };
        let blank = Flags {
            zero: false,
            ..flags
        };
        let width = flags.width.unwrap_or(0);
        // Padding zeros are between the sign and the digits.
        if flags.zero && !flags.minus && is_number {
            let zeros = "0".repeat(width.saturating_sub(sign.len() + digits.len()));
            self.pad(&format!("{sign}{zeros}{digits}"), blank);
        } else {
            self.pad(&format!("{sign}{digits}"), blank);
        }
        true
    }

    /// Appends a complex number; returns false if the verb does not apply.
    pub(super) fn complex(&mut self, parts: (f64, f64), verb: char, flags: Flags) -> bool {
        let (real, imaginary) = parts;
        if digits(real.abs(), verb, flags).is_none() {
            return false;
        }
        self.push("(");
        self.float(real, verb, flags);
        let signed = Flags {
            plus: true,
            ..flags
        };
        self.float(imaginary, verb, signed);
        self.push("i)");
        true
    }
}

/// Formats the digits of a number without its sign.
fn digits(size: f64, verb: char, flags: Flags) -> Option<String> {
    let lower = verb.is_lowercase();
    let precision = flags.precision;
    let style = Style { lower, far: false };
    let text = match verb {
        'v' | 'g' | 'G' => shortest(size, precision, style),
        'e' | 'E' => exponential(size, precision.unwrap_or(6), lower),
        'f' | 'F' => fixed(size, precision.unwrap_or(6)),
        'x' | 'X' => hexadecimal(size, precision, lower),
        'b' => binary(size),
        _ => return None,
    };
    if size.is_nan() {
        return Some("NaN".to_owned());
    }
    if size.is_infinite() {
        return Some("Inf".to_owned());
    }
    Some(match flags.sharp && verb != 'b' {
        true => pointed(&text, verb, precision),
        false => text,
    })
}

/// Adds a decimal point to a number, and zeros up to the precision.
fn pointed(text: &str, verb: char, precision: Option<usize>) -> String {
    let is_hexadecimal = matches!(verb, 'x' | 'X');
    let marks: &[char] = match is_hexadecimal {
        true => &['p', 'P'],
        false => &['e', 'E'],
    };
    let exponent = text.find(marks).unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at(exponent);
    let mut rendered = mantissa.to_owned();
    let has_point = mantissa.contains('.');
    if !has_point {
        rendered.push('.');
    }
    if matches!(verb, 'v' | 'g' | 'G' | 'x') {
        let precision_or_default = precision.unwrap_or(6);
        // The radix prefix counts as a digit.
        let significant = mantissa.trim_start_matches(['0', '.']);
        let mut digits = significant.chars().filter(|digit| *digit != '.').count();
        if !has_point && mantissa == "0" {
            digits += 1;
        }
        rendered.push_str(&"0".repeat(precision_or_default.saturating_sub(digits)));
    }
    rendered + exponent
}

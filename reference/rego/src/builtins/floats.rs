//! Formatting of floats, as in Go.

/// Style of the shortest representation of a float.
#[derive(Clone, Copy)]
pub(super) struct Style {
    /// Whether the exponent is marked by a lower-case letter.
    pub(super) lower: bool,
    /// Whether values up to 21 digits have no exponent when no precision is given.
    pub(super) far: bool,
}

/// Formats a float with this many digits after the decimal point.
pub(super) fn fixed(size: f64, precision: usize) -> String {
    let exact = precision.min(EXACT);
    let zeros = "0".repeat(precision - exact);
    format!("{size:.exact$}{zeros}")
}

/// Maximum number of digits that a float has after the decimal point; further ones are zeros.
const EXACT: usize = 1100;

/// Formats a float with an exponent of at least two digits.
pub(super) fn exponential(size: f64, precision: usize, lower: bool) -> String {
    let exact = precision.min(EXACT);
    let text = format!("{size:.exact$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let zeros = "0".repeat(precision - exact);
    format!("{mantissa}{zeros}{}", exponent_text(exponent, lower))
}

fn exponent_text(exponent: &str, lower: bool) -> String {
    let mark = if lower { 'e' } else { 'E' };
    match exponent.strip_prefix('-') {
        Some(size) => format!("{mark}-{size:0>2}"),
        None => format!("{mark}+{exponent:0>2}"),
    }
}

/// Formats a float with the fewest or given digits, with an exponent if it is large or near zero.
pub(super) fn shortest(size: f64, precision: Option<usize>, style: Style) -> String {
    let text = match precision {
        None => format!("{size:e}"),
        Some(digits) => format!("{size:.*e}", digits.clamp(1, EXACT) - 1),
    };
    let (mantissa, exponent_digits) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent_digits.parse().unwrap_or(0);
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    let digits = mantissa.len() - usize::from(mantissa.contains('.'));
    let digits = i32::try_from(digits).unwrap_or(i32::MAX);
    let limit = match precision {
        None if style.far => 21,
        None => 6,
        Some(requested) => {
            let requested = i32::try_from(requested.max(1)).unwrap_or(i32::MAX);
            if requested > digits && digits > exponent {
                digits
            } else {
                requested
            }
        }
    };
    if exponent < -4 || exponent >= limit {
        return format!("{mantissa}{}", exponent_text(exponent_digits, style.lower));
    }
    let decimals = usize::try_from(digits - 1 - exponent).unwrap_or(0);
    let rounded: f64 = text.parse().unwrap_or(size);
    format!("{rounded:.decimals$}")
}

/// Formats a float in hexadecimal with a binary exponent.
pub(super) fn hexadecimal(size: f64, precision: Option<usize>, lower: bool) -> String {
    let bits = size.to_bits();
    let mut mantissa = bits & ((1 << 52) - 1);
    let mut exponent = i64::try_from(bits >> 52).unwrap_or(0) - 1023;
    if exponent == -1023 && mantissa == 0 {
        exponent = 0;
    } else if exponent == -1023 {
        let shift = mantissa.leading_zeros() - 11;
        mantissa = (mantissa << shift) & ((1 << 52) - 1);
        exponent = -1022 - i64::from(shift);
    }
    let mut leading = u64::from(size != 0.0);
    let digits = match precision {
        None => format!("{mantissa:013x}").trim_end_matches('0').to_owned(),
        Some(count) if count >= 13 => format!("{mantissa:013x}{}", "0".repeat(count - 13)),
        Some(count) => {
            let dropped = 4 * (13 - count);
            let significand = (leading << 52) | mantissa;
            let (retained, rest) = (significand >> dropped, significand & ((1 << dropped) - 1));
            let half = 1u64 << (dropped - 1);
            let up = rest > half || (rest == half && retained & 1 == 1);
            let mut retained = retained + u64::from(up);
            if retained >> (52 - dropped) > 1 {
                retained >>= 1;
                exponent += 1;
            }
            leading = retained >> (52 - dropped);
            let fraction = retained & ((1 << (52 - dropped)) - 1);
            if count == 0 {
                String::new()
            } else {
                format!("{fraction:0count$x}")
            }
        }
    };
    let dot = if digits.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    let text = format!("0x{leading}{dot}{digits}p{sign}{:02}", exponent.abs());
    if lower { text } else { text.to_uppercase() }
}

/// Formats a float as an integer mantissa and a binary exponent.
pub(super) fn binary(size: f64) -> String {
    let bits = size.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let biased = i64::try_from(bits >> 52).unwrap_or(0);
    let (mantissa, exponent) = match biased {
        0 => (fraction, -1074),
        _ => (fraction | (1 << 52), biased - 1075),
    };
    format!("{mantissa}p{exponent:+}")
}

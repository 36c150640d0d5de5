//! Limits of built-in functions.

use std::fmt;

/// A limit of built-in functions.
#[derive(Debug, Clone, Copy)]
pub struct BuiltinLimit {
    /// Names of the functions; a name that ends in a dot is a prefix.
    pub functions: &'static [&'static str],
    /// Quantity that is limited.
    pub subject: &'static str,
    /// Maximum value.
    pub most: Maximum,
}

/// Maximum that a limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maximum {
    /// Bits of a number.
    Bits(u64),
    /// A number of items.
    Count(usize),
    /// A number of bytes that is a multiple of a MiB.
    Bytes(usize),
    /// Levels of nesting.
    Levels(usize),
}

impl fmt::Display for Maximum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(maximum) => write!(f, "{} bits", grouped(maximum)),
            Self::Count(maximum) => f.write_str(&grouped(maximum)),
            Self::Bytes(maximum) => write!(f, "{} MiB", maximum >> 20),
            Self::Levels(maximum) => write!(f, "{maximum} levels"),
        }
    }
}

/// Formats a number with commas between groups of three digits.
fn grouped(number: impl fmt::Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_groups() {
        assert_eq!(grouped(400), "400");
        assert_eq!(grouped(1 << 20), "1,048,576");
    }
}

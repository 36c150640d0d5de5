//! `regex.globs_match`: whether two simple patterns match a common non-empty string.

use std::collections::BTreeSet;

use super::expected::CallResult;
use super::operand::{answer, characters, refuse};
use super::{BuiltinLimit, Call, Cost, Failure, Group, Maximum};
use crate::Value;

pub(super) const BUILTINS: Group = &[("regex.globs_match", Cost::Stepping, globs_match)];

/// Maximum number of visited pairs of positions, one in each pattern.
const MAX_PAIRS: usize = 4_000_000;

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["regex.globs_match"],
    subject: "pairs of places in both patterns",
    most: Maximum::Count(MAX_PAIRS),
}];

/// Pattern element: one character from any of the ranges.
struct Token {
    ranges: Vec<(char, char)>,
    /// Whether the character may be omitted, and whether it may be repeated.
    optional: bool,
    repeated: bool,
}

/// Range of `.`.
const ANY: (char, char) = ('\0', char::MAX);

impl Token {
    /// Whether both match a common character. Like in OPA, `.` meets even an empty class.
    fn meets(&self, other: &Self) -> bool {
        if self.ranges == [ANY] || other.ranges == [ANY] {
            return true;
        }
        let meet =
            |left: &(char, char), right: &(char, char)| left.0 <= right.1 && right.0 <= left.1;
        let any = |left| other.ranges.iter().any(|right| meet(left, right));
        self.ranges.iter().any(any)
    }
}

fn invalid<T>(pattern: &str, at: usize, reason: &str) -> Result<T, Failure> {
    refuse(format!(
        "input:{pattern}, pos:{at}, {reason}: the input provided is invalid"
    ))
}

fn tokens(pattern: &str) -> Result<Vec<Token>, Failure> {
    let characters: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    let mut tokens = Vec::new();
    while let Some(character) = characters.get(at).copied() {
        at += 1;
        let ranges = match character {
            '.' => vec![ANY],
            '[' => class(pattern, &characters, &mut at)?,
            ']' => return invalid(pattern, at, "set-close ']' with no preceding '['"),
            '*' | '+' => {
                let reason = format!("flag '{character}' must be preceded by a non-flag");
                return invalid(pattern, at, &reason);
            }
            '\\' => {
                let escaped = escaped(pattern, &characters, &mut at)?;
                vec![(escaped, escaped)]
            }
            other => vec![(other, other)],
        };
        let flag = characters.get(at).copied();
        at += usize::from(matches!(flag, Some('*' | '+')));
        tokens.push(Token {
            ranges,
            optional: flag == Some('*'),
            repeated: matches!(flag, Some('*' | '+')),
        });
    }
    Ok(tokens)
}

fn escaped(pattern: &str, characters: &[char], at: &mut usize) -> Result<char, Failure> {
    match characters.get(*at) {
        Some(escaped) => {
            *at += 1;
            Ok(*escaped)
        }
        None => invalid(pattern, *at - 1, "input ends with a \\ (escape) character"),
    }
}

/// Parses a character class at `at` up to its end.
fn class(pattern: &str, characters: &[char], at: &mut usize) -> Result<Vec<(char, char)>, Failure> {
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        let Some(character) = characters.get(*at).copied() else {
            return invalid(pattern, *at, "found [ without matching ]");
        };
        *at += 1;
        match character {
            ']' => return Ok(ranges),
            '\\' => {
                let escaped = escaped(pattern, characters, at)?;
                ranges.push((escaped, escaped));
            }
            '-' => {
                let Some((low, _)) = ranges.pop() else {
                    let reason = "range character '-' must be preceded by a Unicode character";
                    return invalid(pattern, *at, reason);
                };
                let high = match characters.get(*at).copied() {
                    Some(']' | '-') if *at + 1 < characters.len() => {
                        let reason = "range character '-' cannot be followed by a special symbol";
                        return invalid(pattern, *at + 1, reason);
                    }
                    None | Some(']' | '-') => {
                        let reason = "range character '-' must be followed by a Unicode character";
                        return invalid(pattern, *at, reason);
                    }
                    Some('\\') => {
                        *at += 1;
                        escaped(pattern, characters, at)?
                    }
                    Some(high) => {
                        *at += 1;
                        high
                    }
                };
                if high < low {
                    let reason =
                        format!("range is out of order: '{high}' comes before '{low}' in Unicode");
                    return invalid(pattern, *at, &reason);
                }
                ranges.push((low, high));
            }
            other => ranges.push((other, other)),
        }
    }
}

fn globs_match(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (left, right) = (characters(operands, 1)?, characters(operands, 2)?);
    let (left, right) = (tokens(left.as_str())?, tokens(right.as_str())?);
    // Only two empty patterns match the empty string.
    if left.is_empty() && right.is_empty() {
        return answer(true);
    }
    let mut known = BTreeSet::new();
    let mut open = vec![(0usize, 0usize)];
    while let Some(state) = open.pop() {
        if !known.insert(state) {
            continue;
        }
        if known.len() > MAX_PAIRS {
            return refuse("the patterns are too long");
        }
        call.check()?;
        let (i, j) = state;
        let (first, second) = (left.get(i), right.get(j));
        if first.is_some_and(|token| token.optional) {
            open.push((i + 1, j));
        }
        if second.is_some_and(|token| token.optional) {
            open.push((i, j + 1));
        }
        let (Some(first), Some(second)) = (first, second) else {
            continue;
        };
        if first.meets(second) {
            // As in OPA, the last token of each pattern has to match the last character, even if it
            // is optional.
            if i + 1 == left.len() && j + 1 == right.len() {
                return answer(true);
            }
            open.push((i + 1, j + 1));
            if first.repeated {
                open.push((i, j + 1));
            }
            if second.repeated {
                open.push((i + 1, j));
            }
        }
    }
    answer(false)
}

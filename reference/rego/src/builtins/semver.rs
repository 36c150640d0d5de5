//! `semver.*`

use std::cmp::Ordering;

use semver::Version;

use super::expected::CallResult;
use super::operand::{answer, any, refuse, text};
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::value::quoted;

pub(super) const BUILTINS: Group = &[
    ("semver.compare", Cost::Linear, compare),
    ("semver.is_valid", Cost::Linear, |_, operands| {
        let text = any(operands, 1).as_str();
        answer(text.and_then(parsed).is_some())
    }),
];

/// Parses a version, with or without a leading `v`, whose numbers fit 63 bits.
fn parsed(text: &str) -> Option<Version> {
    let version = Version::parse(text.strip_prefix('v').unwrap_or(text)).ok()?;
    let mut numbers = [version.major, version.minor, version.patch].into_iter();
    numbers
        .all(|number| i64::try_from(number).is_ok())
        .then_some(version)
}

fn version(operands: &[Value], position: usize) -> Result<Version, Failure> {
    let text = text(operands, position)?;
    match parsed(text) {
        Some(version) => Ok(version),
        None => {
            let rendered = quoted(text);
            refuse(format!(
                "operand {position}: string {rendered} is not a valid SemVer"
            ))
        }
    }
}

fn compare(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    text(operands, 1)?;
    text(operands, 2)?;
    let (left, right) = (version(operands, 1)?, version(operands, 2)?);
    answer(match left.cmp_precedence(&right) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}

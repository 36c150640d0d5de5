//! `semver.*`

use std::cmp::Ordering;

use super::expected::Answer;
use super::operand::{answer, any, refuse, text};
use super::{Call, Failure, Group};
use crate::Value;
use crate::value::quoted;

pub(super) const BUILTINS: Group = &[
    ("semver.compare", compare),
    ("semver.is_valid", |_, operands| {
        let text = any(operands, 1).as_str();
        answer(text.and_then(parsed).is_some())
    }),
];

/// The three numbers, and the identifiers of a pre-release.
type Version<'t> = ([i64; 3], &'t str);

fn parsed(text: &str) -> Option<Version<'_>> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, build) = match text.split_once('+') {
        Some((text, build)) => (text, Some(build)),
        None => (text, None),
    };
    let (core, release) = match text.split_once('-') {
        Some((core, release)) => (core, Some(release)),
        None => (text, None),
    };
    let fits = |text: &str| {
        text.split('.').all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        })
    };
    let padded = |text: &str| {
        text.split('.')
            .any(|part| part.len() > 1 && part.starts_with('0') && is_numeric(part))
    };
    if !build.is_none_or(fits) || !release.is_none_or(|text| fits(text) && !padded(text)) {
        return None;
    }
    let mut numbers = core.split('.').map(|part| {
        let usual = is_numeric(part) && (part == "0" || !part.starts_with('0'));
        usual.then(|| part.parse().ok()).flatten()
    });
    let core = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers
        .next()
        .is_none()
        .then_some((core, release.unwrap_or_default()))
}

fn is_numeric(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn version(operands: &[Value], position: usize) -> Result<Version<'_>, Failure> {
    let text = text(operands, position)?;
    match parsed(text) {
        Some(version) => Ok(version),
        None => {
            let shown = quoted(text);
            refuse(format!(
                "operand {position}: string {shown} is not a valid SemVer"
            ))
        }
    }
}

fn compare(_call: &mut Call<'_>, operands: &[Value]) -> Answer {
    text(operands, 1)?;
    text(operands, 2)?;
    let (left, right) = (version(operands, 1)?, version(operands, 2)?);
    let order = left.0.cmp(&right.0);
    answer(match order.then_with(|| by_release(left.1, right.1)) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}

/// A version without a pre-release is the greater; else identifier by identifier, numbers first.
fn by_release(left: &str, right: &str) -> Ordering {
    if left.is_empty() || right.is_empty() {
        return left.is_empty().cmp(&right.is_empty());
    }
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let (left, right) = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(left), Some(right)) => (left, right),
        };
        let order = match (is_numeric(left), is_numeric(right)) {
            // Without zeros in front the longer number is the greater.
            (true, true) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => left.cmp(right),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

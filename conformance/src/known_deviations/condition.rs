//! Conditions of entries: target, versions and setup.

use chrono::NaiveDate;
use semver::{Comparator, Op, Prerelease, Version, VersionReq};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// The conditions of an entry; all of them must be met.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppliesTo {
    /// The target's name.
    pub target: Option<String>,
    /// Versions of the target.
    pub version: Option<Versions>,
    /// The setup that the rule's scenario needs.
    pub setup: Option<String>,
}

/// A range of versions: comparisons separated by commas, all of which must be satisfied. `>=1.6,
/// <1.13` compares numbers, with missing ones as 0; `1.6` includes all versions that start with it,
/// such as 1.6.3.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Versions(VersionReq);

/// Notation of comparisons; longer signs first, because shorter ones are their prefixes.
const SIGNS: [(&str, Op); 5] = [
    (">=", Op::GreaterEq),
    ("<=", Op::LessEq),
    (">", Op::Greater),
    ("<", Op::Less),
    ("=", Op::Exact),
];

/// Deserializes a date without time of day.
pub(super) fn day<'de, D: Deserializer<'de>>(from: D) -> Result<Option<NaiveDate>, D::Error> {
    let read = toml::value::Datetime::deserialize(from)?;
    let date = read.date.filter(|_| read.time.is_none()).and_then(|date| {
        NaiveDate::from_ymd_opt(date.year.into(), date.month.into(), date.day.into())
    });
    date.map(Some).ok_or_else(|| {
        D::Error::custom(format!(
            "invalid date `{read}`: expected one such as 2030-01-31"
        ))
    })
}

/// Parses the numbers of a version; `None` if it does not start with a number. Builds and
/// pre-releases are ignored.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let numbers = text.split(['-', '+']).next()?;
    let numbers: Result<_, _> = numbers.split('.').map(str::parse).collect();
    numbers.ok()
}

/// Parses the first three numbers of a version: `v1.18.2-dev` has 1, 18 and 2.
pub fn version(text: &str) -> Option<Version> {
    let numbers = numbers(text)?;
    let number = |at| numbers.get(at).copied().unwrap_or_default();
    Some(Version::new(number(0), number(1), number(2)))
}

fn comparator(text: &str) -> Option<Comparator> {
    let text = text.trim();
    let (op, version) = SIGNS
        .iter()
        .find_map(|(sign, op)| Some((*op, text.strip_prefix(sign)?)))
        .unwrap_or((Op::Exact, text));
    let numbers = numbers(version)?;
    // Without the zeros, `semver` would read `>1.6` as `>=1.7`.
    let missing = (op != Op::Exact).then_some(0);
    Some(Comparator {
        op,
        major: *numbers.first()?,
        minor: numbers.get(1).copied().or(missing),
        patch: numbers.get(2).copied().or(missing),
        pre: Prerelease::EMPTY,
    })
}

impl TryFrom<String> for Versions {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let comparators: Option<_> = text.split(',').map(comparator).collect();
        comparators
            .map(|comparators| Self(VersionReq { comparators }))
            .ok_or_else(|| {
                format!("invalid range of versions `{text}`: expected one such as `>=1.6, <1.13`")
            })
    }
}

impl Versions {
    /// Whether every comparison is satisfied.
    pub fn contain(&self, version: &Version) -> bool {
        self.0.matches(version)
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1.6", "1.6", true)]
    #[case("1.6", "v1.6.3", true)]
    #[case("=1.6", "1.60", false)]
    #[case("1.6.0", "1.6", true)]
    #[case(">=1.6, <1.13", "1.12.9", true)]
    #[case(">=1.6, <1.13", "1.13.0", false)]
    #[case(">=1.6, <1.13", "1.5", false)]
    #[case(">1.6", "1.6.0", false)]
    #[case(">1.6", "1.6.1", true)]
    #[case("<=1.6", "1.6.0-dev", true)]
    #[case("<=1.6", "1.6.1", false)]
    #[case("1", "1.99.3", true)]
    #[case("v1.6.3-dev", "1.6.3", true)]
    #[case("1.6.3", "1.6.4", false)]
    #[case("=01.6", "1.6.0.4", true)]
    #[case("<0.70", "0.70.0+build", false)]
    fn ranges_compare_numbers(#[case] range: &str, #[case] version: &str, #[case] within: bool) {
        let versions = Versions::try_from(range.to_owned()).expect(range);
        let version = super::version(version).expect(version);
        assert_eq!(versions.contain(&version), within);
    }

    #[rstest]
    #[case("")]
    #[case("latest")]
    #[case(">=")]
    #[case("1.x")]
    #[case("1.6,")]
    #[case("1..2")]
    #[case("^1.6")]
    #[case("~1.6")]
    #[case("*")]
    #[case("1.*")]
    #[case("1.6 1.7")]
    fn what_is_no_range_is_refused(#[case] text: &str) {
        assert!(Versions::try_from(text.to_owned()).is_err());
    }

    #[rstest]
    #[case("")]
    #[case("latest")]
    #[case("-1")]
    #[case("v")]
    fn what_is_no_version_is_refused(#[case] text: &str) {
        assert_eq!(version(text), None);
    }
}

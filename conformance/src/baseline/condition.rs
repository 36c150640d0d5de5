//! When an entry of a list applies: on which target, which versions of it, in which setup.

use serde::Deserialize;

/// The conditions of an entry; all that are given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The target's name.
    pub target: Option<String>,
    /// Versions of the target.
    pub version: Option<Versions>,
    /// The setup that the rule's scenario needs.
    pub setup: Option<String>,
}

/// A range of versions: comparisons apart by commas, all of which must hold. `>=1.6, <1.13`
/// compares numbers, with missing ones as 0; `1.6` is 1.6 and everything below it, 1.6.3.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Versions(Vec<(Comparison, Version)>);

/// The numbers of a version: `v1.18.2-dev` has 1, 18 and 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(Vec<u64>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    AtLeast,
    AtMost,
    Above,
    Below,
    Within,
}

/// How comparisons are written; longer signs first, as the shorter ones start them.
const SIGNS: [(&str, Comparison); 5] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
    ("=", Comparison::Within),
];

impl Version {
    /// Reads a version; none if it starts with no number.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix('v').unwrap_or(text);
        // Builds and pre-releases do not count.
        let numbers = text.split(['-', '+']).next()?;
        let numbers: Result<Vec<u64>, _> = numbers.split('.').map(str::parse).collect();
        numbers.ok().map(Self)
    }

    /// The numbers without zeros at the end, which change nothing.
    fn significant(&self) -> &[u64] {
        let end = self.0.iter().rposition(|number| *number != 0);
        end.and_then(|end| self.0.get(..=end)).unwrap_or_default()
    }
}

impl TryFrom<String> for Versions {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let comparison = |part: &str| {
            let part = part.trim();
            let (comparison, version) = SIGNS
                .iter()
                .find_map(|(sign, comparison)| Some((*comparison, part.strip_prefix(sign)?)))
                .unwrap_or((Comparison::Within, part));
            Some((comparison, Version::parse(version)?))
        };
        let parts: Option<Vec<_>> = text.split(',').map(comparison).collect();
        parts
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no range of versions such as `>=1.6, <1.13`"))
    }
}

impl Versions {
    /// Whether every comparison holds.
    pub fn contain(&self, version: &Version) -> bool {
        let (numbers, full) = (version.significant(), &version.0);
        self.0.iter().all(|(comparison, bound)| match comparison {
            Comparison::AtLeast => numbers >= bound.significant(),
            Comparison::AtMost => numbers <= bound.significant(),
            Comparison::Above => numbers > bound.significant(),
            Comparison::Below => numbers < bound.significant(),
            Comparison::Within => bound
                .0
                .iter()
                .zip(full.iter().chain(std::iter::repeat(&0)))
                .all(|(bound, number)| bound == number),
        })
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn ranges_compare_numbers() {
        for (range, version, within) in [
            ("1.6", "1.6", true),
            ("1.6", "v1.6.3", true),
            ("=1.6", "1.60", false),
            ("1.6.0", "1.6", true),
            (">=1.6, <1.13", "1.12.9", true),
            (">=1.6, <1.13", "1.13.0", false),
            (">=1.6, <1.13", "1.5", false),
            (">1.6", "1.6.0", false),
            (">1.6", "1.6.1", true),
            ("<=1.6", "1.6.0-dev", true),
            ("<0.70", "0.70.0+build", false),
        ] {
            let versions = Versions::try_from(range.to_owned()).expect(range);
            let version = Version::parse(version).expect(version);
            assert_eq!(versions.contain(&version), within, "{range}: {version:?}");
        }
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in ["", "latest", ">=", "1.x", "1.6,", "1..2"] {
            assert!(Versions::try_from(text.to_owned()).is_err(), "{text}");
        }
        for text in ["", "latest", "-1", "v"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}

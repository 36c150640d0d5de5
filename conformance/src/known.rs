//! Known deviations of a target: rules it is known to break, each with the reason.
//!
//! ```toml
//! [[deviation]]
//! rule = "engine/v1/data/put/some-rule"    # an id, a path above ids, or a glob
//! reason = "What the target does instead, and why."
//! clause = "What the document says, and where."
//! ```
//!
//! A list belongs to a target, not to the suite. It stays honest because a rule on it that
//! passes fails the run.

use serde::{Deserialize, Serialize};

use crate::embedded_files::KNOWN;
use crate::pattern::{Pattern, PatternError};

/// The known deviations of one target.
#[derive(Debug, Clone, Default)]
pub struct KnownList {
    entries: Vec<(Pattern, Deviation)>,
}

/// One known deviation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// Which rules: an id, a path above ids, or a glob.
    pub rule: String,
    /// What the target does instead, and why.
    pub reason: String,
    /// What the document says, and where.
    pub clause: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    deviation: Vec<Deviation>,
}

/// A list that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KnownError {
    /// Not TOML, an unknown key, a missing value.
    #[error("{0}: {1}")]
    Toml(String, Box<toml::de::Error>),
    /// An entry that says nothing.
    #[error("{0}: the `{2}` of `{1}` is empty")]
    Empty(String, String, &'static str),
    /// An entry that fits no rule.
    #[error("{0}: {1}")]
    Pattern(String, PatternError),
}

impl KnownList {
    /// Reads a list; `file` is its name in errors, `ids` are all rules there are.
    ///
    /// # Errors
    /// Unknown keys, empty texts, and entries that fit no rule.
    pub fn parse<'a>(
        text: &str,
        file: &str,
        ids: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<Self, KnownError> {
        let read: File =
            toml::from_str(text).map_err(|e| KnownError::Toml(file.to_owned(), Box::new(e)))?;
        let mut entries = Vec::new();
        for deviation in read.deviation {
            for (name, text) in [("reason", &deviation.reason), ("clause", &deviation.clause)] {
                if text.trim().is_empty() {
                    let rule = deviation.rule.clone();
                    return Err(KnownError::Empty(file.to_owned(), rule, name));
                }
            }
            let pattern = Pattern::parse(&deviation.rule)
                .and_then(|pattern| pattern.check(ids.clone()).map(|()| pattern))
                .map_err(|error| KnownError::Pattern(file.to_owned(), error))?;
            entries.push((pattern, deviation));
        }
        Ok(Self { entries })
    }

    /// The list that the program carries for a target; empty when it carries none.
    ///
    /// # Errors
    /// See [`KnownList::parse`].
    pub fn embedded<'a>(
        target: &str,
        ids: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<Self, KnownError> {
        match KNOWN.iter().find(|(name, _)| *name == target) {
            Some((_, text)) => Self::parse(text, &format!("known/{target}.toml"), ids),
            None => Ok(Self::default()),
        }
    }

    /// The entry for a rule.
    pub fn deviation(&self, id: &str) -> Option<&Deviation> {
        self.entries
            .iter()
            .find(|(pattern, _)| pattern.matches(id))
            .map(|(_, deviation)| deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_lists_are_refused_with_file_and_entry() {
        let ids = ["engine/health/get/answers", "engine/health/get/ready"];
        let good = "[[deviation]]\nrule = 'engine/health/*/answers'\nreason = 'r'\nclause = 'c'\n";
        for (from, to, expected) in [
            ("reason", "because", "unknown field `because`"),
            (
                "'r'",
                "' '",
                "the `reason` of `engine/health/*/answers` is empty",
            ),
            ("clause = 'c'", "", "missing field `clause`"),
            (
                "/*/answers",
                "/*/nothing",
                "no rule matches `engine/health/*/nothing`",
            ),
            (
                "/*/answers",
                "/get/answer",
                "no rule `engine/health/get/answer`",
            ),
        ] {
            let text = good.replace(from, to);
            let error = KnownList::parse(&text, "known.toml", ids.into_iter());
            let message = error.map(|_| ()).map_err(|error| error.to_string());
            let message = message.err().unwrap_or_default();
            assert!(message.starts_with("known.toml: "), "{message}");
            assert!(
                message.contains(expected),
                "expected {expected:?} in {message:?}"
            );
        }
        let list = KnownList::parse(good, "known.toml", ids.into_iter());
        let found = ids.map(|id| list.as_ref().is_ok_and(|list| list.deviation(id).is_some()));
        assert_eq!(found, [true, false]);
    }
}

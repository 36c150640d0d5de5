//! Patterns of rule ids: an id, a path above ids, or a glob (`*` within a segment, `**` across
//! segments). Rules of a pack match only patterns that name the pack.

use globset::{GlobBuilder, GlobMatcher};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::Pack;

/// A pattern over rule ids.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    glob: Option<Glob>,
}

/// Glob over strings.
#[derive(Debug, Clone)]
pub(crate) struct Glob(GlobMatcher);

impl Glob {
    /// Parses a glob over segments: `*` matches no `/`.
    ///
    /// # Errors
    /// The string is not a valid glob.
    pub(crate) fn of_segments(text: &str) -> Result<Self, String> {
        Self::build(text, GlobBuilder::new(text).literal_separator(true))
    }

    fn build(text: &str, builder: &GlobBuilder<'_>) -> Result<Self, String> {
        let glob = builder.build();
        glob.map(|glob| Self(glob.compile_matcher()))
            .map_err(|error| format!("invalid glob `{text}`: {}", error.kind()))
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// Parses a glob over whole strings: `*` matches `/` too.
impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::build(&text, &GlobBuilder::new(&text)).map_err(D::Error::custom)
    }
}

/// A pattern that is invalid or matches nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// Invalid glob.
    #[error("{0}")]
    Glob(String),
    /// No rule has this id or is below this path; includes the nearest id, if any.
    #[error("no rule `{0}`{hint}", hint = hint(.1.as_deref()))]
    Unknown(String, Option<String>),
    /// No id matches the glob.
    #[error("no rule matches `{0}`")]
    Unmatched(String),
}

impl PatternError {
    /// Creates the error for an id or path that is not among the ids.
    pub(crate) fn unknown<'a>(text: &str, ids: impl Iterator<Item = &'a str> + Clone) -> Self {
        Self::Unknown(text.to_owned(), nearest(text, ids))
    }
}

/// Minimum similarity, from 0 to 1, at which one string counts as a misspelling of another.
const NEAR: f64 = 0.75;

/// Finds the id, or the path above ids, that the string misspells or is the end of.
fn nearest<'a>(text: &str, ids: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let ends_with_text = |id: &&str| {
        id.strip_suffix(text)
            .is_some_and(|parent| parent.ends_with('/'))
    };
    if let Some(id) = ids
        .clone()
        .find(ends_with_text)
        .filter(|_| !text.is_empty())
    {
        return Some(id.to_owned());
    }
    let paths = ids.flat_map(|id| {
        let parents = id.match_indices('/').filter_map(|(end, _)| id.get(..end));
        parents.chain([id])
    });
    let similarity = |path: &str| strsim::normalized_damerau_levenshtein(text, path);
    paths
        .map(|path| (similarity(path), path))
        .filter(|(similarity, _)| *similarity >= NEAR)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, path)| path.to_owned())
}

fn hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("; is `{nearest}` meant?"),
        None => "; `conformance list` shows all rules".to_owned(),
    }
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The string contains `*`, `?`, `[` or `{` but is not a valid glob.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let text = text.trim_end_matches('/');
        let glob = text
            .contains(['*', '?', '[', '{'])
            .then(|| Glob::of_segments(text).map_err(PatternError::Glob));
        let glob = glob.transpose()?;
        Ok(Self {
            text: text.to_owned(),
            glob,
        })
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the pattern is exactly this id.
    pub fn names(&self, id: &str) -> bool {
        self.glob.is_none() && self.text == id
    }

    /// Whether an id matches: it equals the pattern, lies below its path, or matches its glob.
    pub fn matches(&self, id: &str) -> bool {
        match &self.glob {
            Some(glob) => Pack::of(&self.text) == Pack::of(id) && glob.matches(id),
            None => id
                .strip_prefix(&self.text)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        }
    }

    /// Rejects a pattern that matches none of the ids.
    ///
    /// # Errors
    /// No id matches.
    pub fn check<'a>(
        &self,
        ids: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<(), PatternError> {
        if ids.clone().any(|id| self.matches(id)) {
            Ok(())
        } else if self.glob.is_some() {
            Err(PatternError::Unmatched(self.text.clone()))
        } else {
            Err(PatternError::unknown(&self.text, ids))
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::whole_id("engine/v1/data/put/creates", true)]
    #[case::section("engine/v1/data/put", true)]
    #[case::section_and_slash("engine/v1/data/put/", true)]
    #[case::part_of_a_segment("engine/v1/data/pu", false)]
    #[case::part_of_the_last_segment("engine/v1/data/put/create", false)]
    #[case::any_depth("engine/**", true)]
    #[case::one_segment_at_the_end("engine/*", false)]
    #[case::one_segment_within("engine/*/data/*/creates", true)]
    #[case::any_depth_in_front("**/put/*", true)]
    #[case::parts_of_a_segment("**/creat??", true)]
    #[case::another_document("control/**", false)]
    fn ids_paths_and_globs_fit_by_segments(#[case] pattern: &str, #[case] expected: bool) {
        let id = "engine/v1/data/put/creates";
        let found = Pattern::parse(pattern).map(|pattern| pattern.matches(id));
        assert_eq!(found, Ok(expected));
    }

    #[rstest]
    #[case::name("regressions", true)]
    #[case::below_the_name("regressions/**", true)]
    #[case::any_depth("**", false)]
    #[case::one_segment("*/language/*", false)]
    fn only_patterns_that_name_regressions_fit_them(#[case] pattern: &str, #[case] expected: bool) {
        let found = Pattern::parse(pattern);
        let found = found.map(|pattern| pattern.matches("regressions/language/a"));
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn an_invalid_glob_is_refused() {
        assert!(matches!(
            Pattern::parse("engine/[a"),
            Err(PatternError::Glob(..))
        ));
    }

    #[rstest]
    #[case::missing_letter("engine/v1/data/put/create", "is `engine/v1/data/put/creates` meant?")]
    #[case::swapped_letters("engine/v1/data/ptu", "is `engine/v1/data/put` meant?")]
    #[case::document("contrl", "is `control` meant?")]
    #[case::end_of_an_id("creates", "is `engine/v1/data/put/creates` meant?")]
    #[case::nothing_alike("nonsense", "`conformance list` shows all rules")]
    fn slips_name_what_is_meant(#[case] text: &str, #[case] suggestion: &str) {
        let ids = ["engine/v1/data/put/creates", "control/v1/stacks/get/found"];
        let checked = Pattern::parse(text).and_then(|pattern| pattern.check(ids.into_iter()));
        let expected = format!("no rule `{text}`; {suggestion}");
        assert_eq!(checked.map_err(|error| error.to_string()), Err(expected));
    }
}

//! Stack: requirements for all bundles that a selector matches.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::glob::Glob;
use super::requirement::{self, Requirement};
use super::{Definition, Kind, References, ValidationError, limits};

/// Selector: patterns for the values of labels, by label name.
type Selector = BTreeMap<String, Vec<String>>;

/// Definition of a stack. Its stored JSON always has a selector, if only an empty one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Stack {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(serialize_with = "selector")]
    selector: Option<Selector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exclude_selector: Option<Selector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requirements: Option<Vec<Requirement>>,
}

fn selector<S: serde::Serializer>(
    value: &Option<Selector>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(selector) => selector.serialize(serializer),
        None => Selector::new().serialize(serializer),
    }
}

impl Stack {
    /// Returns the parsed selectors of the stack.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            selected: self.selector.as_ref().map(read),
            excluded: self.exclude_selector.as_ref().map(read),
        }
    }
}

/// Parsed selectors of a stack, which are matched with many bundles.
#[derive(Debug)]
pub(crate) struct Selection {
    selected: Option<ReadSelector>,
    excluded: Option<ReadSelector>,
}

/// Parsed selector: label names with patterns for their values; `None` matches any value.
type ReadSelector = Vec<(String, Option<Vec<Glob>>)>;

/// Parses a selector. Invalid patterns match nothing.
fn read(selector: &Selector) -> ReadSelector {
    let labels = selector.iter().map(|(label, patterns)| {
        let globs = patterns.iter().filter_map(|pattern| Glob::read(pattern));
        let globs = (!patterns.is_empty()).then(|| globs.collect());
        (label.clone(), globs)
    });
    labels.collect()
}

impl Selection {
    /// Returns true if a bundle with these labels gets the requirements.
    pub(crate) fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        let selected = self.selected.as_ref();
        let excluded = self.excluded.as_ref();
        selected.is_none_or(|selector| matches(selector, labels))
            && !excluded.is_some_and(|selector| matches(selector, labels))
    }
}

/// Returns true if each label of the selector is present, with a value that one of its patterns
/// matches. A label without patterns matches any value, and an empty selector every bundle.
fn matches(selector: &ReadSelector, labels: &BTreeMap<String, String>) -> bool {
    selector.iter().all(|(label, globs)| {
        let matching = |value: &String| {
            let any = |globs: &Vec<Glob>| globs.iter().any(|glob| glob.is_match(value));
            globs.as_ref().is_none_or(any)
        };
        labels.get(label).is_some_and(matching)
    })
}

impl Definition for Stack {
    const KIND: Kind = Kind::Stack;

    fn name_mut(&mut self) -> &mut Option<String> {
        &mut self.name
    }

    fn check(&self) -> Result<(), ValidationError> {
        requirement::check(self.requirements.as_deref())?;
        let selectors = [
            ("selector", &self.selector),
            ("exclude_selector", &self.exclude_selector),
        ];
        for (field, selector) in selectors {
            let labels = selector.as_ref().map_or(0, BTreeMap::len);
            limits::number(labels, limits::LABELS, "labels")
                .map_err(|invalid| invalid.under(field))?;
            for (label, patterns) in selector.iter().flatten() {
                limits::name(label).map_err(|invalid| invalid.under(field))?;
                limits::patterns(Some(patterns), limits::PATTERNS)
                    .map_err(|invalid| invalid.under(label).under(field))?;
            }
        }
        let patterns = selectors
            .iter()
            .flat_map(|(_, selector)| selector.iter().flatten());
        let patterns = patterns.map(|(_, patterns)| patterns.len()).sum();
        limits::number(patterns, limits::SELECTOR_PATTERNS, "patterns of a stack")
    }

    fn uses(&self) -> References {
        requirement::uses(self.requirements.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::no_selector("{}", true)]
    #[case::empty_selector(r#"{"selector":{}}"#, true)]
    #[case::any_value(r#"{"selector":{"env":[]}}"#, true)]
    #[case::pattern(r#"{"selector":{"env":["prod*"]}}"#, true)]
    #[case::one_of_two_patterns(r#"{"selector":{"env":["dev","p*1"]}}"#, true)]
    #[case::pattern_of_a_part(r#"{"selector":{"env":["prod"]}}"#, false)]
    #[case::other_value_of_one_label(r#"{"selector":{"env":["prod*"],"team":["sales"]}}"#, false)]
    #[case::missing_label(r#"{"selector":{"env":["prod*"],"region":[]}}"#, false)]
    #[case::empty_exclusion(r#"{"exclude_selector":{}}"#, false)]
    #[case::excluded_other_value(r#"{"exclude_selector":{"team":["sales"]}}"#, true)]
    #[case::excluded(r#"{"exclude_selector":{"team":["pay*"]}}"#, false)]
    #[case::excluded_though_selected(
        r#"{"selector":{"env":[]},"exclude_selector":{"team":[]}}"#,
        false
    )]
    fn selectors_choose_bundles_by_their_labels(
        #[case] stack: &str,
        #[case] expected: bool,
    ) -> Result<(), serde_json::Error> {
        let labels = BTreeMap::from([
            ("env".to_owned(), "prod/eu.1".to_owned()),
            ("team".to_owned(), "payments".to_owned()),
        ]);
        let parsed: Stack = serde_json::from_str(stack)?;
        assert_eq!(parsed.selection().selects(&labels), expected);
        Ok(())
    }
    #[rstest]
    #[case::many_patterns_of_a_label(10, 100, "*a*", 1, "")]
    #[case::many_labels(100, 10, "*a*", 1, "")]
    #[case::too_many_labels(101, 1, "a", 1, "selector: at most 100 labels, not 101")]
    #[case::too_many_patterns_of_a_label(
        1,
        101,
        "a",
        1,
        "selector.l0: at most 100 patterns, not 101"
    )]
    #[case::too_many_patterns(11, 100, "a", 1, "at most 1000 patterns of a stack, not 1100")]
    #[case::too_many_wildcards(1, 1, "*a*", 30, "selector.l0: at most 8 wildcards, not 31")]
    fn selectors_have_limits(
        #[case] labels: usize,
        #[case] patterns: usize,
        #[case] part: &str,
        #[case] times: usize,
        #[case] expected: &str,
    ) {
        let patterns = vec![part.repeat(times); patterns];
        let labels = (0..labels).map(|index| (format!("l{index}"), patterns.clone()));
        let selector = Some(labels.collect());
        let stack = Stack {
            selector,
            ..Stack::default()
        };
        let message = stack.check().err().map(|invalid| invalid.to_string());
        assert_eq!(message.unwrap_or_default(), expected);
    }

    #[test]
    fn the_largest_selectors_take_little_time() {
        let patterns: Vec<String> = (0..100)
            .map(|index| format!("{}{index}", "*a*".repeat(7)))
            .collect();
        let stack = Stack {
            selector: Some(BTreeMap::from([("l".to_owned(), patterns)])),
            ..Stack::default()
        };
        let selection = stack.selection();
        let started = std::time::Instant::now();
        for index in 0..1500 {
            let value = format!("a{}{}", "n".repeat(30), index % 7);
            assert!(!selection.selects(&BTreeMap::from([("l".to_owned(), value)])));
        }
        let elapsed = started.elapsed();
        assert!(elapsed < std::time::Duration::from_secs(20), "{elapsed:?}");
    }
}

//! Stack: requirements for the bundles that a selector chooses.

use std::collections::BTreeMap;

use globset::Glob;
use serde::{Deserialize, Serialize};

use super::requirement::{self, Requirement};
use super::{Definition, Invalid, Kind, Uses, limits};

/// Label names with the patterns of their allowed values.
type Selector = BTreeMap<String, Vec<String>>;

/// The definition of a stack. It always has a selector, if only an empty one.
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

fn selector<S: serde::Serializer>(given: &Option<Selector>, to: S) -> Result<S::Ok, S::Error> {
    match given {
        Some(selector) => selector.serialize(to),
        None => Selector::new().serialize(to),
    }
}

impl Stack {
    /// Whether the bundle with these labels gets the requirements.
    pub(crate) fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        let selected = self.selector.as_ref();
        let excluded = self.exclude_selector.as_ref();
        selected.is_none_or(|selector| matches(selector, labels))
            && !excluded.is_some_and(|selector| matches(selector, labels))
    }
}

/// Whether each label of a selector is there with a value that one of its patterns matches; no
/// patterns stand for any value, and no labels for every bundle.
fn matches(selector: &Selector, labels: &BTreeMap<String, String>) -> bool {
    selector.iter().all(|(label, patterns)| {
        let matching = |value: &String| {
            let globs = patterns
                .iter()
                .filter_map(|pattern| Glob::new(pattern).ok());
            patterns.is_empty() || globs.into_iter().any(|glob| is_match(&glob, value))
        };
        labels.get(label).is_some_and(matching)
    })
}

fn is_match(glob: &Glob, value: &str) -> bool {
    glob.compile_matcher().is_match(value)
}

impl Definition for Stack {
    const KIND: Kind = Kind::Stack;

    fn name_mut(&mut self) -> &mut Option<String> {
        &mut self.name
    }

    fn check(&self) -> Result<(), Invalid> {
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

    fn uses(&self) -> Uses {
        requirement::uses(self.requirements.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_choose_bundles_by_their_labels() -> Result<(), serde_json::Error> {
        let labels = BTreeMap::from([
            ("env".to_owned(), "prod/eu.1".to_owned()),
            ("team".to_owned(), "payments".to_owned()),
        ]);
        for (stack, expected) in [
            ("{}", true),
            (r#"{"selector":{}}"#, true),
            (r#"{"selector":{"env":[]}}"#, true),
            (r#"{"selector":{"env":["prod*"]}}"#, true),
            (r#"{"selector":{"env":["dev","p*1"]}}"#, true),
            (r#"{"selector":{"env":["prod"]}}"#, false),
            (r#"{"selector":{"env":["prod*"],"team":["sales"]}}"#, false),
            (r#"{"selector":{"env":["prod*"],"region":[]}}"#, false),
            (r#"{"exclude_selector":{}}"#, false),
            (r#"{"exclude_selector":{"team":["sales"]}}"#, true),
            (r#"{"exclude_selector":{"team":["pay*"]}}"#, false),
            (
                r#"{"selector":{"env":[]},"exclude_selector":{"team":[]}}"#,
                false,
            ),
        ] {
            let read: Stack = serde_json::from_str(stack)?;
            assert_eq!(read.selects(&labels), expected, "{stack}");
        }
        Ok(())
    }
}

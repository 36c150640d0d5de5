//! Stack: requirements for the bundles that a selector chooses.

use std::collections::BTreeMap;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use super::requirement::{self, Requirement};
use super::{Definition, Invalid, Kind, MAX_PATTERNS, Uses, check_globs, check_length, is_text};

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

/// The work of a [`Chooser`]: bytes of patterns times bytes of values. It takes well below a second.
const MAX_WORK: usize = 1 << 25;

/// A byte of a pattern that is compiled is as much work as matching it with so many bytes.
const COMPILATION: usize = 1_000;

/// Chooses bundles for several stacks, with a bound of the work: what it has not looked at counts as
/// chosen.
#[derive(Debug)]
pub(crate) struct Chooser {
    choices: Vec<Choice>,
    left: usize,
}

/// The compiled selectors of a stack: of each label its patterns, or nothing for any value.
#[derive(Debug)]
struct Choice {
    selected: Option<Compiled>,
    excluded: Option<Compiled>,
}

type Compiled = Vec<(String, Option<Patterns>)>;

#[derive(Debug)]
struct Patterns {
    globs: GlobSet,
    bytes: usize,
}

impl Chooser {
    pub(crate) fn new(stacks: &[Stack]) -> Self {
        let mut left = MAX_WORK;
        let choices = stacks.iter().map(|stack| Choice {
            selected: stack
                .selector
                .as_ref()
                .and_then(|all| compiled(all, &mut left)),
            // One that is not looked at excludes nothing.
            excluded: stack
                .exclude_selector
                .as_ref()
                .and_then(|all| compiled(all, &mut left)),
        });
        Self {
            choices: choices.collect(),
            left,
        }
    }

    /// Whether one of the stacks may select the bundle with these labels.
    pub(crate) fn may_select(&mut self, labels: &BTreeMap<String, String>) -> bool {
        let left = &mut self.left;
        let mut choices = self.choices.iter();
        choices.any(|choice| {
            let selected = choice.selected.as_ref();
            let excluded = choice.excluded.as_ref();
            selected.is_none_or(|all| holds(all, labels, left).unwrap_or(true))
                && !excluded.is_some_and(|all| holds(all, labels, left).unwrap_or(false))
        })
    }
}

/// The patterns of a selector, as far as there is work left for them.
fn compiled(selector: &Selector, left: &mut usize) -> Option<Compiled> {
    let labels = selector.iter().map(|(label, patterns)| {
        let bytes: usize = patterns.iter().map(String::len).sum();
        *left = left.checked_sub(bytes.saturating_mul(COMPILATION))?;
        let mut globs = GlobSetBuilder::new();
        for pattern in patterns.iter().filter_map(|text| Glob::new(text).ok()) {
            globs.add(pattern);
        }
        let globs = globs.build().ok()?;
        let patterns = (!patterns.is_empty()).then_some(Patterns { globs, bytes });
        Some((label.clone(), patterns))
    });
    labels.collect()
}

/// Whether each label is there with a value that a pattern matches; unknown when no work is left.
fn holds(selector: &Compiled, labels: &BTreeMap<String, String>, left: &mut usize) -> Option<bool> {
    for (label, patterns) in selector {
        let Some(value) = labels.get(label) else {
            return Some(false);
        };
        let Some(patterns) = patterns else {
            continue;
        };
        *left = left.checked_sub(patterns.bytes.saturating_mul(1 + value.len()))?;
        if !patterns.globs.is_match(value) {
            return Some(false);
        }
    }
    Some(true)
}

/// Whether each label of a selector is there with a value that one of its patterns matches; no
/// patterns stand for any value, and no labels for every bundle.
fn matches(selector: &Selector, labels: &BTreeMap<String, String>) -> bool {
    selector.iter().all(|(label, patterns)| {
        let matching = |value: &String| {
            patterns.is_empty() || patterns.iter().any(|pattern| is_match(pattern, value))
        };
        labels.get(label).is_some_and(matching)
    })
}

/// Whether a pattern matches a value. Most patterns are texts, and need no compilation.
fn is_match(pattern: &str, value: &str) -> bool {
    if is_text(pattern) {
        return pattern == value;
    }
    let glob = Glob::new(pattern);
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(value))
}

impl Definition for Stack {
    const KIND: Kind = Kind::Stack;

    fn name_mut(&mut self) -> &mut Option<String> {
        &mut self.name
    }

    fn check(&self) -> Result<(), Invalid> {
        let selectors = [
            ("selector", &self.selector),
            ("exclude_selector", &self.exclude_selector),
        ];
        for (field, selector) in selectors {
            for (label, patterns) in selector.iter().flatten() {
                let checked = check_length(label).and_then(|()| check_globs(patterns));
                checked.map_err(|invalid| invalid.under(label).under(field))?;
            }
            let all = selector.iter().flatten();
            let count: usize = all.map(|(_, patterns)| 1 + patterns.len()).sum();
            if count > 2 * MAX_PATTERNS {
                let message = format!("has at most {} labels and patterns", 2 * MAX_PATTERNS);
                return Err(Invalid::new(message).under(field));
            }
        }
        requirement::check(self.requirements.as_deref())
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
            let mut chooser = Chooser::new(&[read]);
            assert_eq!(chooser.may_select(&labels), expected, "{stack}");
        }
        Ok(())
    }

    #[test]
    fn patterns_that_take_too_long_count_as_matches() -> Result<(), serde_json::Error> {
        let labels = BTreeMap::from([("l".to_owned(), "n".repeat(1_000))]);
        let pattern = "*a".repeat(15);
        let patterns = vec![pattern; 30];
        let selector = serde_json::json!({"selector": {"l": patterns}});
        let mut chooser = Chooser::new(&[serde_json::from_value(selector)?]);
        assert!(!chooser.may_select(&labels));
        let passes = (0..MAX_WORK).take_while(|_| !chooser.may_select(&labels));
        assert!(passes.count() < 1_000);
        let patterns = vec!["*a".repeat(15); 2_000];
        let selector = serde_json::json!({"selector": {"l": patterns}});
        let mut chooser = Chooser::new(&[serde_json::from_value(selector)?]);
        assert!(chooser.may_select(&labels));
        Ok(())
    }

    #[test]
    fn selectors_have_limits() {
        let with = |selector: serde_json::Value| {
            let body = serde_json::json!({"selector": selector}).to_string();
            crate::control::model::read::<Stack>("s", body.as_bytes()).map(drop)
        };
        let many = |count: usize| vec!["x"; count];
        for (selector, is_taken) in [
            (serde_json::json!({"l": many(1_000)}), true),
            (serde_json::json!({"l": many(1_001)}), false),
            (serde_json::json!({"l": ["*".repeat(16)]}), true),
            (serde_json::json!({"l": ["*a".repeat(17)]}), false),
            (serde_json::json!({"l": ["a".repeat(257)]}), false),
            (serde_json::json!({"l": vec!["x*"; 200]}), true),
            (serde_json::json!({"l": vec!["x*"; 201]}), false),
            (serde_json::json!({"l".repeat(1_025): []}), false),
            (
                serde_json::json!({"a": many(1_000), "b": many(999), "c": many(1)}),
                false,
            ),
        ] {
            assert_eq!(with(selector).is_ok(), is_taken);
        }
    }
}

//! Known differences between our results and those of OPA, each with its reason.

use std::error::Error;
use std::fs;

use regex::{Captures, Regex};
use serde::Deserialize;

use super::answers::Answers;
use super::call::Call;
use super::schemas;
use crate::root;

/// Known reasons for different results.
#[derive(Debug)]
pub(super) struct Known(Vec<Reason>);

#[derive(Debug)]
struct Reason {
    /// Functions to which the reason applies; all if empty.
    functions: Vec<String>,
    call: Option<Regex>,
    ours: Option<Regex>,
    theirs: Option<Regex>,
    /// True if the reason applies only to results with the same errors in another order.
    reordered: bool,
    /// Whether the reason applies only to results that differ in the escapes of their literals.
    escaped: bool,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    difference: Vec<ReasonsFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasonsFile {
    #[serde(default)]
    functions: Vec<String>,
    call: Option<String>,
    ours: Option<String>,
    theirs: Option<String>,
    #[serde(default)]
    reordered: bool,
    #[serde(default)]
    escaped: bool,
    reason: String,
}

impl Known {
    /// Reads the file of known differences.
    ///
    /// # Errors
    /// When the file cannot be read or is invalid.
    pub(super) fn read() -> Result<Self, Box<dyn Error>> {
        let path = root().join("xtask/verification/builtin-differences.toml");
        let file: File = toml::from_str(&fs::read_to_string(path)?)?;
        let pattern = |text: Option<String>| text.map(|text| Regex::new(&text)).transpose();
        let reasons = file.difference.into_iter().map(|written| {
            Ok(Reason {
                functions: written.functions,
                call: pattern(written.call)?,
                ours: pattern(written.ours)?,
                theirs: pattern(written.theirs)?,
                reordered: written.reordered,
                escaped: written.escaped,
                text: written.reason,
            })
        });
        Ok(Self(reasons.collect::<Result<_, Box<dyn Error>>>()?))
    }

    /// Returns the index of the reason that explains a difference; `None` if there is none.
    pub(super) fn explains(&self, call: &Call, answers: &Answers) -> Option<usize> {
        let fits = |pattern: &Option<Regex>, text: &str| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(text))
        };
        let (ours, theirs) = (
            Answers::format_outcome(&answers.ours),
            Answers::format_outcome(&answers.theirs),
        );
        self.0.iter().position(|reason| {
            (reason.functions.is_empty() || reason.functions.contains(&call.function))
                && fits(&reason.call, &call.to_string())
                && fits(&reason.ours, &ours)
                && fits(&reason.theirs, &theirs)
                && (!reason.reordered || schemas::is_reordered(&ours, &theirs))
                && (!reason.escaped || unescaped(&ours) == unescaped(&theirs))
        })
    }

    /// Returns all reasons, each with the functions that it applies to.
    pub(super) fn listed(&self) -> impl Iterator<Item = (&[String], &str)> {
        let reasons = self.0.iter();
        reasons.map(|reason| (reason.functions.as_slice(), reason.text.as_str()))
    }

    /// Returns the text of a reason.
    pub(super) fn reason(&self, number: usize) -> &str {
        self.0.get(number).map_or("", |reason| reason.text.as_str())
    }
}

/// Replaces the escapes of characters in literals by the characters.
fn unescaped(text: &str) -> String {
    let Ok(escapes) = Regex::new(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})") else {
        return text.to_owned();
    };
    let character = |found: &Captures<'_>| {
        let digits = found
            .get(1)
            .or(found.get(2))
            .map_or("", |digits| digits.as_str());
        let code = u32::from_str_radix(digits, 16).ok();
        code.and_then(char::from_u32).map_or_else(
            || {
                found
                    .get(0)
                    .map_or("", |matched| matched.as_str())
                    .to_owned()
            },
            String::from,
        )
    };
    escapes.replace_all(text, character).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_literals_are_no_difference() {
        assert_eq!(unescaped(r#"["a\u00e9\U00011f600"]"#), "[\"aé\u{11f60}0\"]");
        assert_eq!(unescaped(r#"["\ud800"]"#), r#"["\ud800"]"#);
    }
}

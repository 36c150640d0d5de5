//! Expected results of the examples: the files in the bundles that OPA Control Plane builds.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;

use serde::Deserialize;

use super::Bundles;

/// Comment at the start of the file with the expected bundles.
const HEAD: &str = "# The files of each bundle that OPA Control Plane builds of its own end-to-end examples,\n\
     # at commit a20dcb310af9edec3364d9ea47b96153d989f8f0 (0.7).\n\
     # `cargo xtask ocp-examples SOURCE --opactl PROGRAM --bless` writes the names; `differs` says\n\
     # why the reference makes something else.\n";

/// Expected results by name of the example.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Expected(BTreeMap<String, BuiltFiles>);

/// Expected result of one example: the files of its bundles.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct BuiltFiles {
    /// Reason why the reference builds other files; `None` if it builds the same.
    differs: Option<String>,
    bundles: Bundles,
}

/// Comparison of an example's result with the expected one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// True if the bundles contain the expected files.
    pub(super) is_same: bool,
    /// True if the result is the expected one: the same files, or other files with a reason.
    pub(super) holds: bool,
    /// Message about the comparison.
    pub(super) message: String,
}

impl Expected {
    /// Parses the file with the expected bundles.
    ///
    /// # Errors
    /// When the file is invalid.
    pub(super) fn read(text: &str) -> Result<Self, Box<dyn Error>> {
        Ok(toml::from_str(text)?)
    }

    /// Stores the bundles of an example as its expected result.
    pub(super) fn set(&mut self, name: &str, bundles: Bundles) {
        self.0.entry(name.to_owned()).or_default().bundles = bundles;
    }

    /// Removes the results of all other examples.
    pub(super) fn keep<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let names: BTreeSet<&str> = names.collect();
        self.0.retain(|name, _| names.contains(name.as_str()));
    }

    /// Compares the bundles of an example with the expected ones. `by_reference` is true if the
    /// reference has built them, false for OPA Control Plane.
    pub(super) fn judge(&self, name: &str, bundles: &Bundles, by_reference: bool) -> Verdict {
        let Some(recorded) = self.0.get(name) else {
            return Verdict {
                is_same: false,
                holds: false,
                message: "nobody says what it makes".to_owned(),
            };
        };
        let is_same = recorded.bundles == *bundles;
        let reason = recorded.differs.as_deref().filter(|_| by_reference);
        let (holds, message) = match (is_same, reason) {
            (true, None) => (true, "the same files".to_owned()),
            (true, Some(_)) => (
                false,
                "the same files, although a reason is given".to_owned(),
            ),
            (false, Some(reason)) => (true, format!("differs: {reason}")),
            (false, None) => (
                false,
                format!("makes {bundles:?}, not {:?}", recorded.bundles),
            ),
        };
        Verdict {
            is_same,
            holds,
            message,
        }
    }

    /// Formats all expected results as the content of their file.
    pub(super) fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        // Writing to a string does not fail.
        for (name, recorded) in &self.0 {
            let _ = writeln!(text, "\n[{name}]");
            if let Some(reason) = &recorded.differs {
                let _ = writeln!(text, "differs = {}", quoted(reason));
            }
            for (path, files) in &recorded.bundles {
                let _ = writeln!(text, "bundles.{} = [", quoted(path));
                for file in files {
                    let _ = writeln!(text, "  {},", quoted(file));
                }
                let _ = writeln!(text, "]");
            }
        }
        text
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_has_a_reason() -> Result<(), Box<dyn Error>> {
        let written = "[a]\n\n[b]\ndiffers = \"it is so\"\nbundles.\"x/y\" = [\n  \"/d\",\n]\n";
        let expected = Expected::read(written)?;
        let text = expected.text();
        assert_eq!(text, Expected::read(&text)?.text());
        assert!(text.ends_with(written), "{text}");
        let none = Bundles::new();
        let one = Bundles::from([("x/y".to_owned(), vec!["/d".to_owned()])]);
        for (name, bundles, by_reference, is_same, holds) in [
            ("a", &none, true, true, true),
            ("a", &one, true, false, false),
            ("b", &none, true, false, true),
            ("b", &one, true, true, false),
            ("b", &one, false, true, true),
            ("b", &none, false, false, false),
            ("c", &none, true, false, false),
        ] {
            let verdict = expected.judge(name, bundles, by_reference);
            let judged = (verdict.is_same, verdict.holds);
            assert_eq!(judged, (is_same, holds), "{name}: {}", verdict.message);
        }
        Ok(())
    }
}

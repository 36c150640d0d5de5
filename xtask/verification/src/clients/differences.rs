//! Known differences between what client libraries return for the engine and for OPA, with reasons.

use std::collections::BTreeSet;
use std::error::Error;

use serde::Deserialize;
use serde_json::Value;

use super::answers::Answers;

/// List of known differences, and those of its entries that occurred.
#[derive(Debug)]
pub(super) struct Differences {
    listed: Vec<Listed>,
    /// Indices of the entries that occurred, each with the index of the matching case pattern.
    met: BTreeSet<(usize, usize)>,
}

/// Cases that differ in the same way.
#[derive(Debug)]
struct Listed {
    /// Names of cases in the form `CLIENT/CASE`; a trailing `*` matches every name with this
    /// prefix.
    cases: Vec<String>,
    opa: Value,
    ours: Value,
}

/// Format of the file with the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    difference: Vec<Reason>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    reason: String,
    seen: Vec<Observed>,
}

/// Results of both servers, as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Observed {
    cases: Vec<String>,
    opa: String,
    ours: String,
}

/// Outcome of the comparison of one client.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Compared {
    pub(super) alike: usize,
    pub(super) listed: usize,
    /// Messages about unlisted differences.
    pub(super) wrong: Vec<String>,
}

impl Differences {
    /// Parses the list of known differences.
    ///
    /// # Errors
    /// When the file is invalid TOML or JSON, a difference lacks a reason or a case, or both of its
    /// results are equal.
    pub(super) fn read(text: &str) -> Result<Self, Box<dyn Error>> {
        let mut listed = Vec::new();
        for Reason { reason, seen } in toml::from_str::<File>(text)?.difference {
            if reason.trim().is_empty() {
                return Err("a difference without a reason".into());
            }
            for Observed { cases, opa, ours } in seen {
                let (opa, ours) = (serde_json::from_str(&opa)?, serde_json::from_str(&ours)?);
                if cases.is_empty() || opa == ours {
                    return Err(format!("no difference of a case: {reason}").into());
                }
                listed.push(Listed { cases, opa, ours });
            }
        }
        Ok(Self {
            listed,
            met: BTreeSet::new(),
        })
    }

    /// Compares a client's results on both servers.
    ///
    /// # Errors
    /// When the client ran different cases on the servers.
    pub(super) fn compare(
        &mut self,
        client: &str,
        opa: &Answers,
        ours: &Answers,
    ) -> Result<Compared, String> {
        let mut compared = Compared::default();
        for (case, opa, ours) in opa.pair_with(ours)? {
            let case = format!("{client}/{case}");
            if opa == ours {
                compared.alike += 1;
                continue;
            }
            let found = self.listed.iter().enumerate().find_map(|(entry, listed)| {
                let mut patterns = listed.cases.iter();
                let pattern = patterns.position(|listed| is_about(listed, &case))?;
                (listed.opa == *opa && listed.ours == *ours).then_some((entry, pattern))
            });
            match found {
                Some(pattern_id) => {
                    compared.listed += 1;
                    self.met.insert(pattern_id);
                }
                None => {
                    let line = format!("{case}: the real OPA shows {opa}, the engine {ours}");
                    compared.wrong.push(line);
                }
            }
        }
        Ok(compared)
    }

    /// Returns messages about listed differences that did not occur.
    pub(super) fn unused(&self) -> Vec<String> {
        let all = self.listed.iter().enumerate();
        let all = all.flat_map(|(entry, listed)| {
            let patterns = listed.cases.iter().enumerate();
            patterns.map(move |(pattern_id, pattern)| ((entry, pattern_id), pattern))
        });
        let unused = all.filter(|(pattern_id, _)| !self.met.contains(pattern_id));
        unused
            .map(|(_, pattern)| format!("{pattern} is listed, but does not differ so"))
            .collect()
    }
}

fn is_about(listed: &str, case: &str) -> bool {
    match listed.strip_suffix('*') {
        Some(begin) => case.starts_with(begin),
        None => listed == case,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const LIST: &str = r#"
        [[difference]]
        reason = "It is so."
        seen = [
          { cases = ["c/x", "c/deep/*"], opa = '{"result": 1}', ours = '{"error": {}}' },
        ]
    "#;

    #[test]
    fn only_what_is_listed_differs() -> Result<(), Box<dyn Error>> {
        let (one, two, error) = (r#""result":1"#, r#""result":2"#, r#""error":{}"#);
        for (answers, alike, listed, wrong, unused) in [
            ([("x", one, error), ("deep/er", one, error)], 0, 2, 0, 0),
            ([("x", one, error), ("deep/er", one, one)], 1, 1, 0, 1),
            ([("x", one, two), ("deep/er", one, error)], 0, 1, 1, 1),
            ([("y", one, two), ("deep", one, error)], 0, 0, 2, 2),
        ] {
            let side = |of: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
                let lines = answers
                    .iter()
                    .map(|answer| format!("{{\"case\":\"{}\",{}}}\n", answer.0, of(answer)));
                Answers::read(&lines.collect::<String>())
            };
            let mut differences = Differences::read(LIST)?;
            let compared = differences.compare("c", &side(|it| it.1)?, &side(|it| it.2)?)?;
            let found = (compared.alike, compared.listed, compared.wrong.len());
            assert_eq!(found, (alike, listed, wrong), "{answers:?}");
            assert_eq!(differences.unused().len(), unused, "{answers:?}");
        }
        Ok(())
    }

    #[rstest]
    #[case::no_reason("It is so.", "")]
    #[case::no_case(r#"["c/x", "c/deep/*"]"#, "[]")]
    #[case::no_answer(r#"{"error": {}}"#, r#"{"result":1}"#)]
    #[case::no_json(r#"{"error": {}}"#, "nothing")]
    #[case::unknown_field("reason", "why")]
    fn a_list_says_why_and_what(#[case] original: &str, #[case] replacement: &str) {
        assert!(Differences::read(&LIST.replace(original, replacement)).is_err());
    }

    #[test]
    fn the_list_is_read() {
        assert!(Differences::read(LIST).is_ok());
    }
}

//! Failure groups: failures with the same request and response, reported once with their rules.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::failure::{endpoint, first_difference};
use super::{Digest, Row, concurrency_hint};
use crate::catalogue::Catalogue;
use crate::judge::verdict::Failure;

/// Minimum number of equal failures that form a group; fewer are reported one by one.
const ALIKE: usize = 3;
/// Maximum length of a difference that failures have in common, in characters.
const SIDE_SHOWN: usize = 80;

/// Common cause of several failing rules.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Cause<'a> {
    /// Method and path of the common request; the path is the documented one with its parameters.
    pub(super) request: String,
    /// Status of the common response; none if no response arrived.
    pub(super) status: Option<u16>,
    /// Common text of the error messages or differences. Words that are not common are replaced by
    /// `…`.
    pub(super) message: String,
    /// Advice on what to check on the server, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
    /// The failing rules, in the order of the report.
    pub(super) rules: Vec<&'a str>,
    #[serde(skip)]
    pub(super) rows: Vec<&'a Row>,
    /// Whether `message` is the server's, not a difference.
    #[serde(skip)]
    by_server: bool,
}

/// Key of equal failures: request, status, message, and whether the server sent the message.
type Key = (String, Option<u16>, String, bool);
/// The rows with the same key, each with its full message.
type Group<'a> = Vec<(&'a Row, String)>;

/// Returns the causes with several rules, ordered by number of rules, most first.
pub(super) fn causes(digest: &Digest) -> Vec<Cause<'_>> {
    let mut groups: BTreeMap<Key, Group<'_>> = BTreeMap::new();
    for row in &digest.rows {
        if let Some(failure) = row.failure() {
            let (key, message) = key(row, failure);
            groups.entry(key).or_default().push((row, message));
        }
    }
    groups.retain(|_, rows| rows.len() >= ALIKE);
    let mut causes: Vec<Cause<'_>> = groups
        .into_iter()
        .map(|((request, status, _, by_server), group)| {
            let (rows, messages): (Vec<&Row>, Vec<String>) = group.into_iter().unzip();
            Cause {
                advice: advice(digest, status, &rows),
                rules: rows.iter().map(|row| row.judged.rule.as_str()).collect(),
                request,
                status,
                message: common(&messages),
                rows,
                by_server,
            }
        })
        .collect();
    causes.sort_by_key(|cause| Reverse(cause.rows.len()));
    causes
}

/// Returns the rules of all these causes.
pub(super) fn grouped<'a>(causes: &[Cause<'a>]) -> BTreeSet<&'a str> {
    let rules = causes.iter().flat_map(|cause| &cause.rules);
    rules.copied().collect()
}

impl Cause<'_> {
    /// Formats a cause in one line: number of rules, request, response, and what to check.
    pub(super) fn sentence(&self) -> String {
        let Self {
            request, message, ..
        } = self;
        let mut line = format!("{} rules: `{request}`", self.rows.len());
        match self.status {
            Some(status) => line.push_str(&format!(" answered {status}")),
            None => line.push_str(" was not answered"),
        }
        match (message.is_empty(), self.by_server) {
            (true, _) => {}
            (false, true) => line.push_str(&format!(" `{message}`")),
            (false, false) => line.push_str(&format!(", {message}")),
        }
        if let Some(advice) = &self.advice {
            line.push_str(&format!("; {advice}"));
        }
        line
    }
}

/// Returns the key of a failure, and its full message.
fn key(row: &Row, failure: &Failure) -> (Key, String) {
    let request = endpoint(row.document, &failure.request);
    let answered = failure.answered.as_ref();
    let differs = failure.differences.first();
    let differs_in_status = differs.filter(|one| one.path == "status");
    // Older evidence contains the status of a response only if it is not as expected.
    let status = answered.map(|answered| answered.status);
    let status = status.or_else(|| differs_in_status?.got.parse().ok());
    let note = failure.notes.first().map_or("", String::as_str);
    let (message, by_server) = match status {
        None => (differs_in_status.map_or(note, |one| &one.got), false),
        // Whatever is missing from an error response, the error is the cause.
        Some(code) if failure.blocked || differs_in_status.is_some() || code >= 400 => {
            (answered.map_or("", |answered| &answered.message), true)
        }
        Some(_) => match differs {
            Some(one) => {
                let message = cut(&first_difference(one), SIDE_SHOWN);
                return ((request, status, message.clone(), false), message);
            }
            None => (note, false),
        },
    };
    let key = (request, status, general(message), by_server);
    (key, message.to_owned())
}

/// Returns the common part of several messages: the words at positions where all have the same
/// word, and `…` for others. Empty if no word is left.
fn common(messages: &[String]) -> String {
    let all: Vec<Vec<&str>> = messages
        .iter()
        .map(|message| message.split_whitespace().collect())
        .collect();
    let Some((first, others)) = all.split_first() else {
        return String::new();
    };
    if others.iter().any(|words| words.len() != first.len()) {
        return messages
            .first()
            .map_or_else(String::new, |one| general(one));
    }
    let places = first.iter().enumerate();
    line(places.map(|(place, word)| {
        let same = others.iter().all(|words| words.get(place) == Some(word));
        same.then_some(*word)
    }))
}

/// Removes from a message the words that vary by request: paths, names, numbers, quoted parts.
/// Empty if no other word is left.
fn general(message: &str) -> String {
    line(message.split_whitespace().map(|word| {
        let is_variable = |c: char| c.is_ascii_digit() || "/<>{}[]\"'`_".contains(c);
        // The media type of a page is retained.
        let media_type = word.starts_with("text/") || word.starts_with("application/x");
        (media_type || !word.contains(is_variable)).then_some(word)
    }))
}

/// Joins words into a line, with one `…` for consecutive omitted words. Empty if all are omitted.
fn line<'a>(words: impl Iterator<Item = Option<&'a str>>) -> String {
    let mut merged: Vec<&str> = Vec::new();
    for word in words.map(|word| word.unwrap_or("…")) {
        if word != "…" || merged.last() != Some(&"…") {
            merged.push(word);
        }
    }
    match merged.as_slice() {
        ["…"] => String::new(),
        words => cut(&words.join(" "), SIDE_SHOWN),
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns advice on what to check for rules that fail with this status, if known.
fn advice(digest: &Digest, status: Option<u16>, rows: &[&Row]) -> Option<String> {
    let messages = rows
        .iter()
        .filter_map(|row| row.failure()?.answered.as_ref());
    let mut messages = messages.map(|answered| answered.message.as_str());
    match status {
        None => Some("what does the server's log say?".to_owned()),
        Some(401) if concurrency_hint::remedy(digest).is_some() => {
            Some("is it given more at once than it bears? -j 1 runs one rule at a time".to_owned())
        }
        Some(401) => Some("is a token missing or wrong? --token-env names it".to_owned()),
        Some(403) => Some("is the token an administrator's?".to_owned()),
        Some(400 | 406 | 415) if messages.any(|message| message.contains("/vnd.")) => {
            let started = digest.started.as_ref()?;
            let vendor = match started.target.vendor.as_str() {
                "opa" => "engine",
                _ => "opa",
            };
            Some(format!("is `--vendor {vendor}` meant?"))
        }
        Some(404 | 405 | 501) => {
            let capability = one_capability(rows)?;
            let passes = |row: &&Row| row.is_proven() && self::capability(row) == Some(capability);
            let passing = digest.rows.iter().find(passes);
            passing
                .is_none()
                .then(|| format!("does it have `{capability}`? --capabilities names what it has"))
        }
        Some(_) => None,
    }
}

/// Returns the capability of these rules, if they all have the same one.
fn one_capability(rows: &[&Row]) -> Option<&'static str> {
    let first = capability(rows.first()?)?;
    let same = |row: &&Row| capability(row) == Some(first);
    rows.iter().all(same).then_some(first)
}

fn capability(row: &Row) -> Option<&'static str> {
    let catalogue = Catalogue::embedded().ok()?;
    Some(&catalogue.clause(&row.judged.rule)?.capability)
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::judge::verdict::{Answered, Difference, Verdict};
    use crate::report::digest::samples;

    fn failing(rules: &[&str], status: u16, message: &str) -> Digest {
        let failure = |number: usize| Failure {
            step: 2,
            request: format!("POST /v1/compile/<ns>/a{number}"),
            answered: Some(Answered {
                status,
                message: message.replace("{n}", &number.to_string()),
            }),
            differences: vec![Difference {
                path: "status".to_owned(),
                expected: "200".to_owned(),
                got: status.to_string(),
            }],
            ..Failure::default()
        };
        let rows = rules.iter().enumerate();
        samples::judged(rows.map(|(number, rule)| (*rule, Verdict::Fail(failure(number)))))
    }

    #[rstest]
    #[case::vendor(
        406,
        "unsupported header: application/vnd.engine.a{n}+json",
        "3 rules: `POST /v1/compile/{path}` answered 406 `unsupported header: …`; is `--vendor opa` meant?"
    )]
    #[case::token(
        401,
        "",
        "3 rules: `POST /v1/compile/{path}` answered 401; is a token missing or wrong? --token-env names it"
    )]
    #[case::message(500, "boom", "3 rules: `POST /v1/compile/{path}` answered 500 `boom`")]
    // A word that all have at the same place is retained, whatever it looks like.
    #[case::word_at_one_place(
        500,
        "no `unknowns` in /ns{n}/a of 1",
        "3 rules: `POST /v1/compile/{path}` answered 500 `no `unknowns` in … of 1`"
    )]
    fn rules_that_fail_alike_are_told_in_one_line(
        #[case] status: u16,
        #[case] message: &str,
        #[case] expected: &str,
    ) {
        let rules = [
            "engine/v1/compile/filters/post/a",
            "engine/v1/compile/filters/post/b",
            "engine/v1/compile/filters/post/c",
        ];
        let digest = failing(&rules, status, message);
        let causes = causes(&digest);
        let sentences: Vec<_> = causes.iter().map(Cause::sentence).collect();
        assert_eq!(sentences, [expected]);
        assert_eq!(causes.first().expect("a cause").rules, rules);
        // Two do not form a group.
        assert!(super::causes(&failing(rules.get(1..).expect("two"), status, message)).is_empty());
    }

    #[rstest]
    #[case::empty("", "")]
    #[case::path("document does not exist: /<ns>/a", "document does not exist: …")]
    #[case::status_and_body(
        "prerequisite failed: status 404, body `x y`",
        "prerequisite failed: status … body …"
    )]
    #[case::numbers("a 1 2 b", "a … b")]
    #[case::media_type("text/html: Error response", "text/html: Error response")]
    #[case::braces("{}", "")]
    fn what_is_of_one_request_is_taken_out_of_a_message(
        #[case] message: &str,
        #[case] expected: &str,
    ) {
        assert_eq!(general(message), expected);
    }
}

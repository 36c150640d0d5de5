//! Failures as text: clause, step, differences and commands to reproduce.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Digest, Outcome, Row};
use crate::catalogue::{Catalogue, Document};
use crate::evidence::TargetSummary;
use crate::http_client::curl::argument;
use crate::judge::openapi::Contract;
use crate::judge::verdict::{Difference, Failure, Verdict};
use crate::scenario::{UNNAMED, default_vendor};

/// Explanation for a rule that was not checked because a prerequisite request failed.
pub(super) const BLOCKED: &str =
    "blocked: this request only sets the scene, the rule itself was not looked at";

/// Placeholder for the rule in a command line that has arguments after the rule.
const PLACE: &str = "{rule}";

/// Maximum number of failed prerequisite requests that are named.
const BLOCKING_SHOWN: usize = 5;

/// Formats a failure as lines, without the rule's id.
pub(super) fn lines(digest: &Digest, row: &Row, failure: &Failure) -> Vec<String> {
    let mut lines = Vec::new();
    if !failure.request.is_empty() {
        lines.push(format!("step {}: {}", failure.step, failure.request));
    }
    lines.push(clause(row));
    if failure.blocked {
        lines.push(BLOCKED.to_owned());
    }
    for difference in &failure.differences {
        lines.extend(difference_lines(difference));
    }
    lines.extend(failure.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(failure.curl.iter().cloned());
    let command = rerun_command(digest, &row.judged.rule);
    lines.push(format!("again: {command}"));
    lines
}

/// Formats a blocked rule, if the failure of its prerequisite is already shown.
pub(super) fn format_blocked(digest: &Digest, row: &Row, failure: &Failure) -> Vec<String> {
    let command = rerun_command(digest, &row.judged.rule);
    vec![clause(row), headline(failure), format!("again: {command}")]
}

/// Whether a prerequisite request of the rule failed, so that the rule itself was not checked.
pub(super) fn blocked(row: &Row) -> bool {
    matches!(&row.judged.verdict, Verdict::Fail(failure) if failure.blocked)
}

/// Describes how many failing rules were blocked, and by which requests; none without such rules.
pub(super) fn blocked_by(digest: &Digest) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in &digest.rows {
        if let (Outcome::Fail, Verdict::Fail(failure)) = (row.outcome, &row.judged.verdict)
            && failure.blocked
        {
            *counts.entry(blocking(&failure.request)).or_default() += 1;
        }
    }
    let rules = match counts.values().sum() {
        0 => return None,
        1 => "1 failing rule is".to_owned(),
        count => format!("{count} failing rules are"),
    };
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let others: usize = counts
        .iter()
        .skip(BLOCKING_SHOWN)
        .map(|(_, count)| count)
        .sum();
    counts.truncate(BLOCKING_SHOWN);
    if others > 0 {
        counts.push(("others".to_owned(), others));
    }
    let named = counts
        .iter()
        .map(|(name, count)| format!("{name} ({count})"));
    let named = named.collect::<Vec<_>>().join(", ");
    Some(format!(
        "{rules} blocked by what only sets the scene: {named}"
    ))
}

/// Returns method and path of a request, up to the name of the run's resource.
fn blocking(request: &str) -> String {
    let mut words = words(request);
    let (method, path) = (words.next().unwrap_or_default(), words.next());
    let path = path
        .unwrap_or_default()
        .split('?')
        .next()
        .unwrap_or_default();
    match path.split_once("<ns>") {
        Some((before, _)) => format!("{method} {before}<ns>"),
        None => format!("{method} {path}"),
    }
}

/// Returns method and path of a request. The path is the documented one with its parameters; an
/// undocumented path ends with the name of the run's resource.
pub(super) fn endpoint(document: Option<Document>, request: &str) -> String {
    let mut parts = words(request);
    let (method, path) = (parts.next().unwrap_or_default(), parts.next());
    let path = path.unwrap_or_default();
    let document = match request.starts_with("engine ") {
        true => Some(Document::Engine),
        false => document,
    };
    let contract = Contract::embedded().ok();
    let template = document.and_then(|document| contract?.template(document, method, path));
    template.map_or_else(|| blocking(request), |path| format!("{method} {path}"))
}

/// Splits a request into words, from its method on.
fn words(request: &str) -> impl Iterator<Item = &str> {
    let is_recipient = |word: &&str| matches!(*word, "engine" | "depot");
    request.split(' ').skip_while(is_recipient)
}

/// Formats the first difference in one line, after method and path, for short reports.
pub(super) fn headline(failure: &Failure) -> String {
    match failure.request.as_str() {
        "" => differs(failure),
        request => format!("{request}: {}", differs(failure)),
    }
}

/// Formats what differs in one line, for lists that also show the request.
pub(super) fn differs(failure: &Failure) -> String {
    let step = failure.step;
    match (failure.differences.first(), failure.notes.first()) {
        (_, Some(note)) if failure.blocked => format!("blocked at step {step}: {note}"),
        (Some(difference), _) => format!("step {step}: {}", first_difference(difference)),
        (None, Some(note)) => format!("step {step}: {note}"),
        (None, None) => format!("step {step}"),
    }
}

/// Formats a difference in one line.
pub(super) fn first_difference(difference: &Difference) -> String {
    let Difference {
        path,
        expected,
        got,
    } = difference;
    format!("{path}: expected {expected} | got {got}")
}

fn clause(row: &Row) -> String {
    format!("{}: {}", place(row), row.judged.states)
}

/// Title of the document or pack that states the clause, and the section.
pub(super) fn place(row: &Row) -> String {
    let title = Catalogue::embedded().map_or("", |known| known.title_of(&row.judged.rule));
    format!("{title}, {}", row.judged.section)
}

/// Formats a difference: one line if both sides are short, otherwise one for each side.
fn difference_lines(difference: &Difference) -> Vec<String> {
    let Difference {
        path,
        expected,
        got,
    } = difference;
    if expected.len() + got.len() <= 100 && !expected.contains('\n') && !got.contains('\n') {
        return vec![format!("  {}", first_difference(difference))];
    }
    let indented = |text: &str| text.replace('\n', "\n      ");
    vec![
        format!("  {path}:"),
        format!("    expected {}", indented(expected)),
        format!("    got      {}", indented(got)),
    ]
}

/// Returns the command that runs the rule again on the same target, as far as known.
pub(super) fn rerun_command(digest: &Digest, rule: &str) -> String {
    let command = match (&digest.rerun_command, &digest.started) {
        (Some(command), _) => command.clone(),
        (None, Some(started)) => command(&started.target),
        (None, None) => "conformance run".to_owned(),
    };
    // Evidence may name any rule.
    let rule = match rule {
        "" => String::new(),
        rule => argument(rule),
    };
    match command.contains(PLACE) {
        true => command.replace(PLACE, &rule),
        false => format!("{command} {rule}").trim_end().to_owned(),
    }
}

/// Returns the instruction to remove a passing rule from its list of known deviations.
pub(super) fn update(digest: &Digest, row: &Row) -> String {
    let Some(list) = &row.list else {
        return "it is one that the program carries; --known-failing FILE names another".to_owned();
    };
    if row.judged.rule.starts_with("client/") {
        return format!("remove its entry from {list}");
    }
    let run = rerun_command(digest, "");
    let options = run.trim_start_matches("conformance run").trim();
    let command = format!(
        "conformance baseline update --file {} {options}",
        argument(list)
    );
    command.trim_end().to_owned()
}

/// Returns the command line that judges this target, as far as evidence contains it.
fn command(target: &TargetSummary) -> String {
    let mut command = "conformance run".to_owned();
    let mut add = |flag: &str, value: &str| {
        command.push_str(&format!(" --{flag} {}", argument(value)));
    };
    let is_unnamed = target.name == UNNAMED;
    let by_address = is_unnamed || target.by_address;
    if !is_unnamed && (by_address || target.name != "reference") {
        add("target", &target.name);
    }
    if by_address {
        for (flag, url) in [
            ("control-url", &target.control),
            ("engine-url", &target.engine),
        ] {
            if let Some(url) = url {
                add(flag, url);
            }
        }
    }
    if is_unnamed {
        if target.vendor != default_vendor() {
            add("vendor", &target.vendor);
        }
        let claimed = &target.capabilities;
        let all = Catalogue::embedded().map_or(0, |catalogue| catalogue.capabilities().len());
        if !claimed.is_empty() && claimed.len() < all {
            add("capabilities", &claimed.join(","));
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn evidence_knows_how_to_ask_custom_targets_again() {
        let target = |name: &str, vendor: &str, capabilities: &[&str]| TargetSummary {
            name: name.to_owned(),
            vendor: vendor.to_owned(),
            control: None,
            engine: Some("http://127.0.0.1:1".to_owned()),
            capabilities: capabilities.iter().map(|&name| name.to_owned()).collect(),
            undetected: Vec::new(),
            version: None,
            product: None,
            by_address: false,
        };
        for (target, options) in [
            (target("reference", "engine", &[]), ""),
            (target("opa", "opa", &["filters"]), " --target opa"),
            (
                target("custom", "engine", &[]),
                " --engine-url http://127.0.0.1:1",
            ),
            (
                target("custom", "opa", &["filters", "documents"]),
                " --engine-url http://127.0.0.1:1 --vendor opa --capabilities filters,documents",
            ),
        ] {
            assert_eq!(command(&target), format!("conformance run{options}"));
        }
        let by_address = TargetSummary {
            by_address: true,
            ..target("opa", "opa", &[])
        };
        assert_eq!(
            command(&by_address),
            "conformance run --target opa --engine-url http://127.0.0.1:1"
        );
    }

    #[rstest]
    #[case::endpoint("PUT /v1/policies/<ns>", "PUT /v1/policies/<ns>")]
    #[case::query("PUT /v1/policies/<ns>-a?pretty=true", "PUT /v1/policies/<ns>")]
    #[case::shows("GET /v1/data/<ns>/a shows status is 200", "GET /v1/data/<ns>")]
    #[case::until("GET /health?bundles=true until status is 200", "GET /health")]
    #[case::nothing("", " ")]
    fn blocking_requests_are_told_by_their_endpoint(#[case] request: &str, #[case] expected: &str) {
        assert_eq!(blocking(request), expected);
    }

    #[rstest]
    #[case::known(
        Document::Engine,
        "GET /v1/data/<ns>/a?pretty=true shows status is 200",
        "GET /v1/data/{path}"
    )]
    #[case::unknown(Document::Engine, "GET /elsewhere/<ns>/a", "GET /elsewhere/<ns>")]
    #[case::of_another_server(
        Document::Control,
        "engine GET /v1/data/<ns>/a until status is 200",
        "GET /v1/data/{path}"
    )]
    fn endpoints_are_told_by_their_documents(
        #[case] document: Document,
        #[case] request: &str,
        #[case] expected: &str,
    ) {
        assert_eq!(endpoint(Some(document), request), expected);
    }
}

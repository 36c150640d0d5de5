//! JUnit report: one suite for each file of clauses, one case for each rule.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::DateTime;
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::{Digest, Outcome, Row, failure};
use crate::judge::verdict::{Reason, Verdict};

pub(super) fn render(digest: &Digest) -> Result<String, SerializeError> {
    let mut suites: BTreeMap<&str, TestSuite> = BTreeMap::new();
    for row in &digest.rows {
        let path = path_of(&row.judged.rule);
        let suite = suites.entry(path).or_insert_with(|| TestSuite::new(path));
        suite.add_test_case(case(digest, row, path));
    }
    let target = digest
        .started
        .as_ref()
        .map_or_else(String::new, |started| started.target.title());
    let mut report = Report::new(format!("conformance of {target}: {}", digest.score_text()));
    for (path, mut suite) in suites {
        let rows = digest.rows.iter();
        let of_suite = rows.filter(|row| path_of(&row.judged.rule) == path);
        suite.set_time(duration(of_suite.map(|row| row.judged.milliseconds).sum()));
        report.add_test_suite(suite);
    }
    if let Some(suite) = run_suite(digest) {
        report.add_test_suite(suite);
    }
    let at = digest
        .started
        .as_ref()
        .and_then(|started| started.at.as_deref());
    if let Some(at) = at.and_then(|at| DateTime::parse_from_rfc3339(at).ok()) {
        report.set_timestamp(at);
    }
    if let Some(finished) = &digest.finished {
        report.set_time(duration(finished.milliseconds));
    }
    report.to_string()
}

/// Returns the path of the file that contains a rule's clause.
fn path_of(rule: &str) -> &str {
    rule.rsplit_once('/').map_or(rule, |(path, _)| path)
}

fn case(digest: &Digest, row: &Row, path: &str) -> TestCase {
    let mut case = TestCase::new(row.judged.rule.as_str(), status(digest, row));
    case.set_classname(path.replace('/', "."));
    case.set_time(duration(row.judged.milliseconds));
    if row.outcome == Outcome::Recorded {
        case.set_system_out(row.judged.transcript.as_str());
    }
    case
}

fn status(digest: &Digest, row: &Row) -> TestCaseStatus {
    let known = row.known.as_deref().unwrap_or_default();
    match (&row.judged.verdict, row.outcome) {
        (Verdict::Fail(failure), Outcome::ExpectedFail) => {
            let headline = failure::headline(failure);
            skipped(&format!("known deviation: {known} ({headline})"))
        }
        (Verdict::Fail(failure), Outcome::ShouldFail) => {
            let headline = failure::headline(failure);
            skipped(&format!("should hold, and does not: {headline}"))
        }
        (_, Outcome::Flaky) => skipped(&format!("known to be flaky: {known}")),
        (Verdict::Fail(failure), _) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status
                .set_type(Outcome::Fail.name())
                .set_message(failure::headline(failure))
                .set_description(failure::lines(digest, row, failure).join("\n"));
            status
        }
        (Verdict::Pass, Outcome::UnexpectedPass) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status
                .set_type(Outcome::UnexpectedPass.name())
                .set_message(format!("listed as known to fail: {known}"));
            status
        }
        (Verdict::NotRun(reason @ (Reason::Unreachable(_) | Reason::Defect)), _) => {
            error(&reason.to_string())
        }
        (Verdict::NotRun(_), _) => skipped(&row.reason().unwrap_or_default()),
        // An open clause cannot pass.
        (Verdict::Recorded, _) => skipped("open clause: recorded, not judged"),
        (Verdict::Pass, _) => TestCaseStatus::success(),
    }
}

/// Returns a suite of the findings other than rule results, so that no reader of the report
/// considers the run successful.
fn run_suite(digest: &Digest) -> Option<TestSuite> {
    let findings = digest.findings();
    if findings.is_empty() {
        return None;
    }
    let mut suite = TestSuite::new("run");
    for (name, what) in findings {
        suite.add_test_case(TestCase::new(name, error(&what)));
    }
    Some(suite)
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}

fn error(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(message);
    status
}

fn duration(milliseconds: f64) -> Duration {
    Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default()
}

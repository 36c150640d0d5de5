//! Concurrency hint: detects targets that fail under concurrent rules, and suggests options.

use super::{Digest, Row};
use crate::judge::verdict::Failure;

/// Phrases in messages of servers on which concurrent requests conflict.
const WORDS: [&str; 4] = [
    "database is locked",
    "database table is locked",
    "deadlock",
    "too many connections",
];

/// Returns a remedy, if rules fail only because others ran at the same time.
pub(super) fn remedy(digest: &Digest) -> Option<String> {
    if digest.one_at_a_time {
        return None;
    }
    let failures = digest.rows.iter().filter_map(Row::failure);
    let phrases: Vec<&str> = failures.filter_map(conflict_phrase).collect();
    let first = phrases.first()?;
    let rules = match phrases.len() {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    };
    Some(format!(
        "{rules} met `{first}`: the target does not bear several rules at once, and others may fail by it too; -j 1 runs one at a time"
    ))
}

/// Returns the phrase in a failure's response or notes that shows the conflict, if any.
fn conflict_phrase(failure: &Failure) -> Option<&'static str> {
    let answered = failure.answered.as_ref();
    if answered.is_some_and(|answered| answered.status == 429) {
        return Some("429 Too Many Requests");
    }
    let message = answered.map(|answered| answered.message.as_str());
    let texts = message
        .into_iter()
        .chain(failure.notes.iter().map(String::as_str));
    let mut texts = texts.map(str::to_ascii_lowercase);
    texts.find_map(|text| WORDS.into_iter().find(|words| text.contains(words)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::judge::verdict::{Answered, Verdict};
    use crate::report::digest::samples;

    #[rstest]
    #[case::message(
        500,
        "database is locked (5) (SQLITE_BUSY)",
        "",
        Some("1 rule met `database is locked`")
    )]
    #[case::note(
        500,
        "",
        "prerequisite failed: Database is Locked",
        Some("1 rule met `database is locked`")
    )]
    #[case::status(429, "", "", Some("1 rule met `429 Too Many Requests`"))]
    #[case::another_lock(500, "the door is locked", "", None)]
    #[case::another_status(401, "Unauthorized", "", None)]
    fn rules_that_stand_in_each_others_way_are_to_run_one_at_a_time(
        #[case] status: u16,
        #[case] message: &str,
        #[case] note: &str,
        #[case] expected: Option<&str>,
    ) {
        let failure = Failure {
            answered: Some(Answered {
                status,
                message: message.to_owned(),
            }),
            notes: vec![note.to_owned()],
            ..Failure::default()
        };
        let verdicts = [("control/sources/put/creates", Verdict::Fail(failure))];
        let mut digest = samples::judged(verdicts.into_iter());
        let remedy = super::remedy(&digest);
        assert_eq!(remedy.is_some(), expected.is_some());
        for (remedy, expected) in remedy.iter().zip(expected) {
            assert!(
                remedy.starts_with(expected) && remedy.contains("-j 1"),
                "{remedy}"
            );
        }
        digest.one_at_a_time = true;
        assert_eq!(super::remedy(&digest), None);
    }
}

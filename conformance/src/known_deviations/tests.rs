//! Invalid lists, and the coverage of entries.

use chrono::Utc;
use rstest::rstest;

use super::*;

const IDS: [&str; 2] = [
    "engine/health/get/healthy-is-empty-object",
    "engine/health/get/unhealthy-is-server-error",
];
const GOOD: &str = "[[deviation]]\nrule = 'engine/health/*/healthy-*'\nreason = 'r'\n";

fn message(error: Result<KnownList, KnownError>) -> String {
    let error = error.map(|_| ()).map_err(|error| error.to_string());
    error.err().unwrap_or_default()
}

#[rstest]
#[case::unknown_field("reason", "because", "unknown field `because`")]
#[case::empty_reason("'r'", "' '", "the `reason` of `engine/health/*/healthy-*` is empty")]
#[case::reason_to_do(
    "'r'",
    "'TODO: say why'",
    "`engine/health/*/healthy-*` is still to be written"
)]
#[case::empty_clause("'r'", "'r'\nclause = ''", "the `clause` of")]
#[case::empty_issue("'r'", "'r'\nissue = ''", "the `issue` of")]
#[case::no_reason("reason = 'r'", "", "missing field `reason`")]
#[case::glob("/healthy-*", "/nothing", "no rule matches `engine/health/*/nothing`")]
#[case::id("/*/healthy-*", "/get/health", "no rule `engine/health/get/health`")]
#[case::date("'r'", "'r'\nexpires = 'soon'", "expires")]
#[case::time("'r'", "'r'\nexpires = 2030-01-31T10:00:00Z", "invalid date")]
#[case::leap_day("'r'", "'r'\nexpires = 2030-02-29", "expires")]
#[case::unknown_condition("'r'", "'r'\nwhen = { moon = 'full' }", "unknown field `moon`")]
#[case::version(
    "'r'",
    "'r'\nwhen = { version = 'new' }",
    "invalid range of versions `new`"
)]
#[case::setup("'r'", "'r'\nwhen = { setup = 'tent' }", "needs the setup `tent`")]
#[case::flaky(
    "deviation",
    "flaky",
    "contains [[flaky]] entries; pass this file with --known-flaky"
)]
fn bad_lists_are_refused_with_file_and_entry(
    #[case] from: &str,
    #[case] to: &str,
    #[case] expected: &str,
) {
    let text = GOOD.replace(from, to);
    let message = message(KnownList::parse(&text, "known.toml", IDS.into_iter()));
    assert!(message.starts_with("known.toml: "), "{message}");
    assert!(
        message.contains(expected),
        "expected {expected:?} in {message:?}"
    );
}

#[test]
fn a_rule_fails_or_is_flaky() {
    let failing = || KnownList::parse(GOOD, "failing.toml", IDS.into_iter());
    let flaky = GOOD.replace("deviation", "flaky");
    let both = failing().and_then(|list| list.and(Kind::Flaky, &flaky, "f.toml", IDS.into_iter()));
    assert!(message(both).contains("is on the list of known deviations too"));
    let other = flaky.replace("healthy-*", "unhealthy-*");
    let list = failing().and_then(|list| list.and(Kind::Flaky, &other, "f.toml", IDS.into_iter()));
    let found = |known: fn(&KnownList, &str) -> bool| {
        IDS.map(|id| list.as_ref().is_ok_and(|list| known(list, id)))
    };
    assert_eq!(
        found(|list, id| list.deviation(id).is_some()),
        [true, false]
    );
    assert_eq!(found(|list, id| list.flaky(id).is_some()), [false, true]);
}

#[rstest]
#[case::no_condition("", None, (true, ""))]
#[case::target_and_setup("when = { target = 'opa', setup = 'default' }", None, (true, ""))]
#[case::another_target("when = { target = 'ocp' }", None, (false, ""))]
#[case::version("when = { version = '<1.13' }", Some("v1.12.0"), (true, ""))]
#[case::another_version("when = { version = '<1.13' }", Some("1.13"), (false, ""))]
#[case::not_expired("expires = 9999-12-31", None, (true, ""))]
#[case::expired(
    "expires = 2020-01-31",
    None,
    (
        false,
        "known.toml: the entry for `engine/health/*/healthy-*` expired on 2020-01-31"
    )
)]
// An entry that does not apply may have expired.
#[case::expired_of_another_target(
    "expires = 2020-01-31\nwhen = { target = 'ocp' }",
    None,
    (false, "")
)]
fn an_entry_covers_a_rule_while_its_conditions_hold(
    #[case] more: &str,
    #[case] version: Option<&str>,
    #[case] expected: (bool, &str),
) {
    let today = Utc::now().date_naive();
    let covers = |more: &str, version: Option<&str>| {
        let text = format!("{GOOD}{more}\n");
        let list = KnownList::parse(&text, "known.toml", IDS.into_iter())?;
        let list = list.on("opa", version, today)?;
        let covers = list.deviation(IDS[0]).is_some();
        Ok::<_, KnownError>((covers, list.stale().join(", ")))
    };
    let found = covers(more, version).map_err(|error| error.to_string());
    assert_eq!(found, Ok((expected.0, expected.1.to_owned())));
}

#[test]
fn a_condition_on_the_version_needs_one() {
    let today = Utc::now().date_naive();
    let covers = |more: &str, version: Option<&str>| {
        let text = format!("{GOOD}{more}\n");
        let list = KnownList::parse(&text, "known.toml", IDS.into_iter())?;
        let list = list.on("opa", version, today)?;
        let covers = list.deviation(IDS[0]).is_some();
        Ok::<_, KnownError>((covers, list.stale().join(", ")))
    };
    for (version, expected) in [
        (None, "pass --target-version"),
        (Some("new"), "invalid version"),
    ] {
        let error = covers("when = { version = '1' }", version).map_err(|e| e.to_string());
        assert!(
            error.err().unwrap_or_default().contains(expected),
            "{version:?}"
        );
    }
}

/// The embedded lists also state the requirement of the document.
#[test]
fn embedded_entries_quote_their_clause() {
    for (target, text) in KNOWN {
        let read = File::read(text, target);
        assert!(read.is_ok(), "{target}");
        for known in read
            .iter()
            .flat_map(|read| read.deviation.iter().chain(&read.flaky))
        {
            assert!(known.clause.is_some(), "{target}: {}", known.rule);
        }
    }
}

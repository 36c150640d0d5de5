//! Invalid lists, and the coverage of entries.

use chrono::Utc;

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

#[test]
fn bad_lists_are_refused_with_file_and_entry() {
    for (from, to, expected) in [
        ("reason", "because", "unknown field `because`"),
        (
            "'r'",
            "' '",
            "the `reason` of `engine/health/*/healthy-*` is empty",
        ),
        (
            "'r'",
            "'TODO: say why'",
            "`engine/health/*/healthy-*` is still to be written",
        ),
        ("'r'", "'r'\nclause = ''", "the `clause` of"),
        ("'r'", "'r'\nissue = ''", "the `issue` of"),
        ("reason = 'r'", "", "missing field `reason`"),
        (
            "/healthy-*",
            "/nothing",
            "no rule matches `engine/health/*/nothing`",
        ),
        (
            "/*/healthy-*",
            "/get/health",
            "no rule `engine/health/get/health`",
        ),
        ("'r'", "'r'\nexpires = 'soon'", "expires"),
        ("'r'", "'r'\nexpires = 2030-01-31T10:00:00Z", "invalid date"),
        ("'r'", "'r'\nexpires = 2030-02-29", "expires"),
        (
            "'r'",
            "'r'\nwhen = { moon = 'full' }",
            "unknown field `moon`",
        ),
        (
            "'r'",
            "'r'\nwhen = { version = 'new' }",
            "invalid range of versions `new`",
        ),
        (
            "'r'",
            "'r'\nwhen = { setup = 'tent' }",
            "needs the setup `tent`",
        ),
        (
            "deviation",
            "flaky",
            "contains [[flaky]] entries; pass this file with --known-flaky",
        ),
    ] {
        let text = GOOD.replace(from, to);
        let message = message(KnownList::parse(&text, "known.toml", IDS.into_iter()));
        assert!(message.starts_with("known.toml: "), "{message}");
        assert!(
            message.contains(expected),
            "expected {expected:?} in {message:?}"
        );
    }
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

#[test]
fn an_entry_covers_a_rule_while_its_conditions_hold() {
    let today = Utc::now().date_naive();
    let covers = |more: &str, version: Option<&str>| {
        let text = format!("{GOOD}{more}\n");
        let list = KnownList::parse(&text, "known.toml", IDS.into_iter())?;
        let list = list.on("opa", version, today)?;
        let covers = list.deviation(IDS[0]).is_some();
        Ok::<_, KnownError>((covers, list.stale().join(", ")))
    };
    let expired = "known.toml: the entry for `engine/health/*/healthy-*` expired on 2020-01-31";
    for (more, version, expected) in [
        ("", None, (true, "")),
        (
            "when = { target = 'opa', setup = 'default' }",
            None,
            (true, ""),
        ),
        ("when = { target = 'ocp' }", None, (false, "")),
        ("when = { version = '<1.13' }", Some("v1.12.0"), (true, "")),
        ("when = { version = '<1.13' }", Some("1.13"), (false, "")),
        ("expires = 9999-12-31", None, (true, "")),
        ("expires = 2020-01-31", None, (false, expired)),
        // An entry that does not apply may have expired.
        (
            "expires = 2020-01-31\nwhen = { target = 'ocp' }",
            None,
            (false, ""),
        ),
    ] {
        let found = covers(more, version).map_err(|error| error.to_string());
        assert_eq!(found, Ok((expected.0, expected.1.to_owned())), "{more}");
    }
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

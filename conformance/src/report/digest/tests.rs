//! Tests of digests made from the events of a run.

use rstest::rstest;

use super::*;
use crate::catalogue::Level;
use crate::evidence::{Leaked, SideEffect, TargetSummary};
use crate::judge::verdict::Failure;
use crate::known_deviations::Kind;

const RULE: &str = "engine/health/get/healthy-is-empty-object";
const OTHER: &str = "engine/v1/config/get/labels";

fn judged(rule: &str, verdict: Verdict) -> Event {
    Event::Judged(Box::new(ClauseVerdict {
        rule: rule.to_owned(),
        level: Level::Rule,
        section: String::new(),
        states: String::new(),
        verdict,
        milliseconds: 0.0,
        transcript: String::new(),
    }))
}

fn digest(target: &str, named: &[String], events: Vec<Event>) -> Digest {
    digest_with(&KnownList::default(), target, named, events)
}

fn digest_with(known: &KnownList, target: &str, named: &[String], events: Vec<Event>) -> Digest {
    let chosen = |rule: &str| ChosenRule {
        rule: rule.to_owned(),
        level: Level::Rule,
        setup: None,
    };
    let started = Event::RunStarted(Box::new(RunStarted {
        parts: Vec::new(),
        run: String::new(),
        suite: String::new(),
        at: None,
        target: TargetSummary {
            name: target.to_owned(),
            vendor: "engine".into(),
            control: None,
            engine: None,
            capabilities: Vec::new(),
            undetected: vec!["metrics".to_owned()],
            version: None,
            product: None,
            by_address: false,
        },
        seed: 1,
        profile: None,
        chosen: vec![chosen(RULE), chosen(OTHER)],
    }));
    Digest::of(std::iter::once(started).chain(events), known, named)
}

fn finished(interrupted: bool, unreachable: Option<&str>) -> Event {
    Event::RunFinished(RunFinished {
        not_compared: Vec::new(),
        run: String::new(),
        milliseconds: 0.0,
        requests: 0,
        interrupted,
        unreachable: unreachable.map(str::to_owned),
    })
}

#[test]
fn a_run_comes_to_what_weighs_most() {
    let pass = || judged(RULE, Verdict::Pass);
    let fail = || judged(RULE, Verdict::Fail(Failure::default()));
    let not_run = |reason| judged(OTHER, Verdict::NotRun(reason));
    let end = || finished(false, None);
    let leak = || {
        Event::Leaked(Leaked {
            names: vec!["/v1/data/x".to_owned()],
        })
    };
    let changed = || {
        Event::Changed(SideEffect {
            what: vec!["/v1/data/x is gone".to_owned()],
        })
    };
    let unclaimed_held = || not_run(Reason::HoldsUnclaimed("config".to_owned()));
    let defect = || {
        Event::Defect(Defect {
            rule: RULE.to_owned(),
            what: String::new(),
        })
    };
    let no_setup = || not_run(Reason::NoSetup("config".to_owned()));
    let open_without_setup = || match no_setup() {
        Event::Judged(open) => Event::Judged(Box::new(ClauseVerdict {
            level: Level::Open,
            ..*open
        })),
        other => other,
    };
    let no_mock = || not_run(Reason::NoMock("config".to_owned()));
    let unclaimed = || not_run(Reason::NotClaimed("config".to_owned()));
    let undetected = || not_run(Reason::NotClaimed("metrics".to_owned()));
    let dead = || not_run(Reason::Unreachable("gone".to_owned()));
    let other = || judged(OTHER, Verdict::Pass);
    for (case, target, events, expected) in [
        (
            "all pass",
            "opa",
            vec![pass(), other(), end()],
            Conclusion::Conformant,
        ),
        (
            "not claimed",
            "opa",
            vec![pass(), unclaimed(), end()],
            Conclusion::Conformant,
        ),
        (
            "not detected",
            "custom",
            vec![pass(), undetected(), end()],
            Conclusion::Partial,
        ),
        (
            "held though not detected",
            "custom",
            vec![
                pass(),
                not_run(Reason::HoldsUnclaimed("metrics".to_owned())),
                end(),
            ],
            Conclusion::Partial,
        ),
        (
            "fail and not detected",
            "custom",
            vec![fail(), undetected(), end()],
            Conclusion::NotConformant,
        ),
        (
            "outside of the mode",
            "custom",
            vec![
                pass(),
                not_run(Reason::NotInMode("read-only".to_owned())),
                end(),
            ],
            Conclusion::Partial,
        ),
        (
            "no scenario",
            "opa",
            vec![pass(), not_run(Reason::NoScenario), end()],
            Conclusion::Conformant,
        ),
        (
            "not owned",
            "custom",
            vec![pass(), not_run(Reason::NotOwned), end()],
            Conclusion::Conformant,
        ),
        (
            "setup of addresses",
            "custom",
            vec![pass(), no_setup(), end()],
            Conclusion::Conformant,
        ),
        (
            "setup of a target",
            "opa",
            vec![pass(), no_setup(), end()],
            Conclusion::Incomplete,
        ),
        (
            "setup of an open clause",
            "opa",
            vec![pass(), open_without_setup(), end()],
            Conclusion::Conformant,
        ),
        (
            "setup of a target without a fixture server",
            "opa",
            vec![pass(), no_mock(), end()],
            Conclusion::Incomplete,
        ),
        (
            "server of its own",
            "opa",
            vec![pass(), not_run(Reason::NotStarted), end()],
            Conclusion::Conformant,
        ),
        (
            "no snapshot",
            "opa",
            vec![pass(), not_run(Reason::NoSnapshot), end()],
            Conclusion::Incomplete,
        ),
        (
            "nothing judged",
            "opa",
            vec![unclaimed(), end()],
            Conclusion::Incomplete,
        ),
        (
            "only recorded",
            "opa",
            vec![judged(RULE, Verdict::Recorded), unclaimed(), end()],
            Conclusion::Incomplete,
        ),
        (
            "fail",
            "opa",
            vec![fail(), other(), end()],
            Conclusion::NotConformant,
        ),
        (
            "fail and incomplete",
            "opa",
            vec![fail(), no_setup(), end()],
            Conclusion::NotConformant,
        ),
        (
            "fail and leak",
            "opa",
            vec![fail(), other(), leak(), end()],
            Conclusion::NotConformant,
        ),
        (
            "leak",
            "opa",
            vec![pass(), other(), leak(), end()],
            Conclusion::Defective,
        ),
        (
            "changed",
            "opa",
            vec![pass(), other(), changed(), end()],
            Conclusion::Defective,
        ),
        (
            "held though not claimed",
            "opa",
            vec![pass(), unclaimed_held(), end()],
            Conclusion::Conformant,
        ),
        (
            "defect",
            "opa",
            vec![fail(), other(), defect(), end()],
            Conclusion::Defective,
        ),
        (
            "died",
            "opa",
            vec![fail(), dead(), end()],
            Conclusion::Unreachable,
        ),
        (
            "died, end",
            "opa",
            vec![fail(), other(), finished(false, Some("gone"))],
            Conclusion::Unreachable,
        ),
        (
            "stopped",
            "opa",
            vec![fail(), defect(), finished(true, None)],
            Conclusion::Interrupted,
        ),
        (
            "breaks off",
            "opa",
            vec![pass(), other()],
            Conclusion::Interrupted,
        ),
    ] {
        let digest = digest(target, &[], events);
        assert_eq!(digest.conclusion(), expected, "{case}");
    }
}

#[rstest]
#[case::no_scenario(Reason::NoScenario)]
#[case::not_claimed(Reason::NotClaimed("config".to_owned()))]
#[case::not_owned(Reason::NotOwned)]
fn a_named_rule_has_to_be_judged(#[case] reason: Reason) {
    let events = |reason| {
        vec![
            judged(RULE, Verdict::Pass),
            judged(OTHER, Verdict::NotRun(reason)),
            finished(false, None),
        ]
    };
    let digest = digest("custom", &[OTHER.to_owned()], events(reason));
    assert_eq!(digest.conclusion(), Conclusion::Incomplete);
}

#[test]
fn what_was_not_run_is_not_proven() {
    let digest = digest("opa", &[], vec![judged(RULE, Verdict::Pass)]);
    assert_eq!(digest.score(), (1, 2));
    let rows = digest.rows.iter().map(|row| row.outcome);
    assert_eq!(rows.collect::<Vec<_>>(), [Outcome::Pass, Outcome::NotRun]);
}

#[test]
fn a_flaky_rule_proves_nothing_and_an_expired_entry_fails_the_run() {
    let list = |text: &str| {
        KnownList::default()
            .and(Kind::Flaky, text, "flaky.toml", [RULE].into_iter())
            .and_then(|list| list.on("opa", None, chrono::Utc::now().date_naive()))
            .unwrap_or_default()
    };
    let entry = format!("[[flaky]]\nrule = '{RULE}'\nreason = 'r'\n");
    let expired = format!("{entry}expires = 2020-01-31\n");
    let (flaky, expired) = (list(&entry), list(&expired));
    let (pass, fail) = (Verdict::Pass, Verdict::Fail(Failure::default()));
    for (known, verdict, outcome, proven, conclusion) in [
        (&flaky, &pass, Outcome::Flaky, 1, Conclusion::Conformant),
        (&flaky, &fail, Outcome::Flaky, 1, Conclusion::Conformant),
        (&expired, &pass, Outcome::Pass, 2, Conclusion::NotConformant),
        (&expired, &fail, Outcome::Fail, 1, Conclusion::NotConformant),
    ] {
        let events = vec![
            judged(RULE, verdict.clone()),
            judged(OTHER, Verdict::Pass),
            finished(false, None),
        ];
        let digest = digest_with(known, "opa", &[], events);
        assert_eq!(digest.rows.first().map(|row| row.outcome), Some(outcome));
        assert_eq!(digest.score(), (proven, 2));
        assert_eq!(digest.conclusion(), conclusion, "{outcome:?}");
    }
}

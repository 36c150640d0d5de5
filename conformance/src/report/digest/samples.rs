//! Sample digests with hostile strings.

use super::*;
use crate::catalogue::Level;
use crate::evidence::{Exchange, Leaked, Payload, ReceivedResponse, SentRequest, TargetSummary};
use crate::judge::verdict::{Answered, Difference, Failure};

/// A string that tries to break out of HTML, scripts, Markdown, TAP and terminals.
pub(in crate::report) const HOSTILE: &str = "\"'></pre></script><script>alert(1)</script>\
     <img src=x onerror=alert(2)>\nnot ok 1 - x # SKIP\n  ...\n```\n# heading | `code` \
     [a](http://x.example) @everyone\u{1b}[31m\u{202e}\0\
     \u{2066}\u{200f}\u{61c}\n::error::forged\n  ::add-mask::x ##[error]forged";

const PASSES: &str = "engine/health/get/healthy-is-empty-object";
const FAILS: &str = "engine/v1/data/get/undefined-omits-result";
const DEVIATES: &str = "engine/v1/config/get/labels";
const PASSES_AFTER_ALL: &str = "engine/v1/data/put/creates-a-document";
const UNREACHED: &str = "engine/v1/data/put/replaces-a-document";
const OPEN: &str = "engine/v1/query/get/answers";
const UNKNOWN: &str = "engine/another/edition/of-the-suite";

/// Creates the digest of a complete run with these verdicts.
pub(in crate::report) fn judged<'a>(
    verdicts: impl Iterator<Item = (&'a str, Verdict)> + Clone,
) -> Digest {
    let mut events = vec![started(verdicts.clone().map(|(rule, _)| rule))];
    events.extend(verdicts.map(|(rule, verdict)| {
        Event::Judged(Box::new(ClauseVerdict {
            rule: rule.to_owned(),
            level: level(rule),
            section: String::new(),
            states: "It states.".to_owned(),
            verdict,
            milliseconds: 0.5,
            transcript: String::new(),
        }))
    }));
    Digest::of(events, &KnownList::default(), &[])
}

/// Creates an empty digest, one of an incomplete run, and one of a complete run with every outcome,
/// a leak and a defect.
pub(in crate::report) fn all() -> Vec<Digest> {
    let known = format!(
        "[[deviation]]\nrule = '{DEVIATES}'\nreason = 'reason # with a mark'\nclause = 'c'\n\
         [[deviation]]\nrule = '{PASSES_AFTER_ALL}'\nreason = 'passes by now'\nclause = 'c'\n",
    );
    let ids = [DEVIATES, PASSES_AFTER_ALL];
    let known = KnownList::parse(&known, "known.toml", ids.into_iter()).unwrap_or_default();
    let cut_off: Vec<_> = events().into_iter().take(3).collect();
    vec![
        Digest::of(Vec::new(), &known, &[]),
        Digest::of(cut_off, &known, &[]),
        Digest::of(events(), &known, &[]),
    ]
}

fn events() -> Vec<Event> {
    let verdicts = [
        (PASSES, Verdict::Pass),
        (FAILS, Verdict::Fail(failure())),
        (DEVIATES, Verdict::Fail(failure())),
        (PASSES_AFTER_ALL, Verdict::Pass),
        (
            UNREACHED,
            Verdict::NotRun(Reason::Unreachable(HOSTILE.to_owned())),
        ),
        (OPEN, Verdict::Recorded),
        (
            UNKNOWN,
            Verdict::NotRun(Reason::NotClaimed("query".to_owned())),
        ),
    ];
    let mut events = vec![started(verdicts.iter().map(|(rule, _)| *rule))];
    for (rule, verdict) in verdicts {
        events.push(exchange(rule));
        events.push(Event::Judged(Box::new(ClauseVerdict {
            rule: rule.to_owned(),
            level: level(rule),
            section: "Endpoints / Data API".to_owned(),
            states: format!("It states. {HOSTILE}"),
            verdict,
            milliseconds: 0.5,
            transcript: format!("GET /v1/data\n  text = {HOSTILE}\n"),
        })));
    }
    events.push(Event::Leaked(Leaked {
        names: vec![HOSTILE.to_owned()],
    }));
    events.push(Event::Defect(Defect {
        rule: PASSES.to_owned(),
        what: HOSTILE.to_owned(),
    }));
    events.push(Event::RunFinished(RunFinished {
        not_compared: vec![HOSTILE.to_owned()],
        run: "cabc".to_owned(),
        milliseconds: 12.5,
        requests: 7,
        interrupted: false,
        unreachable: Some(HOSTILE.to_owned()),
    }));
    events
}

fn started<'a>(rules: impl Iterator<Item = &'a str>) -> Event {
    let chosen = rules.map(|rule| ChosenRule {
        rule: rule.to_owned(),
        level: level(rule),
        setup: None,
    });
    Event::RunStarted(Box::new(RunStarted {
        parts: Vec::new(),
        run: "cabc".to_owned(),
        suite: "0.1.0".to_owned(),
        at: Some("2026-12-01T10:00:00Z".to_owned()),
        target: TargetSummary {
            name: format!("name {HOSTILE}"),
            vendor: "engine".to_owned(),
            control: None,
            engine: Some("http://127.0.0.1:1".to_owned()),
            capabilities: vec!["documents".to_owned()],
            undetected: Vec::new(),
            version: None,
            product: None,
            by_address: false,
        },
        seed: u64::MAX,
        profile: None,
        chosen: chosen.collect(),
    }))
}

fn level(rule: &str) -> Level {
    if rule == OPEN {
        Level::Open
    } else {
        Level::Rule
    }
}

fn failure() -> Failure {
    Failure {
        step: 1,
        request: "GET /v1/data".to_owned(),
        answered: Some(Answered {
            status: 200,
            message: HOSTILE.to_owned(),
        }),
        blocked: false,
        differences: vec![Difference {
            path: format!("/result/{HOSTILE}"),
            expected: "<absent>".to_owned(),
            got: HOSTILE.to_owned(),
        }],
        curl: vec!["curl -i 'http://127.0.0.1:1/v1/data'".to_owned()],
        notes: vec![HOSTILE.to_owned()],
    }
}

fn exchange(rule: &str) -> Event {
    let headers = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    Event::Exchange(Box::new(Exchange {
        rule: rule.to_owned(),
        step: 1,
        identity: HOSTILE.to_owned(),
        request: SentRequest {
            method: format!("GET{HOSTILE}"),
            url: format!("http://127.0.0.1:1/v1/data?{HOSTILE}"),
            headers: headers.clone(),
            body: Payload::Text(HOSTILE.to_owned()),
        },
        response: Some(ReceivedResponse {
            status: 200,
            headers,
            body: Payload::Text(HOSTILE.to_owned()),
        }),
        error: Some(HOSTILE.to_owned()),
        milliseconds: 0.25,
    }))
}

//! Reports are valid, agree with each other, and hold no secret.

use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use serde_json::Value;

use crate::program::Program;
use crate::server::{Answers, Server};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("every_report_tells_of_the_failure", every_report),
    ("stored_evidence_gives_the_same_report", stored_evidence),
    ("secrets_are_in_no_report", secrets),
];

const FAILS: &str = "engine/v1/data/get/undefined-omits-result";
const REPORTS: [&str; 3] = ["r.json", "r.xml", "r.ndjson"];

/// Arguments that ask for every report.
fn all_reports<'a>(url: &'a str, rules: &[&'a str]) -> Vec<&'a str> {
    let reports = [
        "--report=json=r.json",
        "--report=junit=r.xml",
        "--report=ndjson=r.ndjson",
    ];
    let mut arguments = vec!["run", "--engine-url", url];
    arguments.extend(reports);
    arguments.extend(rules);
    arguments
}

fn every_report() {
    let program = Program::new();
    let server = Server::start(Answers::Echo);
    let rules = [FAILS, "engine/common/authentication"];
    let ran = program.run(&all_reports(&server.url, &rules));
    ran.expect(
        1,
        &[
            &format!("FAIL {FAILS}"),
            "Policy Engine REST API, Endpoints / Data API: ",
            "/result: expected ",
            " | got ",
            "curl ",
            FAILS,
            "proven 0 of",
        ],
    );

    let json: Value = serde_json::from_str(&program.read("r.json")).expect("JSON");
    assert_eq!(json.pointer("/exit-code"), Some(&1.into()));
    assert_eq!(json.pointer("/score/proven"), Some(&0.into()));
    let rules = json
        .pointer("/rules")
        .and_then(Value::as_array)
        .expect("rules");
    let failed = rules
        .iter()
        .find(|rule| rule.pointer("/rule") == Some(&FAILS.into()));
    let outcome = failed.and_then(|rule| rule.pointer("/outcome"));
    assert_eq!(outcome, Some(&"fail".into()));

    let junit = Report::deserialize_from_str(&program.read("r.xml")).expect("JUnit");
    let cases: Vec<_> = junit
        .test_suites
        .iter()
        .flat_map(|suite| &suite.test_cases)
        .collect();
    assert_eq!(cases.len(), rules.len(), "each rule is a case");
    let failed = cases
        .iter()
        .find(|case| case.name.as_str() == FAILS)
        .expect("the case");
    match &failed.status {
        TestCaseStatus::NonSuccess {
            kind: NonSuccessKind::Failure,
            message,
            ..
        } => {
            let message = message.as_ref().map_or("", |message| message.as_str());
            assert!(message.contains("/result: expected "), "{message}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(junit.failures, 1);
}

fn stored_evidence() {
    let program = Program::new();
    let server = Server::start(Answers::Echo);
    let ran = program.run(&all_reports(
        &server.url,
        &[FAILS, "engine/common/authentication"],
    ));
    let (_, judged) = ran.out.split_once("\nFAIL").expect("a failure");
    let told = program.run(&["report", "r.ndjson", "--report", "json=again.json"]);
    told.expect(1, &[]);
    assert!(
        judged.starts_with(told.out.trim_start_matches("\nFAIL").trim_end()),
        "{told:?}"
    );
    assert_eq!(program.read("again.json"), program.read("r.json"));
}

fn secrets() {
    let program = Program::new().variable("THE_TOKEN", "t0ken-of-mine");
    let server = Server::start(Answers::Echo);
    let mut arguments = all_reports(&server.url, &[FAILS, "engine/v1/data/get"]);
    arguments.extend(["--token-env", "THE_TOKEN", "-H", "X-Key: k3y-of-mine"]);
    let ran = program.run(&arguments);
    ran.expect(1, &["FAIL"]);
    let evidence = program.read("r.ndjson");
    assert!(
        evidence.contains("<redacted>"),
        "the token was sent: {evidence}"
    );
    let mut texts = vec![ran.out, ran.err];
    texts.extend(REPORTS.map(|name| program.read(name)));
    for text in texts {
        for secret in ["t0ken-of-mine", "k3y-of-mine"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

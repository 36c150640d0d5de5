//! Repeated runs, runs that stop early, and capabilities that a target claims.

use quick_junit::{Report, TestCaseStatus};
use serde_json::Value;

use crate::program::{Program, long_timeout};
use crate::server::{Answers, Server};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_target_that_moves_is_found_out", moves),
    ("the_reference_shows_the_same_every_time", stands_still),
    ("a_run_stops_after_as_many_failures_as_it_may", stops),
    ("claims_are_held_against_what_was_proven", claims),
    ("the_claimed_part_is_scored_first", claimed_part),
];

const OPEN: &str = "engine/v1/query/get/without-query";
const RULE: &str = "engine/health/get/healthy-is-empty-object";

fn moves() {
    for (flag, code, texts) in [
        (
            "--repeat=2",
            1,
            &[
                "VERDICT engine/health/get/healthy-is-empty-object: pass, fail",
                "not conformant",
            ][..],
        ),
        ("--repeat=1", 0, &["conformant"]),
    ] {
        let server = Server::start(Answers::Moves);
        let program = Program::new();
        let run = [
            "--engine-url",
            &server.url,
            flag,
            "--report=json=r.json",
            RULE,
        ];
        program.run(&run).expect(code, texts);
        let report: Value = serde_json::from_str(&program.read("r.json")).expect("JSON");
        let moved = report.pointer("/stability/moved/0/rule");
        assert_eq!(
            moved,
            (code == 1).then(|| Value::from(RULE)).as_ref(),
            "{report}"
        );
    }
    let both = ["--repeat=2", "--detect-flaky=2", RULE];
    Program::new()
        .run(&both)
        .expect(2, &["cannot be used with"]);
}

fn stands_still() {
    let rules = ["engine/v1/data/put", "engine/health", "control/v1/secrets"];
    for (flag, text) in [
        ("--detect-flaky=3", "3 runs have the same results"),
        ("--repeat=2", "2 runs have the same results"),
    ] {
        let timeout = long_timeout("eventual-timeout");
        let run = [&rules[..], &[flag, &timeout]].concat();
        let result = Program::new().run(&run);
        result.expect(0, &[text]);
    }
    // Repeated failures have the same message, although names and ports change.
    let server = Server::start(Answers::Empty);
    let run = [
        "--engine-url",
        &server.url,
        "--detect-flaky=3",
        "engine/v1/data/put",
    ];
    let result = Program::new().run(&run);
    result.expect(
        1,
        &["3 runs have the same results", "FAIL engine/v1/data/put/"],
    );
}

fn stops() {
    let server = Server::start(Answers::Echo);
    for (flag, failures) in [("-x", 1), ("--fail-fast", 1), ("--max-fail=3", 3)] {
        let run = [
            "--engine-url",
            &server.url,
            "--jobs=1",
            flag,
            "engine/v1/data/get",
        ];
        let result = Program::new().run(&run);
        result.expect(
            1,
            &["the run stopped earlier, at the maximum number of failures"],
        );
        let failed = result.out.lines().filter(|line| line.starts_with("FAIL "));
        assert_eq!(failed.count(), failures, "{flag}");
    }
}

fn claims() {
    let health = "engine/health/get";
    for (answers, arguments, code, text, support) in [
        (Answers::Empty, &[RULE][..], 0, "full: health", "full"),
        (
            Answers::Echo,
            &[RULE],
            1,
            "partial: health (0 of 1)",
            "partial",
        ),
        (
            Answers::Empty,
            &["--capabilities=config", health],
            3,
            "not claimed: bundles, discovery, health",
            "not-claimed",
        ),
        (
            Answers::Empty,
            &["--capabilities=config", "--run-unclaimed", RULE],
            3,
            "`health` works, but is not claimed",
            "not-claimed",
        ),
        (
            Answers::Echo,
            &["--capabilities=config", "--run-unclaimed", RULE],
            3,
            "not claimed: health",
            "not-claimed",
        ),
    ] {
        let server = Server::start(answers);
        let program = Program::new();
        let run = ["--engine-url", &server.url, "--report=json=r.json"];
        let result = program.run(&[&run[..], arguments].concat());
        result.expect(code, &[text]);
        let works = result.out.contains("works, but");
        assert_eq!(works, text.contains("works, but"), "{result:?}");
        let report: Value = serde_json::from_str(&program.read("r.json")).expect("JSON");
        let found = report.pointer("/documents/engine/capabilities/0/support");
        assert_eq!(found, Some(&support.into()), "{report}");
        let score = report.pointer("/documents/engine/score/rules");
        assert_eq!(score, report.pointer("/score/rules"), "{report}");
    }
}

fn claimed_part() {
    let server = Server::start(Answers::Empty);
    let program = Program::new();
    let reports = [
        "json=r.json",
        "html=r.html",
        "markdown=r.md",
        "junit=r.xml",
        "tap=r.tap",
    ];
    let reports = reports.map(|report| format!("--report={report}"));
    let mut run = vec!["--engine-url", &server.url, "--capabilities=health,query"];
    run.extend(reports.iter().map(String::as_str));
    // Selects a claimed rule, an unclaimed one, and an open clause.
    run.extend([
        "engine/health/get/healthy-is-empty*",
        "engine/v1/config/get/labels*",
    ]);
    run.extend([OPEN]);
    let result = program.run(&run);
    let score = "1 of 1 claimed rules (2 in all)";
    result.expect(
        0,
        &[
            &format!("\nproven {score}\n"),
            &format!("  proven {score}\n"),
        ],
    );
    let place = server.url.trim_start_matches("http://");
    for (name, texts) in [
        (
            "r.md",
            &[
                format!("**Proven {score}**"),
                format!("# Conformance of `{place}`"),
            ][..],
        ),
        (
            "r.html",
            &[
                "<strong>1</strong> of 1 claimed rules proven".to_owned(),
                "2 rules in all".to_owned(),
                format!("<h1>{place}</h1>"),
            ],
        ),
        (
            "r.xml",
            &[format!("conformance of {place}: proven {score}")],
        ),
        (
            "r.tap",
            &[
                format!("\n# conformance of {place}: proven {score}\n"),
                format!("- {OPEN} # SKIP"),
            ],
        ),
    ] {
        let report = program.read(name);
        for text in texts {
            assert!(report.contains(text), "no {text:?} in {name}:\n{report}");
        }
    }
    let report: Value = serde_json::from_str(&program.read("r.json")).expect("JSON");
    for (part, proven, rules) in [("claimed", 1, 1), ("score", 1, 2)] {
        let expected = serde_json::json!({"proven": proven, "rules": rules});
        assert_eq!(report.get(part), Some(&expected), "{report}");
        let of_document = report.pointer(&format!("/documents/engine/{part}"));
        assert_eq!(of_document, Some(&expected), "{report}");
    }
    // An open clause is neither passed nor failed.
    let junit = Report::deserialize_from_str(&program.read("r.xml")).expect("JUnit");
    let cases = || junit.test_suites.iter().flat_map(|suite| &suite.test_cases);
    let passed = cases().filter(|case| matches!(case.status, TestCaseStatus::Success { .. }));
    let passed: Vec<_> = passed.map(|case| case.name.as_str()).collect();
    assert_eq!(passed, [RULE]);
    assert!(cases().any(|case| case.name.as_str() == OPEN));
    assert!(junit.test_suites.iter().all(|suite| suite.time.is_some()));
}

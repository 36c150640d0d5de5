//! Tests of reports: they are valid and consistent, and contain no secret.

use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use serde_json::Value;

use crate::program::{Program, RunResult};
use crate::server::{Answers, MARKUP, Server};
use crate::store::{Manner, Store};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("every_report_tells_of_the_failure", every_report),
    ("stored_evidence_gives_the_same_report", stored_evidence),
    ("evidence_is_joined_compared_and_judged_again", evidence),
    ("secrets_are_in_no_report", secrets),
    ("answers_stay_text_in_every_report", markup),
    ("several_runs_make_one_page", several_runs),
    ("the_schema_of_the_report_is_shown", schema),
    ("a_reproducer_holds_the_shortest_steps", reproducer),
];

/// Rule that a server satisfies if every response is an empty object.
const PASSES: &str = "engine/health/get/healthy-is-empty-object";
const FAILS: &str = "engine/v1/data/get/undefined-omits-result";
const REPORTS: [(&str, &str); 7] = [
    ("badge", "r.badge.json"),
    ("html", "the page.html"),
    ("json", "r.json"),
    ("junit", "r.xml"),
    ("markdown", "r.md"),
    ("ndjson", "r.ndjson"),
    ("tap", "r.tap"),
];

/// Runs rules on an engine, with reports in all formats.
fn run(program: &Program, url: &str, more: &[&str]) -> RunResult {
    let reports = REPORTS.map(|(format, name)| format!("--report={format}={name}"));
    let mut arguments = vec!["run", "--engine-url", url];
    arguments.extend(reports.iter().map(String::as_str));
    arguments.extend(more);
    program.run(&arguments)
}

fn every_report() {
    let program = Program::new();
    let server = Server::start(Answers::Echo);
    let rules = [FAILS, "engine/common/authentication"];
    let result = run(&program, &server.url, &rules);
    result.expect(
        1,
        &[
            &format!("FAIL {FAILS}"),
            "Policy Engine REST API, Endpoints / Data API: ",
            "/result:\n      expected 1\n",
            "      got      ",
            "curl ",
            FAILS,
            "proven 0 of",
            &format!("1 rule is broken: {FAILS}\n"),
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

    for (name, texts) in [
        (
            "r.tap",
            &[
                &format!("- {FAILS}\n  ---\n  message: "),
                "TAP version 14\n1..",
                "path: /result",
                "severity: fail",
            ][..],
        ),
        (
            "r.md",
            &[
                "**Proven 0 of ",
                &format!("## fail: `{FAILS}`"),
                "| `/result` | `1` | ",
                "| Endpoints / Data API |",
                "curl ",
                "Again: `conformance run --engine-url ",
            ],
        ),
        (
            "r.badge.json",
            &["\"0/", "Policy Engine REST API", "\"red\""],
        ),
        (
            "the page.html",
            &[
                &format!("id=\"{FAILS}\" data-marks=\"fail\""),
                "The rule and its source",
                "Requests and answers",
                "curl ",
            ],
        ),
    ] {
        let text = program.read(name);
        for expected in texts {
            assert!(
                text.contains(*expected),
                "no {expected:?} in {name}: {text}"
            );
        }
    }
}

fn stored_evidence() {
    let program = Program::new();
    let server = Server::start(Answers::Echo);
    let rules = [FAILS, "engine/common/authentication"];
    let result = run(&program, &server.url, &rules);
    let (_, judged) = result.out.split_once("\nFAIL").expect("a failure");
    let stored: Vec<_> = REPORTS
        .iter()
        .filter(|(kind, _)| *kind != "ndjson")
        .collect();
    let again: Vec<_> = stored
        .iter()
        .map(|(format, name)| format!("--report={format}=again.{name}"))
        .collect();
    let mut arguments = vec!["report", "r.ndjson"];
    arguments.extend(again.iter().map(String::as_str));
    let replayed = program.run(&arguments);
    replayed.expect(1, &[]);
    assert!(
        judged.starts_with(replayed.out.trim_start_matches("\nFAIL").trim_end()),
        "{replayed:?}"
    );
    for (_, name) in stored {
        assert_eq!(program.read(&format!("again.{name}")), program.read(name));
    }
}

fn evidence() {
    let program = Program::new();
    let server = Server::start(Answers::Empty);
    let shard = |program: &Program, part: &str, file: &str| {
        let (part, file) = (format!("--shard={part}"), format!("--report=ndjson={file}"));
        let rules = ["engine/health/get", "engine/v1/data/get"];
        let target = ["run", "--engine-url", &server.url, &part, &file];
        program.run(&[&target[..], &rules[..]].concat())
    };
    for (part, file) in [("1/1", "whole"), ("1/2", "one"), ("2/2", "other")] {
        shard(&program, part, file).expect(1, &["FAIL "]);
    }
    let merge = ["report", "merge", "--output", "joined", "one", "other"];
    program.run(&merge).expect(0, &["2 runs in joined"]);
    let same = program.run(&["report", "diff", "whole", "joined"]);
    same.expect(0, &["2 runs have the same results"]);
    assert!(!same.out.contains("NOT COVERED"), "{same:?}");
    let score = |program: &Program, arguments: &[&str]| {
        let result = program.run(arguments);
        let proven = result.out.lines().find(|line| line.starts_with("proven "));
        proven.expect("a score").to_owned()
    };
    let full_score = score(&program, &["report", "whole"]);
    assert_eq!(score(&program, &["report", "joined"]), full_score);
    assert_eq!(score(&program, &["report", "judge", "whole"]), full_score);

    // `report judge` evaluates the recorded responses, and ignores the recorded verdicts.
    let changed = program.read("whole").replace("{}", "{\\\"error\\\":1}");
    let program = program.file("changed", &changed);
    let again = program.run(&["report", "judge", "changed"]);
    again.expect(1, &[&format!("FAIL {PASSES}")]);
    let other = Server::start(Answers::Echo);
    let file = "--report=ndjson=echoed";
    let result = program.run(&["run", "--engine-url", &other.url, file, PASSES, FAILS]);
    result.expect(1, &["FAIL "]);
    let differ = program.run(&["report", "diff", "whole", "echoed"]);
    differ.expect(1, &[&format!("VERDICT {FAILS}")]);
    for wrong in ["0/2", "3/2", "1", "a/b"] {
        shard(&program, wrong, "none")
            .expect(2, &[&format!("invalid shard `{wrong}`: expected I/N")]);
    }
}

fn secrets() {
    let program = Program::new().variable("THE_TOKEN", "t0ken-of-mine");
    let server = Server::start(Answers::Echo);
    let rules = [FAILS, "engine/v1/data/get", "--repro", "."];
    let secret = ["--token-env", "THE_TOKEN", "-H", "X-Key: k3y-of-mine"];
    let result = run(&program, &server.url, &[&rules[..], &secret].concat());
    result.expect(1, &["FAIL"]);
    let evidence = program.read("r.ndjson");
    assert!(
        evidence.contains("<redacted>"),
        "the token was sent: {evidence}"
    );
    let mut texts = vec![result.out, result.err];
    texts.extend(REPORTS.map(|(_, name)| program.read(name)));
    texts.extend(["sh", "hurl"].map(|ending| program.read(&format!("{FAILS}.{ending}"))));
    for text in texts {
        for secret in ["t0ken-of-mine", "k3y-of-mine"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

fn markup() {
    let program = Program::new();
    let server = Server::start(Answers::Markup);
    let result = run(&program, &server.url, &[FAILS]);
    result.expect(1, &["FAIL"]);
    assert!(!result.out.contains('\u{202e}'), "{result:?}");
    let evidence = program.read("r.ndjson");
    let sent = serde_json::to_string(MARKUP).expect("JSON");
    assert!(evidence.contains(sent.trim_matches('"')) || evidence.contains("<script>"));
    let html = program.read("the page.html");
    assert_eq!(html.matches("<script").count(), 1);
    assert!(html.contains("&lt;script&gt;alert(1)"));
    for (name, wrong) in [("r.tap", "\nnot ok 99"), ("r.md", "\n# heading")] {
        assert!(!program.read(name).contains(wrong), "{wrong:?} in {name}");
    }
}

fn several_runs() {
    let program = Program::new();
    for (answers, name) in [(Answers::Echo, "a.ndjson"), (Answers::Empty, "b.ndjson")] {
        let server = Server::start(answers);
        let report = format!("--report=ndjson={name}");
        program.run(&["run", "--engine-url", &server.url, &report, PASSES]);
    }
    let both = ["report", "a.ndjson", "b.ndjson"];
    program
        .run(&[&both[..], &["--report=html=both.html"]].concat())
        .expect(1, &["proven"]);
    let page = program.read("both.html");
    for text in [
        "Targets differ",
        " data-differs",
        "data-marks=\"fail pass\"",
    ] {
        assert!(page.contains(text), "no {text:?}");
    }
    program
        .run(&[&both[..], &["--report=json=both.json"]].concat())
        .expect(2, &["only html makes one report"]);
}

fn schema() {
    let result = Program::new().run(&["schema", "report"]);
    result.expect(0, &[]);
    let schema: Value = serde_json::from_str(&result.out).expect("JSON");
    assert_eq!(schema.pointer("/title"), Some(&"Conformance report".into()));
}

/// The rule fails at its third step, which does not depend on the two previous ones. If the failing
/// step depends on the previous one, the reproducer contains both.
fn reproducer() {
    let program = Program::new();
    for (answers, requests, lacks, asserts, holds) in [
        (
            Answers::Null,
            "1 of 1",
            "PUT",
            "jsonpath \"$['result']\" not exists",
            ["# got      null", "curl -sS -i -g", "/b'"],
        ),
        (
            Answers::Echo,
            "2 of 2",
            "/b'",
            "jsonpath \"$['result']\" == 1",
            ["# expected 1", " -X PUT ", " -X DELETE "],
        ),
    ] {
        let server = Server::start(answers);
        program
            .run(&[
                "run",
                "--engine-url",
                &server.url,
                "--repro",
                "repro",
                FAILS,
            ])
            .expect(1, &["reproducers: 2 file(s)"]);
        let script = program.read(&format!("repro/{FAILS}.sh"));
        for text in holds.iter().chain([&requests]) {
            assert!(script.contains(text), "no {text:?} in {script}");
        }
        assert!(!script.contains(lacks), "{lacks} in {script}");
        let hurl = program.read(&format!("repro/{FAILS}.hurl"));
        for text in ["\nGET {{base}}/v1/data/", asserts] {
            assert!(hurl.contains(text), "no {text:?} in {hurl}");
        }

        // The script prints the response again, and the reason why it violates the rule.
        let file = program.folder.path().join(format!("repro/{FAILS}.sh"));
        let shell = std::process::Command::new("sh").arg(file).output();
        let shell = shell.expect("a shell");
        let stdout = String::from_utf8_lossy(&shell.stdout);
        assert_eq!(shell.status.code(), Some(1), "{shell:?}");
        for text in ["{\"result\":", "fails: /result: expected"] {
            assert!(stdout.contains(text), "{stdout}");
        }
        // The exit code is different for a server that satisfies the rule, and for one that is
        // down. The first reproducer requests a missing document, so it also succeeds on the store.
        let store = Store::start(Manner::Stores);
        let expected_code = i32::from(requests != "1 of 1");
        for (url, code) in [(store.url, expected_code), (Server::dead(), 125)] {
            let shell = std::process::Command::new("sh")
                .args(["-c", &script])
                .env("BASE", url)
                .output();
            let shell = shell.expect("a shell");
            assert_eq!(shell.status.code(), Some(code), "{shell:?}");
        }
    }
    // If a reproducer cannot be written, the result of the run stays the same.
    let server = Server::start(Answers::Echo);
    let program = Program::new().file("taken", "");
    let run = ["run", "--engine-url", &server.url, "--repro", "taken/x"];
    let result = program.run(&[&run[..], &[FAILS]].concat());
    result.expect(2, &["not conformant"]);
}

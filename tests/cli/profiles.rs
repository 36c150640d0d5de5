//! Runs by a profile: `must` rules determine the result, `should` rules are only reported.

use serde_json::Value;

use crate::mock::running::Mock;
use crate::program::{Program, RunResult, long_timeout};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("the_reference_conforms_to_a_profile", reference),
    ("what_must_hold_decides_and_what_should_is_told", levels),
    ("known_deviations_apply_to_a_profile", known),
    ("a_profile_is_judged_whole", whole),
    ("profiles_are_listed", listed),
    (
        "a_profile_of_another_edition_is_not_taken_for_this_one",
        foreign,
    ),
];

const NAME: &str = "engine-decision";
const MUST: &str = "engine/v1/data/get/malformed-input-answers-bad-request";
/// The first of several rules that fail for the same reason.
const TOLD: &str = "engine/common/decision-envelope/result-is-any-json";
const SHOULD: &str = "engine/v0/data/post/";
/// Fault that breaks only rules of the level `should`; the other fault also breaks `must` rules.
const NO_V0: &str = "- fault: no-v0\n  on: POST /v0/data/**\n  reply: {status: 418, body: none}\n";
const NO_GET: &str =
    "- fault: no-get\n  on: GET /v1/data/*/*\n  reply: {status: 418, body: none}\n";

/// Judges an engine by the profile, with each kind of report that supports profiles.
fn judge(program: &Program, mock: &Mock, more: &[&str]) -> RunResult {
    let url = format!("http://{}", mock.address("engine"));
    let mut arguments = vec!["run", "--engine-url", &url, "--profile", NAME];
    arguments.extend([
        "--report=json=r.json",
        "--report=badge=badge.json",
        "--report=html=r.html",
        "--report=junit=r.xml",
        "--report=markdown=r.md",
        "--report=tap=r.tap",
        "--report=ndjson=r.ndjson",
    ]);
    arguments.extend(more);
    program.run(&arguments)
}

fn json(program: &Program, file: &str) -> Value {
    serde_json::from_str(&program.read(file)).expect("JSON")
}

/// Returns two numbers for a level: of its proven rules, and of its rules.
fn score(report: &Value, level: &str) -> (u64, u64) {
    let count = |key: &str| {
        let count = report.pointer(&format!("/profile/{level}/{key}"));
        count.and_then(Value::as_u64).expect("a count")
    };
    (count("proven"), count("rules"))
}

fn reference() {
    let program = Program::new();
    let limits = ["timeout", "eventual-timeout"].map(long_timeout);
    let [timeout, eventual] = &limits;
    let result = program.run(&[
        "run",
        "--profile",
        NAME,
        "--report=json=r.json",
        timeout,
        eventual,
    ]);
    let report = json(&program, "r.json");
    let ((must, musts), (should, shoulds)) = (score(&report, "must"), score(&report, "should"));
    assert_eq!((must, should), (musts, shoulds));
    let line = format!("\n{NAME} 2026.12: {must} of {musts}; should: {should} of {shoulds}\n");
    let conclusion = format!("\nconformant to {NAME} 2026.12\n");
    result.expect(0, &[&line, &conclusion]);
}

fn levels() {
    let mock = Mock::start(&[]);
    let program = Program::new();
    mock.switch("POST /faults", NO_V0);
    let result = judge(&program, &mock, &[]);
    result.expect(
        0,
        &[
            &format!("SHOULD HOLD {SHOULD}"),
            &format!("should-fail     {SHOULD}"),
            "conformant to engine-decision 2026.12\n",
        ],
    );
    let report = json(&program, "r.json");
    let (must, musts) = score(&report, "must");
    let (should, shoulds) = score(&report, "should");
    assert_eq!(must, musts);
    assert!(should < shoulds, "{result:#?}");
    let line = format!("{NAME} 2026.12: {must} of {musts}; should: {should} of {shoulds}");
    for file in ["r.md", "r.xml", "r.tap"] {
        assert!(program.read(file).contains(&line), "{file}");
    }
    let page = program.read("r.html");
    for text in [
        format!("</strong> of {musts} of {NAME} 2026.12"),
        format!("{should} of {shoulds} that should hold"),
        "data-marks=\"should-fail\"".to_owned(),
    ] {
        assert!(page.contains(&text), "no {text}");
    }
    let badge = json(&program, "badge.json");
    let of = |key: &str| badge.get(key).and_then(Value::as_str);
    assert_eq!(of("label"), Some("engine-decision 2026.12"));
    assert_eq!(of("message"), Some(&*format!("{must} of {musts}")));
    assert_eq!(of("color"), Some("brightgreen"));
    let junit = quick_junit::Report::deserialize_from_str(&program.read("r.xml"));
    let junit = junit.expect("JUnit");
    assert_eq!((junit.failures, junit.errors), (0, 0));

    mock.switch("POST /faults", NO_GET);
    let result = judge(&program, &mock, &[]);
    result.expect(1, &[&format!("FAIL {TOLD}"), "not conformant"]);
    let report = json(&program, "r.json");
    assert!(score(&report, "must").0 < musts);
    let rules = report.get("rules").and_then(Value::as_array);
    let rule = |id: &str| {
        let of = |rule: &&Value| rule.get("rule").and_then(Value::as_str) == Some(id);
        let rule = rules.and_then(|rules| rules.iter().find(of)).expect(id);
        ["binding", "outcome"].map(|key| rule.get(key).and_then(Value::as_str).unwrap_or_default())
    };
    assert_eq!(rule(MUST), ["must", "fail"]);
    let without = "engine/common/decision-envelope/decision-id-absent-without-logging";
    assert_eq!(rule(without), ["should", "not-run"]);
    assert_eq!(
        json(&program, "badge.json").get("color"),
        Some(&"red".into())
    );
}

fn known() {
    let mock = Mock::start(&[]);
    mock.switch("POST /faults", NO_GET);
    let program = Program::new();
    judge(&program, &mock, &[]).expect(1, &[]);
    let init = [
        "baseline",
        "init",
        "--file=todo.toml",
        "--evidence=r.ndjson",
    ];
    program.run(&init).expect(0, &[]);
    let list = program.read("todo.toml");
    let program = program.file("known.toml", &list.replace("TODO: say why", "no GET"));
    let result = judge(&program, &mock, &["--known-failing=known.toml"]);
    result.expect(
        0,
        &[
            "conformant to engine-decision 2026.12 with ",
            " known deviations",
        ],
    );
    let (must, musts) = score(&json(&program, "r.json"), "must");
    assert!(must < musts, "what is known to fail is not proven");
    assert_eq!(
        json(&program, "badge.json").get("color"),
        Some(&"green".into())
    );
}

fn whole() {
    let mock = Mock::start(&[]);
    let program = Program::new();
    let skipped = judge(&program, &mock, &["--skip", MUST]);
    skipped.expect(
        3,
        &["incomplete: 1 rule of engine-decision 2026.12 was not judged"],
    );
    let (must, musts) = score(&json(&program, "r.json"), "must");
    assert_eq!(must + 1, musts);
    // Rules of the level `must` are judged even if the target does not claim their capability.
    let claims = judge(&program, &mock, &["--capabilities=health"]);
    claims.expect(0, &["conformant to engine-decision 2026.12\n"]);
    for (arguments, message) in [
        (
            &["--profile=nonsense"][..],
            "no profile `nonsense`; there are engine-decision, ",
        ),
        (&["--profile", NAME, MUST], "cannot be used with"),
        (
            &["--profile", NAME, "--pack=regressions"],
            "cannot be used with",
        ),
        (&["--profile", NAME, "--shard=1/2"], "cannot be used with"),
        (&["--config=both.toml"], "a profile is judged whole"),
        (&["list", "--profile=nonsense"], "no profile `nonsense`"),
    ] {
        let both = format!("profile = '{NAME}'\nrules = ['{MUST}']\n");
        let program = Program::new().file("both.toml", &both);
        program.run(arguments).expect(2, &[message]);
    }
}

fn listed() {
    let program = Program::new();
    let text = program.run(&["list", "--profile", NAME]);
    text.expect(0, &[]);
    let levels = ["must ", "should "].map(|level| {
        let lines = text.out.lines();
        lines.filter(|line| line.starts_with(level)).count()
    });
    assert_eq!(levels.iter().sum::<usize>(), text.out.lines().count());
    let json: Value = {
        let result = program.run(&["list", "--profile", NAME, "--format=json"]);
        serde_json::from_str(&result.out).expect("JSON")
    };
    let must = json.as_array().into_iter().flatten();
    let must = must.filter(|rule| rule.get("binding") == Some(&"must".into()));
    assert_eq!(must.count(), levels[0]);
    let rest = program.run(&["list", "--without-profile"]);
    rest.expect(0, &[]);
    assert!(!rest.out.contains(MUST), "{rest:#?}");
}

fn foreign() {
    let mock = Mock::start(&[]);
    let program = Program::new();
    judge(&program, &mock, &[]).expect(0, &[]);
    program
        .run(&["report", "judge", "r.ndjson"])
        .expect(0, &["engine-decision 2026.12: "]);
    let evidence = program.read("r.ndjson");
    let other = evidence.replacen("\"edition\":\"2026.12\"", "\"edition\":\"2020.01\"", 1);
    assert_ne!(evidence, other);
    let program = program.file("other.ndjson", &other);
    let result = program.run(&["report", "other.ndjson", "--report=junit=other.xml"]);
    assert!(!result.out.contains("conformant to"), "{result:#?}");
    let junit = program.read("other.xml");
    assert!(junit.contains("engine-decision 2020.01 is not known to this version"));
}

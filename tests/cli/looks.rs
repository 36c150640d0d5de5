//! Detection of the server at an address, before the first rule of a run.

use serde_json::{Value, json};

use crate::program::Program;
use crate::server::{Answers, Server};
use crate::store::{Manner, Store};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_target_that_refuses_everything_is_not_judged", refused),
    ("what_a_look_finds_is_used_and_said", used),
    ("a_description_is_judged_by_its_address", described),
    ("a_policy_in_the_way_is_named", in_the_way),
    ("rules_that_fail_alike_are_told_once", alike),
    ("an_empty_control_plane_is_known", empty_control_plane),
    ("rules_that_lock_each_other_out_are_to_run_alone", locked),
];

const WRITES: &str = "engine/v1/data/put/create-stores-document";
const MAIN: &str = "engine/root/post/evaluates-system-main";

fn refused() {
    let program = Program::new().variable("TOKEN_OF_MINE", "not-the-right-one");
    for (answers, arguments, code, text) in [
        (
            Answers::Denies,
            &[][..],
            3,
            "it asks for a token: 401 application/json no entry: put the administrator's token",
        ),
        (
            Answers::Denies,
            &["--token-env=TOKEN_OF_MINE"],
            3,
            "is refused with this token: 401",
        ),
        (Answers::Missing, &[], 3, "nothing is there: check host"),
        (Answers::Page, &[], 3, "this is a page for people"),
        (
            Answers::WantsTls,
            &[],
            4,
            "it speaks TLS: use an https address",
        ),
    ] {
        let server = Server::start(answers);
        let reports = ["--engine-url", &server.url, "--report=json=r.json"];
        let result = program.run(&[&reports[..], arguments, &["engine/v1/data"]].concat());
        result.expect(code, &[text]);
        assert!(!result.out.contains("FAIL"), "{result:?}");
        assert!(!result.out.contains("cleanup"), "{result:?}");
        let written = |line: String| line.starts_with("PUT ") || line.starts_with("PATCH ");
        assert!(!server.requests.try_iter().any(written), "{answers:?}");
        assert!(program.read("r.json").contains("\"not-run\""));
    }
    let server = Server::start(Answers::Empty);
    // The server has another API than the one that the user requested.
    program
        .run(&["--control-url", &server.url, "control"])
        .expect(3, &["is an engine: its address goes with --engine-url"]);
    // If the user states capabilities, the server counts as an engine without detection.
    let server = Server::start(Answers::Missing);
    let claims = [
        "--engine-url",
        &server.url,
        "--capabilities=documents",
        WRITES,
    ];
    program.run(&claims).expect(1, &["FAIL"]);
}

fn used() {
    let program = Program::new();
    let store = Store::start(Manner::Opa);
    // The run detects capabilities itself, so the suggested command does not restrict them.
    let diagnosis = program.run(&["doctor", &store.url]);
    let next = diagnosis
        .out
        .lines()
        .find(|line| line.starts_with("next: "));
    let next = next.unwrap_or_default();
    assert!(
        next.starts_with("next: conformance run") && !next.contains("--capabilities"),
        "{diagnosis:?}"
    );
    assert!(diagnosis.out.contains("bundles"), "{diagnosis:?}");
    let inside = format!("{}/v1/data", store.url);
    let found = [
        "is inside the API",
        "version 1.22.0, vendor opa, asks for no token, without ",
        &format!(
            "again: conformance run --engine-url {} --vendor opa",
            store.url
        ),
    ];
    let rules = ["engine/v1/data/get/defined-document-answers-ok", WRITES];
    let result = program.run(&[&["--engine-url", &inside][..], &rules].concat());
    result.expect(1, &found);
    let line = result.err.lines().find(|line| line.contains("vendor opa"));
    assert!(
        line.is_some_and(|line| line.contains("query")),
        "{result:?}"
    );
    // The suggested command contains no detected capabilities, because the next run detects them
    // again.
    let again = result.out.lines().find(|line| line.contains("again: "));
    assert!(
        again.is_some_and(|line| !line.contains("--capabilities")),
        "{result:?}"
    );
    let product = format!(
        "Open Policy Agent 1.22.0 at {}",
        store.url.trim_start_matches("http://")
    );
    assert!(result.out.contains(&product), "{result:?}");
    // Options take precedence over detection.
    let options = ["--vendor=acme", "--capabilities=documents"];
    let on = ["--engine-url", &store.url];
    program.run(&[&on[..], &options, &rules].concat()).expect(
        1,
        &["vendor acme", "--vendor acme --capabilities documents"],
    );
    // If all selected rules need undetected features, they are judged nevertheless.
    let result = program.run(&[&on[..], &["engine/v1/query/get"]].concat());
    result.expect(1, &["FAIL", "/v1/query"]);
    // In read-only mode, detection sends only GET requests.
    store.requests.try_iter().for_each(drop);
    let reads = ["--mode=read-only", "engine/health/get"];
    program.run(&[&on[..], &reads].concat());
    let mut lines = store.requests.try_iter();
    assert!(lines.all(|line| line.starts_with("GET ")));
}

fn described() {
    let store = Store::start(Manner::Opa);
    let program = Program::new();
    let on = ["--target=opa", "--engine-url", &store.url];
    // A run is possible although some of the rules need other setups.
    let rules = [
        "engine/health/get/healthy-is-empty*",
        "engine/v1/data/put/create-answers*",
        "engine/common/authentication",
    ];
    let [health, ..] = rules;
    let as_opa = ["--known-failing=opa", "--engine-url", &store.url, health];
    program.run(&as_opa).expect(0, &["proven 1 of 1 rules"]);
    program.run(&[&on[..], &rules].concat()).expect(
        0,
        &[
            "opa 1.22.0",
            "conformant",
            "more need setups, tokens or servers of their own",
        ],
    );
}

fn in_the_way() {
    let store = Store::start(Manner::Main);
    let program = Program::new();
    let on = ["--engine-url", &store.url];
    program.run(&[&on[..], &[MAIN]].concat()).expect(
        3,
        &["the target already has a policy, `main.rego`, that defines `system.main`"],
    );
}

fn alike() {
    let server = Server::start(Answers::Missing);
    let program = Program::new();
    let result = program.run(&[
        "--engine-url",
        &server.url,
        "--capabilities=documents",
        "--report=markdown=r.md",
        "--report=html=r.html",
        "--report=json=r.json",
        "engine/v1/data/put",
    ]);
    let message =
        "rules: `PUT /v1/data/{path}` answered 404 `404 page not found`; does it have `documents`?";
    result.expect(1, &[message]);
    // The cause is printed at the beginning and at the end.
    assert_eq!(result.out.matches(message).count(), 2, "{result:?}");
    let report: Value = serde_json::from_str(&program.read("r.json")).expect("JSON");
    let cause = report.pointer("/causes/0").expect("a cause");
    for (member, value) in [
        ("request", json!("PUT /v1/data/{path}")),
        ("status", json!(404)),
        ("message", json!("404 page not found")),
    ] {
        assert_eq!(cause.get(member), Some(&value), "{cause}");
    }
    let rules = cause.get("rules").and_then(Value::as_array).expect("rules");
    assert!(
        result.out.contains(&format!("{} {message}", rules.len())),
        "{result:?}"
    );
    let [page, markdown] = ["r.html", "r.md"].map(|name| program.read(name));
    for rule in rules.iter().filter_map(Value::as_str) {
        assert!(
            markdown.contains(&format!("| `{rule}` | `PUT /v1/data/")),
            "{rule}"
        );
        assert!(page.contains(&format!("href=\"#{rule}\"")), "{rule}");
    }
    // Of the rules with this cause, only one is reported in full.
    assert_eq!(markdown.matches("\n## fail").count(), 1, "{markdown}");
    assert_eq!(result.out.matches("\nFAIL ").count(), 1, "{result:?}");
}

fn empty_control_plane() {
    let server = Server::start(Answers::Locked);
    let program = Program::new();
    let next = format!("next: conformance run --control-url={}", server.url);
    program.run(&["doctor", &server.url]).expect(
        0,
        &[
            "GET /v1/bundles?limit=1 answers {}, as a control plane",
            &next,
        ],
    );
}

fn locked() {
    let server = Server::start(Answers::Locked);
    let program = Program::new();
    let on = ["--control-url", &server.url, "--report=markdown=r.md"];
    let result = program.run(&[&on[..], &["--jobs=4", "control/common/errors"]].concat());
    let remedy = "-j 1 runs one at a time";
    let texts = ["a control plane", "rules met `database is locked`", remedy];
    result.expect(1, &texts);
    assert!(program.read("r.md").contains("runs one at a time"));
    let result = program.run(&[&on[..], &["--jobs=1", "control/common/errors"]].concat());
    assert!(
        result.code == 1 && !result.out.contains(remedy),
        "{result:?}"
    );
}

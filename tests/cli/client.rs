//! Tests of `conformance client`: rules for clients, judged with a model client, and failing
//! adapters.

use std::path::Path;

use serde_json::Value;

use crate::program::{NEVER, Program, RunResult, long_timeout, run_with_limit, signal, wait};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_client_that_keeps_every_rule_is_conformant", model),
    ("each_fault_of_a_client_is_noticed", faults),
    ("clients_broken_on_purpose_break_what_is_meant", broken),
    ("reports_tell_of_a_client", reports),
    ("known_deviations_of_a_client_are_expected", known),
    ("an_adapter_that_breaks_is_told_apart", adapters),
    (
        "an_adapter_that_ends_behind_its_last_answer_breaks_that_rule",
        ends_late,
    ),
    ("a_run_on_a_client_ends_when_it_is_asked_to", ends),
    ("wrong_usage_of_client_is_explained", usage),
];

/// Runs `conformance client` with the model client, which this executable contains.
fn on_model(program: &Program, options: &[&str], fault: Option<&str>) -> RunResult {
    let executable = std::env::current_exe().expect("this executable");
    let limit = long_timeout("timeout");
    let mut arguments = vec!["client", &limit];
    arguments.extend(options);
    arguments.extend(["--", executable.to_str().expect("a path of text")]);
    arguments.extend(["client", "--serve-model"]);
    arguments.extend(fault.into_iter().flat_map(|fault| ["--fault", fault]));
    program.run(&arguments)
}

/// Runs `conformance client` with a shell script as the adapter.
fn on_script(program: &Program, options: &[&str], script: &str) -> RunResult {
    on_script_with(&long_timeout("timeout"), program, options, script)
}

/// Runs `conformance client` with a shell script as the adapter, and with an option for the
/// timeout.
fn on_script_with(limit: &str, program: &Program, options: &[&str], script: &str) -> RunResult {
    let mut arguments = vec!["client", limit];
    arguments.extend(options);
    arguments.extend(["--", "sh", "-c", script]);
    program.run(&arguments)
}

fn model() {
    let program = Program::new();
    let listed = program.run(&["client", "--list"]);
    let rules = listed.expect(0, &[]).out.lines().count();
    on_model(&program, &[], None).expect(
        0,
        &[
            &format!("proven {rules} of {rules} rules"),
            "conformant: all that the target claims passes",
        ],
    );
}

fn faults() {
    let program = Program::new();
    let result = program.run(&["client", "--selftest"]);
    result.expect(0, &[" 0 findings"]);
}

fn broken() {
    let program = Program::new();
    for (fault, rule) in [
        (
            "engine/decisions/undefined-is-allow",
            "client/engine/decisions/undefined-is-no-allow",
        ),
        (
            "engine/requests/never-decodes",
            "client/engine/requests/large-answer-is-read",
        ),
        (
            "engine/requests/never-encodes",
            "client/engine/requests/path-question-mark",
        ),
        (
            "control/lists/first-page-of-sources",
            "client/control/lists/all-pages-of-sources",
        ),
    ] {
        let result = on_model(&program, &["--rule", rule], Some(fault));
        result.expect(1, &["FAIL", rule, "note: received: ", "not conformant"]);
    }
}

fn reports() {
    let program = Program::new();
    let rule = "client/engine/decisions";
    let reports = "json=a.json,junit=a.xml,markdown=a.md,ndjson=a.ndjson,tap=a.tap,html=a.html,\
                   badge=badge.json";
    let options = ["--rule", rule, "--report", reports];
    let fault = Some("engine/decisions/undefined-is-allow");
    on_model(&program, &options, fault).expect(1, &["report: a.json"]);
    let failing = "client/engine/decisions/undefined-is-no-allow";
    for name in ["a.json", "a.xml", "a.md", "a.ndjson", "a.tap", "a.html"] {
        assert!(program.read(name).contains(failing), "{name}");
    }
    let json: Value = serde_json::from_str(&program.read("a.json")).expect("JSON");
    let at = |pointer: &str| json.pointer(pointer).cloned().unwrap_or_default();
    assert_eq!(at("/target/name"), "model");
    assert_eq!(at("/exit-code"), 1);
    let evidence = program.read("a.ndjson");
    assert!(evidence.contains("\"event\":\"exchange\""), "{evidence}");
    // The evidence yields the same result without requests.
    let again = program.run(&["report", "a.ndjson"]);
    assert!(again.out.contains(failing), "{again:?}");
}

fn known() {
    let list = |rule: &str| format!("[[deviation]]\nrule = '{rule}'\nreason = 'On purpose.'\n");
    let working = "client/engine/decisions/decision-is-value";
    let broken = "client/engine/decisions/undefined-is-no-allow";
    let program = Program::new()
        .file("broken.toml", &list(broken))
        .file("kept.toml", &list(working))
        .file("none.toml", &list("client/engine/decisions/nothing"));
    let fault = Some("engine/decisions/undefined-is-allow");
    let judge = |file: &str| {
        let options = ["--rule", working, "--rule", broken, "--known-failing", file];
        on_model(&program, &options, fault)
    };
    judge("broken.toml").expect(0, &["conformant with 1 known deviation", "On purpose."]);
    judge("kept.toml").expect(
        1,
        &["PASSES UNEXPECTEDLY", "remove its entry from kept.toml"],
    );
    judge("none.toml").expect(2, &["no rule `client/engine/decisions/nothing`"]);
}

fn adapters() {
    let program = Program::new();
    let answers = |answer: &str| format!("while read -r line; do echo '{answer}'; done");
    let rule = "client/engine/decisions/decision-is-value";
    let one = ["--rule", rule];
    on_script(&program, &[], &answers(r#"{"unsupported": true}"#)).expect(
        3,
        &[
            "incomplete: no rule was judged",
            "the client does not support",
        ],
    );
    for (script, code, message) in [
        ("exit 7", 4, "the adapter ended (exit status: 7)"),
        (
            &answers("Hello!"),
            4,
            "invalid answer `Hello!` of the adapter",
        ),
        (
            &answers(r#"{"result": 1}"#),
            4,
            "it needs exactly one of value, undefined, error, unsupported",
        ),
        (
            r#"read -r line; echo '{"value": true}'; read -r line; exit 7"#,
            1,
            "expected an answer | got the adapter ended (exit status: 7)",
        ),
        (
            &answers(r#"{"error": {"kind": "Oops"}}"#),
            1,
            "expected that the client is open",
        ),
    ] {
        on_script(&program, &one, script).expect(code, &[message]);
    }
    on_script_with("--timeout=0.5", &program, &one, "sleep 600")
        .expect(4, &["the adapter did not answer within 0.5 s"]);
    let second = r#"read -r line; echo '{"value": true}'; sleep 600"#;
    let late = "expected an answer | got the adapter did not answer within ";
    run_with_limit(
        |limit| on_script_with(&format!("--timeout={limit}"), &program, &one, second),
        // Exit code 4 means that the first response was also late.
        |result| result.code == 4,
    )
    .expect(1, &[late]);
    let nothing = program.run(&["client", "--", "./no-such-adapter"]);
    nothing.expect(4, &["cannot start `./no-such-adapter`"]);
    // After a failure in one rule, the adapter is restarted for the next rule.
    let twice = ["--rule", "client/engine/decisions"];
    let dies = r#"read -r line; echo '{"value": true}'; read -r line; exit 7"#;
    let result = on_script(&program, &twice, dies);
    let lines = result.expect(1, &[]).out.lines();
    let failed = lines.filter(|line| line.starts_with("fail ")).count();
    assert!(failed > 5, "{result:?}");
}

fn ends_late() {
    let program = Program::new();
    let first = "client/engine/decisions/undefined-is-no-allow";
    let answers = |reply: &str| {
        let value = r#"echo '{"value": true}'"#;
        format!(
            "read -r open; {value}; read -r a; echo '{reply}'; read -r b; echo '{reply}'; exit 7"
        )
    };
    // The next rule runs with a new process, on which the end of the first one has no effect.
    let rules = [
        "--rule",
        first,
        "--rule",
        "client/engine/decisions/null-is-no-undefined",
    ];
    let result = on_script(&program, &rules, &answers(r#"{"undefined": true}"#));
    result.expect(
        1,
        &[
            &format!("FAIL {first}"),
            "afterwards: expected that the adapter goes on | got the adapter ended (exit status: 7)",
            "result: expected the value null | got {\"undefined\":true}",
        ],
    );
    // An unsupported rule has no verdict, even if the adapter then fails.
    let result = on_script(
        &program,
        &["--rule", first],
        &answers(r#"{"unsupported": true}"#),
    );
    result.expect(3, &["the client does not support `decide`"]);
}

fn ends() {
    let program = Program::new();
    let script = "read -r line; echo $$ > pid; echo '{\"value\": true}'; sleep 600";
    let arguments = [
        "client",
        "--timeout",
        NEVER,
        "--report",
        "json=a.json",
        "--",
        "sh",
        "-c",
        script,
    ];
    let started = program.command(&arguments).spawn().expect("it starts");
    let pid = program.folder.path().join("pid");
    wait("the adapter is asked", || {
        std::fs::read_to_string(&pid).is_ok_and(|text| !text.trim().is_empty())
    });
    let adapter = std::fs::read_to_string(&pid).expect("its number");
    assert!(signal(started.id(), "-INT"));
    let result = RunResult::ended(started);
    result.expect(130, &[]);
    assert!(
        result.out.lines().any(|line| line == "interrupted"),
        "{result:?}"
    );
    assert!(program.read("a.json").contains("\"interrupted\""));
    let process = Path::new("/proc").join(adapter.trim());
    wait("the adapter ends", || !process.exists());
}

fn usage() {
    let program = Program::new().file("x.yaml", "topic: x\nrules: [{id: a}]\n");
    for (arguments, message) in [
        (&["client"][..], "give the adapter's command behind `--`"),
        (
            &["client", "--rule", "client/x", "--model"],
            "no rule `client/x`",
        ),
        (
            &["client", "--model", "--fault", "x"],
            "the model has no fault `x`",
        ),
        (
            &["client", "--model", "--timeout", "0"],
            "invalid time limit 0",
        ),
        (&["client", "--model", "--", "true"], "cannot be used with"),
        (
            &["client", "--model", "--skip", "client"],
            "no rule is left to judge",
        ),
        (
            &["client", "--model", "--known-failing", "none.toml"],
            "none.toml: ",
        ),
        (
            &["client", "--model", "--rules-dir", "."],
            "invalid path: expected to begin with the name of a document",
        ),
    ] {
        program.run(arguments).expect(2, &[message]);
    }
}

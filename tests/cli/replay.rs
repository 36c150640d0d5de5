//! Tests of `conformance replay`, which sends the requests of an earlier run again.

use crate::program::Program;
use crate::server::{Answers, Server};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("requests_are_sent_again_as_they_are_now", again),
    ("rules_that_this_suite_does_not_have_are_replayed", unknown),
    ("what_cannot_be_replayed_is_refused", refused),
];

const DATA: &str = "engine/v1/data/get";
const RULE: &str = "engine/v1/data/get/undefined-omits-result";
/// Rule in which a request contains the cursor of the previous response.
const CURSOR: &str = "control/common/list-envelope/next-cursor-string-when-more";
/// Rules that send a token which no target accepts.
const CREDENTIAL: &str = "control/common/authentication";

/// Creates a program with `run.ndjson` in its folder: the evidence of a run of these rules on the
/// reference.
fn recorded(rules: &[&str]) -> Program {
    let program = Program::new();
    let run = ["run", "--report=ndjson=run.ndjson", "--namespace=acme"];
    program.run(&[&run[..], rules].concat()).expect(0, &[]);
    program
}

fn again() {
    // Lists contain resources of concurrent rules, so the rule about pages runs alone.
    let program = recorded(&[CURSOR]);
    let what = format!("run.ndjson:{CURSOR}");
    let result = program.run(&["replay", &what]);
    result.expect(0, &["as it was: 1, not as it was: 0"]);

    let program = recorded(&[DATA, "control/v1/bundles/put", CREDENTIAL]);
    for (rules, text) in [
        (RULE, "as it was: 1, not as it was: 0"),
        (RULE, "  1 PUT /v1/data/<ns>/a: as it was"),
        (DATA, "not as it was: 0, cannot be replayed: 0"),
        ("control/v1/**", "not as it was: 0, cannot be replayed: 0"),
        (
            "control/common/authentication/*-{needs-key,refused}",
            "not as it was: 0, cannot be replayed: 0",
        ),
    ] {
        let what = format!("run.ndjson:{rules}");
        let result = program.run(&["replay", &what]);
        result.expect(0, &[text]);
        assert!(!result.out.contains("not as it was\n"), "{result:?}");
    }
    let server = Server::start(Answers::Echo);
    let what = format!("run.ndjson:{RULE}");
    let elsewhere = ["replay", &what, "--engine-url", &server.url];
    let result = program.run(&elsewhere);
    let texts = [
        "  1 PUT /v1/data/<ns>/a: not as it was",
        "status: was 204, is 200",
        "/result: was absent, is a string",
        "as it was: 0, not as it was: 1",
    ];
    result.expect(1, &texts);
    // A replay replaces the names of the run by new ones, and removes these resources.
    let requests: Vec<String> = server.requests.try_iter().collect();
    let run = program.read("run.ndjson");
    let names = requests.iter().filter_map(|line| line.split('/').nth(3));
    let mut names = names.filter(|name| name.starts_with("acme")).peekable();
    assert!(names.peek().is_some(), "{requests:?}");
    assert!(names.all(|name| !run.contains(name)), "{requests:?}");
    assert!(requests.iter().any(|line| line.starts_with("DELETE ")));
    let dead = ["replay", &what, "--engine-url", &Server::dead()];
    program.run(&dead).expect(4, &["cannot reach "]);
}

/// Rules and clauses in the evidence may be unknown to the suite, because one of both is newer.
fn unknown() {
    let program = recorded(&[RULE, CURSOR]);
    let renamed = program
        .read("run.ndjson")
        .replace("undefined-omits-result", "of-another-suite")
        .replace("next-cursor-string-when-more", "of-another-suite");
    let program = program.file("other.ndjson", &renamed);
    for rule in [
        "engine/v1/data/get/of-another-suite",
        "control/common/list-envelope/of-another-suite",
    ] {
        let what = format!("other.ndjson:{rule}");
        let result = program.run(&["replay", &what]);
        result.expect(0, &[rule, "as it was: 1, not as it was: 0"]);
    }
    let program = recorded(&["control/common/authentication/unknown-key-refused"]);
    let renamed = program
        .read("run.ndjson")
        .replace("common/authentication/", "common/another/");
    let program = program.file("other.ndjson", &renamed);
    let result = program.run(&["replay", "other.ndjson:control/common/another/**"]);
    result.expect(
        3,
        &[
            "cannot be replayed: step",
            "the evidence does not hold the credential",
        ],
    );
}

fn refused() {
    let program = recorded(&[RULE, "control/v1/bundles/get"])
        .file("empty.ndjson", "")
        .file("text.ndjson", "x\n");
    for (arguments, code, message) in [
        (
            &["run.ndjson"][..],
            2,
            "`run.ndjson` is not RUN.ndjson:RULE",
        ),
        (&["run.ndjson:"], 2, "is not RUN.ndjson:RULE"),
        (&["absent.ndjson:engine"], 2, "absent.ndjson: "),
        (
            &["empty.ndjson:engine"],
            2,
            "empty.ndjson: no run starts in it",
        ),
        (&["text.ndjson:engine"], 2, "text.ndjson: invalid evidence"),
        (
            &["run.ndjson:engine/nothing"],
            2,
            "run.ndjson: no rule `engine/nothing`",
        ),
        (&["run.ndjson:engine/[a"], 2, "invalid glob"),
        (
            &["run.ndjson:engine", "--target=nobody"],
            2,
            "unknown target `nobody`",
        ),
        (
            &["run.ndjson:engine", "--patience=0"],
            2,
            "invalid time limit 0",
        ),
        (
            &["run.ndjson:control", "--engine-url=http://127.0.0.1:1"],
            3,
            "the target has no control in the setup",
        ),
    ] {
        let arguments = [&["replay"], arguments].concat();
        program.run(&arguments).expect(code, &[message]);
    }
}

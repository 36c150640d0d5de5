//! Results of runs as exit codes.

use std::process::Command;

use crate::program::{HANG_LIMIT, NEVER, Program, RunResult, long_timeout, run_with_limit, signal};
use crate::server::{Answers, Server};
use crate::store::{Manner, Store};

pub(crate) const TESTS: &[(&str, fn())] = &[
    (
        "the_embedded_reference_is_judged_by_default",
        embedded_by_default,
    ),
    ("nothing_judged_is_never_success", nothing_judged),
    ("a_named_rule_that_cannot_run_is_incomplete", named_rule),
    ("a_target_that_cannot_be_reached_is_told_apart", unreachable),
    (
        "known_deviations_are_expected_and_checked",
        known_deviations,
    ),
    ("an_interrupted_run_still_reports", interrupted),
    ("a_list_without_end_ends_the_walk", lists_without_end),
    ("a_body_without_end_is_no_answer", bodies_without_end),
    ("a_long_body_is_stored_with_its_digest", long_bodies),
    (
        "a_server_that_closes_one_connection_is_asked_again",
        one_connection_that_is_closed,
    ),
    ("a_target_that_lets_every_rule_wait_is_given_up", given_up),
    ("a_wrong_status_is_told_before_the_body", wrong_status),
];

const PASSES: &str = "engine/health/get/healthy-is-empty-object";
const FAILS: &str = "engine/v1/data/get/undefined-omits-result";
const WALKS: &str = "control/common/list-envelope/next-cursor-null-at-the-end";

fn embedded_by_default() {
    let program = Program::new();
    program
        .run(&[&long_timeout("eventual-timeout"), "engine/health/get"])
        .expect(0, &[PASSES, "report: conformance-report.json"]);
    assert!(program.read("conformance-report.json").contains(PASSES));
}

fn nothing_judged() {
    let program = Program::new();
    program
        .run(&["--skip", "**"])
        .expect(3, &["no rule is left to judge"]);
    program
        .run(&["--capabilities", "health", "engine/v1/query"])
        .expect(
            3,
            &[
                "proven 0 of",
                "incomplete: no rule was judged: the target does not claim `query`",
            ],
        );
    let open = ["engine/v1/query/get/without-query"];
    let message = "incomplete: no rule was chosen, only what is recorded and not judged";
    program.run(&open).expect(3, &[message]);
    let unclaimed = ["--capabilities", "config", "engine/health/get"];
    program
        .run(&unclaimed)
        .expect(3, &["does not claim `health`"]);
}

fn named_rule() {
    let program = Program::new();
    let list = program.run(&["list", "engine/v1/query/get"]).out;
    let unclaimed = list.split_whitespace().last().expect("a rule");
    let claims = ["--capabilities", "health", PASSES];
    program
        .run(&[&claims[..], &["engine/v1/query"]].concat())
        .expect(0, &["not run"]);
    program
        .run(&[&claims[..], &[unclaimed]].concat())
        .expect(3, &["1 pass, 1 not-run"]);
}

fn unreachable() {
    let program = Program::new();
    let url = Server::dead();
    program
        .run(&["--engine-url", &url, PASSES])
        .expect(4, &["cannot be reached", "nothing listens there"]);
    // The message is printed once, however many rules are selected.
    let result = program.run(&["--engine-url", &url]);
    assert_eq!(
        result.out.lines().filter(|line| !line.is_empty()).count(),
        3,
        "{result:?}"
    );
    let absent = ["--target", "opa", "--program", "no-such-program", PASSES];
    program.run(&absent).expect(4, &["no-such-program"]);
}

fn known_deviations() {
    let entry = |rule| format!("[[deviation]]\nrule = '{rule}'\nreason = 'why'\nclause = 'c'\n");
    let program = Program::new()
        .file("fails.toml", &entry(FAILS))
        .file("passes.toml", &entry(PASSES));
    let server = Server::start(Answers::Echo);
    let on = |list: &str, rule: &str| {
        program.run(&[
            "--engine-url",
            &server.url,
            "--known-failing",
            list,
            rule,
            PASSES,
        ])
    };
    program.run(&["--engine-url", &server.url, FAILS]).expect(
        1,
        &["FAIL", "again: conformance run --engine-url", "expected"],
    );
    let options = [
        "--vendor=opa",
        "--capabilities=documents,config",
        "-HX-Key: 1",
    ];
    let again = "--vendor opa --capabilities documents,config --header 'X-Key: …'";
    let arguments = [&["--engine-url", &server.url][..], &options, &[FAILS]].concat();
    program.run(&arguments).expect(
        1,
        &[&format!("--engine-url {} {again} {FAILS}", server.url)],
    );
    on("fails.toml", FAILS).expect(1, &["expected to fail", "why"]);

    let server = Server::start(Answers::Empty);
    let on_empty = [
        "--engine-url",
        &server.url,
        "--known-failing",
        "passes.toml",
        PASSES,
    ];
    program
        .run(&on_empty)
        .expect(1, &["PASSES UNEXPECTEDLY", "unexpected-pass"]);
}

fn lists_without_end() {
    let program = Program::new();
    for (new, note) in [
        (false, "the list leads back to the cursor \"page0\""),
        (true, "the list did not end within "),
    ] {
        let server = Server::start(Answers::Pages { new });
        let arguments = ["--control-url", &server.url, WALKS];
        program.run(&arguments).expect(1, &[note]);
    }
}

fn bodies_without_end() {
    for answers in [Answers::Endless, Answers::Bomb] {
        let server = Server::start(answers);
        Program::new()
            .run(&["--engine-url", &server.url, &long_timeout("timeout"), FAILS])
            .expect(
                1,
                &["no answer: its body exceeds 64 MiB, the most that this suite reads"],
            );
    }
}

fn long_bodies() {
    let program = Program::new();
    let server = Server::start(Answers::Long);
    let arguments = [
        "--engine-url",
        &server.url,
        "--report",
        "ndjson=r.ndjson",
        FAILS,
    ];
    program.run(&arguments).expect(1, &[]);
    let evidence = program.read("r.ndjson");
    let longest = evidence.lines().map(str::len).max();
    assert!(longest < Some(2 << 20), "{longest:?}");
    assert!(evidence.contains("\"sha256\""), "no digest");
    // If the evidence contains only the beginning of a body, the rule cannot be judged again.
    let again = ["report", "judge", "r.ndjson"];
    program.run(&again).expect(3, &["evidence"]);
}

fn one_connection_that_is_closed() {
    let server = Server::start(Answers::ClosesOnce);
    let arguments = ["--engine-url", &server.url, FAILS];
    Program::new().run(&arguments).expect(1, &[]);
}

fn given_up() {
    let server = Server::start(Answers::Hangs);
    let message = "let 10 rules in a row wait";
    let on = ["--engine-url", &server.url, "engine/v1/data", "--jobs=4"];
    let program = Program::new();
    run_with_limit(
        |limit| program.run(&[&on[..], &["--timeout", limit]].concat()),
        // A run in which the health check also timed out does not count.
        |result| !result.out.contains(message),
    )
    .expect(4, &[message]);
}

fn wrong_status() {
    let program = Program::new();
    let store = Store::start(Manner::Slips);
    for (rule, status, note) in [
        (
            "engine/v1/data/put/create-answers-no-content",
            "status: expected 204 | got 200",
            "the body is not JSON",
        ),
        (
            "engine/v1/data/put/create-stores-document",
            "status: expected <204 or 304> | got 200",
            "the body is not JSON",
        ),
        (FAILS, "status: expected 200 | got 404", "is not documented"),
    ] {
        let on = ["--engine-url", &store.url, "--capabilities=documents"];
        let result = program.run(&[&on[..], &["--repro=repro", rule]].concat());
        result.expect(1, &[status, note]);
        assert!(
            result.out.find(status) < result.out.find(note),
            "{result:?}"
        );
        // The reproducer fails for the same reason.
        let script = Command::new("sh")
            .arg(program.folder.path().join(format!("repro/{rule}.sh")))
            .output();
        let script = script.expect("a shell");
        assert_eq!(script.status.code(), Some(1), "{script:?}");
    }
}

fn interrupted() {
    // Interrupts the detection of the target, which waits for a response without a timeout.
    interrupted_by("-TERM", NEVER, "/v1/data").expect(130, &["interrupted"]);
    // Interrupts a rule; its removals then time out.
    run_with_limit(
        |limit| interrupted_by("-INT", limit, "PUT "),
        // A run that timed out before the interrupt does not count.
        |result| result.code != 130,
    )
    .expect(130, &["interrupted"]);
}

/// Starts a run with a timeout in seconds on a target that does not respond. When the target
/// receives a request that contains `awaited`, the signal `by` is sent to the run.
fn interrupted_by(by: &str, timeout: &str, awaited: &str) -> RunResult {
    let program = Program::new();
    let server = Server::start(Answers::Hangs);
    let mut arguments = vec!["--engine-url", &server.url, "--timeout", timeout];
    arguments.extend(["--report", "json=r.json", FAILS]);
    let child = program
        .command(&arguments)
        .spawn()
        .expect("the program starts");
    while let Ok(request) = server.requests.recv_timeout(HANG_LIMIT) {
        if request.contains(awaited) {
            break;
        }
    }
    assert!(
        signal(child.id(), by),
        "the program runs until it is stopped"
    );
    let result = RunResult::ended(child);
    let report = program.read("r.json");
    let is_reported = report.contains("\"conclusion\": \"interrupted\"");
    assert_eq!(is_reported, result.code == 130, "{report}");
    result
}

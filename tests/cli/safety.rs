//! Safety of runs: a run restores its target, does no more than its mode allows, and can be cleaned
//! up after it was killed.

use crate::program::{HANG_LIMIT, NEVER, Program};
use crate::server::{Answers, Server};
use crate::store::{Manner, Store};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_run_leaves_its_target_as_it_was", leaves_as_it_was),
    ("a_killed_run_is_cleaned_up_later", killed),
    ("what_cannot_be_removed_is_not_forgotten", not_forgotten),
    ("a_mode_bounds_what_is_sent", modes),
    ("every_name_starts_with_the_namespace", namespace),
    ("a_request_that_cannot_be_noted_is_not_sent", not_noted),
];

const READS: &str = "engine/health/get/healthy-is-empty-object";
const WRITES: &str = "engine/v1/data/put/create-answers-no-content";
/// Rule that writes a document and then reads it.
const ASKS: &str = "engine/v1/data/put/create-stores-document";
const THEIRS: [&str; 2] = ["/v1/data/theirs", "/v1/policies/theirs.rego"];

/// Returns the names of the runs with resources to clean up.
fn runs(program: &Program) -> Vec<String> {
    let listed = program.run(&["cleanup"]);
    listed.expect(0, &[]);
    let names = listed.out.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

fn leaves_as_it_was() {
    for (manner, code, texts) in [
        (Manner::Stores, 0, &["proven 1 of 1 rules"][..]),
        (
            Manner::Meddles,
            5,
            &["no longer as it was", "/v1/data/other is new"],
        ),
        (
            Manner::Keeps,
            5,
            &[
                "left behind on the target",
                "/v1/data/c",
                "what is left: conformance cleanup",
            ],
        ),
    ] {
        let program = Program::new();
        let store = Store::start(manner);
        let result = program.run(&[
            "--engine-url",
            &store.url,
            "--report=ndjson=r.ndjson",
            WRITES,
        ]);
        result.expect(code, texts);
        // The evidence yields the same result as the run.
        program
            .run(&["report", "r.ndjson"])
            .expect(code, texts.get(..1).unwrap_or_default());
        // A cleanup is offered only for resources of the run, not for changes of others.
        let leaves_names = manner == Manner::Keeps;
        assert_eq!(runs(&program).is_empty(), !leaves_names, "{manner:?}");
        assert_eq!(result.out.contains("cleanup"), leaves_names, "{result:?}");
        if manner == Manner::Stores {
            assert_eq!(store.paths(), THEIRS);
        }
    }
    // If neither removals nor lists prove that everything was removed, the run can be cleaned up.
    let program = Program::new();
    let store = Store::start(Manner::Fails);
    program
        .run(&["--engine-url", &store.url, WRITES])
        .expect(0, &["what may be left: conformance cleanup"]);
    assert_eq!(runs(&program).len(), 1);
}

fn killed() {
    let program = Program::new();
    let store = Store::start(Manner::Holds);
    let arguments = ["--engine-url", &store.url, "--jobs=1", "--seed=1"];
    let arguments = [
        &arguments[..],
        &["--timeout", NEVER, "--report=ndjson=r.ndjson"],
        &[ASKS, WRITES, READS],
    ]
    .concat();
    let mut child = program
        .command(&arguments)
        .spawn()
        .expect("the program starts");
    while let Ok(line) = store.requests.recv_timeout(HANG_LIMIT) {
        // Detection of the server also sends such requests, with another name.
        if line.starts_with("GET /v1/data/c") && !line.contains("conformance_doctor") {
            break;
        }
    }
    child.kill().expect("the program runs until it is killed");
    child.wait().expect("the program ends");
    assert_eq!(store.paths().len(), 3, "{:?}", store.paths());

    // The evidence contains the rules that were judged before the kill; none of them failed.
    program
        .run(&["report", "r.ndjson"])
        .expect(130, &["interrupted", "of 3 rules"]);
    let runs = runs(&program);
    let [run] = runs.as_slice() else {
        panic!("{runs:?}");
    };
    program
        .run(&["cleanup", "--run", run])
        .expect(0, &[&store.url, "0 left"]);
    assert_eq!(store.paths(), THEIRS);
    assert_eq!(self::runs(&program), Vec::<String>::new());
    for (wrong, message) in [
        (run.as_str(), "is left to clean up"),
        ("../r", "invalid name `../r`"),
    ] {
        program
            .run(&["cleanup", "--run", wrong])
            .expect(2, &[message]);
    }
}

fn not_forgotten() {
    for (manner, code, message) in [
        (Manner::Keeps, 5, "1 left"),
        (Manner::Refuses, 5, "1 left"),
        (Manner::Stores, 0, "0 left"),
    ] {
        let program = Program::new();
        let store = Store::start(manner);
        let line = |path: &str| {
            let url = &store.url;
            format!(r#"{{"url":"{url}","document":"engine","rank":1,"path":"{path}"}}"#) + "\n"
        };
        let path = "/v1/data/cabcdef_x";
        let put = put_by_hand(&store.url, path);
        assert!(put.starts_with("HTTP/1.1 204"), "{put}");
        let ledger = |text: &str| {
            let folder = program.folder.path().join("state/conformance");
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join("cabcdef.ndjson"), text).expect("a ledger");
        };
        // A cleanup never removes resources of others.
        ledger(&(line(path) + &line("/v1/data/theirs")));
        let cleanup = ["cleanup", "--run", "cabcdef"];
        program.run(&cleanup).expect(
            2,
            &["cabcdef.ndjson:2: `/v1/data/theirs` is not of the run `cabcdef`"],
        );
        assert_eq!(store.paths().len(), 3);
        ledger(&line(path));
        program.run(&cleanup).expect(code, &[message]);
        assert_eq!(runs(&program).is_empty(), code == 0, "{manner:?}");
        assert_eq!(store.paths().len(), if code == 0 { 2 } else { 3 });
    }
    // A target that is down.
    let program = Program::new();
    let dead = Server::dead();
    let folder = program.folder.path().join("state/conformance");
    std::fs::create_dir_all(&folder).expect("a folder");
    let line =
        format!(r#"{{"url":"{dead}","document":"engine","rank":1,"path":"/v1/data/cabcdef_x"}}"#);
    std::fs::write(folder.join("cabcdef.ndjson"), line + "\n").expect("a ledger");
    program.run(&["cleanup", "--run", "cabcdef"]).expect(
        5,
        &[
            "/v1/data/cabcdef_x",
            "cannot be read",
            "gone for good: conformance cleanup --run cabcdef --forget",
        ],
    );
    assert_eq!(runs(&program), ["cabcdef"]);
    let forget = ["cleanup", "--run", "cabcdef", "--forget"];
    let expected = format!("{dead}: 1 names forgotten");
    program.run(&forget).expect(0, &[&expected]);
    assert_eq!(runs(&program), Vec::<String>::new());
    program
        .run(&forget)
        .expect(2, &["no run `cabcdef` is left"]);
    // A ledger that cannot be parsed can also be deleted with `--forget`.
    std::fs::write(folder.join("cabcdef.ndjson"), "x\n").expect("a ledger");
    program
        .run(&["cleanup", "--run", "cabcdef"])
        .expect(2, &["cabcdef.ndjson:1: "]);
    program.run(&forget).expect(0, &[]);
    assert_eq!(runs(&program), Vec::<String>::new());
}

/// Stores a document like a client that does not belong to a run.
fn put_by_hand(url: &str, path: &str) -> String {
    use std::io::{Read as _, Write as _};
    let address = url.replace("http://", "");
    let mut stream = std::net::TcpStream::connect(address).expect("the store");
    write!(stream, "PUT {path} HTTP/1.1\r\nContent-Length: 1\r\n\r\n1").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn modes() {
    const GLOBAL: &str = "engine/root/post";
    // All selected rules must be judged. Empty responses to writes violate them.
    for (mode, code, writes, text) in [
        (
            "read-only",
            3,
            false,
            "does more than the mode `read-only` allows",
        ),
        (
            "additive",
            1,
            true,
            "does more than the mode `additive` allows",
        ),
        ("full", 1, true, "FAIL engine/root/post/"),
    ] {
        let server = Server::start(Answers::Empty);
        let program = Program::new();
        let result = program.run(&[
            "--engine-url",
            &server.url,
            "--mode",
            mode,
            READS,
            WRITES,
            GLOBAL,
        ]);
        result.expect(code, &[text]);
        let lines: Vec<String> = server.requests.try_iter().collect();
        let written = lines.iter().any(|line| !line.starts_with("GET "));
        assert_eq!(written, writes, "{mode}: {lines:?}");
    }
}

fn namespace() {
    let store = Store::start(Manner::Stores);
    let program = Program::new();
    let on = ["--engine-url", &store.url, "--namespace"];
    program
        .run(&[&on[..], &["acme", WRITES]].concat())
        .expect(0, &[]);
    let put = |line: &String| line.starts_with("PUT /v1/data/acme");
    assert!(store.requests.try_iter().any(|line| put(&line)));
    for wrong in ["", "Acme", "a-b", "1a", "a/../b", "abcdefghijklmnopq"] {
        let message = format!("invalid namespace `{wrong}`");
        program
            .run(&[&on[..], &[wrong, WRITES]].concat())
            .expect(2, &[&message]);
    }
}

fn not_noted() {
    let store = Store::start(Manner::Stores);
    let program = Program::new().file("taken", "");
    let ledger = ["--ledger", "taken"];
    let run = ["--engine-url", &store.url, WRITES];
    program
        .run(&[&run[..], &ledger].concat())
        .expect(5, &["the cleanup ledger cannot be written"]);
    let written = store
        .requests
        .try_iter()
        .any(|line| line.starts_with("PUT "));
    assert!(!written);
    // A server that the program has started itself needs no ledger.
    program
        .run(&[&[WRITES][..], &ledger].concat())
        .expect(0, &[]);
}

//! Runs on several targets, and differences between them that no rule covers.

use conformance::assets::SPECS;
use conformance::catalogue::{Catalogue, Level};

use crate::program::{Program, RunResult};
use crate::server::{Answers, Server};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("targets_are_judged_in_turn_and_compared", compared),
    ("what_changes_by_itself_is_not_proposed", chance),
    ("the_worst_target_decides_the_exit_code", worst),
    ("what_goes_with_one_target_is_refused_with_several", refused),
];

/// Rule that a server satisfies if it returns written documents and responds with 200 for undefined
/// ones, whatever the body.
const LENIENT: &str = "engine/v1/data/get/undefined-answers-ok";
const STRICT: &str = "engine/v1/data/get/undefined-omits-result";
/// Beginning of the line about a difference that no clause covers.
const PROPOSED: &str =
    "NOT COVERED engine/v1/data/get: `/result` is absent at reference; a string at";

/// Returns a target file for a running engine.
fn target(name: &str, url: &str) -> String {
    format!(
        "name = '{name}'\ncapabilities = ['documents', 'health']\n\
         [setups.default.engine]\nurl = '{url}'\n"
    )
}

/// Returns the lines of the proposed clauses, from the first id.
fn skeleton(result: &RunResult, file: &str) -> String {
    let head = format!("  specs/{file}.yaml:");
    let lines = result.out.lines().skip_while(|line| *line != head).skip(1);
    let clause = lines.take_while(|line| line.starts_with("  - id: ") || line.starts_with("    "));
    clause.collect::<Vec<_>>().join("\n") + "\n"
}

fn compared() {
    let server = Server::start(Answers::Fills);
    let program = Program::new()
        .file("echo.toml", &target("echo", &server.url))
        .file("both.toml", "target = ['reference', 'echo.toml']\n");
    let reports = ["--report=ndjson=run.ndjson", "--report=html=both.html"];
    let run = [
        "run",
        "--target=reference",
        "--target=echo.toml",
        LENIENT,
        STRICT,
    ];
    let result = program.run(&[&run[..], &reports].concat());
    let proposed = format!("{PROPOSED} echo (1 rule's requests show it)");
    let moves = format!("VERDICT {STRICT}: pass, fail");
    let texts = [
        "== reference",
        "proven 2 of 2",
        "== echo",
        "proven 1 of 2",
        "== reference and echo",
        &moves,
        &proposed,
        "NOT COVERED engine/v1/data/put: `status` is 204 at reference; 200 at echo",
        &format!("  {LENIENT}, step 3: curl -i 'http://127.0.0.1:"),
    ];
    result.expect(1, &texts);
    assert!(program.read("both.html").contains(" data-differs"));

    // The proposed clause is valid without changes.
    let file = "engine/v1/data/get";
    let pasted: Vec<(&str, String)> = SPECS
        .iter()
        .map(|(path, text)| match *path == file {
            true => (*path, format!("{text}{}", skeleton(&result, file))),
            false => (*path, (*text).to_owned()),
        })
        .collect();
    let pasted: Vec<(&str, &str)> = pasted
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    let catalogue = Catalogue::read(&pasted).expect("clauses");
    let clause = catalogue.clause("engine/v1/data/get/result");
    assert_eq!(clause.expect("the clause").level, Level::Open);

    // The evidence of both targets yields the same differences, and so does a configuration file
    // that names both targets.
    let diff = ["report", "diff", "run.reference.ndjson", "run.echo.ndjson"];
    program.run(&diff).expect(1, &[&moves, &proposed]);
    let again = program.run(&["run", "--config=both.toml", LENIENT]);
    again.expect(0, &[&proposed]);
    let whole = ["run.reference.ndjson", "run.echo.ndjson", "run.echo.ndjson"];
    for (files, message) in [
        (["run.echo.ndjson"; 3], "both runs are of its target"),
        (
            ["run.echo.ndjson", "run.echo.ndjson", "run.reference.ndjson"],
            "neither run is of its target",
        ),
    ] {
        let [first, other, again] = files;
        let diff = ["report", "diff", first, other, "--again", again];
        program.run(&diff).expect(2, &[message]);
    }
    // Reports in other formats do not contain enough for a comparison.
    program.run(&["--report=json=r.json", "engine/health/get"]);
    program
        .run(&["report", "diff", "r.json", "run.echo.ndjson"])
        .expect(2, &["r.json: invalid evidence"]);
    let [first, other, again] = whole;
    let diff = ["report", "diff", first, other, "--again", again];
    program.run(&diff).expect(1, &[&proposed]);
}

fn chance() {
    let servers = [Answers::Counts, Answers::Counts, Answers::Fills].map(Server::start);
    let [first, second, fills] = &servers;
    let program = Program::new()
        .file("first.toml", &target("counts", &first.url))
        .file("second.toml", &target("counts", &second.url))
        .file("fills.toml", &target("fills", &fills.url));
    let two = ["--target=first.toml", "--target=second.toml", LENIENT];
    let result = program.run(&two);
    result.expect(
        0,
        &["== counts and counts-2", "2 runs have the same results"],
    );
    assert!(!result.out.contains("NOT COVERED"), "{result:?}");
    // The value of the number changes between runs, but its presence does not.
    let two = ["--target=first.toml", "--target=fills.toml", LENIENT];
    program.run(&two).expect(
        0,
        &["NOT COVERED engine/v1/data/get: `/count` is a number at counts; absent at fills"],
    );
}

fn worst() {
    let server = Server::start(Answers::Echo);
    let program = Program::new()
        .file("echo.toml", &target("echo", &server.url))
        .file("dead.toml", &target("dead", &Server::dead()));
    for (targets, code) in [
        (["reference", "reference"], 0),
        (["echo.toml", "reference"], 1),
        (["dead.toml", "echo.toml"], 4),
    ] {
        let [one, other] = targets.map(|name| format!("--target={name}"));
        program.run(&[&one, &other, STRICT]).expect(code, &["== "]);
    }
}

fn refused() {
    let program = Program::new().file("x", "x").file(
        "control.toml",
        "name = 'c'\ncapabilities = []\n[setups.default.control]\nurl = 'http://127.0.0.1:1'\n",
    );
    let two = ["--target=reference", "--target=opa"];
    for (more, message) in [
        (
            &["--engine-url=http://127.0.0.1:1"][..],
            "--engine-url goes with one target",
        ),
        (&["--program=x"], "--program goes with one target"),
        (
            &["--target-version=1.0.0"],
            "--target-version goes with one target",
        ),
        (&["--watch=x"], "--watch goes with one --target"),
        (&["--target=nobody"], "unknown target `nobody`"),
        (
            &["--target=control.toml"],
            "there is no API that all targets have",
        ),
    ] {
        program
            .run(&[&two[..], more].concat())
            .expect(2, &[message]);
    }
    let init = ["baseline", "init", "--file=known.toml"];
    let result = program.run(&[&init[..], &two].concat());
    result.expect(2, &["this command takes one --target"]);
}

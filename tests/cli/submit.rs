//! Submissions: generated ones are accepted, edited ones are refused.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use conformance::submission::{Refused, check};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::mock::running::Mock;
use crate::program::Program;

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_submission_is_accepted_as_it_was_written", written),
    ("a_submission_that_was_changed_is_refused", changed),
    ("a_submission_wants_what_repeats_it", usage),
];

const PLACE: &str = "results/engine-query/mock/1.0";
const RULE: &str = "engine/v1/query/post/";

/// Creates a submission for a mock that breaks some rules; returns its folder.
fn submitted() -> (Program, PathBuf) {
    let mock = Mock::start(&[]);
    mock.switch(
        "POST /faults",
        "- fault: no-query\n  on: POST /v1/query\n  reply: {status: 418, body: none}\n",
    );
    let program = Program::new().file("how.md", "Start it with `mock`.\n");
    let url = format!("http://{}", mock.address("engine"));
    let result = program.run(&[
        "submit",
        "--profile=engine-query",
        "--name=mock",
        "--target-version=1.0",
        "--instructions=how.md",
        "--engine-url",
        &url,
        "--progress=none",
    ]);
    result.expect(
        0,
        &[&format!("submission: {PLACE}\n"), "engine-query 2026.12: "],
    );
    let folder = program.folder.path().join(PLACE);
    (program, folder)
}

fn written() {
    let (program, folder) = submitted();
    let standing = check(&folder).expect("accepted").standing;
    assert!(standing.must.proven > 0 && standing.must.proven < standing.must.rules);
    let readme = program.read(&format!("{PLACE}/README.md"));
    for text in [
        "# mock 1.0\n",
        &format!("{standing}."),
        "Start it with `mock`.",
        "\nconformance submit --profile engine-query --name mock --target-version 1.0 --engine-url ",
    ] {
        assert!(readme.contains(text), "no {text:?} in {readme}");
    }
}

fn unpacked(folder: &Path) -> String {
    let file = fs::File::open(folder.join("evidence.ndjson.gz")).expect("the evidence");
    let mut text = String::new();
    let read = GzDecoder::new(file).read_to_string(&mut text);
    read.expect("text");
    text
}

fn pack(folder: &Path, text: &str) {
    let file = fs::File::create(folder.join("evidence.ndjson.gz")).expect("a file");
    let mut packed = GzEncoder::new(file, Compression::fast());
    packed.write_all(text.as_bytes()).expect("it is written");
    packed.finish().expect("it is whole");
}

/// Returns the lines that do not satisfy a predicate.
fn without(text: &str, unwanted: impl Fn(&str) -> bool) -> String {
    let lines = text.lines().filter(|line| !unwanted(line));
    lines.map(|line| format!("{line}\n")).collect()
}

fn changed() {
    let (_program, folder) = submitted();
    let evidence = unpacked(&folder);
    let of_rule = |kind: &'static str| {
        move |line: &str| {
            let rule = format!("\"rule\":\"{RULE}");
            line.starts_with(&format!("{{\"event\":\"{kind}\"")) && line.contains(&rule)
        }
    };
    // Changes the verdict of a failed rule to a pass.
    let failing = evidence
        .lines()
        .find(|line| of_rule("judged")(line) && line.contains("\"fail\""));
    let failing = failing.expect("a rule that fails");
    let mut event: serde_json::Value = serde_json::from_str(failing).expect("JSON");
    *event.get_mut("verdict").expect("a verdict") = "pass".into();
    let lied = evidence.replace(failing, &event.to_string());
    type Fits = fn(&Refused) -> bool;
    let cases: [(&str, String, Fits); 7] = [
        ("a verdict", lied, |reason| {
            matches!(reason, Refused::Outcome(_))
        }),
        (
            "exchanges are left out",
            without(&evidence, of_rule("exchange")),
            |reason| matches!(reason, Refused::Untrue(_)),
        ),
        (
            "verdicts are left out",
            without(&evidence, of_rule("judged")),
            |reason| matches!(reason, Refused::Cut(_)),
        ),
        (
            "the end is left out",
            without(&evidence, |line| {
                line.contains("\"event\":\"run-finished\"")
            }),
            |reason| matches!(reason, Refused::Cut(_)),
        ),
        (
            "the last line breaks off",
            evidence.get(..evidence.len() - 9).expect("text").to_owned(),
            |reason| matches!(reason, Refused::Cut(_)),
        ),
        (
            "another edition",
            evidence.replacen("\"2026.12\"", "\"2025.12\"", 1),
            |reason| matches!(reason, Refused::Edition(_)),
        ),
        (
            "another server",
            evidence.replacen("\"name\":\"mock\"", "\"name\":\"other\"", 1),
            |reason| matches!(reason, Refused::Place(..)),
        ),
    ];
    for (case, text, is_expected) in cases {
        assert_ne!(text, evidence, "{case}");
        pack(&folder, &text);
        let reason = check(&folder).expect_err(case);
        assert!(is_expected(&reason), "{case}: {reason}");
    }
    pack(&folder, &evidence);
    check(&folder).expect("it is as it was");

    let packed = fs::read(folder.join("evidence.ndjson.gz")).expect("bytes");
    fs::write(
        folder.join("evidence.ndjson.gz"),
        packed.get(..packed.len() / 2).expect("half"),
    )
    .expect("it is written");
    assert!(
        matches!(check(&folder), Err(Refused::Cut(_))),
        "half of a file"
    );
    pack(&folder, &evidence);

    let report = folder.join("report.json");
    let text = fs::read_to_string(&report).expect("a report");
    let better = text.replacen("\"outcome\": \"fail\"", "\"outcome\": \"pass\"", 1);
    assert_ne!(text, better);
    fs::write(&report, better).expect("it is written");
    assert!(
        matches!(check(&folder), Err(Refused::Report(_))),
        "a better report"
    );
    fs::remove_file(&report).expect("it is there");
    assert!(
        matches!(check(&folder), Err(Refused::File(..))),
        "no report"
    );
    fs::write(&report, text).expect("it is written");
    fs::write(folder.join("more.sh"), "").expect("it is written");
    assert!(
        matches!(check(&folder), Err(Refused::File(..))),
        "another file"
    );
    fs::remove_file(folder.join("more.sh")).expect("it is there");
    let newer = folder.with_file_name("2.0");
    fs::rename(&folder, &newer).expect("it is moved");
    assert!(
        matches!(check(&newer), Err(Refused::Place(..))),
        "another version"
    );
}

fn usage() {
    let program = Program::new();
    let url = "--engine-url=http://127.0.0.1:1";
    let profile = "--profile=engine-query";
    for (arguments, code, message) in [
        (&["--name=a", profile, url][..], 2, "--target-version"),
        (
            &["--name=a/b", profile, "--target-version=1"],
            2,
            "--name `a/b`",
        ),
        (
            &["--name=a", profile, "--target-version=.."],
            2,
            "--target-version `..`",
        ),
        (&["--name=a", url, "--target-version=1"], 2, "--profile"),
        (
            &["--name=a", profile, url, "--target-version=1"],
            2,
            "--instructions FILE",
        ),
        (
            &[
                "--name=a",
                profile,
                "--target-version=1",
                "--skip=engine/v1/query/get",
            ],
            2,
            "not with --skip",
        ),
        (
            &[
                "--name=a",
                profile,
                "--target-version=1",
                "--instructions=how.md",
                url,
            ],
            4,
            "nothing is written",
        ),
    ] {
        let program = Program::new().file("how.md", "");
        let result = program.run(&[&["submit"], arguments].concat());
        result.expect(code, &[message]);
        assert!(
            !program.folder.path().join("results").exists(),
            "{arguments:?}"
        );
    }
    program.run(&["submit"]).expect(2, &["--name <NAME>"]);
}

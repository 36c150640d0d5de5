//! Lists of known deviations and of flaky rules: they are written, shortened and checked; entries
//! that no longer apply are refused.

use crate::program::Program;
use crate::server::{Answers, Server};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_list_is_written_filled_in_and_shortened", life),
    ("a_list_is_written_from_evidence", from_evidence),
    ("lists_are_checked_without_a_run", checked),
    ("an_expired_entry_fails_the_run", expired),
    ("an_entry_holds_under_its_conditions", conditions),
    ("a_flaky_rule_may_pass_or_fail_and_proves_nothing", flaky),
];

/// Rule that the server `Echo` violates and the server `Empty` satisfies.
const FAILS: &str = "engine/health/get/healthy-is-empty-object";
const OTHER: &str = "engine/v1/data/get/undefined-omits-result";

fn entry(table: &str, rule: &str, more: &str) -> String {
    format!("[[{table}]]\nrule = '{rule}'\nreason = 'why'\n{more}\n")
}

fn life() {
    let program = Program::new();
    let server = Server::start(Answers::Echo);
    let run = |arguments: &[&str]| {
        let target = ["--engine-url", &server.url];
        program.run(&[arguments, &target[..]].concat())
    };
    let init = ["baseline", "init", "--file", "known.toml"];
    run(&[&init[..], &[FAILS]].concat()).expect(0, &["known.toml: 1 rules"]);
    let text = program.read("known.toml");
    assert!(text.contains(&format!("rule = \"{FAILS}\"")), "{text}");
    assert!(text.contains("# step 1: "), "{text}");
    run(&[&init[..], &[FAILS]].concat()).expect(2, &["known.toml: exists"]);

    let unfilled = format!("the `reason` of `{FAILS}` is still to be written");
    let list = ["--known-failing", "known.toml"];
    program
        .run(&["baseline", "check", "known.toml"])
        .expect(2, &[&unfilled]);
    run(&[&list[..], &[FAILS]].concat()).expect(2, &[&unfilled]);

    let filled = text.replace("TODO: say why", "It repeats what it is asked.");
    let program = Program::new().file("known.toml", &filled);
    program
        .run(&["baseline", "check", "--file", "known.toml"])
        .expect(0, &[]);
    let judged = ["--engine-url", &server.url, FAILS];
    program.run(&[&list[..], &judged].concat()).expect(
        0,
        &[
            "expected to fail",
            "It repeats",
            "conformant with 1 known deviation: ",
        ],
    );

    let update = ["baseline", "update", "--file", "known.toml"];
    program
        .run(&[&update[..], &judged].concat())
        .expect(0, &["known.toml: 0 entries taken out"]);
    assert_eq!(program.read("known.toml"), filled);
    let better = Server::start(Answers::Empty);
    let judged = ["--engine-url", &better.url, FAILS];
    let other = entry("deviation", OTHER, "# The reason stays.");
    let elsewhere = entry("deviation", FAILS, "when = { target = 'elsewhere' }");
    let versions = entry("deviation", FAILS, "when = { version = '<2.0.0' }");
    let stays = format!("{other}\n{elsewhere}\n{versions}");
    let both = format!("{filled}\n{stays}");
    let program = Program::new().file("known.toml", &both);
    program
        .run(&[&update[..], &judged].concat())
        .expect(0, &[&format!("passes now: {FAILS}"), "1 entries taken out"]);
    let remaining = program.read("known.toml");
    assert!(
        remaining.starts_with("# For --known-failing"),
        "{remaining}"
    );
    assert_eq!(remaining.matches(FAILS).count(), 2, "{remaining}");
    assert!(remaining.ends_with(&stays), "{remaining}");
}

fn from_evidence() {
    let program = Program::new();
    let server = Server::start(Answers::Echo);
    let run = [
        "--engine-url",
        &server.url,
        "--report=ndjson=r.ndjson",
        FAILS,
    ];
    program.run(&run).expect(1, &["FAIL"]);
    let evidence = ["--evidence", "r.ndjson"];
    for (table, file, arguments) in [
        (
            "deviation",
            "known.toml",
            &["init", "--file", "known.toml"][..],
        ),
        (
            "flaky",
            "flaky.toml",
            &["init", "--flaky", "--file", "flaky.toml"],
        ),
    ] {
        let arguments = [&["baseline"], arguments, &evidence].concat();
        program.run(&arguments).expect(0, &[": 1 rules"]);
        assert!(
            program
                .read(file)
                .contains(&format!("[[{table}]]\nrule = \"{FAILS}\""))
        );
    }
    program
        .run(
            &[
                &["baseline", "update", "--file", "flaky.toml"],
                &evidence[..],
            ]
            .concat(),
        )
        .expect(2, &["a flaky rule that passes once"]);
    program
        .run(&[
            "baseline",
            "init",
            "--file",
            "x.toml",
            "--evidence",
            "known.toml",
        ])
        .expect(2, &["known.toml: invalid evidence"]);
}

fn checked() {
    let good = entry("deviation", FAILS, "");
    for (text, code, message) in [
        (good.clone(), 0, ""),
        (String::new(), 0, ""),
        (entry("flaky", FAILS, "expires = 9999-12-31"), 0, ""),
        (
            entry("deviation", FAILS, "expires = 2020-01-31"),
            1,
            "known.toml: the entry for `engine/health/get/healthy-is-empty-object` expired on 2020-01-31",
        ),
        (
            entry("deviation", FAILS, "isue = 'x'"),
            2,
            "unknown field `isue`",
        ),
        (
            entry("deviations", FAILS, ""),
            2,
            "unknown field `deviations`",
        ),
        (entry("deviation", "engine/x", ""), 2, "no rule `engine/x`"),
        (
            entry("deviation", "engine/**/x", ""),
            2,
            "no rule matches `engine/**/x`",
        ),
        (good.replace("why", " "), 2, "the `reason` of"),
        (
            good.replace("reason = 'why'", ""),
            2,
            "missing field `reason`",
        ),
        (
            good.clone() + &entry("flaky", OTHER, ""),
            2,
            "contains [[deviation]] entries; pass this file with --known-failing",
        ),
        (
            entry("deviation", FAILS, "when = { setup = 'bundles' }"),
            2,
            "needs the setup `bundles`",
        ),
    ] {
        let program = Program::new().file("known.toml", &text);
        let result = program.run(&["baseline", "check", "known.toml"]);
        result.expect(code, &[message]);
    }
}

fn expired() {
    let old = "expires = 2020-01-31";
    let program = Program::new()
        .file("fails.toml", &entry("deviation", FAILS, old))
        .file("other.toml", &entry("deviation", OTHER, old));
    let server = Server::start(Answers::Echo);
    let run = ["--engine-url", &server.url, "--report=json=r.json"];
    let texts = [
        &format!("FAIL {FAILS}")[..],
        "out of date",
        "expired on 2020-01-31",
    ];
    program
        .run(&[&run[..], &["--known-failing", "fails.toml", FAILS]].concat())
        .expect(1, &texts);
    assert!(program.read("r.json").contains("expired on 2020-01-31"));
    // An expired entry is refused even if its rule passes or is not selected.
    let server = Server::start(Answers::Empty);
    for list in ["fails.toml", "other.toml"] {
        let run = ["--engine-url", &server.url, "--known-failing", list, FAILS];
        program
            .run(&run)
            .expect(1, &["out of date", "proven 1 of 1 rules"]);
    }
}

fn conditions() {
    let server = Server::start(Answers::Echo);
    for (when, version, code, text) in [
        ("target = 'custom'", None, 0, "expected to fail"),
        ("target = 'opa'", None, 1, "FAIL"),
        (
            "version = '>=1.6, <1.13'",
            Some("v1.12.3"),
            0,
            "expected to fail",
        ),
        ("version = '>=1.6, <1.13'", Some("1.13.0"), 1, "FAIL"),
        ("version = '1.6'", None, 2, "pass --target-version"),
        (
            "version = '1.6'",
            Some("latest"),
            2,
            "invalid version `latest`",
        ),
        ("setup = 'default'", None, 0, "expected to fail"),
    ] {
        let list = entry("deviation", FAILS, &format!("when = {{ {when} }}"));
        let program = Program::new().file("known.toml", &list);
        let mut arguments = vec!["--engine-url", &server.url, "--known-failing", "known.toml"];
        arguments.extend(
            version
                .iter()
                .flat_map(|version| ["--target-version", version]),
        );
        arguments.push(FAILS);
        program.run(&arguments).expect(code, &[text]);
    }
}

fn flaky() {
    let list = entry("flaky", FAILS, "");
    let program = Program::new()
        .file("flaky.toml", &list)
        .file("failing.toml", &list.replace("flaky", "deviation"));
    let flaky = ["--known-flaky", "flaky.toml", FAILS, "--report=junit=r.xml"];
    for (answers, text) in [
        (Answers::Echo, "flaky, failed this time"),
        (Answers::Empty, "1 flaky"),
    ] {
        let server = Server::start(answers);
        program
            .run(&[&["--engine-url", &server.url], &flaky[..]].concat())
            .expect(0, &[text, "proven 0 of 1 rules"]);
        assert!(program.read("r.xml").contains("known to be flaky: why"));
    }
    let both = [
        "--known-failing",
        "failing.toml",
        "--engine-url",
        "http://127.0.0.1:1",
    ];
    program
        .run(&[&both[..], &flaky[..]].concat())
        .expect(2, &["is on the list of known deviations too"]);
    let wrong = ["--known-flaky", "failing.toml", FAILS];
    program.run(&wrong).expect(
        2,
        &["contains [[deviation]] entries; pass this file with --known-failing"],
    );
}

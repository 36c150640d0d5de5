//! Wrong usage: exit code 2 with a message about the error. Commands that need no target succeed.

use crate::program::Program;

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("wrong_usage_is_refused", wrong_usage_is_refused),
    (
        "rules_are_listed_and_explained",
        rules_are_listed_and_explained,
    ),
    (
        "a_flag_outweighs_a_variable_and_a_variable_the_file",
        precedence,
    ),
];

fn wrong_usage_is_refused() {
    let program = Program::new()
        .file("unknown.toml", "sead = 1\n")
        .file("broken.toml", "seed = \n")
        .file("former.toml", "patience = -2.0\n")
        .file("rules.txt", "# none of these\n\nengine/**/nothing\n")
        .file("empty.txt", "# none\n")
        .file(
            "broken.ndjson",
            "{\"event\":\"leaked\",\"names\":[]}\nnone\n",
        )
        .file(
            "target.toml",
            "name = 'x'\ncapabilities = ['flight']\n[setups]\n",
        )
        .file("rules.toml", "base = 'shim'\nrules = ['engine/x']\n")
        .file(
            "known.toml",
            "[[deviation]]\nrule = 'engine/x'\nreason = 'r'\nclause = 'c'\n",
        );
    let url = "--engine-url=http://127.0.0.1:1";
    for (arguments, message) in [
        (
            &["engine/v1/data/get/nothing"][..],
            "no rule `engine/v1/data/get/nothing`",
        ),
        (&["engine/v1/data/ptu"], "is `engine/v1/data/put` meant?"),
        (&[url, "engine/nothing"], "no rule `engine/nothing`"),
        (&[url, "--known-failing=absent.toml"], "absent.toml: "),
        (&[url, "--shard=3/2"], "invalid shard `3/2`"),
        (&["--jobs=0"], "give a whole number, 1 or more"),
        (&["--max-fail=x"], "give a whole number, 1 or more"),
        (&["cleanup", "--forget"], "--run <RUN>"),
        (&["nonsense"], "unrecognized subcommand 'nonsense'"),
        (&["repot"], "'report'"),
        (
            &["--engine-url=127.0.0.1:8181"],
            "expected http://127.0.0.1:8181",
        ),
        (
            &["engine/**/nothing"],
            "no rule matches `engine/**/nothing`",
        ),
        (&["--skip", "engine/x/*"], "no rule matches `engine/x/*`"),
        (&["engine/[a"], "invalid glob `engine/[a`"),
        (
            &["@rules.txt"],
            "rules.txt:3: no rule matches `engine/**/nothing`",
        ),
        (&["@absent.txt"], "absent.txt: "),
        (&["@empty.txt"], "no rule stands in @empty.txt"),
        (&["engine/v1/config/get/server-error"], "HTTP cannot show"),
        (&["--config", "unknown.toml"], "unknown field `sead`"),
        (&["--config", "broken.toml"], "broken.toml: "),
        (&["--config", "absent.toml"], "absent.toml: "),
        (
            &["--target", "nobody"],
            "unknown target `nobody`: expected ",
        ),
        (&["--target", "absent.toml"], "absent.toml: "),
        (
            &["--target", "target.toml"],
            "no capability `flight`; there are ",
        ),
        (
            &["--target", "rules.toml"],
            "the target claims the rule `engine/x`, which there is not",
        ),
        (
            &["--capabilities", "flight"],
            "no capability `flight`; there are ",
        ),
        (
            &["--known-failing", "known.toml"],
            "known.toml: no rule `engine/x`",
        ),
        (
            &["--report", "pdf=x"],
            "unknown report format `pdf`: expected one of badge, html, json",
        ),
        (&["--report", "json"], "`json` is not FORMAT=PATH"),
        (
            &["--report", "json=nowhere/x.json"],
            "nowhere/x.json: its folder does not exist",
        ),
        (&["--timeout", "0"], "invalid time limit 0"),
        (&["--eventual-timeout=-1"], "invalid time limit -1"),
        (&["--patience=-1"], "invalid time limit -1"),
        (&["--config", "former.toml"], "invalid time limit -2"),
        (&["--jobs", "0"], "invalid value '0'"),
        (&["--cacert", "absent.pem", url], "absent.pem: "),
        (
            &["--token-env", "NO_SUCH_VARIABLE", url],
            "NO_SUCH_VARIABLE holds no token",
        ),
        (
            &["--token-env", "PATH"],
            "--token-env goes with --engine-url",
        ),
        (&["--program", "x", url], "--program starts a target"),
        (&["--engine-url", "ftp://127.0.0.1"], "ftp://127.0.0.1"),
        (&["--no-such-flag"], "--no-such-flag"),
        (&["explain", "engine/nothing"], "no rule `engine/nothing`"),
        (&["list", "engine/nothing"], "no rule `engine/nothing`"),
        (&["report", "absent.ndjson"], "absent.ndjson: "),
        (
            &["report", "known.toml"],
            "known.toml: invalid evidence: expected one event per line, as `conformance run --report ndjson=FILE` writes it",
        ),
        (&["report", "broken.ndjson"], "broken.ndjson:2: "),
        (&["--namespace=9x", url], "invalid namespace `9x`"),
    ] {
        let result = program.run(arguments);
        result.expect(2, &[message]);
        assert_eq!(result.out, "", "{arguments:?}");
    }
    for (arguments, message) in [
        (
            &["-H", "no colon, but a s3cret", url][..],
            "a --header is not `NAME: VALUE`",
        ),
        (
            &["--engine-url", "http://me:s3cret@127.0.0.1:1"],
            "holds no credentials",
        ),
    ] {
        let result = program.run(arguments);
        result.expect(2, &[message]);
        assert!(!result.err.contains("s3cret"), "{result:?}");
    }
}

fn rules_are_listed_and_explained() {
    let program = Program::new();
    let id = "engine/v1/data/put/if-none-match-keeps-existing";
    program
        .run(&["list", "engine/v1/data/put"])
        .expect(0, &[id]);
    program.run(&["explain", id]).expect(
        0,
        &[
            "Endpoints / Data API, sentence 28",
            "If-None-Match",
            "expected (snapshots/",
        ],
    );
    let explained = program.run(&["explain", id]).out;
    assert!(!explained.contains("source:"), "{explained}");
    program
        .run(&["explain", "engine/common/provenance/build-host"])
        .expect(0, &["fail on opa"]);
    program.run(&["coverage"]).expect(
        0,
        &["engine  Endpoints / Data API", "total", "sentences  rule"],
    );
    program.run(&["coverage", "--sentences"]).expect(
        0,
        &[
            "engine  Limits\n   1  rule          engine/common/limits/gzip-only-on-request\n",
            "   1  explained     Repeats Endpoints / Common rules, sentence 8.\n",
        ],
    );
    program.run(&["--help"]).expect(0, &["run", "coverage"]);
    program
        .run(&["run", "--help"])
        .expect(0, &["Exit codes", "CONFORMANCE_ENGINE_URL"]);

    for arguments in [
        &["list", "--format", "json", id][..],
        &["coverage", "--format", "json"],
        &["coverage", "--sentences", "--format", "json"],
    ] {
        let result = program.run(arguments);
        let read: serde_json::Value = serde_json::from_str(&result.out).expect("JSON");
        assert_ne!(
            read.pointer("/0/scenario/steps/0")
                .or(read.pointer("/total/sentences/all"))
                .or(read.pointer("/0/clauses/0")),
            None,
            "{read}"
        );
    }
}

fn precedence() {
    let rule = "engine/health/get/healthy-is-empty-object";
    let program = Program::new()
        .file("file.toml", &format!("rules = ['{rule}']\nseed = 11\n"))
        .variable("CONFORMANCE_CONFIG", "file.toml");
    program
        .run(&[])
        .expect(0, &["seed 11", "proven 1 of 1 rules"]);
    let program = program.variable("CONFORMANCE_SEED", "22");
    program
        .run(&[])
        .expect(0, &["seed 22", "proven 1 of 1 rules"]);
    program
        .run(&["--seed", "33"])
        .expect(0, &["seed 33", "proven 1 of 1 rules"]);
    // The variable is also accepted under an older name; the current name takes precedence.
    let program = program.variable("CONFORMANCE_PATIENCE", "-3");
    program.run(&[]).expect(2, &["invalid time limit -3"]);
    let program = program.variable("CONFORMANCE_EVENTUAL_TIMEOUT", "10");
    program.run(&[]).expect(0, &["proven 1 of 1 rules"]);
}

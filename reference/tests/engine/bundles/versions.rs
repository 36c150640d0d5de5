//! Bundles in an engine with Rego v0 as its default.

use std::fs;

use reference::bundle::{Bundle, Limits};
use reference::engine::{BundleOptions, Engine, Options};
use rego::Version;

use super::archives::{Files, archive};
use crate::exchange::{engine, run_script_on};

fn old() -> Options {
    Options {
        v0_compatible: true,
        ..Options::default()
    }
}

#[test]
fn clients_write_and_ask_in_v0() {
    run_script_on(
        &engine(old()),
        r#"
        PUT /v1/policies/a package a p[x] { x = input.xs[_] } if = 1 { any([true]) } => 200 {}
        PUT /v1/policies/b package b import rego.v1 p contains x if some x in data.a.p => 200 {}
        PUT /v1/policies/c package c p if { true } => 400 invalid_parameter
        PUT /v1/policies/c package c import rego.v1 p { true } => 400 invalid_parameter
        POST /v1/data {"input": {"xs": [1, 2]}} => 200 {"result":{"a":{"if":1,"p":[1,2]},"b":{"p":[1,2]}}}
        POST /v1/query {"query": "in := data.a.if"} => 200 {"result":[{"in":1}]}
        GET /v1/query?q=if%20:=%201 => 200 {"result":[{"if":1}]}
        GET /v1/query?q=1%20in%20[1] => 400 invalid_parameter
        POST /v1/compile {"query": "in := 1; input.x == in"} => 200 {"result":{"queries":[[{"index":0,"terms":[{"type":"ref","value":[{"type":"var","value":"eq"}]},{"type":"ref","value":[{"type":"var","value":"input"},{"type":"string","value":"x"}]},{"type":"number","value":1}]}]]}}
        POST /v1/compile {"query": "input.x in [1]"} => 400 invalid_parameter
        "#,
    );
    run_script_on(
        &Engine::default(),
        r#"
        PUT /v1/policies/a package a p[x] { x = input.xs[_] } => 400 invalid_parameter
        GET /v1/query?q=if%20:=%201 => 400 invalid_parameter
        POST /v1/compile {"query": "in := 1; input.x == in"} => 400 invalid_parameter
        "#,
    );
}

#[test]
fn files_on_the_command_line_are_v0() -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    for (name, text) in [
        (
            "files/old.rego",
            "package old\n\np { not q }\n\nq { false }",
        ),
        (
            "files/new.rego",
            "package new\n\nimport rego.v1\n\np if data.old.p",
        ),
        (
            "bundles/said/.manifest",
            r#"{"roots": ["said"], "rego_version": 1}"#,
        ),
        ("bundles/said/p.rego", "package said\n\np if data.silent.p"),
        ("bundles/silent/.manifest", r#"{"roots": ["silent"]}"#),
        ("bundles/silent/p.rego", "package silent\n\np { true }"),
    ] {
        let path = folder.path().join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&path, text)?;
    }
    let below = |name: &str| folder.path().join(name).display().to_string();
    let files = engine(Options {
        data: vec![below("files")],
        ..old()
    });
    let all = r#"GET /v1/data => 200 {"result":{"new":{"p":true},"old":{"p":true}}}"#;
    run_script_on(&files, all);
    let bundles = |options: Options| Options {
        data: vec![below("bundles/said"), below("bundles/silent")],
        bundles: BundleOptions {
            bundle: true,
            ..BundleOptions::default()
        },
        ..options
    };
    run_script_on(
        &engine(bundles(old())),
        r#"
        GET /v1/data/said => 200 {"result":{"p":true}}
        GET /v1/data/silent => 200 {"result":{"p":true}}
        "#,
    );
    let refused = Engine::open(&bundles(Options::default())).err();
    let refused = refused.map(|error| error.to_string()).unwrap_or_default();
    let mistake = "silent/p.rego:3: rego_parse_error: `if` keyword is required before rule body";
    assert!(refused.contains(mistake), "{refused}");
    Ok(())
}

#[test]
fn policies_of_a_bundle_keep_their_version() {
    let bundle = |files: Files<'_>| {
        Bundle::read(&archive(files), "b", Version::V1, &Limits::default(), None)
            .unwrap_or_else(|error| panic!("{}", error.in_full()))
    };
    let activate = |engine: &Engine, files: Files<'_>| {
        if let Err(error) = engine.activate(vec![("b".to_owned(), bundle(files))]) {
            panic!("{}", error.in_full());
        }
    };
    let engine = Engine::default();
    activate(
        &engine,
        &[
            (".manifest", r#"{"roots": ["b"], "rego_version": 0}"#),
            ("b/data.json", r#"{"n": 1}"#),
            (
                "p.rego",
                "package b\n\nimport data.c.x\n\np[y] { y = data.b.n + if; any([x]) }\n\nif = 1",
            ),
        ],
    );
    // A policy of a client affects the policy of the bundle, which is then compiled again.
    run_script_on(
        &engine,
        r#"
        PUT /v1/policies/c package c x if { true } => 200 {}
        GET /v1/data/b => 200 {"result":{"if":1,"n":1,"p":[2]}}
        PUT /v1/policies/c package c x { true } => 400 invalid_parameter
        "#,
    );
    let patch = r#"{"data": [{"op": "replace", "path": "b/n", "value": 2}]}"#;
    activate(
        &engine,
        &[(".manifest", r#"{"roots": ["b"]}"#), ("patch.json", patch)],
    );
    run_script_on(
        &engine,
        r#"
        PUT /v1/policies/c package c x := true => 200 {}
        GET /v1/data/b => 200 {"result":{"if":1,"n":2,"p":[3]}}
        "#,
    );
}

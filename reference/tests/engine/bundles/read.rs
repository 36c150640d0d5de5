//! Accepted archives and their contents.

use reference::engine::Engine;
use rstest::rstest;
use tar::EntryType;

use super::archives::{Entry, Files, compressed, file, read, tar_of};
use crate::exchange::run_script_on;

/// Asserts the root document after an archive is loaded.
#[track_caller]
fn documents(archive: &[u8], expected: &str) {
    let engine = Engine::default();
    let activated =
        read(archive).and_then(|bundle| engine.activate(vec![("b".to_owned(), bundle)]));
    if let Err(error) = activated {
        panic!("{}", error.in_full());
    }
    let line = format!(r#"GET /v1/data => 200 {{"result":{expected}}}"#);
    run_script_on(&engine, &line);
}

#[rstest]
#[case::nothing(&[], "{}")]
#[case::names_with_and_without_a_beginning(
    &[("/data.json", r#"{"a": 1}"#), ("./b/data.json", r#"{"c": 2}"#), ("d//./e/data.json", "[3]")],
    r#"{"a":1,"b":{"c":2},"d":{"e":[3]}}"#
)]
#[case::yaml(&[("a/data.yaml", "b: [1.50]"), ("c/data.yml", "x")], r#"{"a":{"b":[1.5]},"c":"x"}"#)]
#[case::several_files(
    &[
        ("data.json", r#"{"a": {"b": 1, "c": {}}}"#),
        ("a/data.yaml", "e: 1"),
        ("a/c/data.json", r#"{"d": 1e3}"#),
    ],
    r#"{"a":{"b":1,"c":{"d":1e3},"e":1}}"#
)]
#[case::other_files(
    &[
        ("README.md", "a"),
        ("a/other.json", "{}"),
        ("policy.wasm", "x"),
        ("plan.json", "x"),
        ("a/.manifest", "x"),
        ("a/patch.json", "x"),
    ],
    "{}"
)]
#[case::policy(
    &[("x/y.rego", "package a.b\n\nc := data.d"), ("data.json", r#"{"d": 1}"#)],
    r#"{"a":{"b":{"c":1}},"d":1}"#
)]
#[case::members_of_the_manifest_that_nobody_knows_or_that_are_null(
    &[
        (".manifest", r#"{"revision": null, "roots": ["/a/", "b/c"], "new": 1, "wasm": []} behind"#),
        ("a/data.json", "1"),
        ("b/c/data.json", "2"),
        ("b/data.json", "{}"),
    ],
    r#"{"a":1,"b":{"c":2}}"#
)]
#[case::encoded_roots(
    &[(".manifest", r#"{"roots": ["a%2Fb", "c d"]}"#), ("data.json", r#"{"a/b": 1, "c d": 2}"#)],
    r#"{"a/b":1,"c d":2}"#
)]
#[case::folders_in_encoded_roots(
    &[
        (".manifest", r#"{"roots": ["a%20b/c", "p%25q", "/%C3%A9/", "s%2Ft", "%61", "é", "u@h:1"]}"#),
        ("a%20b/c/data.json", "1"),
        ("p%25q/data.yaml", "2"),
        ("%C3%A9/data.json", r#"{"x": 3}"#),
        ("s%2Ft/u%20v/data.json", r#"{"k%20l": 4}"#),
        ("%61/data.json", "5"),
        ("é/data.json", r#"{"y": 6}"#),
        ("u@h:1/data.json", "7"),
    ],
    r#"{"a":5,"a b":{"c":1},"p%q":2,"s/t":{"u v":{"k%20l":4}},"u@h:1":7,"é":{"x":3,"y":6}}"#
)]
#[case::encoded_folders_in_other_roots(
    &[
        (".manifest", r#"{"roots": ["t", "a b"]}"#),
        ("t/a%20b/data.json", r#"{"x": 1}"#),
        ("t/a b/data.json", r#"{"y": 2}"#),
        ("a b/data.json", "3"),
    ],
    r#"{"a b":3,"t":{"a b":{"x":1,"y":2}}}"#
)]
#[case::roots_in_two_spellings(
    &[(".manifest", r#"{"roots": ["a%20b", "a b"]}"#), ("data.json", r#"{"a b": 1}"#)],
    r#"{"a b":1}"#
)]
#[case::policies_of_several_versions(
    &[
        (".manifest", r#"{"rego_version": 0, "file_rego_versions": {"/new/*": 1, "new/old.rego": 0}}"#),
        ("old.rego", "package old\n\nif = 1 { data.new.p }\n\nq[x] { x = [if, 2][_] }"),
        ("between.rego", "package between\n\nimport rego.v1\n\np if true"),
        ("new/p.rego", "package new\n\np if not data.old.r"),
        ("new/old.rego", "package new\n\nq if true"),
    ],
    r#"{"between":{"p":true},"new":{"p":true,"q":true},"old":{"if":1,"q":[1,2]}}"#
)]
#[case::patch_without_operations(
    &[("patch.json", r#"{"data": []}"#), ("data.json", r#"{"a": 1}"#)],
    r#"{"a":1}"#
)]
fn archives_bring_policies_and_data(#[case] files: Files<'_>, #[case] expected: &str) {
    let files: Vec<_> = files.iter().map(|(name, text)| file(name, text)).collect();
    documents(&compressed(&tar_of(&files)), expected);
}

#[test]
fn archives_may_have_directories_and_notes() {
    let entries: &[Entry<'_>] = &[
        (
            "pax_global_header",
            EntryType::XGlobalHeader,
            b"18 comment=123456\n",
        ),
        ("./", EntryType::Directory, b""),
        ("a/", EntryType::Directory, b""),
        file("a/data.json", "1"),
    ];
    documents(&compressed(&tar_of(entries)), r#"{"a":1}"#);
    // Concatenated gzip members decompress to one stream.
    let complete = tar_of(entries);
    let (first, second) = complete.split_at(700);
    let parts = [compressed(first), compressed(second)].concat();
    documents(&parts, r#"{"a":1}"#);
}

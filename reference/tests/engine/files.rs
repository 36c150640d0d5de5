//! Data files on the command line.

use std::fs;
use std::path::Path;

use reference::engine::{Engine, Options};

use crate::exchange::{engine, run_script_on};

/// Creates a folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("no folder for the data files");
    };
    for (name, text) in files {
        let path = folder.path().join(name);
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        if let Err(failure) = parent.and_then(|()| fs::write(&path, text)) {
            panic!("{name}: {failure}");
        }
    }
    folder
}

fn data(folder: &Path, paths: &[&str]) -> Options {
    let place = |path: &&str| match path.split_once(':') {
        Some((prefix, path)) => format!("{prefix}:{}", folder.join(path).display()),
        None => folder.join(path).display().to_string(),
    };
    Options {
        data: paths.iter().map(place).collect(),
        ..Options::default()
    }
}

const FILES: &[(&str, &str)] = &[
    ("a/b/data.json", r#"{"x": 1e3}"#),
    ("a/other.yaml", "y: [2]\n"),
    ("root.json", r#"{"r": {"s": 1}}"#),
    ("more.yml", "r: {t: 2}\n"),
    ("readme.txt", "not data"),
];

#[test]
fn folders_nest_and_objects_merge() {
    let folder = folder(FILES);
    for (paths, expected) in [
        (
            &[""][..],
            r#"{"a":{"b":{"x":1e3},"y":[2]},"r":{"s":1,"t":2}}"#,
        ),
        (&["a"], r#"{"b":{"x":1e3},"y":[2]}"#),
        (&["a/other.yaml", "root.json"], r#"{"r":{"s":1},"y":[2]}"#),
        (&["p.q:a/other.yaml"], r#"{"p":{"q":{"y":[2]}}}"#),
        (&["root.json", "root.json"], r#"{"r":{"s":1}}"#),
    ] {
        let engine = engine(data(folder.path(), paths));
        let lines = format!(r#"GET /v1/data => 200 {{"result":{expected}}}"#);
        run_script_on(&engine, &lines);
    }
}

#[test]
fn ignored_names_are_not_loaded() {
    let folder = folder(FILES);
    for (ignore, expected) in [
        (
            &["other.*", "r*"][..],
            r#"{"a":{"b":{"x":1e3}},"r":{"t":2}}"#,
        ),
        (&["a"], r#"{"r":{"s":1,"t":2}}"#),
        (&["*"], "{}"),
    ] {
        let engine = engine(Options {
            ignore: ignore.iter().map(|name| (*name).to_owned()).collect(),
            ..data(folder.path(), &[""])
        });
        let lines = format!(r#"GET /v1/data => 200 {{"result":{expected}}}"#);
        run_script_on(&engine, &lines);
    }
    let broken = Options {
        ignore: vec!["[".to_owned()],
        ..Options::default()
    };
    let message =
        Engine::open(&broken).map_or_else(|failure| failure.to_string(), |_| String::new());
    assert!(message.contains("--ignore `[`"), "{message}");
}

#[test]
fn unusable_files_are_refused() {
    let folder = folder(&[
        ("a.json", r#"{"x": 1}"#),
        ("b.json", r#"{"x": 2}"#),
        ("list.json", "[1]"),
        ("broken.json", "{\n \"x\": }"),
        ("broken.yaml", "a: b: c"),
        ("policy.rego", "package p\n\nallow if {"),
        ("text.txt", "x"),
    ]);
    for (paths, part) in [
        (
            &["a.json", "b.json"][..],
            "document of another file at `/x`",
        ),
        (&["list.json"], "must be an object"),
        (&["broken.json"], "line 2, column 7"),
        (&["broken.yaml"], "invalid YAML"),
        (&["policy.rego"], "policy.rego:3: rego_parse_error"),
        (&["text.txt"], "not a policy, JSON or YAML file"),
        (&["missing.json"], "missing.json"),
    ] {
        let message = match Engine::open(&data(folder.path(), paths)) {
            Ok(_) => panic!("{paths:?} were accepted"),
            Err(failure) => failure.to_string(),
        };
        assert!(message.contains(part), "`{part}` in: {message}");
    }
}

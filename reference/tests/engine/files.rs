//! Data files on the command line.

use std::fs;
use std::path::Path;

use reference::engine::{Engine, Options};
use rstest::rstest;

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

#[rstest]
#[case::folder(&[""], r#"{"a":{"b":{"x":1e3},"y":[2]},"r":{"s":1,"t":2}}"#)]
#[case::folder_within(&["a"], r#"{"b":{"x":1e3},"y":[2]}"#)]
#[case::two_files(&["a/other.yaml", "root.json"], r#"{"r":{"s":1},"y":[2]}"#)]
#[case::prefix(&["p.q:a/other.yaml"], r#"{"p":{"q":{"y":[2]}}}"#)]
#[case::one_file_twice(&["root.json", "root.json"], r#"{"r":{"s":1}}"#)]
fn folders_nest_and_objects_merge(#[case] paths: &[&str], #[case] expected: &str) {
    let folder = folder(FILES);
    let engine = engine(data(folder.path(), paths));
    let lines = format!(r#"GET /v1/data => 200 {{"result":{expected}}}"#);
    run_script_on(&engine, &lines);
}

#[rstest]
#[case::patterns(&["other.*", "r*"], r#"{"a":{"b":{"x":1e3}},"r":{"t":2}}"#)]
#[case::folder(&["a"], r#"{"r":{"s":1,"t":2}}"#)]
#[case::everything(&["*"], "{}")]
fn ignored_names_are_not_loaded(#[case] ignore: &[&str], #[case] expected: &str) {
    let folder = folder(FILES);
    let engine = engine(Options {
        ignore: ignore.iter().map(|name| (*name).to_owned()).collect(),
        ..data(folder.path(), &[""])
    });
    let lines = format!(r#"GET /v1/data => 200 {{"result":{expected}}}"#);
    run_script_on(&engine, &lines);
}

#[test]
fn patterns_that_are_none_are_refused() {
    let broken = Options {
        ignore: vec!["[".to_owned()],
        ..Options::default()
    };
    let message =
        Engine::open(&broken).map_or_else(|failure| failure.to_string(), |_| String::new());
    assert!(message.contains("--ignore `[`"), "{message}");
}

#[rstest]
#[case::same_document(&["a.json", "b.json"], "document of another file at `/x`")]
#[case::list(&["list.json"], "must be an object")]
#[case::broken_json(&["broken.json"], "line 2, column 7")]
#[case::broken_yaml(&["broken.yaml"], "invalid YAML")]
#[case::broken_policy(&["policy.rego"], "policy.rego:3: rego_parse_error")]
#[case::other_file(&["text.txt"], "not a policy, JSON or YAML file")]
#[case::missing(&["missing.json"], "missing.json")]
fn unusable_files_are_refused(#[case] paths: &[&str], #[case] part: &str) {
    let folder = folder(&[
        ("a.json", r#"{"x": 1}"#),
        ("b.json", r#"{"x": 2}"#),
        ("list.json", "[1]"),
        ("broken.json", "{\n \"x\": }"),
        ("broken.yaml", "a: b: c"),
        ("policy.rego", "package p\n\nallow if {"),
        ("text.txt", "x"),
    ]);
    let message = match Engine::open(&data(folder.path(), paths)) {
        Ok(_) => panic!("{paths:?} were accepted"),
        Err(failure) => failure.to_string(),
    };
    assert!(message.contains(part), "`{part}` in: {message}");
}

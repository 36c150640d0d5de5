//! Bundles on the command line.

use std::fs;
use std::path::Path;

use globset::{Glob, GlobSetBuilder};
use reference::bundle::{Bundle, Limits};
use reference::engine::{BundleOptions, Engine, Options};
use rego::Version;
use rstest::rstest;

use super::archives::archive;
use crate::exchange::{engine, run_script_on};

/// Returns options that load bundles, which are files in a folder.
fn options(folder: &Path, names: &[&str], bundles: BundleOptions) -> Options {
    let paths = names
        .iter()
        .map(|name| folder.join(name).display().to_string());
    Options {
        data: paths.collect(),
        bundles: BundleOptions {
            bundle: true,
            ..bundles
        },
        ..Options::default()
    }
}

/// Creates a folder with bundles: archives, and a directory.
fn folder() -> tempfile::TempDir {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("no folder for the bundles");
    };
    let path = folder.path();
    let archived = |root: &str| {
        let manifest = format!(r#"{{"roots": ["{root}"], "revision": "r"}}"#);
        archive(&[
            (".manifest", &manifest),
            ("data.json", &format!(r#"{{"{root}": 1}}"#)),
        ])
    };
    let signed = archive(&[
        (".signatures.json", include_str!("signed/HS256.json")),
        (".manifest", include_str!("signed/files/.manifest")),
        ("README.md", include_str!("signed/files/README.md")),
        ("data.json", include_str!("signed/files/data.json")),
        ("a/w/data.yml", include_str!("signed/files/a/w/data.yml")),
        ("a/y/data.yaml", include_str!("signed/files/a/y/data.yaml")),
        ("deep/p.rego", include_str!("signed/files/deep/p.rego")),
    ]);
    for (name, bytes) in [
        ("one.tar.gz", archived("one")),
        ("two.tar.gz", archived("two")),
        ("signed.tar.gz", signed),
        ("open/.manifest", br#"{"roots": ["x"]}"#.to_vec()),
        ("open/x/y/data.json", b"[1]".to_vec()),
        ("open/x/other.json", b"{}".to_vec()),
        ("open/p/q.rego", b"package x.p\n\nq := data.x.y".to_vec()),
        ("open/.git/data.json", b"{}".to_vec()),
        ("coded/.manifest", br#"{"roots": ["v", "z%20y"]}"#.to_vec()),
        ("coded/v/50%25/data.json", b"2".to_vec()),
        ("coded/z%20y/x%20w/data.json", b"3".to_vec()),
        ("bad/data.json", b"[".to_vec()),
        ("secret", b"secretsecret".to_vec()),
    ] {
        let path = path.join(name);
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        if let Err(failure) = parent.and_then(|()| fs::write(&path, bytes)) {
            panic!("{name}: {failure}");
        }
    }
    folder
}

#[test]
fn archives_and_directories_are_loaded() {
    let folder = folder();
    let bundles = BundleOptions::default();
    let mut options = options(
        folder.path(),
        &["one.tar.gz", "open", "two.tar.gz", "coded"],
        bundles,
    );
    options.ignore = vec![".git".to_owned()];
    let engine = engine(options);
    run_script_on(
        &engine,
        r#"
        GET /v1/data => 200 {"result":{"one":1,"two":1,"v":{"50%25":2},"x":{"p":{"q":[1]},"y":[1]},"z y":{"x w":3}}}
        PUT /v1/data/x/z 1 => 400 invalid_parameter
        PUT /v1/data/z 1 => 204
        "#,
    );
    let directory = folder.path().join("open/p/q.rego");
    let id = directory.display().to_string();
    let line = format!(
        "DELETE /v1/policies/{} => 400 invalid_parameter",
        id.trim_matches('/')
    );
    run_script_on(&engine, &line);
}

#[test]
fn bundles_that_cannot_be_used_stop_the_start() {
    let folder = folder();
    let secret = folder.path().join("secret").display().to_string();
    let key = |key: &str| BundleOptions {
        verification_key: Some(key.to_owned()),
        verification_key_id: "default".to_owned(),
        signing_alg: "HS256".to_owned(),
        ..BundleOptions::default()
    };
    let skip = BundleOptions {
        skip_verify: true,
        ..BundleOptions::default()
    };
    for (names, bundles, part) in [
        (&["signed.tar.gz"][..], key("secretsecret"), ""),
        (&["signed.tar.gz"], key(&secret), ""),
        (&["signed.tar.gz"], skip, ""),
        (
            &["signed.tar.gz"],
            key("other"),
            "the signature is not right",
        ),
        (
            &["signed.tar.gz"],
            BundleOptions::default(),
            "no keys are configured",
        ),
        (
            &["one.tar.gz"],
            key("secretsecret"),
            "has no `.signatures.json`",
        ),
        (
            &["bad"],
            BundleOptions::default(),
            "bad`: bundle file `data.json`: invalid JSON",
        ),
        (&["none"], BundleOptions::default(), "none` cannot be read"),
        (
            &["secret"],
            BundleOptions::default(),
            "the archive cannot be read",
        ),
        (
            &["open"],
            BundleOptions::default(),
            "do not permit data at path '/.git'",
        ),
    ] {
        let opened = Engine::open(&options(folder.path(), names, bundles));
        let reason = opened
            .err()
            .map(|failure| failure.to_string())
            .unwrap_or_default();
        assert_eq!(reason.is_empty(), part.is_empty(), "{names:?}: {reason}");
        assert!(reason.contains(part), "{names:?}: `{part}` in: {reason}");
    }
}

/// The limits that the folder `open` just keeps.
const ENOUGH: Limits = Limits {
    file: 26,
    total: 47,
    entries: 8,
};

#[rstest]
#[case::enough(ENOUGH, "")]
#[case::file(Limits { file: 25, ..ENOUGH }, "`p/q.rego`: 26 bytes are more than the limit of 25")]
#[case::total(Limits { total: 46, ..ENOUGH }, "the files take more than 46 bytes")]
#[case::entries(Limits { entries: 7, ..ENOUGH }, "there are more than 7 entries")]
fn directories_have_limits(#[case] limits: Limits, #[case] part: &str) {
    let folder = folder();
    let path = folder.path().join("open");
    let Ok(ignored) = GlobSetBuilder::new().add(git()).build() else {
        panic!("no pattern");
    };
    let opened = Bundle::open(&path, "b", Version::V1, &limits, None, &ignored);
    let reason = opened
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert_eq!(reason.is_empty(), part.is_empty(), "{reason}");
    assert!(reason.contains(part), "`{part}` in: {reason}");
}

/// Returns a pattern that excludes the directory `.git` from bundles.
fn git() -> Glob {
    match Glob::new(".git") {
        Ok(pattern) => pattern,
        Err(failure) => panic!("{failure}"),
    }
}

#[cfg(unix)]
#[test]
fn links_in_directories_are_not_followed() {
    let folder = folder();
    let place = folder.path().join("open/x/linked");
    assert!(std::os::unix::fs::symlink(folder.path().join("open/x/y"), &place).is_ok());
    let mut options = options(folder.path(), &["open"], BundleOptions::default());
    options.ignore = vec![".git".to_owned()];
    let line = r#"GET /v1/data/x => 200 {"result":{"p":{"q":[1]},"y":[1]}}"#;
    run_script_on(&engine(options), line);
}

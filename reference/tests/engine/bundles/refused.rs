//! Refused archives.

use reference::bundle::{Bundle, Limits};
use rego::Version;
use rstest::rstest;
use tar::EntryType;

use super::archives::{Entry, Files, archive, compressed, file, read, tar_of};

/// Returns the reason for the refusal of an archive; empty if it is accepted.
fn reason(archive: &[u8], limits: &Limits) -> String {
    match Bundle::read(archive, "b", Version::V1, limits, None) {
        Ok(_) => String::new(),
        Err(error) => error.in_full(),
    }
}

#[track_caller]
fn refused(title: &str, archive: &[u8], part: &str) {
    let reason = reason(archive, &Limits::default());
    assert!(reason.contains(part), "{title}: `{part}` in: {reason}");
}

/// Files that do not form a valid bundle, with a part of the error.
const FILES: &[(Files<'_>, &str)] = &[
    (
        &[("../data.json", "{}")],
        "`../data.json`: the name leads out",
    ),
    (&[("/a/../../data.json", "{}")], "leads out of the bundle"),
    (
        &[("a/data.json", "1"), ("./a//data.json", "1")],
        "`a/data.json`: the archive contains this file twice",
    ),
    (&[("data.json", "{")], "`data.json`: invalid JSON at line 1"),
    (
        &[("data.json", "[1]")],
        "the root document must be an object, found array",
    ),
    (&[("a/data.yaml", "a: b: c")], "`a/data.yaml`: invalid YAML"),
    (
        &[
            ("data.json", r#"{"a": {"b": 1}}"#),
            ("a/data.json", r#"{"b": 1}"#),
        ],
        "`a/data.json`: another file defines a document at `/a/b`",
    ),
    (
        &[("p/q.rego", "package a\n\np {")],
        "b/p/q.rego:3: rego_parse_error",
    ),
    (&[("p.rego", "")], "empty module"),
    (
        &[(".manifest", "[]")],
        "`.manifest`: expected an object, found array",
    ),
    (&[(".manifest", "{")], "`.manifest`: invalid JSON"),
    (
        &[(".manifest", r#"{"revision": 1}"#)],
        "`revision` must be a string",
    ),
    (
        &[(".manifest", r#"{"roots": "a"}"#)],
        "`roots` must be an array",
    ),
    (
        &[
            (".manifest", r#"{"roots": ["a%20b"]}"#),
            ("a b/data.json", "1"),
        ],
        "manifest roots [a%20b] do not permit data at path '/a b'",
    ),
    (
        &[
            (".manifest", r#"{"roots": ["a b/c"]}"#),
            ("a%20b/c/data.json", "1"),
        ],
        "manifest roots [a b/c] do not permit data at path '/a%20b'",
    ),
    (
        &[
            (".manifest", r#"{"roots": ["a/b"]}"#),
            ("a%2Fb/data.json", "1"),
        ],
        "do not permit data at path '/a%2Fb'",
    ),
    (
        &[
            (".manifest", r#"{"roots": ["t/a%20b"]}"#),
            ("t/data.json", r#"{"a%20b": 1}"#),
        ],
        "do not permit data at path '/t/a%20b'",
    ),
    (
        &[(".manifest", r#"{"roots": ["p%q"]}"#)],
        "the path `p%q` is invalid",
    ),
    (
        &[("t/100%/data.json", "1")],
        "bundle file `t/100%/data.json`: the path `t/100%` is invalid",
    ),
    (
        &[(".manifest", r#"{"roots": [1]}"#)],
        "`roots` must be an array of strings",
    ),
    (
        &[(".manifest", r#"{"roots": ["a%ff"]}"#)],
        "`a%ff` is not UTF-8",
    ),
    (
        &[(".manifest", r#"{"roots": ["a/b", "c", "/a"]}"#)],
        "the roots `a` and `a/b` overlap",
    ),
    (
        &[(".manifest", r#"{"roots": ["", "a"]}"#)],
        "the roots `` and `a` overlap",
    ),
    (
        &[(".manifest", r#"{"roots": ["a", "a"]}"#)],
        "the roots `a` and `a` overlap",
    ),
    (
        &[(".manifest", r#"{"metadata": []}"#)],
        "`metadata` must be an object",
    ),
    (
        &[(".manifest", r#"{"rego_version": 2}"#)],
        "`rego_version`: the version of Rego must be 0 or 1",
    ),
    (
        &[(".manifest", r#"{"file_rego_versions": {"*.rego": "1"}}"#)],
        "`file_rego_versions.*.rego`: the version",
    ),
    (
        &[(".manifest", r#"{"file_rego_versions": {"[": 1}}"#)],
        "`file_rego_versions.[`: ",
    ),
    (
        &[(".manifest", r#"{"wasm": [{"entrypoint": "a/b"}]}"#)],
        "`wasm`) are not supported",
    ),
    (
        &[
            (".manifest", r#"{"roots": ["a"]}"#),
            ("data.json", r#"{"a": 1, "b": 2}"#),
        ],
        "manifest roots [a] do not permit data at path '/b'",
    ),
    (
        &[
            (".manifest", r#"{"roots": ["a/b"]}"#),
            ("data.json", r#"{"a": 1}"#),
        ],
        "do not permit data at path '/a'",
    ),
    (
        &[
            (".manifest", r#"{"roots": ["a/b"]}"#),
            ("a/data.json", r#"{"bc": 1}"#),
        ],
        "do not permit data at path '/a/bc'",
    ),
    (
        &[(".manifest", r#"{"roots": []}"#), ("a/data.json", "1")],
        "at path '/'",
    ),
    (
        &[
            (".manifest", r#"{"roots": ["a/b", "c"]}"#),
            ("p.rego", "package a.bc"),
        ],
        "manifest roots [a/b c] do not permit 'package a.bc' in module 'p.rego'",
    ),
    (
        &[
            (".manifest", r#"{"roots": ["a/b"]}"#),
            ("p.rego", "package a"),
        ],
        "'package a'",
    ),
    (
        &[
            (".manifest", r#"{"rego_version": 1}"#),
            ("p.rego", "package a\n\np { true }"),
        ],
        "b/p.rego:3: rego_parse_error: `if` keyword is required before rule body",
    ),
    (
        &[
            (".manifest", r#"{"rego_version": 0}"#),
            ("p.rego", "package a\n\np if { true }"),
        ],
        "b/p.rego:3: rego_parse_error: var cannot be used for rule name (hint: `import future.keywords.if` for `p if { ... }` rules)",
    ),
    (&[("patch.json", "[]")], "`patch.json`: expected an object"),
    (
        &[("patch.json", r#"{"data": {}}"#)],
        "`data` must be an array",
    ),
    (
        &[(
            "patch.json",
            r#"{"data": [{"op": "upsert", "path": "a"}, {"op": "add", "path": "b"}]}"#,
        )],
        "operation 1 of `data`: `op` must be upsert, replace or remove, found `add`",
    ),
    (
        &[("patch.json", r#"{"data": [{"op": "remove"}]}"#)],
        "`path` must be a string",
    ),
    (
        &[
            ("patch.json", r#"{"data": [{"op": "remove", "path": "a"}]}"#),
            ("a/data.json", "1"),
        ],
        "`a/data.json`: a delta bundle must not contain policies or data",
    ),
    (
        &[
            (
                "patch.json",
                r#"{"data": [{"op": "remove", "path": "/b/c"}]}"#,
            ),
            (".manifest", r#"{"roots": ["a"]}"#),
        ],
        "manifest roots [a] do not permit data patch at path 'b/c'",
    ),
    (
        &[(".signatures.json", r#"{"signatures": ["a.b.c"]}"#)],
        "the bundle is signed, but no keys",
    ),
];

#[test]
fn files_that_make_no_bundle() {
    for (files, part) in FILES {
        refused(&format!("{files:?}"), &archive(files), part);
    }
}

#[rstest]
#[case::symbolic_link(EntryType::Symlink)]
#[case::hard_link(EntryType::Link)]
#[case::pipe(EntryType::Fifo)]
#[case::character_device(EntryType::Char)]
#[case::block_device(EntryType::Block)]
#[case::sparse_file(EntryType::GNUSparse)]
#[case::unknown(EntryType::new(b'?'))]
fn entries_that_are_no_files(#[case] kind: EntryType) {
    let entries: &[Entry<'_>] = &[("a/data.json", kind, b"")];
    let reason = reason(&compressed(&tar_of(entries)), &Limits::default());
    assert!(!reason.is_empty(), "{kind:?} was taken");
}

#[test]
fn folders_that_lead_out() {
    let entries: &[Entry<'_>] = &[("../../x/", EntryType::Directory, b"")];
    refused("directory", &compressed(&tar_of(entries)), "leads out");
}

#[test]
fn names_that_are_too_deep() {
    let deep = "a/".repeat(45) + "data.json";
    let archive = archive(&[(&deep, "1")]);
    assert!(read(&archive).is_ok());
    // The name is too long for a header, so the archive contains it in a separate entry.
    let deep = "a/".repeat(600) + "data.json";
    let entries: &[Entry<'_>] = &[
        ("././@LongLink", EntryType::GNULongName, deep.as_bytes()),
        file("a", "1"),
    ];
    refused(
        "deep",
        &compressed(&tar_of(entries)),
        "more than 512 segments",
    );
}

#[test]
fn what_is_no_whole_archive() {
    let complete = tar_of(&[
        file("data.json", r#"{"a": 1}"#),
        file("p.rego", "package p"),
    ]);
    let good = compressed(&complete);
    assert_eq!(reason(&good, &Limits::default()), "");
    refused("nothing", b"", "the archive cannot be read");
    refused("not compressed", &complete, "the archive cannot be read");
    refused(
        "not an archive",
        &compressed(b"a text"),
        "the archive cannot be read",
    );
    for end in 1..good.len() {
        refused("cut off", &good[..end], "the archive cannot be read");
    }
    // The checksum of gzip is at the end, after all files.
    let mut changed = good.clone();
    let checksum = changed.len() - 8;
    changed[checksum] ^= 1;
    refused("checksum", &changed, "the archive cannot be read");
    refused(
        "cut off within a file",
        &compressed(&complete[..515]),
        "data.json",
    );
}

#[test]
fn changed_archives_do_no_harm() {
    let manifest = r#"{"roots": ["a"], "file_rego_versions": {"a/*": 1}}"#;
    let complete = tar_of(&[
        file(".manifest", manifest),
        file("a/data.yaml", "b: [1, {c: 2}]"),
        file("p.rego", "package a.p\n\nq := data.a.b[0]"),
    ]);
    let mut taken = 0;
    for at in 0..complete.len() {
        for bit in [at % 8, (at + 3) % 8] {
            let mut changed = complete.clone();
            changed[at] ^= 1 << bit;
            taken += usize::from(read(&compressed(&changed)).is_ok());
        }
    }
    // Only changes of padding and comments are accepted, and these are few.
    assert!(taken > 0 && taken < complete.len() * 2, "{taken}");
}

/// JSON text of a length.
fn text(length: usize) -> String {
    format!("\"{}\"", "a".repeat(length - 2))
}

/// Archive with a number of files.
fn numbered(count: usize) -> Vec<u8> {
    let names: Vec<_> = (0..count).map(|at| format!("{at}/data.json")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "1")).collect();
    archive(&files)
}

#[rstest]
#[case::file_that_fits(archive(&[("a/data.json", &text(2000))]), "")]
#[case::file(
    archive(&[("a/data.json", &text(2001))]),
    "2001 bytes are more than the limit of 2000"
)]
#[case::another_file(archive(&[("a.txt", &text(2001))]), "`a.txt`: 2001 bytes")]
#[case::entries_that_fit(numbered(6), "")]
#[case::entries(numbered(7), "more than 6 entries")]
#[case::all(compressed(&vec![0; 30_000]), "take more than 20000 bytes")]
#[case::behind_the_files(
    compressed(&[tar_of(&[file("a/data.json", "1")]), vec![0; 30_000]].concat()),
    "take more than 20000 bytes"
)]
fn what_is_too_large(#[case] bytes: Vec<u8>, #[case] part: &str) {
    let limits = Limits {
        file: 2000,
        total: 20_000,
        entries: 6,
    };
    let reason = reason(&bytes, &limits);
    assert_eq!(reason.is_empty(), part.is_empty(), "{reason}");
    assert!(reason.contains(part), "`{part}` in: {reason}");
}

#[test]
fn all_files_may_be_larger_than_one() {
    assert_eq!(Limits::of_file(3 << 30).total, 6 << 30);
}

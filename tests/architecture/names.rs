//! Names of files and types: general names that do not describe a purpose are refused.

use std::collections::BTreeSet;

use rstest::rstest;

use super::imports::code;
use super::sources::{Source, sources};

/// Source folders.
const FOLDERS: &[&str] = &[
    "conformance/src",
    "reference/rego/src",
    "reference/bundle/src",
    "reference/control/src",
    "reference/engine/src",
    "reference/http-server/src",
    "reference/src",
    "xtask/src",
    "xtask/verification/src",
];

/// Refused names of files and folders, with better ones.
const FILES: &[(&str, &str)] = &[
    ("aside", "offload"),
    ("door", "listening_socket"),
    ("held", "binding"),
    ("hints_at", "hints"),
    ("keep", "preserve"),
    ("kept", "cache"),
    ("look", "detect"),
    ("mistake", "error"),
    ("mood", "failure_mode"),
    ("places", "paths"),
    ("proofs", "verification"),
    ("refusal", "error"),
    ("room", "scratch"),
    ("seen", "cache"),
    ("shown", "unparse"),
    ("stand_in", "mock"),
    ("told", "reply"),
    ("trouble", "error"),
    ("vacuous", "trivial_servers"),
    ("world", "context"),
];

/// Refused names of types: participles and pronouns fit any type.
const TYPES: &[&str] = &[
    "Around", "Arrival", "Arrived", "Arriving", "Asked", "Changed", "Found", "Given", "Held",
    "Judged", "Kept", "Left", "Look", "Lost", "Made", "Measured", "Mistake", "Mood", "Noted",
    "Place", "Quick", "Reached", "Readable", "Received", "Said", "Seen", "Sent", "Shelf", "Shows",
    "Taken", "Told", "Trouble", "Unread", "Unusable", "Vacuity", "Wanted", "Way", "World",
    "Written",
];

/// Reports the rejected names in a file.
fn refused(source: &Source) -> Vec<String> {
    let path = &source.path;
    let mut found = Vec::new();
    for part in path.trim_end_matches(".rs").split('/') {
        if let Some((_, better)) = FILES.iter().find(|(name, _)| *name == part) {
            found.push(format!(
                "{path}: invalid name `{part}`: expected a term such as `{better}`"
            ));
        }
    }
    let code = code(&source.text);
    let words: Vec<&str> = code.split_whitespace().collect();
    for pair in words.windows(2) {
        let [keyword, rest] = pair else { continue };
        if !matches!(*keyword, "struct" | "enum" | "trait" | "type" | "union") {
            continue;
        }
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
        if TYPES.contains(&name.as_str()) {
            found.push(format!(
                "{path}: invalid name `{name}`: expected what the type is for"
            ));
        }
    }
    found
}

#[test]
fn files_and_types_are_named_by_terms() {
    let all = FOLDERS.iter().flat_map(|folder| sources(folder));
    let found: BTreeSet<String> = all.flat_map(|source| refused(&source)).collect();
    assert_eq!(found, BTreeSet::new());
}

#[rstest]
#[case::file("eval/held.rs", "", 1)]
#[case::folder("stand_in/mod.rs", "", 1)]
#[case::struct_name("eval/binding.rs", "pub(super) struct Held<'p> {}", 1)]
#[case::alias("a.rs", "type Found = Vec<u8>;", 1)]
#[case::several("a.rs", "enum Wanted { A }\nstruct Made(u8);", 2)]
#[case::comment_and_string("a.rs", "// struct Held\nlet x = \"enum Kept\";", 0)]
#[case::other_names("a.rs", "struct Binding;\nlet made = Found::new();", 0)]
fn refused_names_are_noticed(#[case] path: &str, #[case] text: &str, #[case] expected: usize) {
    let found = refused(&Source::new(path, text));
    assert_eq!(found.len(), expected, "{path}: {text}: {found:?}");
}

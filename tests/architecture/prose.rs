//! Comments are plain English: some phrases are refused.

use rstest::rstest;

use super::sources::{Source, sources};

/// Folders of sources.
const FOLDERS: &[&str] = &["conformance", "fuzz", "reference", "tests", "xtask"];

/// Refused phrases, with better ones. A space at either end stands for the boundary of a word.
const PHRASES: &[(&str, &str)] = &[
    (" otherwise than ", "unlike"),
    (" comes to ", "results in"),
    (" come to ", "result in"),
    (" told ", "reported"),
    (" is no valid ", "is not a valid"),
    (" are none ", "are not"),
    (" is none ", "is not"),
];

/// First word that makes a comment a noun clause without a subject, which is refused.
const HEADLESS: &str = "What ";

/// Returns error messages for the refused phrases in the comments of a file.
fn refused(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let mut continues = false;
    for (number, line) in source.text.lines().enumerate() {
        let line = line.trim_start();
        let Some(comment) = line.strip_prefix("//") else {
            continues = false;
            continue;
        };
        let comment = comment.trim_start_matches(['/', '!']).trim();
        let place = format!("{}:{}", source.path, number + 1);
        if !continues && comment.starts_with(HEADLESS) {
            found.push(format!(
                "{place}: begins with `What`: expected a noun or verb"
            ));
        }
        let padded = format!(" {} ", comment.replace([',', '.', ';', ':'], " "));
        let padded = padded
            .replace(" there is none ", " ")
            .replace(" there are none ", " ");
        let phrases = PHRASES.iter().filter(|(phrase, _)| padded.contains(phrase));
        found.extend(phrases.map(|(phrase, better)| {
            format!(
                "{place}: invalid phrase `{}`: expected `{better}`",
                phrase.trim()
            )
        }));
        // A paragraph begins after an empty line or a heading.
        continues = !comment.is_empty() && !comment.starts_with('#');
    }
    found
}

#[test]
fn comments_are_plain_english() {
    let all = FOLDERS.iter().flat_map(|folder| {
        let mut sources = sources(folder);
        for source in &mut sources {
            source.path = format!("{folder}/{}", source.path);
        }
        sources
    });
    // This file contains the phrases as data; the other one quotes a title of the documents.
    let is_exempt = |path: &str| {
        path == "tests/architecture/prose.rs" || path.ends_with("rules/control/common/service.rs")
    };
    let others = all.filter(|source| !is_exempt(&source.path));
    let found: Vec<String> = others.flat_map(|source| refused(&source)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[rstest]
#[case("/// What signs.", 1)]
#[case("//! What collections come to", 2)]
#[case("/// Signs messages.\n/// What follows is checked.", 0)]
#[case("/// # Errors\n/// What is missing.", 1)]
#[case("/// Signs.\n///\n/// What is checked.", 1)]
#[case("/// It is none, but for this.", 1)]
#[case("/// Empty if there is none.", 0)]
#[case("let text = \"told\"; // told", 0)]
#[case("// An event that is told", 1)]
fn refused_phrases_are_found(#[case] text: &str, #[case] count: usize) {
    let found = refused(&Source::new("a.rs", text));
    assert_eq!(found.len(), count, "{text}: {found:?}");
}

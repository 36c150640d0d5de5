//! Rule ids in comments: each one must exist.

use std::collections::BTreeSet;

use conformance::catalogue::Catalogue;
use rstest::rstest;

use super::sources::{Source, sources};

/// Folders whose comments are scanned.
const FOLDERS: [&str; 8] = [
    "conformance/src",
    "reference/bundle/src",
    "reference/control/src",
    "reference/engine/src",
    "reference/http-server/src",
    "reference/src",
    "reference/rego/src",
    "tests",
];

/// Placeholder rule ids in examples of the documentation.
const EXAMPLES: &[&str] = &["engine/v1/data/put/some-rule"];

/// Ids that a comment may cite: those of rules, and all parent paths of rules.
struct Citable {
    ids: BTreeSet<String>,
}

impl Citable {
    fn new<'i>(ids: impl Iterator<Item = &'i str>) -> Self {
        let mut known = BTreeSet::new();
        for id in ids {
            let parts = id.match_indices('/').map(|(at, _)| id.split_at(at).0);
            known.extend(parts.map(str::to_owned));
            known.insert(id.to_owned());
        }
        Self { ids: known }
    }

    /// Returns true if a cited rule id, parent path or glob matches at least one rule.
    fn has(&self, cited: &str) -> bool {
        let start = cited.split('*').next().unwrap_or_default();
        EXAMPLES.contains(&cited)
            || match start == cited {
                true => self.ids.contains(cited),
                false => self.ids.iter().any(|id| id.starts_with(start)),
            }
    }
}

/// Returns the rule ids that the comments of a file cite, each with its line number. A rule id is a
/// quoted or backquoted string with the form of one.
fn citations(source: &Source) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (line, number) in source.text.lines().zip(1..) {
        let Some((_, comment)) = line.split_once("//") else {
            continue;
        };
        if !line.trim_start().starts_with("//") {
            continue;
        }
        let parts = comment.split(['`', '"']).skip(1).step_by(2);
        let cited = parts.filter(|part| is_like_an_id(part));
        found.extend(cited.map(|part| (number, part)));
    }
    found
}

fn is_like_an_id(text: &str) -> bool {
    let is_id_char = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/-_*".contains(c);
    let below = text
        .strip_prefix("control/")
        .or(text.strip_prefix("engine/"));
    // Paths of files and folders also have this form, but have an extension or end with a slash.
    below.is_some_and(|below| {
        !below.is_empty() && text.chars().all(is_id_char) && !text.ends_with('/')
    })
}

/// Returns the citations of rules that do not exist.
fn dangling(folder: &str, sources: &[Source], known: &Citable) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        for (line, cited) in citations(source) {
            if !known.has(cited) {
                found.push(format!(
                    "{folder}/{}:{line} cites `{cited}`, which no clause file has: correct the id, \
                     or take the citation out",
                    source.path
                ));
            }
        }
    }
    found
}

#[test]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
fn cited_rules_exist() {
    let catalogue = Catalogue::embedded().expect("the embedded clauses");
    let known = Citable::new(catalogue.with_packs().map(|clause| clause.id.as_str()));
    let mut wrong = Vec::new();
    let mut cited = 0;
    for folder in FOLDERS {
        let sources = sources(folder);
        cited += sources.iter().flat_map(citations).count();
        wrong.extend(dangling(folder, &sources, &known));
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(cited > 5, "only {cited} citations were found");
}

#[rstest]
#[case::rule("/// Serves `engine/v1/data/put/creates`.", 0)]
#[case::section("/// Serves the clauses of `engine/v1/data/put`.", 0)]
#[case::quoted_rule("//! rule = \"engine/v1/data/put/creates\"", 0)]
#[case::globs("//! `engine/v1/data/**` and `control/common/names/a*`", 0)]
#[case::missing_letter("// As `engine/v1/data/put/create` says.", 1)]
#[case::other_section("    // `control/common/name/a`", 1)]
#[case::misspelt_glob("//! `engine/v1/polices/**`", 1)]
#[case::code("let id = \"engine/v1/data/put/create\";", 0)]
#[case::path("/// See `engine/routes.rs`.", 0)]
fn citations_of_what_does_not_exist_are_noticed(#[case] text: &str, #[case] expected: usize) {
    let known = Citable::new(["engine/v1/data/put/creates", "control/common/names/a"].into_iter());
    let found = dangling("f", &[Source::new("a.rs", text)], &known);
    assert_eq!(found.len(), expected, "{text}: {found:?}");
}

//! Layers of the suite: the modules that each module may import.

use std::collections::BTreeSet;

use rstest::rstest;

use super::imports::{code, imports};
use super::sources::{Source, paths, sources};

const FOLDER: &str = "conformance/src";

/// Modules of the suite, lowest first, each with the modules that it may import. These must precede
/// it in the table, which rules out cycles.
const LAYERS: &[(&str, &[&str])] = &[
    ("assets", &[]),
    ("sha256", &[]),
    ("sync", &[]),
    ("visible", &[]),
    ("process_group", &[]),
    // Statements of the documents, and scenarios that test them.
    ("catalogue", &["assets", "sha256"]),
    ("scenario", &[]),
    ("rules", &["scenario"]),
    // From requests to servers.
    ("http_client", &[]),
    ("fixture_server", &["http_client", "sync"]),
    (
        "target",
        &[
            "assets",
            "catalogue",
            "http_client",
            "fixture_server",
            "process_group",
            "scenario",
            "sync",
        ],
    ),
    (
        "faults",
        &["assets", "catalogue", "http_client", "scenario"],
    ),
    ("variants", &["assets", "catalogue", "faults"]),
    // Server for tests of clients.
    (
        "mock",
        &["http_client", "faults", "fixture_server", "sync", "target"],
    ),
    // Server in front of a library.
    ("shim", &["fixture_server", "process_group", "sync"]),
    // From responses to verdicts, and the records of both.
    (
        "judge",
        &["assets", "catalogue", "http_client", "scenario", "sha256"],
    ),
    (
        "evidence",
        &[
            "catalogue",
            "http_client",
            "judge",
            "rules",
            "scenario",
            "sha256",
            "sync",
            "visible",
        ],
    ),
    (
        "client_conformance",
        &[
            "assets",
            "catalogue",
            "http_client",
            "evidence",
            "faults",
            "judge",
            "process_group",
            "scenario",
            "mock",
        ],
    ),
    // Inspection of a server before it is judged.
    (
        "doctor",
        &["catalogue", "http_client", "scenario", "target"],
    ),
    (
        "run",
        &[
            "assets",
            "catalogue",
            "http_client",
            "doctor",
            "evidence",
            "faults",
            "judge",
            "rules",
            "scenario",
            "sync",
            "target",
            "variants",
        ],
    ),
    // Output of a run.
    (
        "known_deviations",
        &["assets", "catalogue", "evidence", "judge", "rules"],
    ),
    (
        "report",
        &[
            "catalogue",
            "http_client",
            "evidence",
            "judge",
            "known_deviations",
            "rules",
            "run",
            "scenario",
            "target",
            "visible",
        ],
    ),
    (
        "submission",
        &["catalogue", "evidence", "known_deviations", "report", "run"],
    ),
    (
        "diff",
        &["catalogue", "evidence", "judge", "report", "scenario"],
    ),
    (
        "replay",
        &[
            "catalogue",
            "http_client",
            "diff",
            "evidence",
            "judge",
            "rules",
            "run",
            "scenario",
            "sync",
            "target",
        ],
    ),
    (
        "cli",
        &[
            "assets",
            "catalogue",
            "http_client",
            "client_conformance",
            "diff",
            "doctor",
            "evidence",
            "faults",
            "judge",
            "known_deviations",
            "replay",
            "report",
            "rules",
            "run",
            "scenario",
            "shim",
            "mock",
            "submission",
            "target",
            "variants",
            "visible",
        ],
    ),
    ("fuzzing", &["http_client", "scenario"]),
];

/// Names that the root of the crate re-exports, with their modules.
const REEXPORTS: &[(&str, &str)] = &[
    ("Connection", "http_client"),
    ("ConnectionError", "http_client"),
    ("Mode", "run"),
    ("Outcome", "run"),
    ("Suite", "run"),
    ("SuiteBuilder", "run"),
    ("SuiteError", "run"),
    ("Vacuity", "run"),
    ("coverage", "report"),
    ("openapi", "judge"),
    ("verdict", "judge"),
    ("visible_line", "visible"),
];

/// The only folder of `report` that may import `run`: reproducers send requests to the target
/// again. Other reports are built from recorded events.
const MAY_RUN: &str = "report/repro/";

/// The only file that may use the reference server.
const EMBEDS: &str = "target/embedded.rs";

/// Returns the modules that a file imports, except its own module.
fn imported(source: &Source) -> BTreeSet<String> {
    let module = source.module();
    let own = module.first().copied().unwrap_or_default();
    let names = imports(source)
        .into_iter()
        .filter_map(|path| path.into_iter().next());
    let names = names.map(|name| {
        let origin = REEXPORTS.iter().find(|(known, _)| *known == name);
        origin.map_or(name, |(_, module)| (*module).to_owned())
    });
    names.filter(|name| name != own).collect()
}

/// Returns error messages for the imports that the table does not allow.
fn forbidden(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let path = &source.path;
        let module = source.module();
        let Some(own) = module.first().filter(|own| **own != "main") else {
            continue;
        };
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| name == own) else {
            found.push(format!(
                "{path} belongs to no layer: give `{own}` its place in LAYERS"
            ));
            continue;
        };
        for name in imported(source) {
            if !allowed.contains(&name.as_str()) {
                found.push(format!(
                    "{path} imports `{name}`: move what it needs to a module that `{own}` may \
                     import, or hand it in from above"
                ));
            } else if name == "run" && *own == "report" && !path.starts_with(MAY_RUN) {
                found.push(format!(
                    "{path} imports `run`: reports are made of events alone; put what asks the \
                     target below {MAY_RUN}"
                ));
            }
        }
    }
    found
}

/// Returns error messages for table entries that permit the import of a later module.
fn climbing(layers: &[(&str, &[&str])]) -> Vec<String> {
    let mut found = Vec::new();
    for (place, (name, allowed)) in layers.iter().enumerate() {
        let above = layers.get(..place).unwrap_or_default();
        for other in *allowed {
            if !above.iter().any(|(known, _)| known == other) {
                found.push(format!(
                    "`{name}` may import `{other}`, which does not stand above it: that makes room \
                     for a circle, so one of the two has to lose what the other needs"
                ));
            }
        }
    }
    found
}

/// Returns error messages for the files that use the reference server, except [`EMBEDS`].
fn embedding(sources: &[Source]) -> Vec<String> {
    let names_it = |source: &&Source| {
        let code = code(&source.text);
        code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':')
            .any(|path| path.starts_with("reference::"))
    };
    let others = sources.iter().filter(|source| source.path != EMBEDS);
    let found = others.filter(names_it).map(|source| {
        format!(
            "{} names the reference: the suite judges any server, so only {EMBEDS} may",
            source.path
        )
    });
    found.collect()
}

/// Returns error messages for the sections of rules without a source file at the same path.
fn misplaced<'p>(sections: impl Iterator<Item = &'p str>, files: &[String]) -> Vec<String> {
    let has_file = |path: &str| {
        let file = path.replace('-', "_");
        let [alone, folder] = [format!("{file}.rs"), format!("{file}/mod.rs")];
        files.contains(&alone) || files.contains(&folder)
    };
    let found = sections.filter(|path| !has_file(path));
    found
        .map(|path| {
            format!(
                "the rules of specs/{path}.yaml stand elsewhere: move them to \
                 {FOLDER}/rules/{path}.rs, so that one path leads to both"
            )
        })
        .collect()
}

#[test]
fn folders_import_only_what_stands_below_them() {
    assert_eq!(forbidden(&sources(FOLDER)), Vec::<String>::new());
    assert_eq!(climbing(LAYERS), Vec::<String>::new());
}

#[test]
fn every_permission_is_used() {
    let sources = sources(FOLDER);
    let mut unused = Vec::new();
    for (name, allowed) in LAYERS {
        let files = sources
            .iter()
            .filter(|source| source.module().first() == Some(name));
        let used: BTreeSet<String> = files.flat_map(imported).collect();
        let idle = allowed.iter().filter(|other| !used.contains(**other));
        unused.extend(idle.map(|other| {
            format!("`{name}` may import `{other}` but does not: take it out of LAYERS")
        }));
    }
    assert_eq!(unused, Vec::<String>::new());
}

#[test]
fn one_file_knows_the_reference() {
    assert_eq!(embedding(&sources(FOLDER)), Vec::<String>::new());
}

#[test]
fn rules_stand_in_the_file_of_their_path() {
    let sections = conformance::rules::sections().map(|section| section.path);
    let files = paths("conformance/src/rules", ".rs");
    assert_eq!(misplaced(sections, &files), Vec::<String>::new());
}

#[rstest]
#[case("rules/engine/a.rs", "use crate::scenario::get;", 0)]
#[case("rules/engine/a.rs", "use crate::http_client::Base;", 1)]
#[case("scenario/expect.rs", "use crate::judge::facts::shorten;", 1)]
#[case("judge/mod.rs", "fn f() { crate::evidence::merge() }", 1)]
#[case("judge/mod.rs", "use super::evidence;", 1)]
#[case("judge/facts/mod.rs", "use super::compare;", 0)]
#[case("faults/mod.rs", "use crate::Suite;", 1)]
#[case("run/mod.rs", "use crate::{http_client::Base, cli};", 1)]
#[case("run/mod.rs", "use crate::verdict::Verdict;", 0)]
#[case("report/json.rs", "use crate::run::Suite;", 1)]
#[case("report/repro/call.rs", "use crate::run::Suite;", 0)]
#[case("elsewhere.rs", "fn f() {}", 1)]
#[case("lib.rs", "pub use run::Suite;", 0)]
fn what_breaks_the_map_is_noticed(#[case] path: &str, #[case] text: &str, #[case] expected: usize) {
    let found = forbidden(&[Source::new(path, text)]);
    assert_eq!(found.len(), expected, "{path}: {text}: {found:?}");
}

#[rstest]
#[case::permitted(EMBEDS, "reference::start(args)", 0)]
#[case::path("run/mod.rs", "reference::start(args)", 1)]
#[case::import("run/mod.rs", "use reference::Running;", 1)]
#[case::comment_and_field("run/mod.rs", "// reference::start\nself.reference()", 0)]
fn embedding_elsewhere_is_noticed(#[case] path: &str, #[case] text: &str, #[case] expected: usize) {
    let found = embedding(&[Source::new(path, text)]);
    assert_eq!(found.len(), expected);
}

#[test]
fn circles_and_misplaced_sections_are_noticed() {
    assert_eq!(climbing(&[("a", &["b"]), ("b", &["a"])]).len(), 1);
    assert_eq!(climbing(&[("a", &["a"])]).len(), 1);
    let files = ["engine/a_b.rs".to_owned(), "engine/c/mod.rs".to_owned()];
    for (section, expected) in [("engine/a-b", 0), ("engine/c", 0), ("engine/d", 1)] {
        let found = misplaced([section].into_iter(), &files);
        assert_eq!(found.len(), expected, "{section}");
    }
}

//! Cycles of imports between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{code, imports_in, untested, used_paths};
use super::sources::{Source, sources};

/// Folders of crates.
const CRATES: &[&str] = &[
    "conformance/src",
    "reference/bundle/src",
    "reference/control/src",
    "reference/engine/src",
    "reference/http-server/src",
    "reference/rego/src",
    "reference/src",
    "xtask/src",
    "xtask/verification/src",
];

/// Modules within which one cycle is permitted, with its reason.
const PERMITTED: &[(&str, &str, &str)] = &[
    (
        "reference/rego/src",
        "value",
        "collections contain text that the JSON reader makes to collections when it is needed",
    ),
    (
        "reference/rego/src",
        "builtins/schema",
        "a schema consists of keywords that contain schemas",
    ),
    (
        "reference/rego/src",
        "compile",
        "the rule tree contains rules, whose index and dependencies refer to the rule tree",
    ),
    (
        "reference/rego/src",
        "eval",
        "expressions call rules, whose bodies are expressions",
    ),
    (
        "reference/rego/src",
        "partial_eval",
        "expressions call rules, whose bodies are expressions",
    ),
];

/// Path of a module, as names from the root of its crate.
type Module = Vec<String>;

/// Imports between the files of a crate. Those of a file from files below it do not count, because
/// a module may declare what its parts share.
struct Graph {
    edges: BTreeMap<Module, BTreeSet<Module>>,
}

impl Graph {
    fn new(files: &[Source]) -> Self {
        let module = |file: &Source| -> Module {
            let names = file.module().into_iter().filter(|name| *name != "main");
            names.map(str::to_owned).collect()
        };
        let modules: BTreeSet<Module> = files.iter().map(module).collect();
        let mut reexports = BTreeMap::new();
        let mut imports = Vec::new();
        for file in files {
            let from = module(file);
            let (public, private) = split_reexports(&code(untested(file)));
            for path in used_paths(&from, &public) {
                let name = path.last().cloned().unwrap_or_default();
                let mut exported = from.clone();
                exported.push(name);
                // A function may have the name of a module.
                if !modules.contains(&exported) {
                    reexports.insert(exported, path);
                }
            }
            let paths = imports_in(&from, &private).into_iter();
            imports.extend(paths.map(|path| (from.clone(), path)));
        }
        let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (from, path) in imports {
            let target = defining(path, &reexports, &modules);
            if !target.starts_with(&from) {
                edges.entry(from).or_default().insert(target);
            }
        }
        Self { edges }
    }

    /// Returns the modules that a module imports, directly or by others.
    fn reached(&self, from: &Module) -> BTreeSet<Module> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for target in self.edges.get(module).into_iter().flatten() {
                if reached.insert(target.clone()) {
                    open.push(target);
                }
            }
        }
        reached
    }

    /// Returns the sets of modules that import each other.
    fn cycles(&self) -> BTreeSet<BTreeSet<Module>> {
        let reached: BTreeMap<&Module, BTreeSet<Module>> = self
            .edges
            .keys()
            .map(|module| (module, self.reached(module)))
            .collect();
        let cycle = |module: &&Module| {
            let all = reached.get(*module)?;
            let is_mutual = |other: &&Module| {
                let back = reached.get(*other);
                back.is_some_and(|back| back.contains(*module))
            };
            let cycle: BTreeSet<Module> = all.iter().filter(is_mutual).cloned().collect();
            (!cycle.is_empty()).then_some(cycle)
        };
        self.edges
            .keys()
            .collect::<Vec<_>>()
            .iter()
            .filter_map(cycle)
            .collect()
    }
}

/// Splits code into its `pub use` statements and everything else.
fn split_reexports(code: &str) -> (String, String) {
    let (mut public, mut private) = (String::new(), String::new());
    let mut in_reexport = false;
    for line in code.lines() {
        let start = line.trim_start();
        in_reexport |= start.starts_with("pub") && start.contains(" use ");
        // `pub(in …)` names a module without an import from it.
        let line = match start.split_once("pub(in ") {
            Some((before, rest)) => format!(
                "{before}{}",
                rest.split_once(')').map_or("", |(_, rest)| rest)
            ),
            None => start.to_owned(),
        };
        let part = if in_reexport {
            &mut public
        } else {
            &mut private
        };
        part.push_str(&line);
        part.push('\n');
        in_reexport &= !line.contains(';');
    }
    (public, private)
}

/// Returns the module that defines what a path names.
fn defining(
    mut path: Module,
    reexports: &BTreeMap<Module, Module>,
    modules: &BTreeSet<Module>,
) -> Module {
    for _ in 0..8 {
        let at = (1..=path.len()).rev().find(|at| {
            let start = path.get(..*at).unwrap_or_default();
            reexports.get(start).is_some_and(|target| target != start)
        });
        let Some(at) = at else {
            break;
        };
        let target = path.get(..at).and_then(|start| reexports.get(start));
        let rest = path.get(at..).unwrap_or_default();
        path = target.into_iter().flatten().chain(rest).cloned().collect();
    }
    while !path.is_empty() && !modules.contains(&path) {
        path.pop();
    }
    path
}

/// Returns the innermost module that contains all of these.
fn common(cycle: &BTreeSet<Module>) -> String {
    let first = cycle.first().cloned().unwrap_or_default();
    let length = (0..=first.len()).rev().find(|length| {
        let start = first.get(..*length).unwrap_or_default();
        cycle.iter().all(|module| module.starts_with(start))
    });
    let start = first.get(..length.unwrap_or_default());
    start.unwrap_or_default().join("/")
}

#[test]
fn files_do_not_import_each_other() {
    let mut found = Vec::new();
    for folder in CRATES {
        for cycle in Graph::new(&sources(folder)).cycles() {
            found.push((*folder, common(&cycle), cycle));
        }
    }
    let is_permitted = |folder: &str, within: &str| {
        let mut permitted = PERMITTED.iter();
        permitted.any(|(other, module, _)| *other == folder && *module == within)
    };
    for (folder, within, cycle) in &found {
        let names: Vec<String> = cycle.iter().map(|module| module.join("/")).collect();
        assert!(is_permitted(folder, within), "{folder}: {names:?}");
    }
    assert_eq!(found.len(), PERMITTED.len(), "one cycle for each reason");
}

#[test]
fn cycles_are_found_behind_reexports() {
    let file = Source::new;
    let files = [
        file("lib.rs", "mod a;\nmod b;\npub use a::A;\n"),
        file("a/mod.rs", "mod inner;\npub(crate) use inner::A;\n"),
        file("a/inner.rs", "use crate::b::B;\n"),
        file("b.rs", "use crate::A;\nuse super::c::C;\n"),
        file("c.rs", "const C: &str = \"crate::b\";\n"),
    ];
    let cycles = Graph::new(&files).cycles();
    let names: Vec<Vec<String>> = cycles
        .iter()
        .map(|cycle| cycle.iter().map(|module| module.join("/")).collect())
        .collect();
    assert_eq!(names, [["a/inner", "b"]]);
}

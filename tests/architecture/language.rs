//! The policy language accesses its environment only through the trait `Host`.

use rstest::rstest;

use super::imports::{code, imports, untested, uses};
use super::sources::{Source, repository, sources};

const FOLDER: &str = "reference/rego/src";

/// Prefixes of the names of crates that access the network.
const CRATES: &[&str] = &["hyper", "reqwest", "rustls", "socket2", "tokio"];

/// Parts of the standard library that access files, networks, processes or the environment.
const WORLD: &[&str] = &[
    "env",
    "fs",
    "net::TcpListener",
    "net::TcpStream",
    "net::ToSocketAddrs",
    "net::UdpSocket",
    "os",
    "process",
];

/// Modules of the language, lowest first. A module imports only modules above it in the list, so
/// that each could be a crate.
const LAYERS: &[&str] = &[
    "hash",
    "parallel",
    "location",
    "value",
    "error",
    "meter",
    "host",
    "lookup",
    "types",
    "syntax",
    "json_ast",
    "trace",
    "builtins",
    "ir",
    "compile",
    "eval",
    "partial_eval",
    "filter",
    "aws",
    "jwt",
    "x509",
];

/// Names that the root of the crate re-exports, with the modules that define them.
const REEXPORTS: &[(&str, &str)] = &[
    ("Errors", "error"),
    ("EvalError", "error"),
    ("Value", "value"),
    ("Compiler", "compile"),
    ("Policy", "compile"),
    ("Evaluation", "eval"),
    ("Query", "eval"),
];

/// Returns the imports of a file from modules that are not lower, or are missing in the list.
fn upward(source: &Source) -> Vec<String> {
    let layer = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let module = source.module();
    let own = module.first().copied().and_then(layer);
    let from_above = |import: &Vec<String>| {
        let name = import.first().map_or("", String::as_str);
        let origin = REEXPORTS.iter().find(|(reexported, _)| *reexported == name);
        let imported = layer(origin.map_or(name, |(_, module)| module));
        let is_below = own
            .zip(imported)
            .is_some_and(|(own, imported)| imported <= own);
        (!is_below).then(|| format!("{} imports {}", source.path, import.join("::")))
    };
    imports(source).iter().filter_map(from_above).collect()
}

#[test]
fn modules_of_the_language_import_lower_ones_only() {
    let sources = sources(FOLDER);
    let own = sources.iter().filter(|source| !is_test(source, &sources));
    let own = own.filter(|source| source.path != "lib.rs");
    let found: Vec<String> = own.flat_map(upward).collect();
    assert_eq!(found, Vec::<String>::new());
}

#[rstest]
#[case::lower_layer("syntax/a.rs", "use crate::types::Type;", 0)]
#[case::exported_by_the_crate("syntax/a.rs", "use crate::Value;", 0)]
#[case::higher_layer("syntax/a.rs", "use crate::builtins::Function;", 1)]
#[case::parents("syntax/a/b.rs", "use super::super::super::eval::Query;", 1)]
#[case::group("syntax/a.rs", "use crate::{Compiler, Value};", 1)]
#[case::unknown_layer("unknown.rs", "use crate::Value;", 1)]
fn imports_from_higher_layers_are_noticed(
    #[case] path: &str,
    #[case] text: &str,
    #[case] expected: usize,
) {
    let found = upward(&Source::new(path, text));
    assert_eq!(found.len(), expected, "{path}, {text}: {found:?}");
}

/// Returns true if a file is compiled for tests only: a module around it is declared with
/// `#[cfg(test)]`.
fn is_test(source: &Source, all: &[Source]) -> bool {
    let module = source.module();
    (0..module.len()).any(|depth| {
        let (above, below) = module.split_at(depth);
        let declaration = format!("#[cfg(test)]\nmod {};", below.first().unwrap_or(&""));
        let mut parents = all.iter().filter(|parent| parent.module() == above);
        parents.any(|parent| parent.text.contains(&declaration))
    })
}

/// Returns error messages for crates and standard-library items that access the environment.
fn worldly(source: &Source) -> Vec<String> {
    let path = &source.path;
    let refused = |name: &str| {
        format!("{path} names `{name}`: give `Host` in host.rs a method for what it does")
    };
    let code = code(untested(source));
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_crate = |word: &&str| CRATES.iter().any(|name| word.starts_with(name));
    let mut found: Vec<String> = words.filter(is_crate).map(refused).collect();
    for used in uses(source, "std") {
        let used = used.join("::");
        let is_within = |name: &&str| {
            let rest = used.strip_prefix(*name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        if used == "net::*" || WORLD.iter().any(is_within) {
            found.push(refused(&format!("std::{used}")));
        }
    }
    found
}

/// Returns the lines of a manifest that declare a dependency on a crate that accesses the network.
fn dependencies(manifest: &str) -> Vec<&str> {
    let (_, rest) = manifest.split_once("[dependencies]").unwrap_or_default();
    let section = rest.split("\n[").next().unwrap_or_default();
    let is_crate = |line: &&str| CRATES.iter().any(|name| line.starts_with(name));
    section.lines().filter(is_crate).collect()
}

#[test]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
fn the_language_reaches_nothing_by_itself() {
    let sources = sources(FOLDER);
    let (tests, own): (Vec<&Source>, Vec<&Source>) =
        sources.iter().partition(|source| is_test(source, &sources));
    assert!(own.len() > 200 && tests.len() > 5, "{own:?}");
    let found: Vec<String> = own.into_iter().flat_map(worldly).collect();
    assert_eq!(found, Vec::<String>::new());
    let manifest = repository().join("reference/rego/Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("a manifest");
    assert!(manifest.contains("\n[dependencies]\n"));
    assert_eq!(dependencies(&manifest), Vec::<&str>::new());
}

#[rstest]
#[case("use std::fs;", 1)]
#[case("use std::{env, fmt};", 1)]
#[case("fn f() { std::fs::read(path) }", 1)]
#[case("use std::net::{IpAddr, ToSocketAddrs};", 1)]
#[case("use std::net::*;", 1)]
#[case("use std::net::IpAddr;", 0)]
#[case("use std::os::unix::net::UnixStream;", 1)]
#[case("use std::process::Command;", 1)]
#[case("use reqwest::Client;", 1)]
#[case("use rustls_platform_verifier::Verifier;", 1)]
#[case("let x = tokio::spawn(y);", 1)]
#[case("const A: &str = env!(\"CARGO_PKG_VERSION\");", 0)]
#[case("// std::fs, reqwest\nlet x = \"tokio\";", 0)]
#[case("use std::fmt;\n#[cfg(test)]\nmod tests {\n    use std::fs;", 0)]
fn what_reaches_the_world_is_noticed(#[case] text: &str, #[case] expected: usize) {
    let found = worldly(&Source::new("a/b.rs", text));
    assert_eq!(found.len(), expected, "{text}: {found:?}");
}

#[test]
fn tests_and_their_dependencies_do_not_count() {
    let parent = Source::new("a/mod.rs", "mod b;\n#[cfg(test)]\nmod c;\n");
    let root = Source::new("lib.rs", "mod a;\n");
    let all = [
        parent,
        root,
        Source::new("a/b.rs", ""),
        Source::new("a/c/d.rs", ""),
    ];
    let tests: Vec<bool> = all.iter().map(|source| is_test(source, &all)).collect();
    assert_eq!(tests, [false, false, false, true]);
    let manifest =
        "[dev-dependencies]\nhyper = 1\n[dependencies]\nhttp = 1\ntokio = 1\n\n[lints]\nrustls = 1";
    assert_eq!(dependencies(manifest), ["tokio = 1"]);
}

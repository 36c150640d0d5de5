//! Imports of a Rust source file, found in its text.

use rstest::rstest;

use super::sources::Source;

/// Returns the paths that begin with `crate::` or `super::`, resolved to names from the root of the
/// crate. Comments, string literals, and unit tests at the end of the file are ignored.
pub(crate) fn imports(source: &Source) -> Vec<Vec<String>> {
    let module: Vec<String> = source.module().into_iter().map(str::to_owned).collect();
    imports_in(&module, &code(untested(source)))
}

/// Returns the paths in the code of a module that begin with `crate::` or `super::`.
pub(crate) fn imports_in(module: &[String], code: &str) -> Vec<Vec<String>> {
    let mut imports = Vec::new();
    let mut offset = 0;
    while let Some(found) = next(code, offset) {
        let rest = code.get(found..).unwrap_or_default();
        let (from, path) = origin(module, rest);
        let remaining = expand(path, &from, &mut imports);
        offset = code.len() - remaining.len();
    }
    imports
}

/// Returns the paths into the crate `name`, as names from its root. Comments, string literals, and
/// unit tests at the end of the file are ignored.
pub(crate) fn uses(source: &Source, name: &str) -> Vec<Vec<String>> {
    let code = code(untested(source));
    let start = format!("{name}::");
    let mut uses = Vec::new();
    let mut offset = 0;
    while let Some(found) = next_of(&code, offset, &[start.as_str()]) {
        let path = code.get(found + start.len()..).unwrap_or_default();
        let rest = expand(path, &[], &mut uses);
        offset = code.len() - rest.len();
    }
    uses
}

/// Returns the paths that the `use` statements of a module name.
pub(crate) fn used_paths(module: &[String], statements: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for path in statements.split("use ").skip(1) {
        let path = path.strip_prefix("self::").unwrap_or(path);
        let (from, path) = origin(module, path);
        expand(path, &from, &mut paths);
    }
    paths
}

/// Returns the source of a file without its unit tests.
pub(crate) fn untested(source: &Source) -> &str {
    let untested = source.text.split("\nmod tests {").next();
    untested.unwrap_or_default()
}

/// Returns the offset of the next path that begins with `crate::` or `super::`.
fn next(code: &str, at: usize) -> Option<usize> {
    next_of(code, at, &["crate::", "super::"])
}

/// Returns the offset of the next path that begins with one of the prefixes.
fn next_of(code: &str, at: usize, starts: &[&str]) -> Option<usize> {
    let rest = code.get(at..)?;
    let starting = starts.iter().filter_map(|start| rest.find(start));
    let found = starting.min()? + at;
    let before = code.get(..found).unwrap_or_default();
    // The match is inside a longer name or another path, unless `::` in front of it marks a crate.
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let before = before.strip_suffix("::").unwrap_or(before);
    match before.ends_with(is_part) {
        true => next_of(code, found + 1, starts),
        false => Some(found),
    }
}

/// Resolves the first segments of a path in a module; returns the module that they name, and the
/// rest of the path.
fn origin<'t>(module: &[String], path: &'t str) -> (Vec<String>, &'t str) {
    if let Some(path) = path.strip_prefix("crate::") {
        return (Vec::new(), path);
    }
    let (mut from, mut path) = (module.to_vec(), path);
    while let Some(above) = path.strip_prefix("super::") {
        from.pop();
        path = above;
    }
    (from, path)
}

/// Adds all paths at the start of a string, which may be a group in braces; returns the rest.
fn expand<'t>(text: &'t str, from: &[String], imports: &mut Vec<Vec<String>>) -> &'t str {
    if let Some(group) = text.strip_prefix('{') {
        let mut rest = group;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            match rest.strip_prefix('}') {
                Some(tail) => return tail,
                None if rest.is_empty() => return rest,
                None => {}
            }
            rest = expand(rest, from, imports);
            // Skips `as` and the alias of a renamed import.
            rest = rest.trim_start_matches(|c: char| !matches!(c, ',' | '}'));
        }
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '*';
    let end = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
    let (name, tail) = text.split_at(end);
    let mut path = from.to_vec();
    path.push(name.to_owned());
    match tail.strip_prefix("::") {
        Some(below) if below.starts_with(|c: char| is_name(c) || c == '{') => {
            expand(below, &path, imports)
        }
        _ => {
            imports.push(path);
            tail
        }
    }
}

/// Returns the source without comments, string literals and character literals.
pub(crate) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let (before, found) = rest.split_at(at);
        code.push_str(before);
        rest = if found.starts_with("//") {
            found.find('\n').map_or("", |end| found.split_at(end).1)
        } else if found.starts_with('"') {
            let hashes = before.len() - before.trim_end_matches('#').len();
            let raw = before.trim_end_matches('#').ends_with('r');
            after_quotes(found, raw.then_some(hashes))
        } else if let Some(tail) = after_character(found) {
            tail
        } else {
            code.push_str(found.get(..1).unwrap_or_default());
            found.get(1..).unwrap_or_default()
        };
    }
    code + rest
}

/// Returns the text after the string literal at the start; `raw` is the number of `#` if the
/// literal is raw.
fn after_quotes(text: &str, raw: Option<usize>) -> &str {
    let body = text.get(1..).unwrap_or_default();
    if let Some(hashes) = raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return body.split_once(&end).map_or("", |(_, tail)| tail);
    }
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            '"' if !escaped => return body.get(at + 1..).unwrap_or_default(),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    ""
}

/// Returns the text after the character literal at the start; `None` if it is a lifetime.
fn after_character(text: &str) -> Option<&str> {
    let body = text.strip_prefix('\'')?;
    match body.strip_prefix('\\') {
        Some(escape) => {
            let (skipped, rest) = escape.split_at_checked(1)?;
            let rest = if skipped == "u" {
                rest.split_once('}')?.1
            } else {
                rest
            };
            rest.strip_prefix('\'')
        }
        None => {
            let mut characters = body.chars();
            characters.next()?;
            characters.as_str().strip_prefix('\'')
        }
    }
}

#[rstest]
#[case::module("use std::fs;", &["fs"])]
#[case::group_from_the_root(
    "use ::std::{env, net::{IpAddr, TcpStream}};",
    &["env", "net::IpAddr", "net::TcpStream"]
)]
#[case::path_in_code("fn f() { std::fs::read(\"std::env\") } // std::net", &["fs::read"])]
#[case::other_names("use a::std::b; use nostd::c;", &[])]
#[case::tests("use std::fmt;\nmod tests {\n    use std::fs;", &["fmt"])]
fn uses_of_other_crates_are_read_from_code_alone(#[case] text: &str, #[case] expected: &[&str]) {
    let found = uses(&Source::new("p/q.rs", text), "std");
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    assert_eq!(found, expected);
}

#[rstest]
#[case::path("use crate::a::b;", &["a::b"])]
#[case::group("use crate::{a::{b, c as d}, e};", &["a::b", "a::c", "e"])]
#[case::parent("use super::super::x::Y;", &["x::Y"])]
#[case::path_in_code("fn f() { crate::a::g::<u8>() }", &["a::g"])]
#[case::comments("// crate::a\n/// crate::b", &[])]
#[case::string("\"crate::a \\\" crate::b\"", &[])]
#[case::raw_string("r#\"crate::a \" crate::b\"#; crate::c", &["c"])]
#[case::characters("'\"'; crate::a; '\\''; crate::b; '\\u{1F}'", &["a", "b"])]
#[case::lifetime("fn f<'a>(x: &'a crate::b::C) {}", &["b::C"])]
#[case::other_names("other_crate::a; hypercrate::b; b::crate::c", &[])]
#[case::visibility("pub(crate) fn f() {}", &[])]
#[case::tests("use crate::a;\nmod tests {\n    use super::*;", &["a"])]
fn imports_are_read_from_code_alone(#[case] text: &str, #[case] expected: &[&str]) {
    let found = imports(&Source::new("p/q.rs", text));
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    assert_eq!(found, expected);
}

//! Layers of the reference server: imports that each folder may have, and files with exclusive
//! tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rstest::rstest;

/// Crates of the server below `reference/`. Cargo checks which of them uses which.
const CRATES: &[&str] = &["bundle", "control", "engine", "http-server"];

/// Modules of the HTTP server that both servers use without it, with their allowed imports within
/// it.
const HTTP_SERVER: &[(&str, &[&str])] = &[
    ("log", &[]),
    ("start_error", &[]),
    ("telemetry", &["tls_provider"]),
    ("tls_provider", &[]),
    ("units", &[]),
];

/// Modules of the engine that other modules import, with their own permitted imports in the engine.
const ENGINE: &[(&str, &[&str])] = &[
    ("config", &["options"]),
    ("decision", &[]),
    ("random_id", &[]),
    ("host", &[]),
    ("inline_policy", &[]),
    ("store", &[]),
    ("file_watcher", &[]),
    (
        "plugins",
        &[
            "config",
            "decision",
            "host",
            "random_id",
            "options",
            "state",
            "file_watcher",
        ],
    ),
];

/// Modules of the control plane that other modules import, with their own permitted imports in it.
const CONTROL: &[(&str, &[&str])] = &[
    ("cipher", &[]),
    ("allowed_hosts", &[]),
    ("blocking", &[]),
    ("storage_client", &[]),
    ("model", &["allowed_hosts"]),
    ("secret_allowlist", &["allowed_hosts", "model"]),
    ("page", &["model"]),
    ("principal", &["model"]),
    ("redact", &["model"]),
    (
        "storage",
        &[
            "secret_allowlist",
            "allowed_hosts",
            "model",
            "storage_client",
        ],
    ),
    (
        "storage_location",
        &["blocking", "storage", "allowed_hosts", "model"],
    ),
    (
        "builder",
        &[
            "blocking",
            "secret_allowlist",
            "allowed_hosts",
            "model",
            "redact",
            "storage_client",
        ],
    ),
    (
        "store",
        &[
            "blocking",
            "cipher",
            "model",
            "page",
            "storage_location",
            "principal",
        ],
    ),
];

/// Files that map errors to codes, which determine the statuses.
const ERROR_MAPS: &[&str] = &["control/errors.rs", "engine/errors.rs"];

/// Only file that builds responses.
const RESPONSES: &str = "http-server/response.rs";

/// Folders in which import cycles between files are allowed.
const ENTWINED: &[&str] = &[
    "control::builder::fetch",
    "engine::plugins",
    "http-server::connection",
];

/// Source file of the server: its path below `reference`, without the folder `src`, and its source
/// without unit tests.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let code = text.split("#[cfg(test)]\nmod tests {").next();
        let lines = code.unwrap_or_default().lines();
        let lines = lines.filter(|line| !line.trim_start().starts_with("//"));
        Self {
            path: path.to_owned(),
            text: lines.collect::<Vec<_>>().join("\n"),
        }
    }

    /// Returns the path of the file's module.
    fn module(&self) -> Vec<String> {
        let path = self.path.trim_end_matches(".rs");
        let path = path.strip_suffix("/mod").unwrap_or(path);
        let path = path.strip_suffix("/lib").unwrap_or(path);
        path.split('/').map(str::to_owned).collect()
    }

    /// Returns the modules of its crate that the file names, each from the name of the crate on.
    fn imports(&self) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        let mut rest = self.text.as_str();
        let mut before = "";
        while let Some(at) = ["crate::", "super::"]
            .iter()
            .filter_map(|start| rest.find(start))
            .min()
        {
            let (skipped, path) = rest.split_at(at);
            before = if skipped.is_empty() { before } else { skipped };
            // The match is inside a longer name, another crate's path, or a visibility.
            let is_part = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            let is_visibility = before.ends_with("(in ");
            let (from, path) = self.origin(path);
            rest = match is_part || is_visibility {
                true => path,
                false => expand(path, &from, &mut found),
            };
            before = "";
        }
        found
    }

    /// Resolves the module at which a path begins; returns it with the rest of the path.
    fn origin<'t>(&self, path: &'t str) -> (Vec<String>, &'t str) {
        if let Some(path) = path.strip_prefix("crate::") {
            return (self.module().into_iter().take(1).collect(), path);
        }
        let (mut from, mut path) = (self.module(), path);
        while let Some(above) = path.strip_prefix("super::") {
            from.pop();
            path = above;
        }
        (from, path)
    }
}

/// Adds the paths at the start of a string, possibly a group in braces; returns the rest.
fn expand<'t>(text: &'t str, from: &[String], found: &mut Vec<Vec<String>>) -> &'t str {
    let mut rest = text.trim_start();
    if let Some(group) = rest.strip_prefix('{') {
        rest = group;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            if let Some(tail) = rest.strip_prefix('}') {
                return tail;
            }
            if rest.is_empty() {
                return rest;
            }
            let tail = expand(rest, from, found);
            // Skips `as` and the alias of a renamed import.
            let end = tail.find([',', '}']).unwrap_or(tail.len());
            rest = tail.get(end..).unwrap_or_default();
        }
    }
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*')
        .unwrap_or(rest.len());
    let (name, tail) = rest.split_at(end);
    let mut path = from.to_vec();
    path.push(name.to_owned());
    match tail.strip_prefix("::") {
        Some(tail) => expand(tail, &path, found),
        None => {
            found.push(path);
            tail
        }
    }
}

/// Source files of the server.
pub(crate) fn sources() -> Vec<Source> {
    let root = repository().join("reference");
    let mut files = Vec::new();
    for name in CRATES {
        collect(&root.join(name).join("src"), &mut files);
    }
    let sources = files.iter().filter_map(|file| {
        let path = file.strip_prefix(&root).ok()?.to_str()?;
        let path = path.replacen("/src/", "/", 1);
        let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
        (path.ends_with(".rs") && !is_test)
            .then(|| Source::new(&path, &fs::read_to_string(file).unwrap_or_default()))
    });
    let sources: Vec<_> = sources.collect();
    assert!(sources.len() > 100, "only {} files", sources.len());
    sources
}

pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Collects the paths of all files below a folder, sorted by name.
pub(crate) fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

/// Returns error messages for imports within a parent module that its table does not permit.
fn forbidden_imports(
    sources: &[Source],
    parent: &[&str],
    table: &[(&str, &[&str])],
) -> BTreeSet<String> {
    let mut forbidden = BTreeSet::new();
    for source in sources {
        let module = source.module();
        let Some(own) = child(&module, parent) else {
            continue;
        };
        let Some((_, allowed)) = table.iter().find(|(name, _)| *name == own) else {
            continue;
        };
        for import in source.imports() {
            let Some(imported) = child(&import, parent) else {
                continue;
            };
            if imported != own && !allowed.contains(&imported) {
                let import = import.join("::");
                forbidden.insert(format!("{} imports {import}", source.path));
            }
        }
    }
    forbidden
}

/// Returns the name after the parent in a path; `None` if the path is not below the parent.
fn child<'p>(path: &'p [String], parent: &[&str]) -> Option<&'p str> {
    let (above, below) = path.split_at_checked(parent.len())?;
    (above == parent).then_some(below.first()?.as_str())
}

/// Returns the graphs of imports between the modules of each parent, by the path of the parent.
fn graphs(sources: &[Source]) -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let mut graphs: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    let modules: BTreeSet<Vec<String>> = sources.iter().map(Source::module).collect();
    for source in sources {
        let module = source.module();
        for import in source.imports() {
            let common = module.iter().zip(&import);
            let common = common.take_while(|(one, other)| one == other).count();
            let (Some(own), Some(imported)) = (module.get(common), import.get(common)) else {
                continue;
            };
            // A name that is not a module is an item of the parent, so it is not part of the graph.
            let whole = import.get(..=common).unwrap_or_default();
            let parent = whole.get(..common).unwrap_or_default().join("::");
            if modules.iter().any(|module| module.starts_with(whole)) {
                let graph = graphs.entry(parent).or_default();
                let imports = graph.entry(own.clone()).or_default();
                imports.insert(imported.clone());
            }
        }
    }
    graphs
}

/// Returns the modules on cycles of a graph.
fn in_circles(graph: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&str> {
    let reaches_itself = |start: &&String| {
        let mut visited = BTreeSet::new();
        let mut open = vec![*start];
        while let Some(module) = open.pop() {
            for next in graph.get(module).into_iter().flatten() {
                if next == *start {
                    return true;
                }
                if visited.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    };
    let circular = graph.keys().filter(reaches_itself);
    circular.map(String::as_str).collect()
}

/// Returns the files that use a name, except the permitted ones.
fn users<'s>(sources: &'s [Source], name: &str, allowed: &[&str]) -> Vec<&'s str> {
    let uses = |text: &str| {
        text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    };
    let users = sources.iter().filter(|source| uses(&source.text));
    users
        .map(|source| source.path.as_str())
        .filter(|path| !allowed.contains(path))
        .collect()
}

#[test]
fn imports_follow_the_layers() {
    let sources = sources();
    for (name, table) in [
        ("http-server", HTTP_SERVER),
        ("engine", ENGINE),
        ("control", CONTROL),
    ] {
        let forbidden = forbidden_imports(&sources, &[name], table);
        assert_eq!(forbidden, BTreeSet::new());
    }
}

#[test]
fn modules_do_not_import_each_other_in_circles() {
    let sources = sources();
    let graphs = graphs(&sources);
    assert!(graphs.len() > 10, "{:?}", graphs.keys());
    for (parent, graph) in &graphs {
        if !ENTWINED.contains(&parent.as_str()) {
            assert_eq!(in_circles(graph), BTreeSet::new(), "{parent}");
        }
    }
}

#[test]
fn errors_get_their_codes_in_one_file_of_each_server() {
    let sources = sources();
    let below_http = |source: &&str| source.starts_with("http-server/");
    let mut users = users(&sources, "Code::", ERROR_MAPS);
    users.retain(|path| !below_http(path));
    assert_eq!(users, Vec::<&str>::new());
}

#[test]
fn one_file_builds_responses() {
    let sources = sources();
    let users = users(&sources, "Response::new", &[RESPONSES]);
    assert_eq!(users, Vec::<&str>::new());
    assert_eq!(
        self::users(&sources, "Response::builder", &[]),
        Vec::<&str>::new()
    );
}

#[rstest]
#[case::import("http-server/log/mod.rs", "use crate::reply::Reply;", true)]
#[case::group("http-server/log/mod.rs", "use crate::{units, reply};", true)]
#[case::parents("http-server/log/a/b.rs", "use super::super::super::units;", true)]
#[case::own_module("http-server/log/a/b.rs", "use super::super::queue;", false)]
#[case::comment("http-server/log/mod.rs", "// crate::reply", false)]
#[case::visibility("http-server/log/mod.rs", "pub(in crate::reply) fn f() {}", false)]
#[case::path_in_code("http-server/units/mod.rs", "fn f() { crate::reply::f() }", true)]
#[case::permitted("http-server/reply.rs", "use crate::log::Json;", false)]
fn imports_within_the_http_server_are_noticed(
    #[case] path: &str,
    #[case] text: &str,
    #[case] forbidden: bool,
) {
    let source = [Source::new(path, text)];
    let found = forbidden_imports(&source, &["http-server"], HTTP_SERVER);
    assert_eq!(!found.is_empty(), forbidden);
}

#[rstest]
#[case::root("engine/plugins/a.rs", "use crate::Engine;", true)]
#[case::root_in_a_group("engine/plugins/a.rs", "use crate::{Engine, state};", true)]
#[case::state("engine/plugins/a.rs", "use crate::state::State;", false)]
#[case::parents("engine/plugins/logs/a.rs", "use super::super::super::routes;", true)]
#[case::own_parent("engine/plugins/logs/a.rs", "use super::super::poll;", false)]
#[case::not_a_plugin("engine/routes.rs", "use super::Engine;", false)]
fn imports_within_the_engine_are_noticed(
    #[case] path: &str,
    #[case] text: &str,
    #[case] forbidden: bool,
) {
    let source = [Source::new(path, text)];
    let found = forbidden_imports(&source, &["engine"], ENGINE);
    assert_eq!(!found.is_empty(), forbidden);
}

#[test]
fn circles_and_error_codes_are_noticed() {
    let circle = [
        Source::new("engine/a.rs", "use super::b::c;"),
        Source::new("engine/b/mod.rs", "use crate::{d, Engine};"),
        Source::new("engine/d.rs", "use super::a;"),
        Source::new("engine/e.rs", "use super::{a, b};"),
    ];
    let found = graphs(&circle);
    let found = found.get("engine").map(in_circles);
    assert_eq!(found, Some(BTreeSet::from(["a", "b", "d"])));
    let source = [Source::new("engine/a.rs", "ApiError::new(Code::Conflict)")];
    assert_eq!(users(&source, "Code::", ERROR_MAPS), ["engine/a.rs"]);
    let source = [Source::new("engine/a.rs", "StatusCode::OK")];
    assert_eq!(users(&source, "Code::", ERROR_MAPS), Vec::<&str>::new());
}

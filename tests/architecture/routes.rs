//! Routes and endpoints: every documented endpoint has a route, and the file of each handler has
//! the same path as its route.

use std::fs;

use crate::reference::{Source, collect, repository, sources};

/// Routes that the documents do not mention, and that have no clause file.
const UNDOCUMENTED: &[&str] = &[
    "GET /",
    "GET /metrics",
    "POST /v1/batch/data/{path...}",
    "GET /v1/bundles/{bundle}/status",
    "GET /v1/bundles/{bundle}/status/latest",
];

/// Entry of a route table.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    method: String,
    pattern: String,
    /// File of the handler: the crate, and its path below `src` without the extension.
    handler: String,
}

/// Parses the route table in a file of one of the servers.
fn routes(text: &str, server: &str) -> Vec<Line> {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines = Vec::new();
    for start in ["route(", "bearer!("] {
        for call in text.split(start).skip(1) {
            let mut parts = call.splitn(3, ',').map(str::trim);
            let (Some(method), Some(pattern), Some(rest)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let Some(pattern) = pattern.strip_prefix('"').and_then(|p| p.strip_suffix('"')) else {
                continue;
            };
            let rest = rest.trim_start().trim_start_matches("to(");
            let end = rest.find([',', ')']).unwrap_or(rest.len());
            let handler = rest.get(..end).unwrap_or_default().trim();
            let handler = handler.trim_end_matches("::handle").replace("::", "/");
            let folder = if start == "bearer!(" { "v1/" } else { "" };
            lines.push(Line {
                method: method.to_owned(),
                pattern: pattern.to_owned(),
                handler: format!("{server}/{folder}{handler}"),
            });
        }
    }
    // Public routes are written as struct literals.
    for entry in text.split("Route {").skip(1) {
        let between = |start: &str, end: &str| {
            let (_, rest) = entry.split_once(start)?;
            Some(rest.split_once(end)?.0.to_owned())
        };
        if let (Some(method), Some(pattern), Some(handler)) = (
            between("method: Method::", ","),
            between("pattern: \"", "\""),
            between("Box::pin(", "::handle("),
        ) && !method.contains('$')
        {
            lines.push(Line {
                method,
                pattern,
                handler: format!("{server}/{}", handler.replace("::", "/")),
            });
        }
    }
    lines
}

/// Documented endpoints, with the clause files that name them, below `specs` and without extension.
fn endpoints() -> Vec<(String, String)> {
    let root = repository().join("specs");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let endpoints = files.iter().filter_map(|file| {
        let path = file.strip_prefix(&root).ok()?.to_str()?;
        let text = fs::read_to_string(file).ok()?;
        let endpoint = text
            .lines()
            .find_map(|line| line.strip_prefix("endpoint: "))?;
        let path = path.strip_suffix(".yaml")?.to_owned();
        Some((path, endpoint.trim().to_owned()))
    });
    endpoints.collect()
}

/// Returns the literal segments of a path.
fn literals(path: &str) -> Vec<&str> {
    let segments = path.split('/');
    segments.filter(|part| !part.starts_with('{')).collect()
}

/// Returns the endpoints without a route to the handler at the same path, and the routes without an
/// endpoint.
fn unrouted(endpoints: &[(String, String)], routes: &[Line]) -> Vec<String> {
    let serves = |(file, endpoint): &(String, String), line: &Line| {
        let (method, path) = endpoint.split_once(' ').unwrap_or_default();
        line.method == method && line.handler == *file && literals(&line.pattern) == literals(path)
    };
    let mut wrong = Vec::new();
    for endpoint in endpoints {
        if !routes.iter().any(|line| serves(endpoint, line)) {
            wrong.push(format!("no route: {} ({})", endpoint.1, endpoint.0));
        }
    }
    for line in routes {
        let name = format!("{} {}", line.method, line.pattern);
        let documented = endpoints.iter().any(|endpoint| serves(endpoint, line));
        if !documented && !UNDOCUMENTED.contains(&name.as_str()) {
            wrong.push(format!("no clause file: {name} ({})", line.handler));
        }
    }
    wrong
}

/// Returns the routes in the tables of both servers.
fn all_routes(sources: &[Source]) -> Vec<Line> {
    let table = |server: &str| {
        let path = format!("{server}/routes.rs");
        let source = sources.iter().find(|source| source.path == path);
        routes(source.map_or("", |source| source.text.as_str()), server)
    };
    let (engine, control) = (table("engine"), table("control"));
    assert!(
        engine.len() > 20 && control.len() > 20,
        "{engine:?} {control:?}"
    );
    engine.into_iter().chain(control).collect()
}

#[test]
fn every_endpoint_has_a_route_and_every_route_an_endpoint() {
    let endpoints = endpoints();
    assert!(endpoints.len() > 30, "{endpoints:?}");
    let wrong = unrouted(&endpoints, &all_routes(&sources()));
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_route_has_a_handler_file() {
    let root = repository().join("reference");
    for line in all_routes(&sources()) {
        let path = line.handler.replacen('/', "/src/", 1);
        let file = root.join(format!("{path}.rs"));
        assert!(file.is_file(), "{} has no {}", line.pattern, file.display());
    }
}

#[test]
fn routes_without_endpoints_are_noticed() {
    let endpoint = |file: &str, name: &str| (file.to_owned(), name.to_owned());
    let table = r#"route(GET, "/v1/a/{path...}", to(v1::a::get::handle, Workload::Inline)),"#;
    let table = routes(table, "engine");
    let known = [endpoint("engine/v1/a/get", "GET /v1/a/{id}")];
    assert_eq!(unrouted(&known, &table), Vec::<String>::new());
    for other in [
        endpoint("engine/v1/b/get", "GET /v1/a/{id}"),
        endpoint("engine/v1/a/get", "PUT /v1/a/{id}"),
        endpoint("engine/v1/a/get", "GET /v1/b/{id}"),
    ] {
        assert_eq!(unrouted(&[other], &table).len(), 2, "{table:?}");
    }
}

//! Route tables: finds the handler of a method and path in one scan.

use http::Method;

use super::error::ApiError;
use super::path::{EscapedSlash, RequestPath, decode};

/// Route of a route table.
#[derive(Debug)]
pub struct Route<E> {
    /// Method, compared exactly: `HEAD` does not match `GET`.
    pub method: Method,
    /// Path: literal segments, `{name}` for one segment, and at the end `{name...}` for zero or
    /// more segments.
    pub pattern: &'static str,
    /// Meaning of an escaped slash in the segments that placeholders match.
    pub slash: EscapedSlash,
    /// Handler and properties of the route.
    pub endpoint: E,
}

/// Result of a lookup by method and path.
#[derive(Debug)]
pub enum RouteMatch<'r, E> {
    /// First matching route, with the segments that its placeholders match, decoded one by one.
    Found {
        /// Matching route.
        route: &'r Route<E>,
        /// Segments that the placeholders match, in order.
        segments: Vec<String>,
    },
    /// A pattern matches the path, but not with this method.
    MethodNotAllowed {
        /// Routes of the path, in the table's order.
        routes: Vec<&'r Route<E>>,
    },
    /// No pattern matches the path.
    NotFound,
}

impl<E> Route<E> {
    /// Treats escaped slashes as separators, as Open Policy Agent does: it decodes policy ids and
    /// paths of rules to compile as a whole.
    #[must_use]
    pub const fn split(mut self) -> Self {
        self.slash = EscapedSlash::Separator;
        self
    }

    /// Fixed part of the pattern, before the first placeholder.
    pub fn fixed_part(&self) -> &'static str {
        halves(self.pattern).0
    }
}

/// Finds the route of a method and a path.
///
/// # Errors
/// `invalid_parameter` when the path has a malformed escape.
pub fn find<'r, E>(
    routes: &'r [Route<E>],
    method: &Method,
    path: &RequestPath,
) -> Result<RouteMatch<'r, E>, ApiError> {
    find_below("", routes, method, path).map(|found| found.unwrap_or(RouteMatch::NotFound))
}

/// Finds the route of a method and the part of a path after a prefix; `None` if the path does not
/// start with the prefix.
///
/// # Errors
/// `invalid_parameter` when the path has a malformed escape.
pub fn find_below<'r, E>(
    prefix: &str,
    routes: &'r [Route<E>],
    method: &Method,
    path: &RequestPath,
) -> Result<Option<RouteMatch<'r, E>>, ApiError> {
    let Some(rest) = path.canonical().strip_prefix(prefix) else {
        return Ok(None);
    };
    let mut of_method = routes.iter().filter(|route| route.method == *method);
    let found = of_method.find_map(|route| Some((route, capture(route.pattern, rest)?)));
    if let Some((route, open)) = found {
        path.check()?;
        let segments = decode(open.into_iter(), route.slash);
        return Ok(Some(RouteMatch::Found { route, segments }));
    }
    let routes = routes
        .iter()
        .filter(|route| capture(route.pattern, rest).is_some());
    let routes: Vec<_> = routes.collect();
    Ok(Some(match routes.is_empty() {
        true => RouteMatch::NotFound,
        false => RouteMatch::MethodNotAllowed { routes },
    }))
}

/// Distinct methods of some routes.
pub fn methods<'r, E>(routes: &[&'r Route<E>]) -> Vec<&'r Method> {
    let mut methods = Vec::new();
    for route in routes {
        if !methods.contains(&&route.method) {
            methods.push(&route.method);
        }
    }
    methods
}

/// Splits a pattern into its fixed part, and the rest, which begins with a slash.
fn halves(pattern: &str) -> (&str, &str) {
    let open = pattern.find('{').map(|brace| brace.saturating_sub(1));
    pattern.split_at(open.unwrap_or(pattern.len()))
}

/// Segments that the placeholders match, if the canonical path matches the pattern.
fn capture<'p>(pattern: &str, path: &'p str) -> Option<Vec<&'p str>> {
    // Most patterns are distinguished by their fixed part, without comparing segments.
    let (fixed, pattern) = halves(pattern);
    let mut pattern_segments = pattern.split('/');
    let mut path_segments = path.strip_prefix(fixed)?.split('/');
    let mut open = Vec::new();
    loop {
        match (pattern_segments.next(), path_segments.next()) {
            (None, None) => return Some(open),
            (Some(rest), segment) if rest.ends_with("...}") => {
                open.extend(segment);
                open.extend(path_segments);
                return Some(open);
            }
            (Some(want), Some(segment)) if want.starts_with('{') => open.push(segment),
            (Some(want), Some(segment)) if want == segment => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTES: &[Route<&str>] = &[
        Route {
            method: Method::GET,
            pattern: "/v1/bundles",
            slash: EscapedSlash::Literal,
            endpoint: "list",
        },
        Route {
            method: Method::GET,
            pattern: "/v1/bundles/{bundle}",
            slash: EscapedSlash::Literal,
            endpoint: "get",
        },
        Route {
            method: Method::PUT,
            pattern: "/v1/bundles/{bundle}",
            slash: EscapedSlash::Literal,
            endpoint: "put",
        },
        Route {
            method: Method::PUT,
            pattern: "/v1/sources/{source}/data/{path...}",
            slash: EscapedSlash::Literal,
            endpoint: "data",
        },
        Route {
            method: Method::POST,
            pattern: "/",
            slash: EscapedSlash::Literal,
            endpoint: "root",
        },
    ];

    #[track_caller]
    fn check(method: &Method, path: &str, expected: &str) {
        let text = match find(ROUTES, method, &RequestPath::parse(path)) {
            Ok(RouteMatch::Found { route, segments }) => {
                format!("{} {segments:?}", route.endpoint)
            }
            Ok(RouteMatch::MethodNotAllowed { routes }) => format!("only {:?}", methods(&routes)),
            Ok(RouteMatch::NotFound) => "not found".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(text, expected, "{method} {path}");
    }

    #[test]
    fn finds_the_route() {
        check(&Method::GET, "/v1/bundles", "list []");
        check(&Method::GET, "/v1/bundles/a", r#"get ["a"]"#);
        check(&Method::GET, "/v1/bundles/a%2Fb%20c", r#"get ["a/b c"]"#);
        check(&Method::GET, "/v1/bundles/", r#"get [""]"#);
        check(&Method::GET, "/v1/bundles/a/b", "not found");
        check(&Method::HEAD, "/v1/bundles/a", "only [GET, PUT]");
        check(&Method::PUT, "/v1/sources/s/data", r#"data ["s"]"#);
        check(
            &Method::PUT,
            "/v1/sources/s/data/a/b%2Fc",
            r#"data ["s", "a", "b/c"]"#,
        );
        check(&Method::PUT, "/v1/sources/s", "not found");
        check(&Method::POST, "/", r"root []");
        check(&Method::GET, "", "not found");
        check(&Method::GET, "*", "not found");
        check(
            &Method::GET,
            "/v1/bundles/%zz",
            "invalid_parameter: invalid escape in path segment `%zz`",
        );
    }
}

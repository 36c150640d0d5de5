//! Route tables: one scan finds the handler of a method and a path.

use http::Method;

use super::error::ApiError;
use super::request::decode;

/// One line of a route table.
#[derive(Debug)]
pub struct Route<H> {
    /// The method, compared exactly: `HEAD` is not `GET`.
    pub method: Method,
    /// The path: literal segments, `{name}` for any one segment, and at the end `{name...}` for
    /// any number of further segments, none included.
    pub pattern: &'static str,
    /// What answers.
    pub handler: H,
}

/// What a route table says about a method and a path.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<'r, H> {
    /// The first route that fits, with the segments its pattern leaves open, decoded one by one.
    Handler {
        /// The route's handler.
        handler: &'r H,
        /// The route's pattern.
        pattern: &'static str,
        /// The open segments, in order.
        segments: Vec<String>,
    },
    /// The path is known, the method is not.
    MethodNotAllowed {
        /// The methods that the path knows, in the table's order.
        allowed: Vec<&'r Method>,
    },
    /// No pattern fits the path.
    NotFound,
}

/// Finds the route of a method and a path as it was sent. The path is split before it is
/// decoded, so that an escaped slash stays inside its segment.
///
/// # Errors
/// `invalid_parameter` when an open segment holds a broken escape.
pub fn find<'r, H>(
    routes: &'r [Route<H>],
    method: &Method,
    path: &str,
) -> Result<Found<'r, H>, ApiError> {
    let mut allowed = Vec::new();
    for route in routes {
        let Some(open) = capture(route.pattern, path) else {
            continue;
        };
        if route.method != *method {
            if !allowed.contains(&&route.method) {
                allowed.push(&route.method);
            }
            continue;
        }
        return Ok(Found::Handler {
            handler: &route.handler,
            pattern: route.pattern,
            segments: open.into_iter().map(decode).collect::<Result<_, _>>()?,
        });
    }
    Ok(if allowed.is_empty() {
        Found::NotFound
    } else {
        Found::MethodNotAllowed { allowed }
    })
}

/// The raw segments that the pattern leaves open, when the path fits it.
fn capture<'p>(pattern: &str, path: &'p str) -> Option<Vec<&'p str>> {
    let mut wanted = pattern.split('/');
    let mut given = path.split('/');
    let mut open = Vec::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(open),
            (Some(rest), segment) if rest.ends_with("...}") => {
                open.extend(segment);
                open.extend(given);
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
            handler: "list",
        },
        Route {
            method: Method::GET,
            pattern: "/v1/bundles/{bundle}",
            handler: "get",
        },
        Route {
            method: Method::PUT,
            pattern: "/v1/bundles/{bundle}",
            handler: "put",
        },
        Route {
            method: Method::PUT,
            pattern: "/v1/sources/{source}/data/{path...}",
            handler: "data",
        },
        Route {
            method: Method::POST,
            pattern: "/",
            handler: "root",
        },
    ];

    #[track_caller]
    fn check(method: &Method, path: &str, expected: &str) {
        let text = match find(ROUTES, method, path) {
            Ok(Found::Handler {
                handler, segments, ..
            }) => format!("{handler} {segments:?}"),
            Ok(Found::MethodNotAllowed { allowed }) => format!("only {allowed:?}"),
            Ok(Found::NotFound) => "not found".to_owned(),
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

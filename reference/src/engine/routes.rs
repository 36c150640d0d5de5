//! The engine's whole surface, and the way from a request to its answer.

use std::time::Instant;

use http::{Method, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Engine, gzip, health, metrics, root, v0, v1};
use crate::http::route::{Found, Route, find};
use crate::http::{ApiError, Reply, Request};

/// Answers the requests of one route.
pub type Handler = fn(&Engine, &Request) -> Result<Reply, ApiError>;

const fn route(method: Method, pattern: &'static str, handler: Handler) -> Route<Handler> {
    Route {
        method,
        pattern,
        handler,
    }
}

/// Every route of the engine.
pub static ROUTES: &[Route<Handler>] = &[
    route(Method::GET, "/v1/data/{path...}", v1::data::get::handle),
    route(Method::POST, "/v1/data/{path...}", v1::data::post::handle),
    route(Method::PUT, "/v1/data/{path...}", v1::data::put::handle),
    route(Method::PATCH, "/v1/data/{path...}", v1::data::patch::handle),
    // The root cannot be deleted, so the method is not known there.
    route(Method::DELETE, "/v1/data/{name}", v1::data::delete::handle),
    route(
        Method::DELETE,
        "/v1/data/{name}/{path...}",
        v1::data::delete::handle,
    ),
    route(Method::POST, "/v0/data/{path...}", v0::data::post::handle),
    route(Method::GET, "/v1/policies", v1::policies::list::handle),
    route(
        Method::GET,
        "/v1/policies/{id...}",
        v1::policies::get::handle,
    ),
    route(
        Method::PUT,
        "/v1/policies/{name}",
        v1::policies::put::handle,
    ),
    route(
        Method::PUT,
        "/v1/policies/{name}/{id...}",
        v1::policies::put::handle,
    ),
    route(
        Method::DELETE,
        "/v1/policies/{name}",
        v1::policies::delete::handle,
    ),
    route(
        Method::DELETE,
        "/v1/policies/{name}/{id...}",
        v1::policies::delete::handle,
    ),
    route(Method::GET, "/v1/query", v1::query::get::handle),
    route(Method::POST, "/v1/query", v1::query::post::handle),
    route(Method::POST, "/v1/compile", v1::compile::post::handle),
    route(
        Method::POST,
        "/v1/compile/{path...}",
        v1::compile::filters::post::handle,
    ),
    route(Method::GET, "/v1/config", v1::config::get::handle),
    route(Method::GET, "/v1/status", v1::status::get::handle),
    route(Method::GET, "/health", health::get::handle),
    route(Method::GET, "/health/{rule...}", health::rule::get::handle),
    route(Method::GET, "/metrics", metrics::get::handle),
    route(Method::GET, "/", root::get::handle),
    route(Method::POST, "/", root::post::handle),
];

impl Engine {
    /// Answers a request, and measures how long that takes.
    pub fn respond(&self, request: Request) -> Reply {
        let begun = Instant::now();
        let method = request.method.clone();
        let mut pattern = None;
        let trial = request.trial.clone();
        let reply = self.route(request, &mut pattern);
        if trial.is_some_and(|trial| trial.is_given_up()) {
            return reply;
        }
        let took = begun.elapsed();
        self.totals().answered(pattern, &method, reply.status, took);
        reply
    }

    /// The checks that come before a handler, and the handler, whose pattern is named. Only whom
    /// the authorization policy lets in learns what there is at a path.
    fn route(&self, mut request: Request, named: &mut Option<&'static str>) -> Reply {
        match way(&request) {
            Way::Handler(handler, pattern, segments) => {
                *named = Some(pattern);
                request.segments = segments;
                let answered = self
                    .admit(&mut request)
                    .and_then(|()| handler(self, &request));
                let reply = answered.unwrap_or_else(|error| error.reply());
                gzip::encode(&request, reply, &self.config())
            }
            Way::Answer(reply) if !self.authorizes() => reply,
            Way::Answer(reply) => {
                let admitted = self.admit(&mut request);
                admitted.map_or_else(|error| error.reply(), |()| reply)
            }
        }
    }
}

/// Where a request goes.
enum Way {
    /// To the handler of a route, with the route's pattern and the segments that it leaves open.
    Handler(&'static Handler, &'static str, Vec<String>),
    /// Nowhere; this is the answer.
    Answer(Reply),
}

fn way(request: &Request) -> Way {
    if let Some(elsewhere) = redirect(request) {
        return Way::Answer(elsewhere);
    }
    Way::Answer(match find(ROUTES, &request.method, &request.path) {
        Ok(Found::Handler {
            handler,
            pattern,
            segments,
        }) => return Way::Handler(handler, pattern, segments),
        Ok(Found::MethodNotAllowed { allowed }) => {
            let silent = ["/v0/data", "/v1/data", "/v1/policies", "/v1/query"];
            let text = !silent.iter().any(|start| request.path.starts_with(start));
            Reply::method_not_allowed(&allowed, text)
        }
        Ok(Found::NotFound) => Reply::text(StatusCode::NOT_FOUND, "404 page not found\n"),
        Err(error) => error.reply(),
    })
}

/// Where a path leads that is known in another form: 307 to the form without empty, `.` and `..`
/// segments, 301 to the form without a slash at the end.
fn redirect(request: &Request) -> Option<Reply> {
    let path = request.path.as_str();
    let clean = clean(path);
    if clean != path {
        let location = with_query(clean, request);
        return Some(Reply::redirect(StatusCode::TEMPORARY_REDIRECT, &location));
    }
    let shorter = path
        .strip_suffix('/')
        .filter(|shorter| !shorter.is_empty())?;
    if matches!(find(ROUTES, &request.method, shorter), Ok(Found::NotFound)) {
        return None;
    }
    let location = with_query(shorter.to_owned(), request);
    Some(Reply::redirect(StatusCode::MOVED_PERMANENTLY, &location))
}

fn clean(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    let end = if path.ends_with('/') && !kept.is_empty() {
        "/"
    } else {
        ""
    };
    match path.strip_prefix('/') {
        Some(_) => format!("/{}{end}", kept.join("/")),
        None => path.to_owned(),
    }
}

fn with_query(mut location: String, request: &Request) -> String {
    for (at, (name, value)) in request.query.iter().enumerate() {
        let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
        let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
        location.push(if at == 0 { '?' } else { '&' });
        location.push_str(&format!("{name}={value}"));
    }
    location
}

//! Routes of the engine, and the pipeline from request to response.

use std::time::Instant;

use http::{Method, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::request_body::BodyForm;
use super::workload::Workload;
use super::{Engine, gzip, health, metrics, root, v0, v1};
use http_server::path::{EscapedSlash, RequestPath};
use http_server::route::{Route, RouteMatch, find, methods};
use http_server::{ApiError, Reply, Request};

/// Handler of one route.
type Handler = fn(&Engine, &Request) -> Result<Reply, ApiError>;

/// Endpoint of a route: its handler and properties.
#[derive(Debug, Clone, Copy)]
pub(super) struct Endpoint {
    handler: Handler,
    /// Workload of the requests, which determines where they are scheduled.
    pub(super) workload: Workload,
    /// Whether responses are compressed for clients that accept it.
    pub(super) compresses: bool,
    /// Body format for the authorization policy; absent if the policy does not see the body.
    pub(super) shown_body: Option<BodyForm>,
    /// Whether a 405 response at the path of the route has an empty body.
    is_quiet: bool,
    /// Whether the route is a health or metrics probe.
    is_probe: bool,
    /// Whether the route is also served on diagnostic addresses.
    is_diagnostic: bool,
    /// Whether requests to the route have spans.
    is_traced: bool,
}

const fn route(method: Method, pattern: &'static str, endpoint: Endpoint) -> Route<Endpoint> {
    Route {
        method,
        pattern,
        slash: EscapedSlash::Literal,
        endpoint,
    }
}

/// Returns the endpoint of a handler, with the properties that most routes have.
const fn to(handler: Handler, workload: Workload) -> Endpoint {
    Endpoint {
        handler,
        workload,
        compresses: false,
        shown_body: None,
        is_quiet: false,
        is_probe: false,
        is_diagnostic: false,
        is_traced: true,
    }
}

impl Endpoint {
    const fn compressed(mut self) -> Self {
        self.compresses = true;
        self
    }

    const fn body_shown(mut self, form: BodyForm) -> Self {
        self.shown_body = Some(form);
        self
    }

    const fn quiet(mut self) -> Self {
        self.is_quiet = true;
        self
    }

    const fn diagnostic(mut self) -> Self {
        self.is_diagnostic = true;
        self
    }

    const fn untraced(mut self) -> Self {
        self.is_traced = false;
        self
    }

    const fn probe(mut self) -> Self {
        self.is_probe = true;
        self
    }
}

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PUT: Method = Method::PUT;
const PATCH: Method = Method::PATCH;
const DELETE: Method = Method::DELETE;

const JSON: BodyForm = BodyForm::Json;
const JSON_OR_YAML: BodyForm = BodyForm::JsonOrYaml;

/// All routes of the engine.
#[rustfmt::skip]
static ROUTES: &[Route<Endpoint>] = &[
    route(GET, "/v1/data/{path...}", to(v1::data::get::handle, Workload::Decision).compressed().quiet()),
    route(POST, "/v1/data/{path...}", to(v1::data::post::handle, Workload::Decision).compressed().body_shown(JSON_OR_YAML).quiet()),
    route(PUT, "/v1/data/{path...}", to(v1::data::put::handle, Workload::Storage).quiet()),
    route(PATCH, "/v1/data/{path...}", to(v1::data::patch::handle, Workload::Storage).quiet()),
    // The root cannot be deleted, so DELETE is not allowed there.
    route(DELETE, "/v1/data/{name}", to(v1::data::delete::handle, Workload::Storage).quiet()),
    route(DELETE, "/v1/data/{name}/{path...}", to(v1::data::delete::handle, Workload::Storage).quiet()),
    // This route exists in Open Policy Agent's enterprise edition and its clients.
    route(POST, "/v1/batch/data/{path...}", to(v1::batch::data::post::handle, Workload::Evaluation).compressed().body_shown(JSON_OR_YAML)),
    route(POST, "/v0/data/{path...}", to(v0::data::post::handle, Workload::Evaluation).compressed().body_shown(JSON_OR_YAML).quiet()),
    route(GET, "/v1/policies", to(v1::policies::list::handle, Workload::Storage).quiet()),
    route(GET, "/v1/policies/{id...}", to(v1::policies::get::handle, Workload::Storage).quiet()).split(),
    route(PUT, "/v1/policies/{name}", to(v1::policies::put::handle, Workload::Storage).quiet()).split(),
    route(PUT, "/v1/policies/{name}/{id...}", to(v1::policies::put::handle, Workload::Storage).quiet()).split(),
    route(DELETE, "/v1/policies/{name}", to(v1::policies::delete::handle, Workload::Storage).quiet()).split(),
    route(DELETE, "/v1/policies/{name}/{id...}", to(v1::policies::delete::handle, Workload::Storage).quiet()).split(),
    route(GET, "/v1/query", to(v1::query::get::handle, Workload::Evaluation).quiet()),
    route(POST, "/v1/query", to(v1::query::post::handle, Workload::Evaluation).body_shown(JSON).quiet()),
    route(POST, "/v1/compile", to(v1::compile::post::handle, Workload::Residual).compressed().body_shown(JSON)),
    route(POST, "/v1/compile/{path...}", to(v1::compile::filters::post::handle, Workload::Filter).compressed().body_shown(JSON)).split(),
    route(GET, "/v1/config", to(v1::config::get::handle, Workload::Evaluation)),
    route(GET, "/v1/status", to(v1::status::get::handle, Workload::Evaluation)),
    route(GET, "/health", to(health::get::handle, Workload::Inline).probe().diagnostic()),
    route(GET, "/health/{rule...}", to(health::rule::get::handle, Workload::Evaluation).diagnostic()),
    route(GET, "/metrics", to(metrics::get::handle, Workload::Inline).probe().diagnostic().untraced()),
    route(GET, "/", to(root::get::handle, Workload::Inline)),
    route(POST, "/", to(root::post::handle, Workload::Evaluation).body_shown(JSON_OR_YAML)),
];

/// Destination of a request.
#[derive(Debug, Clone)]
pub(super) enum Destination {
    /// Handler of a route.
    Route(&'static Route<Endpoint>),
    /// No route: the request gets this response.
    Answer(Reply),
}

impl Destination {
    /// Finds the route of a request, and sets the open segments of its path: those that the
    /// placeholders of the route match.
    pub(super) fn find(engine: &Engine, request: &mut Request) -> Self {
        match Self::look_up(engine, request) {
            Ok((route, segments)) => {
                request.path.set_route(route.fixed_part(), segments);
                Self::Route(route)
            }
            Err(answer) => {
                request.path.set_unrouted(slash_of_unrouted(&request.path));
                Self::Answer(*answer)
            }
        }
    }

    /// Route of a request with its open segments, or the response if there is none.
    fn look_up(
        engine: &Engine,
        request: &Request,
    ) -> Result<(&'static Route<Endpoint>, Vec<String>), Box<Reply>> {
        if !engine.has_batches() && request.path.is_below("/v1/batch") {
            return Err(Box::new(Reply::not_found()));
        }
        if let Some(elsewhere) = redirect(request) {
            return Err(Box::new(elsewhere));
        }
        Err(Box::new(
            match find(ROUTES, &request.method, &request.path) {
                Ok(RouteMatch::Found { route, segments }) => return Ok((route, segments)),
                Ok(RouteMatch::MethodNotAllowed { routes }) => {
                    let text = !routes.iter().any(|route| route.endpoint.is_quiet);
                    Reply::method_not_allowed(&methods(&routes), text)
                }
                Ok(RouteMatch::NotFound) => Reply::not_found(),
                Err(error) => error.reply(),
            },
        ))
    }

    /// Body format for the authorization policy, if it sees the body of this request. For a request
    /// without a route, the policy sees the body below the paths of routes whose body it sees.
    pub(super) fn shown_body(&self, request: &Request) -> Option<BodyForm> {
        match self {
            Self::Route(route) => route.endpoint.shown_body,
            Self::Answer(_) => ROUTES.iter().find_map(|route| {
                let is_there =
                    route.method == request.method && request.path.is_below(route.fixed_part());
                route.endpoint.shown_body.filter(|_| is_there)
            }),
        }
    }
}

impl Destination {
    /// Route name of a request in its span, if any: with `{path...}` for the open segments. It
    /// follows Open Policy Agent's router, which registers some paths for every method.
    pub(super) fn traced_as(&self, request: &Request) -> Option<String> {
        let fixed = match self {
            Self::Route(route) => Some(*route).filter(|route| route.endpoint.is_traced),
            Self::Answer(Reply {
                status: StatusCode::METHOD_NOT_ALLOWED | StatusCode::MOVED_PERMANENTLY,
                ..
            }) => ROUTES
                .iter()
                .find(|route| route.endpoint.is_quiet && request.path.is_below(route.fixed_part())),
            Self::Answer(_) => None,
        };
        Some(match fixed?.fixed_part() {
            "/" => "/{$}".to_owned(),
            fixed if fixed == request.path.canonical() => fixed.to_owned(),
            fixed => format!("{fixed}/{{path...}}"),
        })
    }
}

/// Meaning of an escaped slash in a path without a route: as in Open Policy Agent, a separator if
/// the decoded path is below a route where it is one.
fn slash_of_unrouted(path: &RequestPath) -> EscapedSlash {
    let decoded = path.decoded();
    let is_below = |route: &&Route<Endpoint>| {
        let rest = decoded.strip_prefix(route.fixed_part());
        let is_below = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        route.slash == EscapedSlash::Separator && is_below
    };
    match ROUTES.iter().find(is_below) {
        Some(_) => EscapedSlash::Separator,
        None => EscapedSlash::Literal,
    }
}

/// Whether a request is a health or metrics probe.
pub(super) fn is_probe(method: &Method, path: &str) -> bool {
    ROUTES
        .iter()
        .any(|route| route.endpoint.is_probe && route.method == *method && route.pattern == path)
}

/// Whether a path, with any method, is served on diagnostic addresses.
pub(super) fn is_diagnostic(path: &RequestPath) -> bool {
    ROUTES.iter().any(|route| {
        let found = find(std::slice::from_ref(route), &route.method, path);
        route.endpoint.is_diagnostic && matches!(found, Ok(RouteMatch::Found { .. }))
    })
}

impl Engine {
    /// Answers a request, and measures the duration.
    pub fn respond(&self, mut request: Request) -> Reply {
        let destination = Destination::find(self, &mut request);
        self.respond_at(destination, &mut request)
    }

    /// Answers a request whose route is known.
    pub(super) fn respond_at(&self, destination: Destination, request: &mut Request) -> Reply {
        let started = Instant::now();
        let handler = match &destination {
            Destination::Route(route) => handler_name(route),
            Destination::Answer(_) => "none",
        };
        let mut reply = self.reply(destination, request);
        if request
            .inline_attempt
            .as_ref()
            .is_some_and(|attempt| attempt.is_abandoned())
        {
            return reply;
        }
        reply.span.clone_from(&request.span);
        let totals = self.totals();
        totals.observe(handler, &request.method, reply.status, started.elapsed());
        reply
    }

    /// Runs the checks and the handler. Only responses to requests that the authorization policy
    /// permits reveal whether a path exists.
    fn reply(&self, destination: Destination, request: &mut Request) -> Reply {
        let admitted = match &destination {
            Destination::Answer(_) if !self.authorizes() => Ok(()),
            destination => self.admit(destination, request),
        };
        if admitted.is_ok() {
            self.begin_span(&destination, request);
        }
        match destination {
            Destination::Route(Route { endpoint, .. }) => {
                let answered = admitted.and_then(|()| (endpoint.handler)(self, request));
                let reply = answered.unwrap_or_else(|error| error.reply());
                match endpoint.compresses {
                    true => gzip::encode(request, reply, &self.config()),
                    false => reply,
                }
            }
            Destination::Answer(reply) => admitted.map_or_else(|error| error.reply(), |()| reply),
        }
    }
}

/// Name of a route in metrics, as in Open Policy Agent: the fixed part of its path.
fn handler_name(route: &Route<Endpoint>) -> &'static str {
    match route.pattern {
        "/" => "index",
        _ => route.fixed_part().trim_start_matches('/'),
    }
}

/// Redirect for a path that exists in another form: 307 to the form without empty, `.` and `..`
/// segments, 301 to the form without a trailing slash.
fn redirect(request: &Request) -> Option<Reply> {
    let path = request.path.canonical();
    if !is_clean(path) {
        let location = with_query(clean(path), request);
        return Some(Reply::redirect(StatusCode::TEMPORARY_REDIRECT, &location));
    }
    let shorter = path
        .strip_suffix('/')
        .filter(|shorter| !shorter.is_empty())?;
    if matches!(
        find(ROUTES, &request.method, &RequestPath::parse(shorter)),
        Ok(RouteMatch::NotFound)
    ) {
        return None;
    }
    let location = with_query(shorter.to_owned(), request);
    Some(Reply::redirect(StatusCode::MOVED_PERMANENTLY, &location))
}

/// Whether a path has no empty, `.` and `..` segments except for an empty one at its end.
fn is_clean(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else {
        return true;
    };
    let (before, last) = rest
        .rsplit_once('/')
        .map_or((None, rest), |(before, last)| (Some(before), last));
    !matches!(last, "." | "..")
        && before.is_none_or(|before| {
            let mut segments = before.split('/');
            !segments.any(|segment| matches!(segment, "" | "." | ".."))
        })
}

fn clean(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    let end = if path.ends_with('/') && !segments.is_empty() {
        "/"
    } else {
        ""
    };
    match path.strip_prefix('/') {
        Some(_) => format!("/{}{end}", segments.join("/")),
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{clean, is_clean};

    #[rstest]
    #[case::empty("")]
    #[case::star("*")]
    #[case::root("/")]
    #[case::two_slashes("//")]
    #[case::one_segment("/a")]
    #[case::slash_at_the_end("/a/")]
    #[case::two_slashes_at_the_end("/a//")]
    #[case::two_slashes_at_the_begin("//a")]
    #[case::two_segments("/a/b")]
    #[case::empty_segment("/a//b")]
    #[case::dot("/.")]
    #[case::parent("/..")]
    #[case::dot_at_the_end("/a/.")]
    #[case::parent_within("/a/../b")]
    #[case::dot_at_the_begin("/./a")]
    #[case::dot_and_slash_at_the_end("/a/./")]
    #[case::three_dots("/...")]
    #[case::dots_within_segments("/a.b/..c/")]
    fn clean_paths_are_known(#[case] path: &str) {
        assert_eq!(is_clean(path), clean(path) == path);
    }
}

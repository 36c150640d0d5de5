//! Routes of the control plane.

use std::pin::Pin;

use http::Method;

use super::principal::Principal;
use super::v1::{bundles, secrets, sources, stacks};
use super::{Control, health, metrics};
use http_server::path::EscapedSlash;
use http_server::{ApiError, Reply, Request, Route};

/// Boxed future of a handler, with the response.
type ReplyFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, ApiError>> + Send + 'a>>;

/// Handler of a route. A handler that requires authentication accepts a principal, which only a
/// valid key yields.
#[derive(Debug)]
pub(super) enum Handler {
    /// Endpoint without authentication.
    Public(for<'a> fn(&'a Control, &'a Request) -> ReplyFuture<'a>),
    /// Endpoint that requires a valid key.
    Bearer(for<'a> fn(&'a Control, &'a Principal, &'a Request) -> ReplyFuture<'a>),
}

impl Handler {
    /// Returns true if the endpoint requires no key.
    pub(super) fn is_public(&self) -> bool {
        matches!(self, Self::Public(_))
    }
}

/// Creates the table entry of an endpoint below `/v1`, which requires a key.
macro_rules! bearer {
    ($method:ident, $pattern:literal, $($endpoint:ident)::+) => {
        Route {
            method: Method::$method,
            pattern: $pattern,
            slash: EscapedSlash::Literal,
            endpoint: Handler::Bearer(|control, principal, request| {
                Box::pin($($endpoint)::+::handle(control, principal, request))
            }),
        }
    };
}

/// All endpoints of the control plane.
pub(super) static ROUTES: &[Route<Handler>] = &[
    Route {
        method: Method::GET,
        pattern: "/health",
        slash: EscapedSlash::Literal,
        endpoint: Handler::Public(|control, request| {
            Box::pin(health::get::handle(control, request))
        }),
    },
    Route {
        method: Method::GET,
        pattern: "/metrics",
        slash: EscapedSlash::Literal,
        endpoint: Handler::Public(|control, request| {
            Box::pin(metrics::get::handle(control, request))
        }),
    },
    bearer!(GET, "/v1/bundles", bundles::list),
    bearer!(GET, "/v1/bundles/{bundle}", bundles::get),
    bearer!(PUT, "/v1/bundles/{bundle}", bundles::put),
    bearer!(DELETE, "/v1/bundles/{bundle}", bundles::delete),
    bearer!(GET, "/v1/bundles/{bundle}/status", bundles::status::list),
    bearer!(
        GET,
        "/v1/bundles/{bundle}/status/latest",
        bundles::status::latest
    ),
    bearer!(GET, "/v1/sources", sources::list),
    bearer!(GET, "/v1/sources/{source}", sources::get),
    bearer!(PUT, "/v1/sources/{source}", sources::put),
    bearer!(DELETE, "/v1/sources/{source}", sources::delete),
    bearer!(
        GET,
        "/v1/sources/{source}/data/{path...}",
        sources::data::get
    ),
    bearer!(
        POST,
        "/v1/sources/{source}/data/{path...}",
        sources::data::post
    ),
    bearer!(
        PUT,
        "/v1/sources/{source}/data/{path...}",
        sources::data::put
    ),
    bearer!(
        DELETE,
        "/v1/sources/{source}/data/{path...}",
        sources::data::delete
    ),
    bearer!(GET, "/v1/stacks", stacks::list),
    bearer!(GET, "/v1/stacks/{stack}", stacks::get),
    bearer!(PUT, "/v1/stacks/{stack}", stacks::put),
    bearer!(DELETE, "/v1/stacks/{stack}", stacks::delete),
    bearer!(GET, "/v1/secrets", secrets::list),
    bearer!(GET, "/v1/secrets/{secret}", secrets::get),
    bearer!(PUT, "/v1/secrets/{secret}", secrets::put),
    bearer!(DELETE, "/v1/secrets/{secret}", secrets::delete),
];

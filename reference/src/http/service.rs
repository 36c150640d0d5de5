//! The `Service` trait: handlers behind listeners and connections.

use std::sync::Arc;

use http::Method;

use super::memory_budget::MemoryBudget;
use super::options::ServeOptions;
use super::reply::Reply;
use super::request::Request;
use super::tls::Tls;

/// Answers requests.
pub trait Service: Send + Sync + 'static {
    /// Whether no answer holds up the thread of its connection for long, so that each connection
    /// can stay on one thread.
    const IS_BRIEF: bool = false;

    /// Answers one request.
    fn answer(self: &Arc<Self>, request: Request) -> impl Future<Output = Reply> + Send;

    /// Whether a request asks only how the server is. It is answered also when the server has no
    /// connection left.
    fn is_probe(&self, _method: &Method, _path: &str) -> bool {
        false
    }

    /// The largest body, in bytes as sent, that a request may have; more is answered with 400
    /// `invalid_parameter`.
    fn body_limit(&self) -> usize;
}

/// What all connections of one listener share.
pub(super) struct Server<S> {
    pub(super) service: Arc<S>,
    pub(super) tls: Option<Tls>,
    pub(super) options: ServeOptions,
    /// The memory for the bodies of requests.
    pub(super) bodies: MemoryBudget,
    /// The memory for answers.
    pub(super) answers: MemoryBudget,
}

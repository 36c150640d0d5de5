//! The `Service` trait: handlers behind listeners and connections.

use std::sync::Arc;

use http::Method;

use super::memory_budget::MemoryBudget;
use super::options::ServeOptions;
use super::reply::Reply;
use super::request::Request;
use super::tls::Tls;

/// Handler of requests.
pub trait Service: Send + Sync + 'static {
    /// Whether no response blocks the thread of its connection for long, so that each connection
    /// can stay on one thread.
    const IS_BRIEF: bool = false;

    /// Answers one request.
    fn answer(self: &Arc<Self>, request: Request) -> impl Future<Output = Reply> + Send;

    /// Whether a request is a health or metrics probe. It is answered even when the server is at
    /// its connection limit.
    fn is_probe(&self, _method: &Method, _path: &str) -> bool {
        false
    }

    /// Maximum bytes of a request body as sent; larger bodies are refused with 400
    /// `invalid_parameter`.
    fn body_limit(&self) -> usize;
}

/// Shared state of all connections of a listener.
pub(super) struct Server<S> {
    pub(super) service: Arc<S>,
    pub(super) tls: Option<Tls>,
    pub(super) options: ServeOptions,
    /// Memory budget of request bodies.
    pub(super) bodies: MemoryBudget,
    /// Memory budget of responses.
    pub(super) answers: MemoryBudget,
}

//! Scheduling: inline attempts on connection threads, and evaluation threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::HeaderName;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::Engine;
use super::explain::Explain;
use super::request_body::LARGE_BODY;
use super::routes::Destination;
use super::workload::Workload;
use http_server::request::InlineAttempt;
use http_server::{ApiError, Reply, Request};

/// Time budget of an inline attempt on a connection thread.
const INLINE_BUDGET: Duration = Duration::from_micros(500);

/// Thread on which a request is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Schedule {
    /// On the connection thread.
    Here,
    /// On the connection thread within the budget, because its query has lately been quick.
    InlineAttempt,
    /// On a separate thread.
    Thread,
    /// On a separate thread, after admission, because it evaluates.
    Admitted,
}

impl Engine {
    /// Schedules a request. No request blocks the thread of its connection for long.
    pub(super) async fn schedule(self: &Arc<Self>, mut request: Request) -> Reply {
        let destination = Destination::find(self, &mut request);
        let schedule = self.schedule_of(&destination, &request);
        if schedule == Schedule::Here {
            return self.respond_at(destination, &mut request);
        }
        if schedule == Schedule::InlineAttempt
            && let Some(reply) = self.attempt(&destination, &mut request)
        {
            return reply;
        }
        let _waiting = Waiting(Arc::clone(&request.cancelled));
        let limits = Arc::clone(self.state().limits());
        let admitted = match schedule {
            Schedule::Thread => None,
            _ => limits.admit().await,
        };
        let engine = Arc::clone(self);
        let answered = tokio::task::spawn_blocking(move || {
            let _admitted = admitted;
            engine.respond_at(destination, &mut request)
        });
        let answered = answered.await;
        answered.unwrap_or_else(|failure| {
            tracing::error!(%failure, "the handler panicked");
            ApiError::server_failed().reply()
        })
    }

    fn schedule_of(&self, destination: &Destination, request: &Request) -> Schedule {
        let authorizes = self.authorizes();
        let Destination::Route(route) = destination else {
            return match authorizes {
                true => Schedule::Admitted,
                false => Schedule::Here,
            };
        };
        match route.endpoint.workload {
            Workload::Inline => match (authorizes, self.permits_quickly()) {
                (false, _) => Schedule::Here,
                (true, true) => Schedule::InlineAttempt,
                (true, false) => Schedule::Thread,
            },
            Workload::Storage if !authorizes => Schedule::Thread,
            workload @ (Workload::Decision | Workload::Residual | Workload::Filter)
                if self.permits_quickly() && self.is_quick(workload, request) =>
            {
                Schedule::InlineAttempt
            }
            _ => Schedule::Admitted,
        }
    }

    /// Whether the authorization policy, if there is one, is worth an inline attempt.
    fn permits_quickly(&self) -> bool {
        if !self.authorizes() {
            return true;
        }
        let path = &self.config().default_authorization_decision;
        let cached = self.state().cached_read(path);
        cached.is_some_and(|query| query.latency.is_quick())
    }

    /// Whether a request for a decision or a residual is worth an inline attempt.
    fn is_quick(&self, workload: Workload, request: &Request) -> bool {
        self.may_be_quick(request) && self.was_quick(workload, request)
    }

    /// Whether nothing about a request suggests that it takes long.
    fn may_be_quick(&self, request: &Request) -> bool {
        let has = |name: HeaderName, part| {
            let header = request.header(name);
            header.is_some_and(|value| value.contains(part))
        };
        // The input may be in the query, too.
        let lengths = request.query.iter().map(|(_, value)| value.len());
        // Mask and drop policies are evaluated with the decision, however long that takes.
        !(request.body.len() + lengths.sum::<usize>() > LARGE_BODY
            || has(CONTENT_ENCODING, "gzip")
            || has(CONTENT_TYPE, "yaml")
            || Explain::from_request(request).is_some()
            || self.logs_decisions())
    }

    /// Whether the same query has lately been quick.
    fn was_quick(&self, workload: Workload, request: &Request) -> bool {
        let state = self.state();
        match workload {
            // The root includes all documents.
            Workload::Decision if request.path.open().is_empty() => false,
            Workload::Decision => {
                let cached = state.decisions(&request.method).snapshot();
                let cached = cached.get(request.path.cache_key());
                cached.is_some_and(|query| query.latency.is_quick())
            }
            Workload::Filter => {
                let cached = state.filters.get(request.path.cache_key());
                cached.is_some_and(|filter| filter.latency.is_quick())
            }
            Workload::Residual => state.residual_latency.is_quick(),
            Workload::Inline | Workload::Evaluation | Workload::Storage => false,
        }
    }

    /// Attempts to answer a request inline; absent if the attempt was abandoned.
    fn attempt(&self, destination: &Destination, request: &mut Request) -> Option<Reply> {
        let attempt = Arc::new(InlineAttempt::within(INLINE_BUDGET));
        request.inline_attempt = Some(Arc::clone(&attempt));
        let reply = self.respond_at(destination.clone(), request);
        request.inline_attempt = None;
        (!attempt.is_abandoned()).then_some(reply)
    }
}

/// Cancels a request when its client stops waiting for the response.
#[derive(Debug)]
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::header::ACCEPT;

    use super::{Destination, Engine, Request, Schedule};

    const QUERY: &str = r#"{"query": "data.app.allow"}"#;

    fn request(method: &str, path: &str, body: &str) -> Request {
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header(ACCEPT, "application/vnd.engine.ucast.all+json");
        let request = request.body(Bytes::copy_from_slice(body.as_bytes()));
        Request::from(request.unwrap_or_default())
    }

    fn scheduled(engine: &Engine, path: &str, body: &str) -> Schedule {
        let mut request = request("POST", path, body);
        let destination = Destination::find(engine, &mut request);
        engine.schedule_of(&destination, &request)
    }

    /// Whether a request is attempted inline once it was quick, which happens eventually even if
    /// other processes load the processor.
    fn is_attempted_inline(engine: &Engine, path: &str, body: &str) -> bool {
        assert_eq!(scheduled(engine, path, body), Schedule::Admitted, "{path}");
        (0..500).any(|_| {
            let reply = engine.respond(request("POST", path, body));
            assert_eq!(reply.status, 200, "{path}");
            scheduled(engine, path, body) == Schedule::InlineAttempt
        })
    }

    #[test]
    fn what_was_quick_is_attempted_inline_at_once() {
        let engine = Engine::default();
        let policy = "package app\n\nallow if input.rows.level > 3\n";
        engine.respond(request("PUT", "/v1/policies/app", policy));
        assert!(is_attempted_inline(&engine, "/v1/data/app/allow", "{}"));
        assert!(is_attempted_inline(&engine, "/v1/compile", QUERY));
        let unknown = r#"{"unknowns": ["input.rows"]}"#;
        assert!(is_attempted_inline(
            &engine,
            "/v1/compile/app/allow",
            unknown
        ));
        assert!(
            !is_attempted_inline(&engine, "/v1/data", "{}"),
            "all documents at once"
        );
        assert!(
            !is_attempted_inline(&engine, "/v1/query", QUERY),
            "any query"
        );
    }
}

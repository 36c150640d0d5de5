//! Which threads answer a request.

use std::sync::Arc;
use std::time::Duration;

use http::Method;

use super::Engine;
use super::explain::Explain;
use crate::http::request::Trial;
use crate::http::{Reply, Request};

/// Requests that give more than so many bytes are not tried by the threads that serve connections.
pub(super) const LARGE_BODY: usize = 64 << 10;

/// How long a thread that serves connections tries to answer a request.
const TRIAL: Duration = Duration::from_micros(500);

/// Where a request is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// By the thread that serves its connection: it only looks at little.
    Here,
    /// There, too, unless that takes too long: it has lately been quick.
    Trial,
    /// By a thread of its own.
    Elsewhere,
    /// The same, when it is its turn: it evaluates.
    Admitted,
}

impl Engine {
    /// Where a request is answered. Whatever is said here, no request holds up the thread that
    /// serves its connection for long.
    pub(super) fn place(&self, request: &Request) -> Place {
        let path = request.path.as_str();
        let decides = path.starts_with("/v1/data/");
        match request.method {
            Method::GET if matches!(path, "/" | "/health" | "/metrics") => {
                match (self.0.authorizes, self.permits_quickly()) {
                    (false, _) => Place::Here,
                    (true, true) => Place::Trial,
                    (true, false) => Place::Elsewhere,
                }
            }
            Method::GET | Method::POST
                if decides && self.permits_quickly() && self.is_quick(request) =>
            {
                Place::Trial
            }
            Method::GET if path.starts_with("/v1/policies") && !self.0.authorizes => {
                Place::Elsewhere
            }
            Method::GET | Method::POST => Place::Admitted,
            _ if self.0.authorizes => Place::Admitted,
            _ => Place::Elsewhere,
        }
    }

    /// Whether the policy that decides on requests, if there is one, is worth a trial.
    fn permits_quickly(&self) -> bool {
        if !self.0.authorizes {
            return true;
        }
        let path = &self.config().default_authorization_decision;
        let kept = self.state().kept_read(path);
        kept.is_some_and(|query| query.pace.is_quick())
    }

    /// Whether a request for a decision is worth a trial.
    fn is_quick(&self, request: &Request) -> bool {
        let has = |name, part| {
            let header = request.header(name);
            header.is_some_and(|value| value.contains(part))
        };
        // What policies hide of a decision is decided with it, however long that takes.
        let is_logged = || self.config().plugins.decision_logs.is_some();
        // The input may stand in the query, too.
        let given = request.query.iter().map(|(_, value)| value.len());
        if request.body.len() + given.sum::<usize>() > LARGE_BODY
            || has("content-encoding", "gzip")
            || has("content-type", "yaml")
            || Explain::asked(request).is_some()
            || is_logged()
        {
            return false;
        }
        let kept = self.state().decisions(&request.method).get(&request.path);
        kept.is_some_and(|query| query.pace.is_quick())
    }

    /// The answer to a request, if it can be had at once.
    pub(super) fn attempt(&self, request: &Request) -> Option<Reply> {
        let trial = Arc::new(Trial::within(TRIAL));
        let reply = self.respond(Request {
            trial: Some(Arc::clone(&trial)),
            ..request.clone()
        });
        (!trial.is_given_up()).then_some(reply)
    }
}

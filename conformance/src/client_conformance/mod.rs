//! Conformance of clients: each rule is a clause of the documents, seen from the client.
//!
//! A [`rules::Rule`] is data: the initial state of the server, the operations of the client, their
//! expected results, and the requests that the server must receive. `run_rule` starts a server
//! for it (`mock`), and drives a `Subject`: the adapter of a client, or the reference client with
//! faults injected on request. `judge` emits the same events as a run on a server, so that the
//! reports are the same.

mod adapter;
mod adapter_reply;
mod exchange;
mod expected;
mod expected_request;
mod fault;
mod judge;
mod matrix;
mod reference_client;
pub mod rules;
mod run_rule;

pub(crate) use adapter::{Adapter, Broken};
pub(crate) use judge::{Judging, judge};
pub use matrix::{Matrix, kill_matrix};
pub(crate) use reference_client::Model;
pub use rules::Rules;

use std::time::Duration;

use serde_json::Value;

/// Client under test, or the reference client.
#[derive(Debug)]
pub(crate) enum Subject {
    /// A client behind an adapter process.
    Adapter(Box<Adapter>),
    /// The client of this crate.
    Model(Box<Model>),
}

impl Subject {
    /// Requests one operation from the client.
    ///
    /// # Errors
    /// There is no reply to judge.
    async fn send(&mut self, request: &Value, limit: Duration) -> Result<Value, Broken> {
        match self {
            Self::Adapter(adapter) => adapter.send(request, limit).await,
            Self::Model(model) => match tokio::time::timeout(limit, model.answer(request)).await {
                Ok(answer) => Ok(answer),
                Err(_) => Err(Broken::Slow(limit)),
            },
        }
    }

    /// Whether an adapter process has been started and has answered every request.
    fn is_running(&self) -> bool {
        match self {
            Self::Adapter(adapter) => adapter.is_running(),
            Self::Model(_) => false,
        }
    }

    /// Ends the client; an adapter process is killed only if it does not exit in time.
    pub(crate) async fn end(&mut self) {
        if let Self::Adapter(adapter) = self {
            adapter.end().await;
        }
    }
}

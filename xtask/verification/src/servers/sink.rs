//! Receiver of decision logs with selectable failures.

use std::io::Read as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::read::GzDecoder;
use serde_json::Value;

use super::message::Message;
use super::peer::{Peer, PeerScript};
use super::wire::Failure;

/// Behaviour of the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureMode {
    Good,
    Fails,
    Hangs,
    HangsUp,
    /// Accepts the decisions, and then closes the connection without a response.
    TakesAndHangsUp,
}

/// Receiver of decision logs. Clones share their state.
#[derive(Debug, Clone)]
pub(crate) struct Sink(Arc<Mutex<SinkState>>);

#[derive(Debug)]
struct SinkState {
    mood: FailureMode,
    /// Ids of all received decisions, in order of arrival.
    ids: Vec<String>,
    /// Errors of uploads that could not be parsed.
    garbage: Vec<String>,
}

impl Sink {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(SinkState {
            mood: FailureMode::Good,
            ids: Vec::new(),
            garbage: Vec::new(),
        })))
    }

    fn received(&self) -> MutexGuard<'_, SinkState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, mood: FailureMode) {
        self.received().mood = mood;
    }

    /// Returns the ids of all received decisions, in order of arrival.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.received().ids.clone()
    }

    /// Returns the error of the first upload that could not be parsed; `None` if all could be
    /// parsed.
    pub(crate) fn garbage(&self) -> Option<String> {
        self.received().garbage.first().cloned()
    }

    /// Removes all recorded ids and errors.
    pub(crate) fn clear(&self) {
        let mut state = self.received();
        state.ids.clear();
        state.garbage.clear();
    }

    /// Starts the receiver on a port.
    ///
    /// # Errors
    /// When the port is in use.
    pub(crate) async fn listen(&self, port: u16) -> Result<Peer, Failure> {
        let sink = self.clone();
        let peer = Peer::start(port, move |request| {
            let response = sink.answer(&request);
            async move { response }
        });
        Ok(peer.await?)
    }

    fn answer(&self, request: &Message) -> PeerScript {
        let mut state = self.received();
        match state.mood {
            FailureMode::Good | FailureMode::TakesAndHangsUp => {}
            FailureMode::Fails => return PeerScript::status(500),
            FailureMode::Hangs => return PeerScript::Hang,
            FailureMode::HangsUp => return PeerScript::Close,
        }
        match decisions(&request.body) {
            Ok(decisions) => state.ids.extend(decisions),
            Err(error) => state.garbage.push(error.to_string()),
        }
        match state.mood {
            FailureMode::TakesAndHangsUp => PeerScript::Close,
            _ => PeerScript::status(200),
        }
    }
}

/// Returns the ids of the decisions in an upload.
fn decisions(body: &[u8]) -> Result<Vec<String>, Failure> {
    let mut text = Vec::new();
    GzDecoder::new(body).read_to_end(&mut text)?;
    let decisions: Vec<Value> = serde_json::from_slice(&text)?;
    let ids = decisions.iter().map(|decision| {
        let id = decision.get("decision_id").and_then(Value::as_str);
        id.unwrap_or_default().to_owned()
    });
    Ok(ids.collect())
}

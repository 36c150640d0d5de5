//! A sink for decision logs that a task sets in a mood, and that remembers what it was told.

use std::io::Read as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::read::GzDecoder;
use serde_json::Value;

use super::message::Message;
use super::peer::{Peer, Said};
use super::wire::Failure;

/// How a sink behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Good,
    Fails,
    Hangs,
    HangsUp,
    /// Takes the decisions and then hangs up.
    TakesAndHangsUp,
}

/// A sink. Clones share everything.
#[derive(Debug, Clone)]
pub(crate) struct Sink(Arc<Mutex<Told>>);

#[derive(Debug)]
struct Told {
    mood: Mood,
    /// Of all decisions, in the order in which they came.
    ids: Vec<String>,
    /// Uploads that could not be read.
    garbage: Vec<String>,
}

impl Sink {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Told {
            mood: Mood::Good,
            ids: Vec::new(),
            garbage: Vec::new(),
        })))
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, mood: Mood) {
        self.told().mood = mood;
    }

    /// The ids of all decisions, in the order in which they came.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.told().ids.clone()
    }

    /// What could not be read, if anything.
    pub(crate) fn garbage(&self) -> Option<String> {
        self.told().garbage.first().cloned()
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        let mut told = self.told();
        told.ids.clear();
        told.garbage.clear();
    }

    /// Has the sink listen on a port.
    ///
    /// # Errors
    /// When it cannot.
    pub(crate) async fn listen(&self, port: u16) -> Result<Peer, Failure> {
        let sink = self.clone();
        let peer = Peer::start(port, move |asked| {
            let said = sink.answer(&asked);
            async move { said }
        });
        Ok(peer.await?)
    }

    fn answer(&self, asked: &Message) -> Said {
        let mut told = self.told();
        match told.mood {
            Mood::Good | Mood::TakesAndHangsUp => {}
            Mood::Fails => return Said::status(500),
            Mood::Hangs => return Said::Hang,
            Mood::HangsUp => return Said::Close,
        }
        match decisions(&asked.body) {
            Ok(decisions) => told.ids.extend(decisions),
            Err(why) => told.garbage.push(why.to_string()),
        }
        match told.mood {
            Mood::TakesAndHangsUp => Said::Close,
            _ => Said::status(200),
        }
    }
}

/// The ids of the decisions of an upload.
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

//! Received decision logs and status messages.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Read as _;

use serde_json::Value;

use crate::http_client::answer::BODY_LIMIT;

/// Maximum number of stored events, and of stored messages; the oldest are dropped.
const MAX_EVENTS: usize = 10_000;

/// Received events and messages, oldest first.
#[derive(Debug, Default)]
pub(super) struct ReceivedEvents {
    logs: VecDeque<Value>,
    status: VecDeque<Value>,
}

impl ReceivedEvents {
    /// Stores the items of a body: each element of the array for `logs`, otherwise the whole
    /// document.
    ///
    /// # Errors
    /// A message that describes the defect of the body.
    pub(super) fn record(
        &mut self,
        kind: &str,
        encoding: Option<&str>,
        body: &[u8],
    ) -> Result<(), String> {
        let sent = read(encoding, body)?;
        match (kind, sent) {
            ("logs", Value::Array(events)) => add(&mut self.logs, events),
            // A single event: no document specifies that events are sent in an array.
            ("logs", event) => add(&mut self.logs, [event]),
            (_, message) => add(&mut self.status, [message]),
        }
        Ok(())
    }

    /// Returns the received items of one type, `logs` or `status`; `None` for another type.
    pub(super) fn list(&self, kind: &str) -> Option<impl Iterator<Item = &Value> + use<'_>> {
        match kind {
            "logs" => Some(self.logs.iter()),
            "status" => Some(self.status.iter()),
            _ => None,
        }
    }
}

fn add(events: &mut VecDeque<Value>, items: impl IntoIterator<Item = Value>) {
    for item in items {
        if events.len() == MAX_EVENTS {
            events.pop_front();
        }
        events.push_back(item);
    }
}

/// Parses a body as JSON after decoding it.
fn read(encoding: Option<&str>, body: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(&decoded(encoding, body)?)
        .map_err(|error| format!("invalid body: expected JSON: {error}"))
}

/// Decodes the content encoding of a body.
///
/// # Errors
/// The encoding is unknown, or the body does not match it.
pub(super) fn decoded<'a>(encoding: Option<&str>, body: &'a [u8]) -> Result<Cow<'a, [u8]>, String> {
    match encoding {
        None => Ok(body.into()),
        Some(coding) if coding.eq_ignore_ascii_case("gzip") => {
            let mut decompressed = Vec::new();
            flate2::read::MultiGzDecoder::new(body)
                .take(BODY_LIMIT)
                .read_to_end(&mut decompressed)
                .map_err(|error| format!("invalid body: expected gzip: {error}"))?;
            Ok(decompressed.into())
        }
        Some(other) => Err(format!(
            "unsupported content encoding `{other}`: expected gzip"
        )),
    }
}

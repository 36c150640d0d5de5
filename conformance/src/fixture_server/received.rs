//! Received decision logs and status messages.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Read as _;

use serde_json::Value;

use crate::http_client::answer::BODY_LIMIT;

/// Maximum number of events, and of messages; the oldest are dropped.
const KEPT: usize = 10_000;

/// Received items, oldest first.
#[derive(Debug, Default)]
pub(super) struct Received {
    logs: VecDeque<Value>,
    status: VecDeque<Value>,
}

impl Received {
    /// Stores the contents of a body: each item of an array of `logs`, otherwise the whole.
    ///
    /// # Errors
    /// What is wrong with the body.
    pub(super) fn keep(
        &mut self,
        kind: &str,
        encoding: Option<&str>,
        body: &[u8],
    ) -> Result<(), String> {
        let sent = read(encoding, body)?;
        match (kind, sent) {
            ("logs", Value::Array(events)) => add(&mut self.logs, events),
            // No document specifies how events are sent.
            ("logs", event) => add(&mut self.logs, [event]),
            (_, message) => add(&mut self.status, [message]),
        }
        Ok(())
    }

    /// Received items of one kind, `logs` or `status`.
    pub(super) fn list(&self, kind: &str) -> Option<impl Iterator<Item = &Value> + use<'_>> {
        match kind {
            "logs" => Some(self.logs.iter()),
            "status" => Some(self.status.iter()),
            _ => None,
        }
    }
}

fn add(kept: &mut VecDeque<Value>, items: impl IntoIterator<Item = Value>) {
    for item in items {
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(item);
    }
}

/// Parses the JSON document of a body.
fn read(encoding: Option<&str>, body: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(&decoded(encoding, body)?)
        .map_err(|error| format!("invalid body: expected JSON: {error}"))
}

/// Decodes a body.
///
/// # Errors
/// The encoding is unknown, or the body does not match it.
pub(super) fn decoded<'a>(encoding: Option<&str>, body: &'a [u8]) -> Result<Cow<'a, [u8]>, String> {
    match encoding {
        None => Ok(body.into()),
        Some(coding) if coding.eq_ignore_ascii_case("gzip") => {
            let mut plain = Vec::new();
            flate2::read::MultiGzDecoder::new(body)
                .take(BODY_LIMIT)
                .read_to_end(&mut plain)
                .map_err(|error| format!("invalid body: expected gzip: {error}"))?;
            Ok(plain.into())
        }
        Some(other) => Err(format!("the content encoding `{other}` is not known here")),
    }
}

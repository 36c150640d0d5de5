//! Chunks: compressed JSON arrays of events, of bounded length, as they are uploaded.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use rego::value::from_json;

use super::MAX_EVENT;
use super::entry::Entry;

/// Part of the buffered events, in its uploaded form.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Sequence number that follows that of the last event.
    pub(super) end: u64,
    /// Compressed JSON array; absent if the only event is dropped.
    pub(super) body: Option<Vec<u8>>,
    /// Whether the only event lacks the results of non-deterministic functions.
    pub(super) without_calls: bool,
}

/// Compresses as many of the first events as fit in the limit; `None` without events. A single
/// event that exceeds the limit is sent without the results of non-deterministic functions, if it
/// fits then.
pub(super) fn pack(entries: &[Entry], limit: usize) -> io::Result<Option<Chunk>> {
    let mut count = entries.len();
    loop {
        let packed = entries.get(..count).unwrap_or(entries);
        let Some(last) = packed.last() else {
            return Ok(None);
        };
        let body = compress(packed.iter().map(|entry| &entry.event))?;
        let shorter = match packed {
            _ if body.len() <= limit => None,
            [only] => {
                let shorter = without_calls(&only.event);
                let shorter = shorter.map(|event| compress([&event])).transpose()?;
                Some(shorter.filter(|body| body.len() <= limit))
            }
            _ => {
                count /= 2;
                continue;
            }
        };
        let without_calls = matches!(shorter, Some(Some(_)));
        return Ok(Some(Chunk {
            end: last.number + 1,
            body: shorter.unwrap_or(Some(body)),
            without_calls,
        }));
    }
}

/// Returns an event without the results of non-deterministic functions, if it has any.
fn without_calls(event: &[u8]) -> Option<Bytes> {
    let mut event = from_json(event).ok()?;
    event.as_object_mut()?.remove("nd_builtin_cache")?;
    event.to_json(false, MAX_EVENT).ok().map(Bytes::from)
}

fn compress<'e>(events: impl IntoIterator<Item = &'e Bytes>) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut separator = b"[";
    for event in events {
        encoder.write_all(separator)?;
        encoder.write_all(event)?;
        separator = b",";
    }
    encoder.write_all(b"]")?;
    encoder.finish()
}

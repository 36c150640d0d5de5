//! Recovery of segments when the engine starts.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use tracing::warn;

use super::scanner::Scanner;
use super::segment::{self, Segment};

/// Recovers the undelivered segments, and the number of the next record. Bytes after the last
/// complete record were being written when the process ended, and are truncated.
pub(super) fn recover(directory: &Path, delivered: u64) -> io::Result<(Vec<Segment>, u64)> {
    let mut segments = segment::list(directory)?;
    let mut next = delivered;
    while let Some(last) = segments.pop() {
        let (length, end) = scan(directory, last)?;
        if length < last.length {
            let bytes = last.length - length;
            warn!(
                bytes,
                "the end of the decision log is incomplete and was truncated"
            );
        }
        // Numbers are never reused, even if their records are lost.
        next = next.max(last.first).max(end);
        if length == 0 {
            segment::remove(directory, last.first);
            continue;
        }
        if length < last.length {
            let path = segment::path(directory, last.first);
            OpenOptions::new().write(true).open(path)?.set_len(length)?;
        }
        segments.push(Segment { length, ..last });
        break;
    }
    // Each segment starts where its predecessor ends.
    let ends = segments.iter().skip(1).map(|segment| segment.first);
    let ends: Vec<u64> = ends.chain([next]).collect();
    let (finished, remaining): (Vec<_>, Vec<_>) = segments
        .into_iter()
        .zip(ends)
        .partition(|(_, end)| *end <= delivered);
    for (segment, _) in finished {
        segment::remove(directory, segment.first);
    }
    Ok((
        remaining.into_iter().map(|(segment, _)| segment).collect(),
        next,
    ))
}

/// Bytes up to the end of the last complete record of a segment, and the number after that record.
fn scan(directory: &Path, segment: Segment) -> io::Result<(u64, u64)> {
    let mut scanner = Scanner::open(&segment::path(directory, segment.first))?;
    let mut end = segment.first;
    while let Some(found) = scanner.next(segment.length)? {
        end = end.max(found.number.saturating_add(1));
    }
    Ok((scanner.at(), end))
}

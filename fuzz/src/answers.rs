//! Splits the bytes of one connection into responses.

use std::io::Read;

use flate2::read::GzDecoder;

/// HTTP response.
#[derive(Debug)]
pub struct Answer {
    /// Status code of the response.
    pub status: u16,
    /// Head and decoded body of the response, as text.
    pub text: String,
}

/// Splits the bytes received on a connection into responses, in order. No body contains a line end
/// of HTTP, so no part of a body looks like the head of another response.
pub fn answers(bytes: &[u8]) -> Vec<Answer> {
    const START: &[u8] = b"HTTP/1.1 ";
    let starts: Vec<_> = (0..bytes.len())
        .filter(|offset| is_head(&bytes[*offset..], START))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let ranges = starts.iter().zip(ends);
    ranges
        .map(|(start, end)| parse_answer(&bytes[*start..end]))
        .collect()
}

/// Whether `bytes` begins with a status line, which begins with `start`.
fn is_head(bytes: &[u8], start: &[u8]) -> bool {
    let Some(line) = bytes.strip_prefix(start) else {
        return false;
    };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.len() > 3 && line[..3].iter().all(u8::is_ascii_digit) && line.ends_with(b"\r")
}

fn parse_answer(bytes: &[u8]) -> Answer {
    let status = String::from_utf8_lossy(&bytes[9..12])
        .parse()
        .unwrap_or_default();
    let end = bytes.windows(4).position(|part| part == b"\r\n\r\n");
    let (head, body) = bytes.split_at(end.map_or(bytes.len(), |end| end + 4));
    let mut text = String::from_utf8_lossy(head).into_owned();
    let mut decoded = Vec::new();
    // A truncated response is shown up to its end.
    if body.starts_with(&[0x1f, 0x8b]) {
        let _ = GzDecoder::new(body).read_to_end(&mut decoded);
    } else {
        decoded = body.to_vec();
    }
    text.push_str(&String::from_utf8_lossy(&decoded));
    Answer { status, text }
}

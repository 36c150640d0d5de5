//! Framing of HTTP/1 requests. The parser gets the bytes of one message at a time, so that the
//! start of the next request line is known. In request targets, bytes that the parser would reject,
//! or drop as a fragment, are percent-encoded.
//!
//! The lengths of bodies are those that the parser reports: headers are parsed nowhere else.

use std::io;
use std::ops::Range;

use percent_encoding::percent_encode_byte;

use super::activity::{Activity, BodyLength};

/// Position within the bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Before a request line, possibly between empty lines.
    Start,
    Method,
    Target,
    /// After the target, in the rest of the head.
    Head(Line),
    /// After a complete head, whose body length the parser has not reported yet.
    HeadEnd,
    /// In a body, with this many bytes left.
    Body(u64),
    Chunks(Line),
}

/// Position within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Within,
    Start,
    /// After a carriage return at the start of the line.
    Return,
}

impl Line {
    /// Advances to the end of the first empty line, if there is one.
    fn end_of_empty(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            if *self == Self::Within {
                let rest = bytes.get(at..)?;
                at += rest.iter().position(|byte| *byte == b'\n')? + 1;
                *self = Self::Start;
            }
            let byte = *bytes.get(at)?;
            at += 1;
            match (byte, *self) {
                (b'\n', _) => return Some(at),
                (b'\r', Self::Start) => *self = Self::Return,
                _ => *self = Self::Within,
            }
        }
    }
}

/// Bytes to pass to the parser.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Number of the read bytes that belong to the message.
    pub(super) count: usize,
    /// The same bytes with an encoded target, if the target needs encoding.
    pub(super) encoded: Option<Vec<u8>>,
}

/// State of the framing of one connection.
#[derive(Debug)]
pub(super) struct Framing {
    position: Position,
    /// Number of requests that the parser has reported.
    requests: u64,
}

impl Default for Framing {
    fn default() -> Self {
        Self {
            position: Position::Start,
            requests: 0,
        }
    }
}

impl Framing {
    /// Takes the leading bytes that belong to the current message.
    ///
    /// # Errors
    /// `InvalidData` if the parser sees different messages; then no more bytes are read.
    pub(super) fn take(&mut self, activity: &Activity, bytes: &[u8]) -> io::Result<Piece> {
        self.follow(activity)?;
        let (begin, target) = self.request_line(bytes);
        let rest = bytes.get(begin..).unwrap_or_default();
        let count = begin + self.rest_of_message(rest);
        let message = bytes.get(..count).unwrap_or_default();
        let encoded = encode(message, target);
        Ok(Piece { count, encoded })
    }

    /// Synchronizes the position with the requests that the parser has reported.
    fn follow(&mut self, activity: &Activity) -> io::Result<()> {
        let started = activity.started_exchanges();
        let is_next = self.position == Position::HeadEnd && started == self.requests + 1;
        if is_next {
            self.requests = started;
            self.position = match activity.body_length() {
                BodyLength::Exact(length) => Position::Body(length),
                BodyLength::Chunked => Position::Chunks(Line::Within),
            };
        }
        if self.position == Position::HeadEnd || started != self.requests {
            let message = "the parser and the framing disagree about the requests";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let has_ended = match self.position {
            Position::Body(rest) => rest == 0,
            Position::Chunks(_) => activity.is_body_read(),
            _ => false,
        };
        if has_ended {
            self.position = Position::Start;
        }
        Ok(())
    }

    /// Scans a request line to the end of its target; returns the number of bytes scanned, and the
    /// range of the target.
    fn request_line(&mut self, bytes: &[u8]) -> (usize, Range<usize>) {
        let mut target = 0..0;
        for (at, byte) in bytes.iter().enumerate() {
            self.position = match (self.position, byte) {
                (Position::Start, b'\r' | b'\n') => Position::Start,
                (Position::Method, b' ') => {
                    target = at + 1..at + 1;
                    Position::Target
                }
                (Position::Target, b' ') => Position::Head(Line::Within),
                (Position::Method | Position::Target, b'\n') => Position::Head(Line::Start),
                (Position::Start | Position::Method, _) => Position::Method,
                (Position::Target, _) => {
                    target.end = at + 1;
                    Position::Target
                }
                _ => return (at, target),
            };
        }
        (bytes.len(), target)
    }

    /// Advances to the end of the head, of the body, or of an empty line between chunks.
    fn rest_of_message(&mut self, bytes: &[u8]) -> usize {
        match &mut self.position {
            Position::Start | Position::Method | Position::Target | Position::HeadEnd => {
                bytes.len()
            }
            Position::Head(line) => match line.end_of_empty(bytes) {
                Some(end) => {
                    self.position = Position::HeadEnd;
                    end
                }
                None => bytes.len(),
            },
            Position::Body(rest) => {
                let count = usize::try_from(*rest).unwrap_or(usize::MAX);
                let count = count.min(bytes.len());
                *rest -= count as u64;
                count
            }
            Position::Chunks(line) => match line.end_of_empty(bytes) {
                Some(end) => {
                    *line = Line::Within;
                    end
                }
                None => bytes.len(),
            },
        }
    }
}

/// Whether the parser rejects a byte in a target, or ends the target there.
fn has_to_be_encoded(byte: u8) -> bool {
    matches!(byte, b'"' | b'#' | b'<' | b'>' | b'`') || !byte.is_ascii()
}

/// Returns the bytes with an encoded target, if the target needs encoding.
fn encode(bytes: &[u8], target: Range<usize>) -> Option<Vec<u8>> {
    let (before, from) = bytes.split_at_checked(target.start)?;
    let (target, rest) = from.split_at_checked(target.len())?;
    if !target.iter().copied().any(has_to_be_encoded) {
        return None;
    }
    let mut encoded = before.to_vec();
    for byte in target {
        match has_to_be_encoded(*byte) {
            true => encoded.extend(percent_encode_byte(*byte).bytes()),
            false => encoded.push(*byte),
        }
    }
    encoded.extend(rest);
    Some(encoded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

    use super::super::activity::{Activity, Admission, BodyLength};
    use super::Framing;

    /// A request as it is sent, and the expected input of the parser.
    #[derive(Debug, Clone)]
    struct Message {
        sent: Vec<u8>,
        seen: Vec<u8>,
        /// Length of the body as it is sent.
        body: usize,
        length: BodyLength,
    }

    fn targets() -> impl Strategy<Value = (&'static str, &'static str)> {
        prop_oneof![
            Just(("/", "/")),
            Just(("/a?input={\"a\":1}", "/a?input={%22a%22:1}")),
            Just(("/<a>`#b", "/%3Ca%3E%60%23b")),
            Just(("/\u{e9}", "/%C3%A9")),
            Just(("/%22", "/%22")),
        ]
    }

    fn messages() -> impl Strategy<Value = Message> {
        let bytes =
            || prop::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), any::<u8>()], 0..9);
        let body = prop_oneof![
            Just((Vec::new(), BodyLength::Exact(0))),
            bytes().prop_map(|bytes| {
                let length = BodyLength::Exact(bytes.len() as u64);
                (bytes, length)
            }),
            prop::collection::vec(bytes(), 0..4).prop_map(|chunks| {
                let mut sent = Vec::new();
                for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
                    sent.extend(format!("{:x}\r\n", chunk.len()).bytes());
                    sent.extend(chunk);
                    sent.extend(b"\r\n");
                }
                sent.extend(b"0\r\n\r\n");
                (sent, BodyLength::Chunked)
            }),
        ];
        let before = prop_oneof![Just(""), Just("\r\n"), Just("\n")];
        let headers = prop_oneof![Just("\r\n"), Just("\n\n"), Just("\nA: \"#\r\n\n")];
        (before, targets(), headers, body).prop_map(|(before, target, headers, body)| {
            let message = |target: &str| {
                let line = format!("{before}PUT {target} HTTP/1.1\r\nHost: <a>{headers}\r\n");
                let line = line.replace("\n\n\r\n", "\n\n");
                [line.as_bytes(), &body.0].concat()
            };
            Message {
                sent: message(target.0),
                seen: message(target.1),
                body: body.0.len(),
                length: body.1,
            }
        })
    }

    proptest! {
        /// However requests are split into pieces, the parser gets each byte once, only targets are
        /// encoded, and no piece extends beyond a head or a message.
        #[test]
        fn pieces_end_with_their_message(
            messages in prop::collection::vec(messages(), 1..5),
            reads in prop::collection::vec(1_usize..40, 1..20),
        ) {
            let activity = Activity::new(Admission::Full);
            let mut framing = Framing::default();
            let mut sizes = reads.iter().cycle();
            let sent: Vec<u8> = messages.iter().flat_map(|one| one.sent.clone()).collect();
            let (mut at, mut begin, mut seen) = (0, 0, Vec::new());
            for message in &messages {
                let head = begin + message.sent.len() - message.body;
                let end = begin + message.sent.len();
                while at < end {
                    let most = sizes.next().map_or(sent.len(), |size| at + size).min(sent.len());
                    let bytes = sent.get(at..most).unwrap_or_default();
                    let piece = framing.take(&activity, bytes)?;
                    let taken = bytes.get(..piece.count).unwrap_or_default().to_vec();
                    seen.extend(piece.encoded.unwrap_or(taken));
                    let limit = if at < head { head } else { end };
                    at += piece.count;
                    assert!(piece.count > 0 && at <= limit, "{at} of {limit}");
                    if at == head {
                        activity.begin_exchange(message.length);
                    }
                }
                activity.set_body_read();
                activity.end_exchange();
                begin = end;
            }
            let expected: Vec<u8> = messages.iter().flat_map(|one| one.seen.clone()).collect();
            assert_eq!(seen, expected);
        }
    }

    /// Covers a parser that continues after a head, or reports a request that has not arrived.
    #[test]
    fn a_parser_that_disagrees_reads_nothing_more() {
        let activity = Activity::new(Admission::Full);
        let mut framing = Framing::default();
        let head = b"GET / HTTP/1.1\r\n\r\n";
        assert!(framing.take(&activity, head).is_ok());
        assert!(framing.take(&activity, head).is_err());
        let mut framing = Framing::default();
        assert!(framing.take(&activity, b"GET").is_ok());
        activity.begin_exchange(BodyLength::Exact(0));
        assert!(framing.take(&activity, b" /").is_err());
    }
}

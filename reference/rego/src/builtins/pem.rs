//! PEM and Base64 of certificates and keys.

use base64::alphabet::Alphabet;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, Engine};

use crate::value::lossy;

/// Base64 engine that ignores non-zero trailing bits when decoding.
const fn engine(alphabet: &Alphabet, padding: DecodePaddingMode) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(padding)
        .with_encode_padding(false);
    GeneralPurpose::new(alphabet, config)
}

const PADDED: GeneralPurpose = engine(&STANDARD, DecodePaddingMode::RequireCanonical);
const PADDED_URL: GeneralPurpose = engine(&URL_SAFE, DecodePaddingMode::RequireCanonical);
const LENIENT_URL: GeneralPurpose = engine(&URL_SAFE, DecodePaddingMode::Indifferent);

/// Decodes padded Base64.
///
/// # Errors
/// Returns the message that clients see.
pub(super) fn decode(text: impl AsRef<[u8]>) -> Result<Vec<u8>, String> {
    decode_with(&PADDED, *b"+/", text.as_ref())
}

/// Decodes Base64 in the URL-safe alphabet, with or without padding.
///
/// # Errors
/// Returns the message that clients see.
pub(super) fn decode_url(text: impl AsRef<[u8]>) -> Result<Vec<u8>, String> {
    let text = text.as_ref();
    let padding: &[u8] = match (text.ends_with(b"="), text.len() % 4) {
        (true, _) | (_, 0) => b"",
        (false, 2) => b"==",
        (false, 3) => b"=",
        _ => {
            let rendered = lossy(text);
            return Err(format!("illegal base64url string: {rendered}"));
        }
    };
    decode_with(&PADDED_URL, *b"-_", &[text, padding].concat())
}

/// Decodes Base64 in either alphabet, with or without padding.
pub(super) fn decode_any(text: &str) -> Option<Vec<u8>> {
    let text = text.replace('+', "-").replace('/', "_");
    LENIENT_URL.decode(text).ok()
}

/// Encodes in the URL-safe alphabet without padding.
pub(super) fn encode_url(bytes: &[u8]) -> String {
    LENIENT_URL.encode(bytes)
}

/// Encodes with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Decodes with an engine whose alphabet has these two characters in addition to alphanumerics.
fn decode_with(engine: &GeneralPurpose, marks: [u8; 2], text: &[u8]) -> Result<Vec<u8>, String> {
    let decoded = match text.iter().any(is_break) {
        true => {
            let bytes = text.iter().filter(|byte| !is_break(byte));
            engine.decode(bytes.copied().collect::<Vec<u8>>())
        }
        false => engine.decode(text),
    };
    decoded.map_err(|_| {
        let at = fault(marks, text);
        format!("illegal base64 data at input byte {at}")
    })
}

/// Whether a byte is part of a line break, which decoding ignores.
fn is_break(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Returns the offset of the error in undecodable input: an invalid character, data after the
/// padding, or the start of the incomplete last group, counted from the end of the input.
fn fault(marks: [u8; 2], text: &[u8]) -> usize {
    let bytes = text.iter().copied().enumerate();
    let mut rest = bytes.filter(|(_, byte)| !is_break(byte));
    let mut group_length = 0;
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'=' if group_length == 2 => {
                return match rest.next() {
                    Some((_, b'=')) => rest.next().map_or(text.len(), |(at, _)| at),
                    // The error is the padding that is not continued.
                    Some((at, _)) => at - 1,
                    None => text.len(),
                };
            }
            b'=' if group_length == 3 => return rest.next().map_or(text.len(), |(at, _)| at),
            byte if byte.is_ascii_alphanumeric() || marks.contains(&byte) => {}
            _ => return at,
        }
        group_length = (group_length + 1) % 4;
    }
    text.len() - group_length
}

/// PEM block.
#[derive(Debug)]
pub(super) struct Block {
    /// Type of the block, such as `CERTIFICATE`.
    pub(super) label: String,
    /// Decoded contents.
    pub(super) bytes: Vec<u8>,
}

/// Returns the first block and the rest of the input. The end of a block is searched for once, even
/// if many block starts precede it.
pub(super) fn next_block(text: &str) -> Option<(Block, &str)> {
    const BEGIN: &str = "-----BEGIN ";
    let (mut at, mut end) = (0, 0);
    loop {
        let rest = text.get(at..)?;
        at += match rest.starts_with(BEGIN) {
            true => BEGIN.len(),
            false => rest.find("\n-----BEGIN ")? + 1 + BEGIN.len(),
        };
        let tail = text.get(at..)?;
        if end < at {
            end = at + tail.find(END)?;
        }
        if let Some(found) = read_block(tail, end - at) {
            return Some(found);
        }
    }
}

/// Start of the last line of a block, with the preceding line break.
const END: &str = "\n-----END ";

/// Parses a block. The input begins with the label; the last line of the block begins at `end`.
fn read_block(text: &str, end: usize) -> Option<(Block, &str)> {
    let (block, last) = text.split_at_checked(end)?;
    let (first, body) = block.split_once('\n').unwrap_or((block, ""));
    let label = first.trim_end().strip_suffix("-----")?;
    let last = last.strip_prefix(END)?.strip_prefix(label)?;
    let rest = last.strip_prefix("-----")?;
    let (line, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    if !line.trim_end().is_empty() {
        return None;
    }
    // Lines with a colon before the data are headers.
    let mut data = body;
    while let Some((line, rest)) = data.split_once('\n') {
        if !line.contains(':') {
            break;
        }
        data = rest;
    }
    let data: String = data
        .chars()
        .filter(|letter| !letter.is_ascii_whitespace())
        .collect();
    let bytes = PADDED.decode(data).ok()?;
    let label = label.to_owned();
    Some((Block { label, bytes }, rest))
}

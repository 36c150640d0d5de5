//! Digests of files in bundle signatures.

use rego::Value;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

/// Returns the digest of a file's bytes or of its document; `None` for an unknown algorithm.
pub(super) fn digest(algorithm: &str, content: &[u8]) -> Option<Vec<u8>> {
    Some(match algorithm {
        "SHA-224" => Sha224::digest(content).to_vec(),
        "SHA-256" => Sha256::digest(content).to_vec(),
        "SHA-384" => Sha384::digest(content).to_vec(),
        "SHA-512" => Sha512::digest(content).to_vec(),
        "SHA-512-224" => Sha512_224::digest(content).to_vec(),
        "SHA-512-256" => Sha512_256::digest(content).to_vec(),
        _ => return None,
    })
}

/// Returns the canonical JSON of a document, which is the text that is signed: no whitespace,
/// object members sorted by name.
pub(super) fn canonical(document: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    write(document, &mut text);
    text
}

fn write(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Array(items) => {
            text.push(b'[');
            for (at, item) in items.iter().enumerate() {
                separate(at, text);
                write(item, text);
            }
            text.push(b']');
        }
        Value::Object(members) => {
            text.push(b'{');
            for (at, (name, member)) in members.iter().enumerate() {
                separate(at, text);
                write(name, text);
                text.push(b':');
                write(member, text);
            }
            text.push(b'}');
        }
        Value::String(string) => write_string(string, text),
        other => text.extend_from_slice(other.to_string().as_bytes()),
    }
}

fn separate(at: usize, text: &mut Vec<u8>) {
    if at > 0 {
        text.push(b',');
    }
}

/// Writes a JSON string with the escapes that signers use, also for the line breaks U+2028 and
/// U+2029.
fn write_string(string: &str, text: &mut Vec<u8>) {
    text.push(b'"');
    for character in string.chars() {
        let escaped = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => {
                let code = format!("\\u{:04x}", u32::from(character));
                text.extend_from_slice(code.as_bytes());
                continue;
            }
            other => {
                text.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        };
        text.extend_from_slice(escaped.as_bytes());
    }
    text.push(b'"');
}

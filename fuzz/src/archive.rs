//! Builds archives from the bytes of an input.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::script::{gzip, parts, split};

/// Key with which signatures are made.
pub const KEY: &str = "key";

/// Size of the blocks in which an archive stores its headers, in bytes.
const BLOCK: usize = 512;

/// Builds a valid archive of the files in an input. Each part of the input is a file: a line with
/// its name, an empty line, and its content. The content of `.signatures.json` is signed, unless it
/// already has a signature.
pub fn archive(input: &[u8]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for part in parts(input) {
        let (name, content) = split(&part.text);
        let name = String::from_utf8_lossy(name);
        let content = match &*name {
            ".signatures.json" if !content.starts_with(b"{\"signatures\"") => signed(content),
            _ => content.to_vec(),
        };
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        // A name that the format cannot hold makes no entry.
        let _ = builder.append_data(&mut header, &*name, content.as_slice());
    }
    gzip(&builder.into_inner().unwrap())
}

/// Returns the content of `.signatures.json` for these claims.
fn signed(claims: &[u8]) -> Vec<u8> {
    let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let content = format!(
        "{}.{}",
        encode(b"{\"alg\":\"HS256\",\"kid\":\"k\"}"),
        encode(claims)
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(KEY.as_bytes()).unwrap();
    mac.update(content.as_bytes());
    let mac = encode(&mac.finalize().into_bytes());
    format!("{{\"signatures\":[\"{content}.{mac}\"]}}").into_bytes()
}

/// Corrects the checksums of the archive in `bytes`, so that it is not refused for them alone.
pub fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut offset = 0;
    while let Some(head) = bytes.get_mut(offset..offset + BLOCK) {
        let text =
            |range: std::ops::Range<usize>| String::from_utf8_lossy(&head[range]).into_owned();
        let size = text(124..136);
        let size = size.trim_matches([' ', '\0']);
        let size = usize::from_str_radix(size, 8).unwrap_or_default();
        if head.iter().any(|byte| *byte != 0) {
            head[148..156].fill(b' ');
            let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
            head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
        offset += BLOCK + size.min(bytes.len()).next_multiple_of(BLOCK);
    }
    gzip(&bytes)
}

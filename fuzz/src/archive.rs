//! Archives made of bytes.

use flate2::Compression;
use flate2::write::GzEncoder;
use rego_generate::Choices;

const NAMES: &[&str] = &[
    ".manifest", "data.json", "data.yaml", "a/data.json", "a/p.rego", "p.rego", "./p.rego",
    ".signatures.json", "patch.json", "../p.rego", "/p.rego", "a//b.rego", "policy.wasm", "",
];

/// A sound gzip-compressed tar archive of files with these bytes, in parts.
pub fn archive(bytes: &[u8]) -> Vec<u8> {
    let (chosen, mut rest) = bytes.split_at(bytes.len().min(16));
    let mut choices = Choices::new(chosen);
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for _ in 0..=choices.below(4) {
        let (content, more) = rest.split_at(rest.len() / 2);
        rest = more;
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        // A name that the format cannot hold makes no entry.
        let _ = builder.append_data(&mut header, choices.of(NAMES), content);
    }
    let encoder = builder.into_inner().unwrap();
    encoder.finish().unwrap()
}

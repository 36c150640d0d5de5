//! Minimal git server for the tests: protocol 2 over HTTP, where each fetch returns every object of
//! the repository.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use gix::hash::{Kind, hasher};
use gix::objs::Kind as Object;

use super::repositories::opened;

type Failure = Box<dyn Error + Send + Sync>;

/// Packet that ends a list of lines.
const FLUSH: &[u8] = b"0000";

/// Maximum number of bytes of a pack in one line.
const PIECE: usize = 60_000;

/// Encodes a line with its length.
fn line(text: &[u8]) -> Vec<u8> {
    let mut line = format!("{:04x}", text.len() + 4).into_bytes();
    line.extend_from_slice(text);
    line
}

/// Returns the capability advertisement of the server.
pub(super) fn capabilities() -> Vec<u8> {
    [
        &line(b"# service=git-upload-pack\n"),
        FLUSH,
        &line(b"version 2\n"),
        &line(b"ls-refs\n"),
        &line(b"fetch\n"),
        &line(b"object-format=sha1\n"),
        FLUSH,
    ]
    .concat()
}

/// Executes a command on the repository in a folder.
pub(super) fn answer(folder: &Path, command: &[u8]) -> Result<Vec<u8>, Failure> {
    let failed = |failure: Box<dyn Error>| Failure::from(failure.to_string());
    let repository = opened(folder).map_err(failed)?;
    let command = String::from_utf8_lossy(command);
    if command.contains("command=ls-refs") {
        return references(&repository);
    }
    if !command.contains("0009done") {
        let lines = [line(b"acknowledgments\n"), line(b"NAK\n")];
        return Ok([lines.concat().as_slice(), FLUSH].concat());
    }
    let mut response = line(b"packfile\n");
    for piece in pack(&repository)?.chunks(PIECE) {
        response.extend(line(&[&[1], piece].concat()));
    }
    response.extend_from_slice(FLUSH);
    Ok(response)
}

/// Lists the references with their ids.
fn references(repository: &gix::Repository) -> Result<Vec<u8>, Failure> {
    let mut response = Vec::new();
    for reference in repository.references()?.all()? {
        let mut reference = reference?;
        let (name, id) = (reference.name().as_bstr().to_owned(), reference.id());
        let mut text = format!("{id} {name}");
        let peeled = reference.peel_to_id()?;
        if peeled != id {
            text.push_str(&format!(" peeled:{peeled}"));
        }
        response.extend(line(format!("{text}\n").as_bytes()));
    }
    response.extend_from_slice(FLUSH);
    Ok(response)
}

/// Packs all objects of a repository, without deltas.
fn pack(repository: &gix::Repository) -> Result<Vec<u8>, Failure> {
    let mut count = 0_u32;
    let mut objects = Vec::new();
    for id in repository.objects.iter()? {
        let object = repository.find_object(id?)?;
        let kind = match object.kind {
            Object::Commit => 1_u8,
            Object::Tree => 2,
            Object::Blob => 3,
            Object::Tag => 4,
        };
        let mut size = object.data.len();
        let mut byte = (kind << 4) | (size & 15) as u8;
        size >>= 4;
        while size > 0 {
            objects.push(byte | 128);
            byte = (size & 127) as u8;
            size >>= 7;
        }
        objects.push(byte);
        let mut deflated = ZlibEncoder::new(Vec::new(), Compression::fast());
        deflated.write_all(&object.data)?;
        objects.extend(deflated.finish()?);
        count += 1;
    }
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend(count.to_be_bytes());
    pack.extend(objects);
    let mut digest = hasher(Kind::Sha1);
    digest.update(&pack);
    pack.extend_from_slice(digest.try_finalize()?.as_slice());
    Ok(pack)
}

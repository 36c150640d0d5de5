//! Git repositories over HTTP: one branch, with all objects in one pack.
//!
//! Implements the part of the protocol that every client supports: version 1 without negotiation. A
//! fetch is answered with all objects, even those that the client has.

use std::collections::BTreeMap;
use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::Value;
use sha1::{Digest as _, Sha1};

/// Full name of the only branch.
const BRANCH: &str = "refs/heads/main";
/// Capabilities advertised to clients.
const CAPABILITIES: &str = "multi_ack_detailed side-band-64k ofs-delta no-progress \
    allow-tip-sha1-in-want allow-reachable-sha1-in-want symref=HEAD:refs/heads/main \
    object-format=sha1 agent=conformance";
/// Maximum number of pack bytes in one packet; its length has four hexadecimal digits.
const PACKET: usize = 65_000;
/// Maximum nesting depth of folders in a repository.
const DEPTH: usize = 16;

/// The id of an object.
type Id = [u8; 20];

/// Type of a git object, with its number in packs.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Commit = 1,
    Tree = 2,
    Blob = 3,
}

/// A folder, which becomes a tree object.
#[derive(Debug, Default)]
struct Folder<'a> {
    folders: BTreeMap<&'a str, Folder<'a>>,
    files: BTreeMap<&'a str, &'a Value>,
}

/// A repository with a linear history.
#[derive(Debug, Default)]
pub(super) struct Repository {
    /// Every object in pack format, by its id.
    objects: BTreeMap<Id, Vec<u8>>,
    /// The newest commit.
    head: Option<Id>,
    commits: u32,
}

impl Repository {
    /// Adds a commit with these files, by path. Strings are file contents, other values are JSON.
    ///
    /// # Errors
    /// A repository cannot contain one of the paths.
    pub(super) fn commit(&mut self, files: &BTreeMap<String, Value>) -> Result<(), String> {
        let mut root = Folder::default();
        for (path, content) in files {
            root.add(path, content)
                .ok_or_else(|| format!("invalid path `{path}` in a repository"))?;
        }
        let tree = self.tree(&root);
        let parent = self.head.map_or_else(String::new, |head| {
            format!("parent {}\n", hexadecimal(&head))
        });
        self.commits += 1;
        // Every commit has a different time, so that the ids differ.
        let who = format!(
            "conformance <conformance@localhost> {} +0000",
            1_700_000_000 + self.commits
        );
        let text = format!(
            "tree {}\n{parent}author {who}\ncommitter {who}\n\nChange {}\n",
            hexadecimal(&tree),
            self.commits
        );
        self.head = Some(self.object(Kind::Commit, text.as_bytes()));
        Ok(())
    }

    /// Returns the id of the newest commit, in hexadecimal.
    pub(super) fn head(&self) -> String {
        self.head.as_ref().map_or_else(String::new, hexadecimal)
    }

    /// Returns the response body for `GET …/info/refs`.
    pub(super) fn references(&self) -> Bytes {
        let head = self.head();
        let mut body = Vec::new();
        packet(&mut body, b"# service=git-upload-pack\n");
        flush(&mut body);
        packet(
            &mut body,
            format!("{head} HEAD\0{CAPABILITIES}\n").as_bytes(),
        );
        packet(&mut body, format!("{head} {BRANCH}\n").as_bytes());
        flush(&mut body);
        body.into()
    }

    /// Returns the response body for `POST …/git-upload-pack`: all objects, once the client has
    /// finished listing its own.
    pub(super) fn upload(&self, request: &[u8]) -> Option<Bytes> {
        let mut body = Vec::new();
        packet(&mut body, b"NAK\n");
        if !is_done(request)? {
            return Some(body.into());
        }
        for part in self.pack().chunks(PACKET) {
            // The first byte is the side-band channel: 1 for the pack.
            packet(&mut body, &[&[1], part].concat());
        }
        flush(&mut body);
        Some(body.into())
    }

    fn pack(&self) -> Vec<u8> {
        let mut pack = b"PACK".to_vec();
        pack.extend(2_u32.to_be_bytes());
        pack.extend(
            u32::try_from(self.objects.len())
                .unwrap_or(u32::MAX)
                .to_be_bytes(),
        );
        pack.extend(self.objects.values().flatten());
        let sum: Id = Sha1::digest(&pack).into();
        pack.extend(sum);
        pack
    }

    fn tree(&mut self, folder: &Folder<'_>) -> Id {
        // Git sorts a folder as if its name ended with a slash.
        let mut entries = BTreeMap::new();
        for (name, inner) in &folder.folders {
            let id = self.tree(inner);
            entries.insert(format!("{name}/"), ("40000", *name, id));
        }
        for (name, content) in &folder.files {
            let id = match content {
                Value::String(text) => self.object(Kind::Blob, text.as_bytes()),
                other => self.object(Kind::Blob, other.to_string().as_bytes()),
            };
            entries.insert((*name).to_owned(), ("100644", *name, id));
        }
        let mut bytes = Vec::new();
        for (mode, name, id) in entries.values() {
            bytes.extend(format!("{mode} {name}\0").as_bytes());
            bytes.extend(id);
        }
        self.object(Kind::Tree, &bytes)
    }

    /// Adds an object and returns its id.
    fn object(&mut self, kind: Kind, bytes: &[u8]) -> Id {
        let name = match kind {
            Kind::Commit => "commit",
            Kind::Tree => "tree",
            Kind::Blob => "blob",
        };
        let mut digest = Sha1::new();
        digest.update(format!("{name} {}\0", bytes.len()));
        digest.update(bytes);
        let id: Id = digest.finalize().into();
        self.objects.insert(id, packed(kind, bytes));
        id
    }
}

impl<'a> Folder<'a> {
    /// Adds a file to the folder; `None` if its path is invalid.
    fn add(&mut self, path: &'a str, content: &'a Value) -> Option<()> {
        let parts: Vec<&str> = path.split('/').collect();
        let is_name =
            |part: &&str| !matches!(*part, "" | "." | ".." | ".git") && !part.contains('\0');
        let (name, folders) = parts.split_last()?;
        if parts.len() > DEPTH || !parts.iter().all(is_name) {
            return None;
        }
        let mut folder = self;
        for part in folders {
            if folder.files.contains_key(part) {
                return None;
            }
            folder = folder.folders.entry(part).or_default();
        }
        let free = !folder.folders.contains_key(name);
        free.then(|| folder.files.insert(name, content)).map(drop)
    }
}

/// Encodes an object for a pack: type and length, then the compressed bytes. The first byte
/// contains the type and four bits of the length, each further byte seven bits.
fn packed(kind: Kind, bytes: &[u8]) -> Vec<u8> {
    let mut length = bytes.len();
    let low = |length: usize, mask: u8| u8::try_from(length & usize::from(mask)).unwrap_or(0);
    let mut byte = ((kind as u8) << 4) | low(length, 0x0f);
    length >>= 4;
    let mut packed = Vec::new();
    while length > 0 {
        packed.push(byte | 0x80);
        byte = low(length, 0x7f);
        length >>= 7;
    }
    packed.push(byte);
    let mut encoder = ZlibEncoder::new(packed, Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn packet(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(format!("{:04x}", bytes.len() + 4).as_bytes());
    out.extend(bytes);
}

fn flush(out: &mut Vec<u8>) {
    out.extend(b"0000");
}

/// Whether the packets of a request end with `done`, which requests the pack; `None` if they are
/// invalid.
fn is_done(mut request: &[u8]) -> Option<bool> {
    while let Some((length, rest)) = request.split_at_checked(4) {
        let length = usize::from_str_radix(std::str::from_utf8(length).ok()?, 16).ok()?;
        let (text, rest) = rest.split_at_checked(length.saturating_sub(4))?;
        if text.trim_ascii_end() == b"done" {
            return Some(true);
        }
        request = rest;
    }
    request.is_empty().then_some(false)
}

fn hexadecimal(id: &Id) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

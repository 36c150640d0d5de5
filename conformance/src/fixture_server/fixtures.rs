//! Fixtures: the content that the server serves, and the responses that it gave.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};

use super::archive;
use super::auth::has_token;
use super::git::Repository;

/// Maximum number of recorded responses per path; the oldest are dropped.
const REMEMBERED: usize = 10_000;
/// Number of paths from which on requests of the tested servers add no further paths.
const PATHS: usize = 1_000;
/// Maximum size of all stored objects, in bytes.
const STORED: usize = 256 << 20;

/// Content of a path of the fixture server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fixture {
    /// A bundle of these files, by path. Strings are file contents, other values are JSON.
    Bundle(BTreeMap<String, Value>),
    /// A bundle in which each file whose path has `{number}` is repeated, with the numbers from 0
    /// in its path and contents.
    Repeated {
        /// Number of copies of each such file.
        times: u32,
        /// The files by path.
        files: BTreeMap<String, Value>,
    },
    /// 200 with this string, which is not a bundle.
    Text(String),
    /// 200 with this string for requests with the token, 401 for others.
    Guarded {
        /// The required token.
        token: String,
        /// The string that is served.
        text: String,
    },
    /// A git repository whose branch `main` contains these files. Setting another fixture of this
    /// type adds a commit.
    Repository(BTreeMap<String, Value>),
    /// This status without a body.
    Status(u16),
    /// No response, until there is another fixture.
    Held,
    /// An object that a client has stored.
    #[serde(skip)]
    Object(Bytes),
}

/// Placeholder for the number in a bundle with repeated files.
const NUMBER: &str = "{number}";
/// Maximum number of files in a bundle.
const FILES: usize = 20_000;

impl Fixture {
    /// Converts a bundle with repeated files to a plain bundle.
    fn written_out(self) -> Result<Self, String> {
        let Self::Repeated { times, files } = self else {
            return Ok(self);
        };
        let repeated = |path: &&String| path.contains(NUMBER);
        let count = files.keys().filter(repeated).count();
        let repetitions = usize::try_from(times).unwrap_or(usize::MAX);
        if repetitions.saturating_mul(count) > FILES {
            return Err(format!("a bundle of more than {FILES} files"));
        }
        let mut all = BTreeMap::new();
        for (path, content) in files {
            if !path.contains(NUMBER) {
                all.insert(path, content);
                continue;
            }
            for number in 0..times {
                let number = number.to_string();
                let content = match &content {
                    Value::String(text) => Value::String(text.replace(NUMBER, &number)),
                    other => other.clone(),
                };
                all.insert(path.replace(NUMBER, &number), content);
            }
        }
        Ok(Self::Bundle(all))
    }
}

/// Fixture at a path, and the responses to requests for it.
#[derive(Debug, Default)]
struct Slot {
    item: Option<Fixture>,
    /// Body of responses with the fixture.
    bytes: Bytes,
    /// Metadata headers with which a client stored the object.
    metadata: HeaderMap,
    repository: Repository,
    /// Number of changes of the fixture, which is its ETag.
    version: u64,
    requests: VecDeque<Value>,
}

/// Everything that is served, by path.
#[derive(Debug, Default)]
pub(super) struct Fixtures(BTreeMap<String, Slot>);

/// Response to a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// 200, the body and its headers.
    Bytes(Bytes, HeaderMap),
    /// This status without a body.
    Status(u16),
    /// No response yet.
    Held,
}

impl Slot {
    fn tag(&self) -> String {
        format!("\"{}\"", self.version)
    }

    /// Response headers of the fixture.
    fn headers(&self) -> HeaderMap {
        let mut headers = self.metadata.clone();
        headers.extend(HeaderValue::from_str(&self.tag()).map(|tag| (http::header::ETAG, tag)));
        headers
    }

    fn set(&mut self, item: Fixture, bytes: Bytes) {
        if self.item.as_ref() != Some(&item) {
            self.version += 1;
            (self.item, self.bytes) = (Some(item), bytes);
        }
    }

    fn note(&mut self, answer: Value) {
        if self.requests.len() == REMEMBERED {
            self.requests.pop_front();
        }
        self.requests.push_back(answer);
    }
}

impl Fixtures {
    /// Sets a fixture; an equal fixture changes nothing. Returns the newest commit of a repository.
    ///
    /// # Errors
    /// The reason why the fixture cannot be served.
    pub(super) fn put(&mut self, path: &str, item: Fixture) -> Result<Option<String>, String> {
        let item = item.written_out()?;
        let bytes = match &item {
            Fixture::Bundle(files) => archive::build(files)?,
            Fixture::Text(text) | Fixture::Guarded { text, .. } => Bytes::from(text.clone()),
            Fixture::Status(status) if !(200..=599).contains(status) => {
                return Err(format!("invalid status {status}"));
            }
            Fixture::Status(_)
            | Fixture::Held
            | Fixture::Repeated { .. }
            | Fixture::Repository(_)
            | Fixture::Object(_) => Bytes::new(),
        };
        let slot = self.0.entry(path.to_owned()).or_default();
        if let Fixture::Repository(files) = &item
            && slot.item.as_ref() != Some(&item)
        {
            slot.repository.commit(files)?;
        }
        let head = matches!(item, Fixture::Repository(_)).then(|| slot.repository.head());
        slot.set(item, bytes);
        Ok(head)
    }

    /// Stores an object if the request's conditions are met, and returns the response headers.
    ///
    /// # Errors
    /// The status of the rejection.
    pub(super) fn store(
        &mut self,
        path: &str,
        request: &HeaderMap,
        bytes: Bytes,
    ) -> Result<HeaderMap, u16> {
        let others = self.0.iter().filter(|(other, _)| other.as_str() != path);
        let stored: usize = others.map(|(_, slot)| slot.bytes.len()).sum();
        let full = self.0.len() >= PATHS && !self.0.contains_key(path);
        if full || stored.saturating_add(bytes.len()) > STORED {
            return Err(507);
        }
        let slot = self.0.entry(path.to_owned()).or_default();
        let there = matches!(slot.item, Some(Fixture::Object(_) | Fixture::Bundle(_)));
        let tag = slot.tag();
        let names = |condition: &HeaderValue| condition == "*" || condition == tag.as_str();
        let unmet = |condition, expected| {
            let condition = request.get(condition);
            condition.is_some_and(|condition| (there && names(condition)) != expected)
        };
        if unmet(IF_MATCH, true) || unmet(IF_NONE_MATCH, false) {
            return Err(412);
        }
        let is_metadata = |name: &HeaderName| name.as_str().starts_with("x-amz-meta-");
        let metadata = request.iter().filter(|(name, _)| is_metadata(name));
        slot.metadata = metadata
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        slot.set(Fixture::Object(bytes.clone()), bytes);
        Ok(slot.headers())
    }

    /// Removes a stored object.
    pub(super) fn remove(&mut self, path: &str) {
        if let Some(slot) = self.0.get_mut(path)
            && matches!(slot.item, Some(Fixture::Object(_)))
        {
            (slot.item, slot.bytes) = (None, Bytes::new());
        }
    }

    /// Returns body and headers of the stored object or bundle at a path.
    pub(super) fn stored(&self, path: &str) -> Option<(Bytes, HeaderMap)> {
        let slot = self.0.get(path)?;
        match slot.item {
            Some(Fixture::Object(_) | Fixture::Bundle(_)) => {
                Some((slot.bytes.clone(), slot.headers()))
            }
            _ => None,
        }
    }

    /// Returns the repository at a path, and records the request.
    pub(super) fn repository(&mut self, path: &str, answer: &str) -> Option<&Repository> {
        let slot = self.0.get_mut(path)?;
        if !matches!(slot.item, Some(Fixture::Repository(_))) {
            return None;
        }
        slot.note(json!({"answer": answer, "commit": slot.repository.head()}));
        Some(&slot.repository)
    }

    /// Returns the response to a request with these headers. `was_held` means that the request has
    /// already been held back, which is recorded once.
    pub(super) fn take(&mut self, path: &str, request: &HeaderMap, was_held: bool) -> Lookup {
        // A path without a fixture is recorded as well: scenarios may wait for requests for it.
        if self.0.len() >= PATHS && !self.0.contains_key(path) {
            return Lookup::Status(404);
        }
        let slot = self.0.entry(path.to_owned()).or_default();
        let current = slot.tag();
        let known = request.get(IF_NONE_MATCH);
        let whole = || Lookup::Bytes(slot.bytes.clone(), slot.headers());
        let (answer, found) = match &slot.item {
            None | Some(Fixture::Repository(_) | Fixture::Repeated { .. }) => {
                ("nothing", Lookup::Status(404))
            }
            Some(Fixture::Status(status)) => ("status", Lookup::Status(*status)),
            Some(Fixture::Held) => ("held", Lookup::Held),
            Some(Fixture::Guarded { token, .. }) if !has_token(request, token) => {
                ("refused", Lookup::Status(401))
            }
            Some(_) if known.is_some_and(|tag| tag == current.as_str()) => {
                ("not-modified", Lookup::Status(304))
            }
            Some(Fixture::Bundle(_) | Fixture::Object(_)) => ("bundle", whole()),
            Some(Fixture::Text(_) | Fixture::Guarded { .. }) => ("text", whole()),
        };
        if found == Lookup::Held && was_held {
            return found;
        }
        slot.note(match &found {
            Lookup::Bytes(..) => json!({"answer": answer, "status": 200}),
            Lookup::Status(status) => json!({"answer": answer, "status": status}),
            Lookup::Held => json!({ "answer": answer }),
        });
        found
    }

    /// Returns the recorded responses to the requests for a path, oldest first.
    pub(super) fn requests(&self, path: &str) -> impl Iterator<Item = &Value> {
        self.0.get(path).into_iter().flat_map(|slot| &slot.requests)
    }
}

//! What the depot serves, and how each request for it was answered.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};

use super::archive;
use super::guard::shows;
use super::repository::Repository;

/// How many answers are remembered for each path; older ones are forgotten.
const REMEMBERED: usize = 10_000;
/// How many paths are remembered that nothing was shelved under.
const PATHS: usize = 1_000;
/// How many bytes of objects are stored together.
const STORED: usize = 256 << 20;

/// What a path of the depot is answered with.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Item {
    /// A bundle of these files, by path: text as it stands, other values as JSON.
    Bundle(BTreeMap<String, Value>),
    /// 200 with this text, which is no bundle.
    Text(String),
    /// 200 with this text for those who show the token, 401 for others.
    Guarded {
        /// The token.
        token: String,
        /// The text.
        text: String,
    },
    /// A git repository whose branch `main` holds these files. Another item of this kind is its
    /// next commit.
    Repository(BTreeMap<String, Value>),
    /// This status without a body.
    Status(u16),
    /// Nothing, until something else is shelved.
    Held,
    /// What a client has stored.
    #[serde(skip)]
    Object(Bytes),
}

/// What stands under a path, and how its requests were answered.
#[derive(Debug, Default)]
struct Place {
    item: Option<Item>,
    /// What the item is sent as.
    bytes: Bytes,
    /// The metadata that an object was stored with.
    metadata: HeaderMap,
    repository: Repository,
    /// How often the item changed: the ETag.
    version: u64,
    taken: VecDeque<Value>,
}

/// Everything that is served, by path.
#[derive(Debug, Default)]
pub(super) struct Shelf(BTreeMap<String, Place>);

/// The answer to a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// 200, the body and its headers.
    Bytes(Bytes, HeaderMap),
    /// This status.
    Status(u16),
    /// None yet.
    Held,
}

impl Place {
    fn tag(&self) -> String {
        format!("\"{}\"", self.version)
    }

    /// What an answer with the item tells of it.
    fn headers(&self) -> HeaderMap {
        let mut headers = self.metadata.clone();
        headers.extend(HeaderValue::from_str(&self.tag()).map(|tag| (http::header::ETAG, tag)));
        headers
    }

    fn set(&mut self, item: Item, bytes: Bytes) {
        if self.item.as_ref() != Some(&item) {
            self.version += 1;
            (self.item, self.bytes) = (Some(item), bytes);
        }
    }

    fn note(&mut self, answer: Value) {
        if self.taken.len() == REMEMBERED {
            self.taken.pop_front();
        }
        self.taken.push_back(answer);
    }
}

impl Shelf {
    /// Shelves an item; the same again changes nothing. Of a repository the newest commit.
    ///
    /// # Errors
    /// What keeps it from being sent.
    pub(super) fn put(&mut self, path: &str, item: Item) -> Result<Option<String>, String> {
        let bytes = match &item {
            Item::Bundle(files) => archive::build(files)?,
            Item::Text(text) | Item::Guarded { text, .. } => Bytes::from(text.clone()),
            Item::Status(status) if !(200..=599).contains(status) => {
                return Err(format!("{status} is no status of an answer"));
            }
            Item::Status(_) | Item::Held | Item::Repository(_) | Item::Object(_) => Bytes::new(),
        };
        let place = self.0.entry(path.to_owned()).or_default();
        if let Item::Repository(files) = &item
            && place.item.as_ref() != Some(&item)
        {
            place.repository.commit(files)?;
        }
        let head = matches!(item, Item::Repository(_)).then(|| place.repository.head());
        place.set(item, bytes);
        Ok(head)
    }

    /// Stores what a client sends, if its conditions hold; the headers of the answer.
    ///
    /// # Errors
    /// The status that refuses it.
    pub(super) fn store(
        &mut self,
        path: &str,
        request: &HeaderMap,
        bytes: Bytes,
    ) -> Result<HeaderMap, u16> {
        let others = self.0.iter().filter(|(other, _)| other.as_str() != path);
        let stored: usize = others.map(|(_, place)| place.bytes.len()).sum();
        let full = self.0.len() >= PATHS && !self.0.contains_key(path);
        if full || stored.saturating_add(bytes.len()) > STORED {
            return Err(507);
        }
        let place = self.0.entry(path.to_owned()).or_default();
        let there = matches!(place.item, Some(Item::Object(_) | Item::Bundle(_)));
        let tag = place.tag();
        let names = |condition: &HeaderValue| condition == "*" || condition == tag.as_str();
        let unmet = |condition, wanted| {
            let condition = request.get(condition);
            condition.is_some_and(|condition| (there && names(condition)) != wanted)
        };
        if unmet(IF_MATCH, true) || unmet(IF_NONE_MATCH, false) {
            return Err(412);
        }
        let is_metadata = |name: &HeaderName| name.as_str().starts_with("x-amz-meta-");
        let metadata = request.iter().filter(|(name, _)| is_metadata(name));
        place.metadata = metadata
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        place.set(Item::Object(bytes.clone()), bytes);
        Ok(place.headers())
    }

    /// Removes a stored object.
    pub(super) fn remove(&mut self, path: &str) {
        if let Some(place) = self.0.get_mut(path)
            && matches!(place.item, Some(Item::Object(_)))
        {
            (place.item, place.bytes) = (None, Bytes::new());
        }
    }

    /// What a client that stores objects is told of one, or of a bundle.
    pub(super) fn stored(&self, path: &str) -> Option<(Bytes, HeaderMap)> {
        let place = self.0.get(path)?;
        match place.item {
            Some(Item::Object(_) | Item::Bundle(_)) => Some((place.bytes.clone(), place.headers())),
            _ => None,
        }
    }

    /// The repository under a path, and a note of what of it is asked for.
    pub(super) fn repository(&mut self, path: &str, asked: &str) -> Option<&Repository> {
        let place = self.0.get_mut(path)?;
        if !matches!(place.item, Some(Item::Repository(_))) {
            return None;
        }
        place.note(json!({"answer": asked, "commit": place.repository.head()}));
        Some(&place.repository)
    }

    /// The answer to a request with these headers. `held` tells that the request has been held
    /// back already, which is noted once.
    pub(super) fn take(&mut self, path: &str, request: &HeaderMap, held: bool) -> Found {
        // A path that nothing was shelved under is remembered as well: that it was asked for is
        // something to wait for.
        if self.0.len() >= PATHS && !self.0.contains_key(path) {
            return Found::Status(404);
        }
        let place = self.0.entry(path.to_owned()).or_default();
        let current = place.tag();
        let known = request.get(IF_NONE_MATCH);
        let whole = || Found::Bytes(place.bytes.clone(), place.headers());
        let (answer, found) = match &place.item {
            None | Some(Item::Repository(_)) => ("nothing", Found::Status(404)),
            Some(Item::Status(status)) => ("status", Found::Status(*status)),
            Some(Item::Held) => ("held", Found::Held),
            Some(Item::Guarded { token, .. }) if !shows(request, token) => {
                ("refused", Found::Status(401))
            }
            Some(_) if known.is_some_and(|tag| tag == current.as_str()) => {
                ("not-modified", Found::Status(304))
            }
            Some(Item::Bundle(_) | Item::Object(_)) => ("bundle", whole()),
            Some(Item::Text(_) | Item::Guarded { .. }) => ("text", whole()),
        };
        if found == Found::Held && held {
            return found;
        }
        place.note(match &found {
            Found::Bytes(..) => json!({"answer": answer, "status": 200}),
            Found::Status(status) => json!({"answer": answer, "status": status}),
            Found::Held => json!({ "answer": answer }),
        });
        found
    }

    /// How each request for a path was answered, oldest first.
    pub(super) fn taken(&self, path: &str) -> impl Iterator<Item = &Value> {
        self.0.get(path).into_iter().flat_map(|place| &place.taken)
    }
}

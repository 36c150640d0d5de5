//! What the depot serves, and how each request for it was answered.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::archive;

/// How many answers are remembered for each path; older ones are forgotten.
const REMEMBERED: usize = 10_000;
/// How many paths are remembered that nothing was shelved under.
const PATHS: usize = 1_000;

/// What a path of the depot is answered with.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Item {
    /// A bundle of these files, by path: text as it stands, other values as JSON.
    Bundle(BTreeMap<String, Value>),
    /// 200 with this text, which is no bundle.
    Text(String),
    /// This status without a body.
    Status(u16),
    /// Nothing, until something else is shelved.
    Held,
}

/// What stands under a path, and how its requests were answered.
#[derive(Debug, Default)]
struct Place {
    item: Option<Item>,
    /// What the item is sent as.
    bytes: Bytes,
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
    /// 200, the body and its ETag.
    Bytes(Bytes, String),
    /// This status.
    Status(u16),
    /// None yet.
    Held,
}

impl Shelf {
    /// Shelves an item; the same again changes nothing.
    ///
    /// # Errors
    /// What keeps it from being sent.
    pub(super) fn put(&mut self, path: &str, item: Item) -> Result<(), String> {
        let bytes = match &item {
            Item::Bundle(files) => archive::build(files)?,
            Item::Text(text) => Bytes::from(text.clone()),
            Item::Status(status) if !(200..=599).contains(status) => {
                return Err(format!("{status} is no status of an answer"));
            }
            Item::Status(_) | Item::Held => Bytes::new(),
        };
        let place = self.0.entry(path.to_owned()).or_default();
        if place.item.as_ref() != Some(&item) {
            place.version += 1;
            (place.item, place.bytes) = (Some(item), bytes);
        }
        Ok(())
    }

    /// The answer to an engine's request that names this ETag. `held` tells that the request has
    /// been held back already, which is noted once.
    pub(super) fn take(&mut self, path: &str, tag: Option<&str>, held: bool) -> Found {
        // A path that nothing was shelved under is remembered as well: that it was asked for is
        // something to wait for.
        if self.0.len() >= PATHS && !self.0.contains_key(path) {
            return Found::Status(404);
        }
        let place = self.0.entry(path.to_owned()).or_default();
        let current = format!("\"{}\"", place.version);
        let (answer, found) = match &place.item {
            None => ("nothing", Found::Status(404)),
            Some(Item::Status(status)) => ("status", Found::Status(*status)),
            Some(Item::Held) => ("held", Found::Held),
            Some(_) if tag == Some(&current) => ("not-modified", Found::Status(304)),
            Some(Item::Bundle(_)) => ("bundle", Found::Bytes(place.bytes.clone(), current)),
            Some(Item::Text(_)) => ("text", Found::Bytes(place.bytes.clone(), current)),
        };
        if found == Found::Held && held {
            return found;
        }
        if place.taken.len() == REMEMBERED {
            place.taken.pop_front();
        }
        place.taken.push_back(match &found {
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

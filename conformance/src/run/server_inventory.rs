//! Server inventory before and after a run: the run must leave the server as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use futures_util::future::join_all;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::catalogue::Document;
use crate::http_client::Client;
use crate::http_client::pagination::{LIST_WITHIN, Listings};
use crate::run::cleanup::{Listing, list};
use crate::run::side_effects::collections;
use crate::scenario::resource_names::{canonical, encode};
use crate::target::server::Server;

/// Items of a server by collection, except collections that cannot be read.
#[derive(Debug, Default)]
pub(crate) struct ServerInventory {
    collections: BTreeMap<&'static str, Collection>,
    /// The collections that could not be read to the end, with the reasons.
    endless: BTreeMap<&'static str, String>,
}

/// Differences between the contents of a server before and after a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Sentences on removed, added or changed content.
    pub(crate) what: Vec<String>,
    /// Sentences on content that was not compared, and why.
    pub(crate) not_compared: Vec<String>,
}

#[derive(Debug, Default)]
struct Collection {
    /// Hash of each existing item, by name; none if the item changes by itself.
    items: BTreeMap<String, Option<u64>>,
    /// The names of items that appear and disappear by themselves.
    restless: BTreeSet<String>,
}

impl ServerInventory {
    /// Reads the items of a server twice. If an item differs between both, it changes by itself,
    /// and only its presence is compared later.
    pub(crate) async fn before(client: &Client, server: &Server, document: Document) -> Self {
        let names = collections(document).iter().map(|(name, _)| *name);
        let first = read(client, server, document, &names.collect()).await;
        let readable = first.collections.keys().copied().collect();
        let second = read(client, server, document, &readable).await;
        first.without_unstable_items(second)
    }

    /// Returns the differences from the current content. Names with the run's prefix are omitted,
    /// since they are checked separately.
    pub(crate) async fn changed(
        &self,
        client: &Client,
        server: &Server,
        document: Document,
        run: &str,
    ) -> Changes {
        let readable = self.collections.keys().copied().collect();
        let now = read(client, server, document, &readable).await;
        let endless = self.endless.iter().chain(&now.endless);
        let not_compared = endless.map(|(collection, reason)| {
            format!("{collection} before and after the run is not compared: {reason}")
        });
        Changes {
            what: self.differences(&now, run),
            not_compared: not_compared.collect(),
        }
    }

    fn without_unstable_items(mut self, mut second: Self) -> Self {
        self.endless.append(&mut second.endless);
        self.collections.retain(|name, first| {
            let Some(mut second) = second.collections.remove(name) else {
                return false;
            };
            for (item, known) in &mut first.items {
                match second.items.remove(item) {
                    Some(hash) => *known = known.filter(|known| Some(*known) == hash),
                    None => drop(first.restless.insert(item.clone())),
                }
            }
            first.restless.extend(second.items.into_keys());
            true
        });
        self
    }

    fn differences(&self, now: &Self, run: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (collection, before) in &self.collections {
            // A collection that has become unreadable shows in the rules.
            let Some(now) = now.collections.get(collection) else {
                continue;
            };
            let names: BTreeSet<&String> = before.items.keys().chain(now.items.keys()).collect();
            let is_theirs =
                |name: &&String| !name.contains(run) && !before.restless.contains(*name);
            for name in names.into_iter().filter(is_theirs) {
                let what = match (before.items.get(name), now.items.get(name)) {
                    (Some(_), None) => "is gone",
                    (None, Some(_)) => "is new",
                    (Some(Some(before)), Some(Some(now))) if before != now => "has changed",
                    _ => continue,
                };
                found.push(format!("{collection}/{} {what}", encode(name)));
            }
        }
        found
    }
}

/// Reads these collections of a server, within a time limit.
async fn read(
    client: &Client,
    server: &Server,
    document: Document,
    requested: &BTreeSet<&'static str>,
) -> ServerInventory {
    let (end, listings) = (Instant::now() + LIST_WITHIN, Listings::of_server());
    let requested = collections(document)
        .iter()
        .filter(|(collection, _)| requested.contains(collection));
    let reads = requested.map(|(collection, key)| {
        let listings = &listings;
        async move {
            // Only names and hashes are stored: definitions may be long.
            let mut found = Collection::default();
            let each = |name: &str, item: &Value| {
                let mut hasher = DefaultHasher::new();
                canonical(item, "").hash(&mut hasher);
                let hash = Some(hasher.finish());
                found.items.insert(name.to_owned(), hash);
            };
            let all = list(client, server, (collection, key), listings, each);
            let read = timeout_at(end, all).await.unwrap_or_else(|_| {
                let seconds = LIST_WITHIN.as_secs();
                Listing::Endless(format!("the list did not end within {seconds} s"))
            });
            (*collection, found, read)
        }
    });
    let mut contents = ServerInventory::default();
    for (collection, found, read) in join_all(reads).await {
        match read {
            Listing::Whole => drop(contents.collections.insert(collection, found)),
            Listing::Refused => {}
            Listing::Endless(reason) => drop(contents.endless.insert(collection, reason)),
        }
    }
    contents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(items: &[(&str, u64)]) -> ServerInventory {
        let items = items
            .iter()
            .map(|(name, hash)| ((*name).to_owned(), Some(*hash)));
        let collection = Collection {
            items: items.collect(),
            ..Collection::default()
        };
        ServerInventory {
            collections: BTreeMap::from([("/v1/data", collection)]),
            ..ServerInventory::default()
        }
    }

    #[test]
    fn what_a_run_changed_is_named() {
        for (first, second, now, expected) in [
            (
                state(&[("a", 1)]),
                state(&[("a", 1)]),
                state(&[("a", 1)]),
                &[][..],
            ),
            (
                state(&[("a", 1), ("b", 1)]),
                state(&[("a", 1), ("b", 1)]),
                state(&[("a", 2), ("c d", 1), ("Rx", 1)]),
                &[
                    "/v1/data/a has changed",
                    "/v1/data/b is gone",
                    "/v1/data/c%20d is new",
                ],
            ),
            // It changes by itself, or appears and disappears.
            (
                state(&[("a", 1)]),
                state(&[("a", 2)]),
                state(&[("a", 3)]),
                &[],
            ),
            (state(&[]), state(&[("a", 2)]), state(&[("a", 3)]), &[]),
            (state(&[]), state(&[("a", 2)]), state(&[]), &[]),
            (state(&[("a", 1)]), state(&[]), state(&[("a", 1)]), &[]),
            (state(&[("a", 1)]), state(&[]), state(&[]), &[]),
            // It cannot be read, before or after.
            (
                ServerInventory::default(),
                state(&[("a", 1)]),
                state(&[]),
                &[],
            ),
            (
                state(&[("a", 1)]),
                ServerInventory::default(),
                state(&[]),
                &[],
            ),
            (
                state(&[("a", 1)]),
                state(&[("a", 1)]),
                ServerInventory::default(),
                &[],
            ),
        ] {
            let before = first.without_unstable_items(second);
            assert_eq!(
                before.differences(&now, "R"),
                expected,
                "{before:?} {now:?}"
            );
        }
    }
}

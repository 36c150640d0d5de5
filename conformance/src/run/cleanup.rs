//! Cleanup of resources that scenarios created.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::catalogue::Document;
use crate::http_client::Client;
use crate::http_client::answer::NoAnswer;
use crate::http_client::pagination::{LIST_WITHIN, Listings, Pagination};
use crate::http_client::wire::{Outgoing, Wire};
use crate::judge::openapi::{Contract, ContractError};
use crate::run::created_names::CreatedNames;
use crate::run::runner::{Runner, Transport};
use crate::run::side_effects::{Resource, collections};
use crate::scenario::Identity;
use crate::scenario::resource_names::encode;
use crate::target::server::Server;

/// Maximum number of removal passes while some still succeed: sources may use each other.
const PASSES: usize = 8;

impl Runner<'_> {
    /// Removes the scenario's resources, latest first, and those that use others before those. A
    /// resource whose removal gets no response stays on the list.
    pub(crate) async fn clean(&self) {
        let mut remaining = self.created.all();
        remaining.reverse();
        remaining.sort_by_key(|resource| resource.rank);
        for _ in 0..PASSES {
            let before = remaining.len();
            let mut refused = Vec::new();
            for resource in remaining {
                match self.remove(&resource.path).await {
                    Ok(200..300 | 404) => self.created.removed(&resource.path),
                    // A caller without permission to remove it cannot see it either, and a server
                    // that fails now may show and remove it later.
                    Ok(401 | 403 | 429 | 500..) => refused.push(resource),
                    // A resource that a server refuses to remove is in its lists, if it exists.
                    Ok(_) => {
                        self.created.removed(&resource.path);
                        refused.push(resource);
                    }
                    // If one removal times out, so do the others.
                    Err(error) if error.slow => return,
                    Err(_) => refused.push(resource),
                }
            }
            remaining = refused;
            if remaining.is_empty() || remaining.len() == before {
                break;
            }
        }
    }

    /// Removes a resource and returns the status of the response.
    async fn remove(&self, path: &str) -> Result<u16, NoAnswer> {
        let wire = Wire::Http(Outgoing {
            method: "DELETE",
            path: path.to_owned(),
            headers: authorization(self.server),
            ..Outgoing::default()
        });
        let base = &self.server.base;
        let (_, answer) = self.send(base, 0, "administrator".to_owned(), wire).await;
        answer.map(|answer| answer.status)
    }
}

/// Possible leftovers of a run on a server.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    /// Paths of resources that exist or may exist.
    pub(crate) names: Vec<String>,
    /// Collections that could not be read.
    pub(crate) unread: Vec<&'static str>,
    /// Name of the run, which its resource names contain.
    run: String,
}

impl Leftovers {
    /// Whether a path may still exist: if its collection was read to the end without finding it, it
    /// does not. Names nested below others are not listed, so they may exist.
    pub(crate) fn may_still_exist(&self, path: &str) -> bool {
        let mut segments = path.splitn(5, '/').skip(1);
        let (Some(version), Some(collection), Some(item)) =
            (segments.next(), segments.next(), segments.next())
        else {
            return true;
        };
        let collection = format!("/{version}/{collection}");
        let item_path = format!("{collection}/{item}");
        !item.contains(&self.run)
            || self.unread.contains(&collection.as_str())
            || self.names.iter().any(|name| name.starts_with(&item_path))
    }
}

/// Removes what an aborted run may have created on a server; returns the possible leftovers.
///
/// # Errors
/// The embedded API document has a defect.
pub(crate) async fn finish(
    client: &Client,
    server: &Server,
    document: Document,
    run: &str,
    resources: Vec<Resource>,
) -> Result<Leftovers, &'static ContractError> {
    let (events, requests) = (Mutex::default(), Default::default());
    let runner = Runner {
        client,
        transport: Transport::Live,
        contract: Contract::embedded()?,
        server,
        vendor: "",
        eventual_timeout: Duration::ZERO,
        document,
        rule: "",
        ns: run,
        events: &events,
        requests: &requests,
        listings: &Listings::default(),
        created: CreatedNames::of(resources),
    };
    runner.clean().await;
    let unanswered = runner.created.all();
    let mut leftovers = find_leftovers(client, server, document, run).await;
    let paths = unanswered.into_iter().map(|one| one.path);
    let remaining: Vec<String> = paths
        .filter(|path| leftovers.may_still_exist(path))
        .collect();
    leftovers.names.extend(remaining);
    leftovers.names.sort();
    leftovers.names.dedup();
    Ok(leftovers)
}

/// Finds the resources whose names contain the run's prefix, as far as the server lists them in
/// time; also returns the collections that cannot be read to the end.
pub(crate) async fn find_leftovers(
    client: &Client,
    server: &Server,
    document: Document,
    run: &str,
) -> Leftovers {
    let mut leftovers = Leftovers {
        run: run.to_owned(),
        ..Leftovers::default()
    };
    let (end, listings) = (Instant::now() + LIST_WITHIN, Listings::of_server());
    for (collection, key) in collections(document) {
        let names = &mut leftovers.names;
        let each = |name: &str, _: &Value| {
            if name.contains(run) {
                names.push(format!("{collection}/{}", encode(name)));
            }
        };
        let all = list(client, server, (collection, key), &listings, each);
        if timeout_at(end, all).await != Ok(Listing::Whole) {
            leftovers.unread.push(*collection);
        }
    }
    leftovers
}

/// Result of reading a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listing {
    /// Read to the end; a collection that the server does not have is empty.
    Whole,
    /// The server refuses to list it.
    Refused,
    /// Incomplete, for this reason.
    Endless(String),
}

/// Calls `each` for every item of a collection with its name, page by page; not at all if it is
/// unreadable. `key` is the member that names an item.
pub(crate) async fn list(
    client: &Client,
    server: &Server,
    (collection, key): (&str, &str),
    listings: &Listings,
    mut each: impl FnMut(&str, &Value),
) -> Listing {
    let mut walk = Pagination::start(listings);
    let mut path = collection.to_owned();
    let mut first = true;
    loop {
        let mut request = Outgoing {
            method: "GET",
            path,
            headers: authorization(server),
            ..Outgoing::default()
        };
        client.complete(&mut request.headers);
        let Ok(answer) = client.send(&server.base, &request).await else {
            return Listing::Refused;
        };
        if first && matches!(answer.status, 404 | 501) {
            return Listing::Whole;
        }
        first = false;
        match answer.at("/result") {
            Some(Value::Array(found)) => {
                for item in found {
                    let name = item.as_str().or_else(|| item.get(key)?.as_str());
                    name.into_iter().for_each(|name| each(name, item));
                }
            }
            Some(Value::Object(members)) => {
                members.iter().for_each(|(name, value)| each(name, value));
            }
            _ => {}
        }
        match answer.at("/next_cursor").and_then(Value::as_str) {
            Some(cursor) => match walk.advance(cursor, answer.plain().len()) {
                Ok(()) => path = format!("{collection}?cursor={}", encode(cursor)),
                Err(reason) => return Listing::Endless(reason),
            },
            None if answer.is_success() => return Listing::Whole,
            None => return Listing::Refused,
        }
    }
}

fn authorization(server: &Server) -> Vec<(String, String)> {
    server
        .authorization(&Identity::Administrator)
        .unwrap_or_default()
        .map(|value| ("authorization".to_owned(), value))
        .into_iter()
        .collect()
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeMap;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use rstest::rstest;

    use super::*;
    use crate::http_client::{Base, Connection};

    /// Starts a control plane whose lists do not end: each page has a name of this many bytes and a
    /// cursor to the next page.
    fn endless(bytes: usize) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            for (page, stream) in listener.incoming().flatten().enumerate() {
                let mut reader = BufReader::new(&stream);
                let mut head = String::new();
                while reader.read_line(&mut head).is_ok_and(|read| read > 2) {}
                let name = "x".repeat(bytes);
                let body = format!(r#"{{"result":[{{"name":"{name}"}}],"next_cursor":"{page}"}}"#);
                let length = body.len();
                let mut writer = &stream;
                let _ = write!(
                    writer,
                    "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
            }
        });
        let base = Base::parse(&url).expect("an address");
        Server::new(base, BTreeMap::new(), &[])
    }

    #[tokio::test]
    async fn lists_without_end_are_left() {
        let client = Client::new(&Connection::patient()).expect("a client");
        for (bytes, expected) in [(1, 1000), (16 << 20, 4)] {
            let (server, listings) = (endless(bytes), Listings::of_server());
            let mut items = 0;
            let count = |_: &str, _: &Value| items += 1;
            let bundles = ("/v1/bundles", "name");
            let read = list(&client, &server, bundles, &listings, count).await;
            assert!(matches!(read, Listing::Endless(_)), "{read:?}");
            assert_eq!(items, expected, "{read:?}");
        }
        let leftovers =
            find_leftovers(&client, &endless(16 << 20), Document::Control, "cabc").await;
        let all: Vec<&str> = collections(Document::Control)
            .iter()
            .map(|one| one.0)
            .collect();
        assert_eq!(leftovers.unread, all);
    }

    #[rstest]
    #[case::there("/v1/data/cabc_there", true)]
    #[case::below("/v1/data/cabc_there/a", true)]
    #[case::gone("/v1/data/cabc_gone/a", false)]
    // Lists contain top-level names.
    #[case::below_another("/v1/data/theirs/cabc_below", true)]
    #[case::unread("/v1/policies/cabc_gone", true)]
    fn what_a_list_does_not_hold_is_gone(#[case] path: &str, #[case] may: bool) {
        let leftovers = Leftovers {
            names: vec!["/v1/data/cabc_there".to_owned()],
            unread: vec!["/v1/policies"],
            run: "cabc".to_owned(),
        };
        assert_eq!(leftovers.may_still_exist(path), may);
    }
}

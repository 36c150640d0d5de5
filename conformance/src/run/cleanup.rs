//! Cleanup of resources that scenarios created.

use std::io;
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
use crate::run::ledger::Ledger;
use crate::run::runner::{Runner, Transport};
use crate::run::side_effects::{Resource, collections};
use crate::scenario::Identity;
use crate::scenario::resource_names::encode;
use crate::sync::lock;
use crate::target::server::Server;

/// How often removal is tried again while it makes progress: sources may use each other.
const PASSES: usize = 8;

/// What a scenario may have made and not yet removed, oldest first.
#[derive(Debug, Default)]
pub(crate) struct CreatedNames<'a> {
    list: Mutex<Vec<Resource>>,
    /// Where it is written down first, on a server that the suite did not start.
    ledger: Option<&'a Ledger>,
}

impl<'a> CreatedNames<'a> {
    pub(crate) fn new(ledger: Option<&'a Ledger>) -> Self {
        Self {
            list: Mutex::default(),
            ledger,
        }
    }

    /// Remembers what a request is about to make.
    ///
    /// # Errors
    /// It cannot be written down, so the request must not be sent.
    pub(crate) fn note(
        &self,
        server: &Server,
        document: Document,
        mut resources: Vec<Resource>,
    ) -> io::Result<()> {
        let mut list = lock(&self.list);
        resources.retain(|resource| !list.contains(resource));
        if let Some(ledger) = self.ledger {
            ledger.note(&server.base.url, document, &resources)?;
        }
        list.extend(resources);
        Ok(())
    }

    /// Forgets what a request removed.
    pub(crate) fn removed(&self, path: &str) {
        lock(&self.list).retain(|resource| resource.path != path);
    }
}

impl Drop for CreatedNames<'_> {
    /// Cleaning up may have been cut short.
    fn drop(&mut self) {
        if let Some(ledger) = self.ledger {
            let left = std::mem::take(&mut *lock(&self.list));
            ledger.unfinished(left.into_iter().map(|resource| resource.path));
        }
    }
}

impl Runner<'_> {
    /// Removes what the scenario made, users before what they use, latest first. What gets no
    /// answer stays on the list.
    pub(crate) async fn clean(&self) {
        let mut left: Vec<Resource> = lock(&self.made.list).clone();
        left.reverse();
        left.sort_by_key(|resource| resource.rank);
        for _ in 0..PASSES {
            let before = left.len();
            let mut refused = Vec::new();
            for resource in left {
                match self.remove(&resource.path).await {
                    Ok(200..300 | 404) => self.made.removed(&resource.path),
                    // Who may not remove it cannot know either whether it is there, and a server
                    // that fails now may show and remove it later.
                    Ok(401 | 403 | 429 | 500..) => refused.push(resource),
                    // What a server refuses to remove shows in its lists, if it is there.
                    Ok(_) => {
                        self.made.removed(&resource.path);
                        refused.push(resource);
                    }
                    // A server that lets one removal wait lets the others wait too.
                    Err(error) if error.slow => return,
                    Err(_) => refused.push(resource),
                }
            }
            left = refused;
            if left.is_empty() || left.len() == before {
                break;
            }
        }
    }

    /// The status of the answer to removing a resource.
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

/// What a run may have left on a server.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    /// The paths that are there, or of which nobody knows.
    pub(crate) names: Vec<String>,
    /// The collections that cannot be read.
    pub(crate) unread: Vec<&'static str>,
    /// What the names of the run carry.
    run: String,
}

impl Leftovers {
    /// Whether a path may still be there, by what was found: a collection that was read to the end
    /// does not hold what was not found in it. Of names below those of others nobody knows.
    pub(crate) fn may_hold(&self, path: &str) -> bool {
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

/// Removes what a run that ended early may have made on a server, and returns what is left.
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
        made: CreatedNames {
            list: Mutex::new(resources),
            ledger: None,
        },
    };
    runner.clean().await;
    let unanswered = std::mem::take(&mut *lock(&runner.made.list));
    let mut left = found(client, server, document, run).await;
    let paths = unanswered.into_iter().map(|one| one.path);
    let still: Vec<String> = paths.filter(|path| left.may_hold(path)).collect();
    left.names.extend(still);
    left.names.sort();
    left.names.dedup();
    Ok(left)
}

/// The paths of the resources on a server whose names carry the run's prefix, as far as the
/// server shows them before long, and the collections that cannot be read to the end.
pub(crate) async fn found(
    client: &Client,
    server: &Server,
    document: Document,
    run: &str,
) -> Leftovers {
    let mut left = Leftovers {
        run: run.to_owned(),
        ..Leftovers::default()
    };
    let (end, listings) = (Instant::now() + LIST_WITHIN, Listings::of_server());
    for (collection, key) in collections(document) {
        let names = &mut left.names;
        let each = |name: &str, _: &Value| {
            if name.contains(run) {
                names.push(format!("{collection}/{}", encode(name)));
            }
        };
        let all = list(client, server, (collection, key), &listings, each);
        if timeout_at(end, all).await != Ok(Listing::Whole) {
            left.unread.push(*collection);
        }
    }
    left
}

/// How far a collection was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listing {
    /// To its end; a server that has no such collection has nothing in it.
    Whole,
    /// The server does not show it.
    Refused,
    /// Not to its end, for this reason.
    Endless(String),
}

/// Hands on every item of a collection with its name, page by page; what cannot be read has none.
/// The collection is told by its path and by the member that names an item.
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
                Err(why) => return Listing::Endless(why),
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

    use super::*;
    use crate::http_client::{Base, Connection};

    /// A control plane whose lists do not end: each page has a name of this many bytes and leads
    /// to a further one.
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
        let left = found(&client, &endless(16 << 20), Document::Control, "cabc").await;
        let all: Vec<&str> = collections(Document::Control)
            .iter()
            .map(|one| one.0)
            .collect();
        assert_eq!(left.unread, all);
    }

    #[test]
    fn what_a_list_does_not_hold_is_gone() {
        let left = Leftovers {
            names: vec!["/v1/data/cabc_there".to_owned()],
            unread: vec!["/v1/policies"],
            run: "cabc".to_owned(),
        };
        for (path, may) in [
            ("/v1/data/cabc_there", true),
            ("/v1/data/cabc_there/a", true),
            ("/v1/data/cabc_gone/a", false),
            // Lists name what stands at the top.
            ("/v1/data/theirs/cabc_below", true),
            ("/v1/policies/cabc_gone", true),
        ] {
            assert_eq!(left.may_hold(path), may, "{path}");
        }
    }
}

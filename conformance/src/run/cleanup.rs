//! Removes what scenarios made, and finds what is left of a run.

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::catalogue::Document;
use crate::client::Client;
use crate::client::answer::NoAnswer;
use crate::client::wire::{Outgoing, Wire};
use crate::judge::openapi::{Contract, ContractError};
use crate::run::ledger::Ledger;
use crate::run::pagination::{LIST_WITHIN, Pagination};
use crate::run::runner::{Runner, Transport};
use crate::run::side_effects::Resource;
use crate::scenario::Identity;
use crate::scenario::names::encode;
use crate::sync::lock;
use crate::target::server::Server;

/// How often removal is tried again while it makes progress: sources may use each other.
const PASSES: usize = 8;

/// What a scenario may have made and not yet removed, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Made<'a> {
    list: Mutex<Vec<Resource>>,
    /// Where it is written down first, on a server that the suite did not start.
    ledger: Option<&'a Ledger>,
}

impl<'a> Made<'a> {
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

impl Drop for Made<'_> {
    /// Cleaning up may have been cut short.
    fn drop(&mut self) {
        if let Some(ledger) = self.ledger
            && !lock(&self.list).is_empty()
        {
            ledger.unfinished();
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
) -> Result<Vec<String>, &'static ContractError> {
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
        made: Made {
            list: Mutex::new(resources),
            ledger: None,
        },
    };
    runner.clean().await;
    let unanswered = std::mem::take(&mut *lock(&runner.made.list));
    let mut left: Vec<String> = unanswered.into_iter().map(|one| one.path).collect();
    let (found, unread) = found(client, server, document, run).await;
    left.extend(found);
    left.sort();
    left.dedup();
    left.extend(unread.iter().map(|name| format!("{name} (cannot be read)")));
    Ok(left)
}

/// The collections of an API, each with the member that names an item.
pub(crate) fn collections(document: Document) -> &'static [(&'static str, &'static str)] {
    match document {
        Document::Control => &[
            ("/v1/bundles", "name"),
            ("/v1/stacks", "name"),
            ("/v1/sources", "name"),
            ("/v1/secrets", "name"),
        ],
        Document::Engine => &[("/v1/policies", "id"), ("/v1/data", "")],
    }
}

/// The paths of the resources on a server whose names carry the run's prefix, as far as the
/// server shows them before long.
pub(crate) async fn leaks(
    client: &Client,
    server: &Server,
    document: Document,
    run: &str,
) -> Vec<String> {
    found(client, server, document, run).await.0
}

/// What [`leaks`] finds, and the collections that cannot be read to the end.
async fn found(
    client: &Client,
    server: &Server,
    document: Document,
    run: &str,
) -> (Vec<String>, Vec<&'static str>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    let end = Instant::now() + LIST_WITHIN;
    for (collection, key) in collections(document) {
        let mut items = Vec::new();
        let all = list(client, server, collection, key, &mut items);
        if timeout_at(end, all).await != Ok(true) {
            unread.push(*collection);
        }
        let items = items.into_iter().filter(|(name, _)| name.contains(run));
        found.extend(items.map(|(name, _)| format!("{collection}/{}", encode(&name))));
    }
    (found, unread)
}

/// Adds every item of a collection with its name, page by page, and says whether these are
/// all; what cannot be read has none.
pub(crate) async fn list(
    client: &Client,
    server: &Server,
    collection: &str,
    key: &str,
    items: &mut Vec<(String, Value)>,
) -> bool {
    let mut walk = Pagination::start();
    let mut path = collection.to_owned();
    loop {
        let mut request = Outgoing {
            method: "GET",
            path,
            headers: authorization(server),
            ..Outgoing::default()
        };
        client.complete(&mut request.headers);
        let Ok(answer) = client.send(&server.base, &request).await else {
            return false;
        };
        match answer.at("/result") {
            Some(Value::Array(found)) => items.extend(found.iter().filter_map(|item| {
                let name = item.as_str().or_else(|| item.get(key)?.as_str())?;
                Some((name.to_owned(), item.clone()))
            })),
            Some(Value::Object(members)) => {
                let members = members.iter();
                items.extend(members.map(|(name, value)| (name.clone(), value.clone())));
            }
            _ => {}
        }
        match answer.at("/next_cursor").and_then(Value::as_str) {
            Some(cursor) if walk.advance(cursor).is_ok() => {
                path = format!("{collection}?cursor={}", encode(cursor));
            }
            Some(_) => return false,
            None => return answer.is_success(),
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

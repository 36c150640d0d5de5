//! Removes what scenarios made, and finds what is left of a run.

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::answer::NoAnswer;
use crate::catalogue::Document;
use crate::client::{Client, Outgoing};
use crate::names::encode;
use crate::outgoing::Wire;
use crate::reach::Resource;
use crate::runner::{Player, lock};
use crate::scenario::Identity;
use crate::server::Server;
use crate::walk::{LIST_WITHIN, Walk};

/// How often removal is tried again while it makes progress: sources may use each other.
const PASSES: usize = 8;

impl Player<'_> {
    /// Removes what the scenario made, users before what they use, latest first.
    pub(crate) async fn clean(&self) {
        let mut left: Vec<Resource> = std::mem::take(&mut *lock(&self.made));
        left.reverse();
        left.sort_by_key(|resource| resource.rank);
        for _ in 0..PASSES {
            let before = left.len();
            let mut refused = Vec::new();
            for resource in left {
                match self.remove(&resource.path).await {
                    Ok(true) => {}
                    // A server that lets one removal wait lets the others wait too.
                    Err(error) if error.slow => return,
                    Ok(false) | Err(_) => refused.push(resource),
                }
            }
            left = refused;
            if left.is_empty() || left.len() == before {
                break;
            }
        }
    }

    /// Whether the resource is gone.
    async fn remove(&self, path: &str) -> Result<bool, NoAnswer> {
        let wire = Wire::Http(Outgoing {
            method: "DELETE",
            path: path.to_owned(),
            headers: authorization(self.server),
            ..Outgoing::default()
        });
        let base = &self.server.base;
        let (_, answer) = self.send(base, 0, "administrator".to_owned(), wire).await;
        answer.map(|answer| answer.is_success() || answer.status == 404)
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
    let collections: &[(&str, &str)] = match document {
        Document::Control => &[
            ("/v1/bundles", "name"),
            ("/v1/stacks", "name"),
            ("/v1/sources", "name"),
            ("/v1/secrets", "name"),
        ],
        Document::Engine => &[("/v1/policies", "id"), ("/v1/data", "")],
    };
    let mut found = Vec::new();
    let end = Instant::now() + LIST_WITHIN;
    for (collection, key) in collections {
        let mut names = Vec::new();
        let all = list(client, server, collection, key, &mut names);
        let _ = timeout_at(end, all).await;
        found.extend(
            names
                .into_iter()
                .filter(|name| name.contains(run))
                .map(|name| format!("{collection}/{}", encode(&name))),
        );
    }
    found
}

/// Adds every name in a collection, page by page; what cannot be read has none.
async fn list(
    client: &Client,
    server: &Server,
    collection: &str,
    key: &str,
    names: &mut Vec<String>,
) {
    let mut walk = Walk::start();
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
            return;
        };
        match answer.at("/result") {
            Some(Value::Array(items)) => names.extend(
                items
                    .iter()
                    .filter_map(|item| item.as_str().or_else(|| item.get(key)?.as_str()))
                    .map(str::to_owned),
            ),
            Some(Value::Object(members)) => names.extend(members.keys().cloned()),
            _ => {}
        }
        match answer.at("/next_cursor").and_then(Value::as_str) {
            Some(cursor) if walk.go_on(cursor).is_ok() => {
                path = format!("{collection}?cursor={}", encode(cursor));
            }
            _ => return,
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

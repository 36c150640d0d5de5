//! Server pool: each server is started once, when a scenario first needs it.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::OnceCell;

use super::Inner;
use crate::catalogue::Document;
use crate::run::cleanup;
use crate::sync::lock;
use crate::target::launch::Started;
use crate::target::server_set::Servers;

/// Key of a server: setup, API, and the run of the rule that has the server alone, if any.
pub(super) type PoolKey = (&'static str, Document, Option<String>);

/// A server, or why it could not be started; empty until the server is first needed.
#[derive(Debug, Default)]
pub(super) struct PooledServer(OnceCell<Result<Arc<Started>, String>>);

impl Inner {
    /// Returns the server for a key, started if necessary.
    pub(super) async fn server(
        &self,
        place: PoolKey,
        servers: Servers<'_>,
        mock: Option<SocketAddr>,
    ) -> Result<Arc<Started>, String> {
        let pooled = Arc::clone(lock(&self.pool).entry(place).or_default());
        let started = pooled.0.get_or_init(|| async {
            let started = servers.start(mock, &self.client).await;
            started.map(Arc::new)
        });
        started.await.clone()
    }

    /// Stops the server for a key that is no longer used. A failure to start remains stored.
    pub(super) async fn discard(&self, place: &PoolKey, started: &Started) {
        started.stop().await;
        lock(&self.pool).remove(place);
    }

    /// Returns the servers that have been started.
    fn running(&self) -> Vec<(Document, Arc<Started>)> {
        lock(&self.pool)
            .iter()
            .filter_map(|((_, document, _), pooled)| match pooled.0.get() {
                Some(Ok(started)) => Some((*document, Arc::clone(started))),
                _ => None,
            })
            .collect()
    }

    /// Returns the paths of the run's resources that are left on the started servers.
    pub(super) async fn leaks(&self) -> Vec<String> {
        let mut names = Vec::new();
        let running = self.running();
        for (document, started) in &running {
            let same = running.iter().filter(|(other, _)| other == document);
            let alone = same.count() == 1;
            let server = &started.server;
            if server.died.get().is_none() {
                let found =
                    cleanup::find_leftovers(&self.client, server, *document, &self.run).await;
                if let Some(ledger) = self.ledger.as_ref().filter(|_| alone) {
                    ledger.drop_missing(*document, |path| found.may_still_exist(path));
                }
                names.extend(found.names);
            }
        }
        names
    }

    /// Stops the started servers.
    pub(super) async fn stop(&self) {
        let stops = self.running().into_iter().map(|(_, started)| async move {
            started.stop().await;
        });
        futures_util::future::join_all(stops).await;
        lock(&self.pool).clear();
    }

    /// Why judging the target was aborted, if so.
    pub(super) fn unreachable(&self) -> Option<String> {
        let pool = lock(&self.pool);
        pool.values().find_map(|pooled| match pooled.0.get()? {
            Err(error) => Some(error.clone()),
            Ok(started) => started.server.died.get().cloned(),
        })
    }
}

//! The servers of a run: each started once, when a scenario first needs it.

use std::sync::Arc;

use tokio::sync::OnceCell;

use super::Inner;
use crate::catalogue::Document;
use crate::cleanup;
use crate::launch::{self, Started};
use crate::runner::lock;
use crate::target::Launch;

/// Setup and API.
pub(super) type Place = (String, Document);

/// A server, or why there is none; empty until it is first needed.
#[derive(Debug, Default)]
pub(super) struct Stage(OnceCell<Result<Arc<Started>, String>>);

impl Inner {
    /// The server of a setup, started if it is not.
    pub(super) async fn server(
        &self,
        setup: &str,
        document: Document,
        launch: &Launch,
    ) -> Result<Arc<Started>, String> {
        let place = (setup.to_owned(), document);
        let stage = Arc::clone(lock(&self.stages).entry(place).or_default());
        let started = stage.0.get_or_init(|| async {
            launch::start(&self.target, launch, &self.client)
                .await
                .map(Arc::new)
        });
        started.await.clone()
    }

    /// Looks for what the run left behind, then stops what it started.
    pub(super) async fn close(&self) -> Vec<String> {
        let stages = std::mem::take(&mut *lock(&self.stages));
        let mut left = Vec::new();
        for ((_, document), stage) in stages {
            let Some(Ok(started)) = stage.0.get() else {
                continue;
            };
            let server = &started.server;
            if server.died.get().is_none() {
                let found = cleanup::leaks(&self.client, server, document, &self.run).await;
                left.extend(found);
            }
            started.stop().await;
        }
        left
    }

    /// Why the target could not be judged to the end, if so.
    pub(super) fn unreachable(&self) -> Option<String> {
        let stages = lock(&self.stages);
        stages.values().find_map(|stage| match stage.0.get()? {
            Err(error) => Some(error.clone()),
            Ok(started) => started.server.died.get().cloned(),
        })
    }
}

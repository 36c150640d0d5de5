//! Polling with conditional requests and long polling.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use tracing::{error, warn};

use super::backoff::{Backoff, SHORTEST_PAUSE};
use super::download::{BUNDLE_ERROR, Download, Downloader};
use super::persistence;
use super::status_registry::{BundleStatus, Failure};
use crate::config::{Delay, Source, Trigger};
use bundle::Bundle;

/// Receiver of a bundle that is downloaded repeatedly.
pub(super) trait Pollable: Send + Sync + 'static {
    /// Name of the bundle in the log.
    fn name(&self) -> &str;

    /// Changes the status of the bundle.
    fn update(&self, change: impl FnOnce(&mut BundleStatus));

    /// Activates a bundle. This may block.
    ///
    /// # Errors
    /// When the bundle cannot be activated. Then nothing changes.
    fn activate(&self, bundle: Bundle) -> Result<(), Failure>;
}

/// Downloads a bundle repeatedly, and activates new versions in its target.
#[derive(Debug)]
pub(super) struct Poller<T> {
    target: Arc<T>,
    downloader: Downloader,
    delay: Delay,
    trigger: Trigger,
    /// Path of the persisted archive, if the bundle is persisted.
    archive_path: Option<PathBuf>,
}

impl<T: Pollable> Poller<T> {
    /// Creates a poller of a source, which persists the archive at `archive_path` if so configured.
    pub(super) fn new(
        target: T,
        source: &Source,
        downloader: Downloader,
        archive_path: PathBuf,
    ) -> Self {
        Self {
            target: Arc::new(target),
            downloader,
            delay: source.delay,
            trigger: source.trigger,
            archive_path: source.persist.then_some(archive_path),
        }
    }

    /// Runs until it is dropped, or until a bundle from a file is active.
    pub(super) async fn run(mut self) {
        if let Some(path) = self.archive_path.clone()
            && let Err(failure) = self.restore(path).await
        {
            let (bundle, reason) = (self.target.name(), failure.message);
            warn!(
                bundle,
                why = reason,
                "the bundle cannot be loaded from disk"
            );
        }
        if self.trigger == Trigger::Manual {
            return;
        }
        let mut pauses = Backoff::new(self.delay);
        loop {
            let fine = self.poll_once().await;
            if fine && self.downloader.ends() {
                return;
            }
            let pause = match fine && self.downloader.holds_back() {
                true => SHORTEST_PAUSE,
                false => pauses.next(fine),
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Polls once; returns whether that succeeded.
    async fn poll_once(&mut self) -> bool {
        let mut request = BundleStatus::default();
        let fetched = self.downloader.fetch(&mut request).await;
        self.target.update(|status| status.take_request(&request));
        let done = match fetched {
            Ok(Some(arrived)) => self.take(arrived).await,
            Ok(None) => Ok(()),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = &done {
            let (bundle, reason) = (self.target.name(), &failure.message);
            error!(bundle, why = reason, "the bundle is not loaded");
        }
        let fine = done.is_ok();
        self.target.update(|status| status.failure = done.err());
        fine
    }

    /// Activates a bundle and persists its archive.
    async fn take(&mut self, arrived: Download) -> Result<(), Failure> {
        let Download { bundle, archive } = arrived;
        let (etag, kind) = (bundle.etag.clone(), bundle.kind());
        self.activate(bundle).await?;
        self.downloader.uses(&etag);
        // Changes of a delta exist only in memory, so the archive on disk is that of a snapshot.
        if kind == "snapshot" {
            self.save(archive).await;
        }
        Ok(())
    }

    async fn activate(&self, bundle: Bundle) -> Result<(), Failure> {
        let target = Arc::clone(&self.target);
        let activated = tokio::task::spawn_blocking(move || target.activate(bundle)).await;
        activated.unwrap_or_else(|error| Err(wrong(error.to_string())))
    }

    async fn save(&self, archive: Bytes) {
        let Some(path) = self.archive_path.clone().filter(|_| !archive.is_empty()) else {
            return;
        };
        let saved = tokio::task::spawn_blocking(move || persistence::save(&path, &archive)).await;
        let saved = saved.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        if let Err(error) = saved {
            let bundle = self.target.name();
            warn!(bundle, why = %error, "cannot persist the bundle");
        }
    }

    /// Activates the persisted bundle, if there is one.
    async fn restore(&self, path: PathBuf) -> Result<(), Failure> {
        let reading = self.downloader.reading();
        let read = tokio::task::spawn_blocking(move || {
            let archive = persistence::load(&path).map_err(|error| error.to_string())?;
            let read = |archive: Vec<u8>| reading.read(&archive).map_err(|error| error.in_full());
            archive.map(read).transpose()
        });
        let read = read.await.map_err(|error| error.to_string());
        match read.and_then(|read| read).map_err(wrong)? {
            Some(bundle) => {
                let kind = bundle.kind();
                self.activate(bundle).await?;
                self.target.update(|status| status.kind = Some(kind));
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Bundle failure with only a message.
pub(super) fn wrong(message: String) -> Failure {
    Failure {
        code: BUNDLE_ERROR,
        message,
        ..Failure::default()
    }
}

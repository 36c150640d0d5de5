//! Keeping one bundle up to date.

use std::path::PathBuf;

use bytes::Bytes;
use tracing::{error, info, warn};

use super::board::{BundleStatus, Failure};
use super::clock::{Pauses, SHORTEST_PAUSE};
use super::download::{Arrived, Downloader, failure};
use super::keep;
use crate::bundle::{Bundle, BundleError};
use crate::engine::Engine;
use crate::engine::config::{Delay, Trigger};

/// Downloads a bundle again and again, and activates what is new.
#[derive(Debug)]
pub(super) struct Loader {
    pub(super) engine: Engine,
    pub(super) name: String,
    /// What `Activation` gave for the name.
    pub(super) number: u64,
    pub(super) downloader: Downloader,
    pub(super) delay: Delay,
    pub(super) trigger: Trigger,
    /// Where the archive is kept, if it is.
    pub(super) kept: Option<PathBuf>,
}

impl Loader {
    /// Goes on until it is dropped, or until a bundle that lies on disk is active.
    pub(super) async fn run(mut self) {
        if self.kept.is_some()
            && let Err(why) = self.restore().await
        {
            warn!(bundle = self.name, %why, "the bundle cannot be loaded from disk");
        }
        if self.trigger == Trigger::Manual {
            return;
        }
        let mut pauses = Pauses::new(self.delay);
        loop {
            let fine = self.turn().await;
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

    /// Looks for a new bundle once; whether there is nothing wrong.
    async fn turn(&mut self) -> bool {
        let mut request = BundleStatus::default();
        let fetched = self.downloader.fetch(&mut request).await;
        let board = &self.engine.plugins().board;
        board.bundle(&self.name, |status| status.take_request(&request));
        let done = match fetched {
            Ok(Some(arrived)) => self.take(arrived).await,
            Ok(None) => Ok(()),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = &done {
            error!(
                bundle = self.name,
                why = failure.message,
                "the bundle is not loaded"
            );
        }
        let board = &self.engine.plugins().board;
        let fine = done.is_ok();
        board.bundle(&self.name, |status| status.failure = done.err());
        fine
    }

    /// Activates a bundle and keeps its archive.
    async fn take(&mut self, arrived: Arrived) -> Result<(), Failure> {
        let Arrived { bundle, archive } = arrived;
        let (etag, kind) = (bundle.etag.clone(), bundle.kind());
        let revision = bundle.manifest.revision.clone();
        self.activate(bundle).await.map_err(|why| failure(&why))?;
        info!(bundle = self.name, revision, "the bundle is active");
        self.downloader.uses(&etag);
        // What a delta changes is only in memory, so the archive on disk is that of a snapshot.
        if kind == "snapshot" {
            self.keep(archive).await;
        }
        Ok(())
    }

    async fn activate(&self, bundle: Bundle) -> Result<(), BundleError> {
        let (engine, name, number) = (self.engine.clone(), self.name.clone(), self.number);
        let activated = tokio::task::spawn_blocking(move || {
            let activation = &engine.plugins().activation;
            activation.activate(&engine, &name, number, bundle)
        });
        let activated = activated.await;
        activated.unwrap_or_else(|why| Err(BundleError::new(why.to_string())))
    }

    async fn keep(&self, archive: Bytes) {
        let Some(path) = self.kept.clone().filter(|_| !archive.is_empty()) else {
            return;
        };
        let saved = tokio::task::spawn_blocking(move || keep::save(&path, &archive)).await;
        let saved = saved.unwrap_or_else(|why| Err(std::io::Error::other(why)));
        if let Err(why) = saved {
            warn!(bundle = self.name, %why, "the bundle cannot be kept on disk");
        }
    }

    /// Activates the bundle that is kept on disk, if there is one.
    async fn restore(&mut self) -> Result<(), String> {
        let Some(path) = self.kept.clone() else {
            return Ok(());
        };
        let reading = self.downloader.reading();
        let read = tokio::task::spawn_blocking(move || {
            let archive = keep::load(&path).map_err(|why| why.to_string())?;
            let read = |archive: Vec<u8>| reading.read(&archive).map_err(|why| why.in_full());
            archive.map(read).transpose()
        });
        let Some(bundle) = read.await.map_err(|why| why.to_string())?? else {
            return Ok(());
        };
        self.activate(bundle).await.map_err(|why| why.in_full())
    }
}

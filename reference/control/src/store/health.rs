//! Health check of the database, on a separate connection so that queued statements do not delay
//! it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Executor, Row as _};
use tokio::sync::Mutex;
use tracing::{error, warn};

use super::database_error::DatabaseError;
use super::schema_check::{CorruptionCheck, quick_check};
use super::{Database, DatabaseUrl, files};

/// Timeout of one probe; afterwards the probe's connection is dropped.
const PROBE_TIMEOUT: Duration = Duration::from_secs(4);

/// Timeout of a corruption check while the server runs.
const CHECK: Duration = Duration::from_secs(60);

/// Settings of the probe's SQLite connection; it waits for a lock for at most 1500 ms.
const SQLITE_SETTINGS: &str = "PRAGMA busy_timeout = 1500; PRAGMA synchronous = FULL";

/// Health probe of the database.
#[derive(Debug)]
pub(crate) struct Probe {
    url: DatabaseUrl,
    address: String,
    /// SQLite file, and its identity to detect a replacement.
    file: Option<(PathBuf, Option<(u64, u64)>)>,
    /// Pool of an in-memory database, which has no other connection.
    memory: Option<AnyPool>,
    connection: Mutex<Option<AnyConnection>>,
    /// Whether an error has occurred since the last corruption check.
    suspected: AtomicBool,
    /// Whether corruption was found; it is permanent.
    damaged: AtomicBool,
}

impl Probe {
    /// Creates a probe for the database of a URL at an address.
    pub(super) fn new(url: &DatabaseUrl, address: &str, pool: AnyPool) -> Self {
        let in_memory = url.database() == Some(Database::Memory);
        Self {
            url: url.clone(),
            address: address.to_owned(),
            file: url.path().map(|path| {
                let identity = files::identity(&path);
                (path, identity)
            }),
            memory: in_memory.then_some(pool),
            connection: Mutex::default(),
            suspected: AtomicBool::default(),
            damaged: AtomicBool::default(),
        }
    }

    /// Requests a corruption check by the next probe, because something failed.
    pub(crate) fn suspect(&self) {
        self.suspected.store(true, Ordering::Relaxed);
    }

    /// Reads the key check and writes a row.
    ///
    /// # Errors
    /// The state of the database; the log has the reason.
    pub(crate) async fn run(self: &Arc<Self>) -> Result<String, DatabaseError> {
        if let Some((path, opened)) = &self.file
            && files::identity(path) != *opened
        {
            return Err(DatabaseError::Replaced);
        }
        if self.suspected.swap(false, Ordering::Relaxed) {
            // A check of a large database takes longer than a health check may.
            let probe = Arc::clone(self);
            tokio::spawn(async move { probe.check_integrity().await });
        }
        if self.damaged.load(Ordering::Relaxed) {
            return Err(DatabaseError::Damaged);
        }
        let failure = match tokio::time::timeout(PROBE_TIMEOUT, self.exchange()).await {
            Ok(Ok(check)) => return Ok(check),
            Ok(Err(failure)) => failure,
            Err(_) => return Err(DatabaseError::Silent),
        };
        let database_failure = DatabaseError::of(&failure);
        warn!(%failure, "the database cannot be used");
        if database_failure == DatabaseError::Damaged {
            self.damaged.store(true, Ordering::Relaxed);
        }
        Err(database_failure)
    }

    /// Reads and writes. A connection that failed, or timed out, is not used again.
    async fn exchange(&self) -> Result<String, sqlx::Error> {
        let check = "SELECT sealed FROM keyring";
        if let Some(pool) = &self.memory {
            return pool.fetch_one(check).await?.try_get(0);
        }
        let mut slot = self.connection.lock().await;
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let check = connection.fetch_one(check).await?.try_get(0)?;
        let write = "UPDATE probes SET written = written + 1 WHERE id = 1";
        connection.execute(write).await?;
        *slot = Some(connection);
        Ok(check)
    }

    async fn connect(&self) -> Result<AnyConnection, sqlx::Error> {
        let options: AnyConnectOptions = self.address.parse()?;
        let mut connection = options.connect().await?;
        if self.file.is_some() {
            connection.execute(SQLITE_SETTINGS).await?;
        }
        Ok(connection)
    }

    async fn check_integrity(&self) {
        if self.file.is_none() {
            return;
        }
        match quick_check(&self.url, CHECK).await {
            Ok(CorruptionCheck::Damaged(why)) => {
                error!(why, "the database is damaged");
                self.damaged.store(true, Ordering::Relaxed);
            }
            Ok(CorruptionCheck::Sound | CorruptionCheck::Unfinished) => {}
            Err(failure) => {
                warn!(%failure, "the database could not be checked for damage");
                self.suspect();
            }
        }
    }
}

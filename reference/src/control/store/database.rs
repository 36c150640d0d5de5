//! Connections: where the database is, and how a transaction begins.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::any::AnyPoolOptions;
use sqlx::{Any, AnyPool, AssertSqlSafe, Executor, Transaction};
use tokio::sync::Notify;

use super::StoreError;

/// Connections that read from one SQLite file at the same time.
const SQLITE_READERS: u32 = 4;

/// How long a health check waits for the database.
const PING: Duration = Duration::from_secs(2);

/// What every SQLite connection starts with. Without the write-ahead log readers would wait for
/// writers; without full synchronisation a power cut could take back what was confirmed.
const SQLITE_SETTINGS: &str = "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; \
     PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON";

/// The address of a database. It may hold a password, so it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct DatabaseUrl(String);

impl FromStr for DatabaseUrl {
    type Err = Infallible;

    fn from_str(url: &str) -> Result<Self, Infallible> {
        Ok(Self(url.to_owned()))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl")
    }
}

/// A database that the program can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// SQLite, in memory only.
    Memory,
    /// SQLite, in a file.
    File(PathBuf),
    /// PostgreSQL.
    Postgres,
}

impl DatabaseUrl {
    /// Which database the address names, or `None` when it is no such address.
    pub(crate) fn database(&self) -> Option<Database> {
        if self.0.starts_with("postgres://") || self.0.starts_with("postgresql://") {
            return Some(Database::Postgres);
        }
        let name = self.0.strip_prefix("sqlite:")?;
        let name = name.strip_prefix("//").unwrap_or(name);
        let file = name.split_once('?').map_or(name, |(file, _)| file);
        match file {
            "" => None,
            ":memory:" => Some(Database::Memory),
            file => Some(Database::File(Path::new(file).to_owned())),
        }
    }

    /// The address with which a missing file is created.
    fn creating(&self) -> String {
        match self.database() {
            Some(Database::File(_)) if !self.0.contains("mode=") => {
                let separator = if self.0.contains('?') { '&' } else { '?' };
                format!("{}{separator}mode=rwc", self.0)
            }
            _ => self.0.clone(),
        }
    }
}

/// The store.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    read: AnyPool,
    write: AnyPool,
    postgres: bool,
    changed: Arc<Notify>,
}

impl Store {
    /// Connects to a database.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub(crate) async fn connect(url: &DatabaseUrl) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let database = url.database();
        let options =
            AnyPoolOptions::new().test_before_acquire(database == Some(Database::Postgres));
        let url = &url.creating();
        let (read, write) = match database {
            Some(Database::Memory) => {
                // The database lives as long as its connection.
                let one = options.min_connections(1).max_connections(1);
                let one = sqlite(one.idle_timeout(None).max_lifetime(None));
                let pool = one.connect(url).await?;
                (pool.clone(), pool)
            }
            Some(Database::File(_)) => (
                sqlite(options.clone().max_connections(SQLITE_READERS))
                    .connect(url)
                    .await?,
                sqlite(options.max_connections(1)).connect(url).await?,
            ),
            Some(Database::Postgres) | None => {
                let pool = options.max_connections(16).connect(url).await?;
                (pool.clone(), pool)
            }
        };
        Ok(Self {
            read,
            write,
            postgres: database == Some(Database::Postgres),
            changed: Arc::default(),
        })
    }

    /// The connections that read.
    pub(super) fn reader(&self) -> &AnyPool {
        &self.read
    }

    /// Whether the database is PostgreSQL.
    pub(super) fn is_postgres(&self) -> bool {
        self.postgres
    }

    /// Begins a transaction that writes.
    pub(super) async fn begin(&self) -> Result<Transaction<'static, Any>, StoreError> {
        let statement = if self.postgres {
            "BEGIN"
        } else {
            "BEGIN IMMEDIATE"
        };
        Ok(self.write.begin_with(statement).await?)
    }

    /// Begins a transaction that reads, and sees the database as it is at its first statement.
    pub(super) async fn look(&self) -> Result<Transaction<'static, Any>, StoreError> {
        let statement = if self.postgres {
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        } else {
            "BEGIN"
        };
        Ok(self.read.begin_with(statement).await?)
    }

    /// The connections that write, for single statements.
    pub(super) fn writer(&self) -> &AnyPool {
        &self.write
    }

    /// The statement with what the databases spell differently put in: `{now}` is the time in
    /// milliseconds since 1970, `{hold}` keeps the rows of `r` from being deleted, `{skip}`
    /// locks the chosen rows and passes over those that others have locked.
    pub(super) fn spell(&self, statement: &str) -> AssertSqlSafe<String> {
        let (now, hold, skip) = if self.postgres {
            (
                "CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT)",
                "FOR KEY SHARE OF r",
                "FOR UPDATE SKIP LOCKED",
            )
        } else {
            ("CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)", "", "")
        };
        let spelt = statement.replace("{now}", now).replace("{hold}", hold);
        AssertSqlSafe(spelt.replace("{skip}", skip))
    }

    /// Says that a change is committed.
    pub(super) fn say_changed(&self) {
        self.changed.notify_one();
    }

    /// Waits for a change that this process commits; one that nobody has waited for counts.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Picks the statement of the database in use. The statements differ only in their locks:
    /// SQLite has none on rows because it lets only one transaction write.
    pub(super) fn locking(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        if self.postgres { postgres } else { sqlite }
    }

    /// Whether the database answers.
    pub(crate) async fn is_ready(&self) -> bool {
        let ping = self.read.execute("SELECT 1");
        matches!(tokio::time::timeout(PING, ping).await, Ok(Ok(_)))
    }
}

fn sqlite(options: AnyPoolOptions) -> AnyPoolOptions {
    options.after_connect(|connection, _| {
        Box::pin(async move { connection.execute(SQLITE_SETTINGS).await.map(drop) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let file = |name: &str| Some(Database::File(name.into()));
        for (url, expected) in [
            ("sqlite:a.db", file("a.db")),
            ("sqlite://a.db", file("a.db")),
            ("sqlite:///v/a.db?cache=private", file("/v/a.db")),
            ("sqlite::memory:", Some(Database::Memory)),
            ("postgres://h/d", Some(Database::Postgres)),
            ("postgresql://h/d", Some(Database::Postgres)),
            ("mysql://h/d", None),
            ("sqlite:", None),
            ("a.db", None),
            ("", None),
        ] {
            assert_eq!(DatabaseUrl(url.to_owned()).database(), expected, "`{url}`");
        }
    }
}

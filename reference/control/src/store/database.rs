//! Database connections and transactions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::any::{AnyArguments, AnyPoolOptions};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{
    Any, AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions, Connection, Executor, Transaction,
};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::database_error::DatabaseError;
use super::health::Probe;
use super::{Database, DatabaseUrl, StoreError, files};

/// Maximum number of read connections to an SQLite file.
const SQLITE_READERS: u32 = 4;

/// Timeout for acquiring a connection to an SQLite file.
const SQLITE_ACQUIRE: Duration = Duration::from_secs(3);

/// Time for which a write transaction is retried while another process has the lock.
const LOCK_WAIT: Duration = Duration::from_secs(3);

/// Maximum number of attempts to close connections of a pool that cannot begin a transaction.
const MAX_BROKEN: usize = 20;

/// Maximum number of connections to a PostgreSQL server.
const POSTGRES_CONNECTIONS: u32 = 16;

/// Timeout for acquiring a connection to a PostgreSQL server: long enough for a restart of the
/// server.
const POSTGRES_ACQUIRE: Duration = Duration::from_secs(5);

/// Timeout for a PostgreSQL connection to prove that it still works when it is returned to the
/// pool.
const POSTGRES_RELEASE: Duration = Duration::from_secs(5);

/// Timeout of a request on a PostgreSQL server, which may become unreachable silently.
const POSTGRES_REQUEST: Duration = Duration::from_secs(10);

/// Settings of every SQLite connection. Without full synchronisation a power failure could undo
/// confirmed writes; transactions of the workers do without. SQLite polls a lock at growing
/// intervals, so a long wait loses it to others repeatedly; therefore each wait is short, and
/// repeated.
const SQLITE_SETTINGS: &str = "PRAGMA busy_timeout = 250; PRAGMA synchronous = FULL; \
     PRAGMA foreign_keys = ON";

/// Settings of every PostgreSQL connection: the limit for idle transactions, in milliseconds,
/// exceeds that of a request.
const POSTGRES_SETTINGS: &str = "SET idle_in_transaction_session_timeout = 15000";

/// Store over a database.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    read: AnyPool,
    write: AnyPool,
    /// Runtime for requests on PostgreSQL: connections belong to the runtime that opens them.
    postgres: Option<Handle>,
    changed: Arc<Notify>,
    probe: Arc<Probe>,
}

impl Store {
    /// Connects to a database. The SQLite file is created if it does not exist.
    ///
    /// # Errors
    /// When the database cannot be used.
    pub(crate) async fn connect(url: &DatabaseUrl) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let database = url.database();
        let options =
            AnyPoolOptions::new().test_before_acquire(database == Some(Database::Postgres));
        let address = &url.of_existing_file();
        let (read, write) = match database {
            Some(Database::Memory) => {
                // An in-memory database exists as long as its connection.
                let single = options.min_connections(1).max_connections(1);
                let single = sqlite(single.idle_timeout(None).max_lifetime(None));
                let pool = single.connect(address).await?;
                (pool.clone(), pool)
            }
            Some(Database::File(_)) => {
                create(url).await?;
                let options = sqlite(options).acquire_timeout(SQLITE_ACQUIRE);
                let readers = options.clone().max_connections(SQLITE_READERS);
                (
                    readers.connect_lazy(address)?,
                    options.max_connections(1).connect_lazy(address)?,
                )
            }
            Some(Database::Postgres) | None => {
                let options = postgres(options).max_connections(POSTGRES_CONNECTIONS);
                let pool = options.connect_lazy(address)?;
                (pool.clone(), pool)
            }
        };
        Ok(Self {
            probe: Arc::new(Probe::new(url, address, read.clone())),
            read,
            write,
            postgres: (database == Some(Database::Postgres)).then(Handle::current),
            changed: Arc::default(),
        })
    }

    /// Returns the pool of read connections.
    pub(super) fn reader(&self) -> &AnyPool {
        &self.read
    }

    /// Whether the database is PostgreSQL.
    pub(super) fn is_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    /// Returns the runtime on which requests must run.
    pub(crate) fn runtime(&self) -> Handle {
        self.postgres.clone().unwrap_or_else(Handle::current)
    }

    /// Begins a write transaction.
    pub(super) async fn begin(&self) -> Result<Transaction<'static, Any>, StoreError> {
        self.begin_with("PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
            .await
    }

    /// Begins a write transaction that a power failure may undo: build claims and results. SQLite
    /// does not wait for the disk then. A start checks every bundle, and later confirmed writes are
    /// only confirmed once this is on the disk, too.
    pub(super) async fn begin_unsynced(&self) -> Result<Transaction<'static, Any>, StoreError> {
        self.begin_with("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE")
            .await
    }

    async fn begin_with(
        &self,
        sqlite: &'static str,
    ) -> Result<Transaction<'static, Any>, StoreError> {
        if self.is_postgres() {
            return Ok(self.begin_on(&self.write, "BEGIN").await?);
        }
        let deadline = Instant::now() + LOCK_WAIT;
        loop {
            match self.begin_on(&self.write, sqlite).await {
                Err(failure)
                    if DatabaseError::of(&failure) == DatabaseError::Locked
                        && Instant::now() < deadline => {}
                begun => return Ok(begun?),
            }
        }
    }

    /// Begins a transaction on a connection of a pool. On PostgreSQL this runs in a separate task:
    /// the driver loses track of a cancelled begin, and the connection's next user would be inside
    /// that transaction. When the disk is full, SQLite itself ends the transaction, so that its
    /// driver keeps treating the connection as being in one.
    async fn begin_on(
        &self,
        pool: &AnyPool,
        statement: &'static str,
    ) -> Result<Transaction<'static, Any>, sqlx::Error> {
        let mut attempts = 0..MAX_BROKEN;
        loop {
            let begun = match self.is_postgres() {
                true => {
                    let pool = pool.clone();
                    let begun = tokio::spawn(async move { pool.begin_with(statement).await });
                    begun.await.map_err(|_| sqlx::Error::WorkerCrashed)?
                }
                false => pool.begin_with(statement).await,
            };
            match begun {
                Err(sqlx::Error::InvalidSavePointStatement) if attempts.next().is_some() => {
                    close_broken(pool).await?;
                }
                begun => return begun,
            }
        }
    }

    /// Begins a read transaction, which sees a snapshot as of its first statement.
    pub(super) async fn begin_read(&self) -> Result<Transaction<'static, Any>, StoreError> {
        let statement = if self.is_postgres() {
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        } else {
            "BEGIN"
        };
        Ok(self.begin_on(&self.read, statement).await?)
    }

    /// Executes one write statement of the workers in a transaction; returns the number of affected
    /// rows.
    pub(super) async fn write(
        &self,
        statement: Query<'_, Any, AnyArguments>,
    ) -> Result<u64, StoreError> {
        let mut transaction = self.begin_unsynced().await?;
        let result = statement.execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(result.rows_affected())
    }

    /// Replaces placeholders by the SQL of the database: `{now}` is the time in milliseconds since
    /// 1970, `{hold}` prevents the rows of `r` from being deleted, `{skip}` locks the selected rows
    /// and skips those that others have locked.
    pub(super) fn dialect_sql(&self, statement: &str) -> AssertSqlSafe<String> {
        let (now, row_lock, skip) = if self.is_postgres() {
            (
                "CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT)",
                "FOR KEY SHARE OF r",
                "FOR UPDATE SKIP LOCKED",
            )
        } else {
            ("CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)", "", "")
        };
        let statement = statement.replace("{now}", now).replace("{hold}", row_lock);
        AssertSqlSafe(statement.replace("{skip}", skip))
    }

    /// Signals that a change is committed.
    pub(super) fn notify_changed(&self) {
        self.changed.notify_one();
    }

    /// Waits for a change that this process commits; an earlier unobserved one counts.
    pub(crate) async fn wait_for_change(&self) {
        self.changed.notified().await;
    }

    /// Returns the statement for the database in use. Both are equivalent. SQLite has no row locks
    /// because it allows only one write transaction.
    pub(super) fn locking(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        if self.is_postgres() { postgres } else { sqlite }
    }

    /// Combines several statements into one, which returns the result of the last one. On
    /// PostgreSQL each of them sees the database as it is before the first.
    pub(super) fn combine(&self, statements: &[&str]) -> AssertSqlSafe<String> {
        if !self.is_postgres() {
            return AssertSqlSafe(statements.join("; "));
        }
        let Some((last, steps)) = statements.split_last() else {
            return AssertSqlSafe(String::new());
        };
        let steps = steps.iter().enumerate();
        let steps: Vec<_> = steps
            .map(|(index, statement)| format!("step{index} AS ({statement})"))
            .collect();
        AssertSqlSafe(format!("WITH {} {last}", steps.join(", ")))
    }

    /// Returns the health probe of the database.
    pub(crate) fn probe(&self) -> &Arc<Probe> {
        &self.probe
    }

    /// Returns the timeout of a request, if a remote server could block it forever.
    pub(crate) fn request_limit(&self) -> Option<Duration> {
        self.is_postgres().then_some(POSTGRES_REQUEST)
    }
}

/// Closes the connections of a pool on which no transaction can begin.
async fn close_broken(pool: &AnyPool) -> Result<(), sqlx::Error> {
    let mut connections = vec![pool.acquire().await?];
    while let Some(connection) = pool.try_acquire() {
        connections.push(connection);
    }
    for mut connection in connections {
        let is_usable = match connection.begin_with("BEGIN").await {
            Ok(transaction) => transaction.rollback().await.is_ok(),
            Err(_) => false,
        };
        if !is_usable {
            connection.close().await?;
        }
    }
    Ok(())
}

/// Creates the file of an SQLite database if it does not exist, and enables the write-ahead log,
/// without which readers would wait for writers.
async fn create(url: &DatabaseUrl) -> Result<(), StoreError> {
    let mut options: SqliteConnectOptions = url.as_str().parse()?;
    if let Some(path) = url.path()
        && !url.as_str().contains("mode=")
    {
        files::create_private(&path).map_err(sqlx::Error::Io)?;
        options = options.create_if_missing(false);
    }
    let options = options.journal_mode(SqliteJournalMode::Wal);
    let deadline = Instant::now() + LOCK_WAIT;
    loop {
        match options.connect().await {
            Ok(connection) => return Ok(connection.close().await?),
            // SQLite does not wait for the lock that a change of the journal mode needs.
            Err(failure)
                if DatabaseError::of(&failure) == DatabaseError::Locked
                    && Instant::now() < deadline =>
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(failure) => return Err(failure.into()),
        }
    }
}

fn sqlite(options: AnyPoolOptions) -> AnyPoolOptions {
    options.after_connect(|connection, _| {
        Box::pin(async move { connection.execute(SQLITE_SETTINGS).await.map(drop) })
    })
}

/// Closes connections to a server that no longer responds, so that new ones replace them. The
/// server aborts idle transactions of vanished clients, which would otherwise keep their locks
/// until it notices, hours later.
fn postgres(options: AnyPoolOptions) -> AnyPoolOptions {
    let options = options.acquire_timeout(POSTGRES_ACQUIRE);
    let options = options.after_connect(|connection, _| {
        Box::pin(async move { connection.execute(POSTGRES_SETTINGS).await.map(drop) })
    });
    options.after_release(|connection: &mut AnyConnection, _| {
        Box::pin(async move {
            match tokio::time::timeout(POSTGRES_RELEASE, connection.ping()).await {
                Ok(result) => result.map(|()| true),
                Err(elapsed) => Err(sqlx::Error::Io(elapsed.into())),
            }
        })
    })
}

//! Schema check of a database before anything is written to it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use sqlx::any::AnyConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AnyConnection, ConnectOptions, Connection, Row as _, SqliteConnection, query};
use tracing::{info, warn};

use super::database_error::DatabaseError;
use super::migrations::STEPS;
use super::{Database, DatabaseUrl, files};

/// Time that the start waits for a lock of another process.
const LOCK_WAIT: Duration = Duration::from_secs(3);

/// Time limit of the corruption check at the start.
const CHECK: Duration = Duration::from_secs(5);

/// Time that the start waits for a PostgreSQL server that is not reachable yet.
const SERVER_WAIT: Duration = Duration::from_secs(30);

/// Delay between two attempts to reach the PostgreSQL server.
const SERVER_PAUSE: Duration = Duration::from_millis(500);

/// Tables that every database of this program has had since its first version.
const REQUIRED_TABLES: [&str; 3] = ["schema_steps", "resources", "keyring"];

/// All tables, which must not exist in a schema of another program.
const TABLES: [&str; 11] = [
    "schema_steps",
    "resources",
    "source_uses",
    "secret_uses",
    "documents",
    "keyring",
    "changes",
    "builds",
    "build_statuses",
    "places",
    "probes",
];

/// Contents of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Empty; its file may not exist yet.
    Nothing,
    /// Data of this program, with the key check if present.
    Ours {
        /// Sealed value that only the right encryption key opens.
        check: Option<String>,
    },
}

/// Reason why a database cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnusableDatabase {
    #[error("`{0}` is not a database")]
    NoDatabase(String),
    #[error("{name} belongs to another program ({why}); nothing was written to it")]
    Foreign { name: String, why: String },
    #[error(
        "{name} is damaged ({why}); restore it from a backup, or save what can be read with \
         `sqlite3 FILE .recover`"
    )]
    Damaged { name: String, why: String },
    #[error("{0} is locked by another process")]
    Locked(String),
    #[error("{name} cannot be used: {failure}")]
    Failed { name: String, failure: sqlx::Error },
    #[error("the database was made by a newer version of this program")]
    Newer,
}

/// Result of a corruption check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CorruptionCheck {
    /// No corruption.
    Sound,
    /// Corruption, with a description.
    Damaged(String),
    /// The time limit was reached before the end.
    Unfinished,
}

/// Inspects the contents of a database, and makes its existing files private.
///
/// # Errors
/// When it is not a database, another program's, damaged, locked, newer, or unreachable.
pub(crate) async fn inspect(url: &DatabaseUrl) -> Result<Contents, UnusableDatabase> {
    match url.database() {
        Some(Database::File(_)) => inspect_file(url).await,
        Some(Database::Postgres) => inspect_server(url).await,
        Some(Database::Memory) | None => Ok(Contents::Nothing),
    }
}

async fn inspect_file(url: &DatabaseUrl) -> Result<Contents, UnusableDatabase> {
    let Some(path) = url.path() else {
        return Ok(Contents::Nothing);
    };
    let is_nonempty = path.metadata().is_ok_and(|file| file.len() > 0);
    if !is_nonempty && !path.is_dir() {
        return Ok(Contents::Nothing);
    }
    let name = format!("database `{}`", path.display());
    let failed = |failure: sqlx::Error| match DatabaseError::of(&failure) {
        DatabaseError::Locked => UnusableDatabase::Locked(name.clone()),
        DatabaseError::Damaged if is_no_database(&failure) => {
            UnusableDatabase::NoDatabase(path.display().to_string())
        }
        DatabaseError::Damaged => UnusableDatabase::Damaged {
            name: name.clone(),
            why: failure.to_string(),
        },
        _ => UnusableDatabase::Failed {
            name: name.clone(),
            failure,
        },
    };
    let mut connection = connect_file(url).await.map_err(failed)?;
    let result = read_file(&mut connection, &name).await;
    let contents = match result {
        Ok(contents) => contents?,
        Err(failure) => return Err(failed(failure)),
    };
    connection.close().await.map_err(failed)?;
    let started = Instant::now();
    match quick_check(url, CHECK).await.map_err(failed)? {
        CorruptionCheck::Sound => {
            info!(took = ?started.elapsed(), "the database was checked for damage")
        }
        CorruptionCheck::Damaged(why) => return Err(UnusableDatabase::Damaged { name, why }),
        CorruptionCheck::Unfinished => warn!(
            "the database is too large to check it all for damage at the start; \
             `sqlite3 FILE 'PRAGMA quick_check'` does"
        ),
    }
    files::tighten_database(&path);
    Ok(contents)
}

/// Determines the contents of an SQLite file from its header and its tables.
async fn read_file(
    connection: &mut SqliteConnection,
    name: &str,
) -> Result<Result<Contents, UnusableDatabase>, sqlx::Error> {
    for mark in ["application_id", "user_version"] {
        let pragma = sqlx::AssertSqlSafe(format!("PRAGMA {mark}"));
        let value: i64 = query(pragma)
            .fetch_one(&mut *connection)
            .await?
            .try_get(0)?;
        // This program sets neither.
        if value != 0 {
            return Ok(Err(UnusableDatabase::Foreign {
                name: name.to_owned(),
                why: format!("its {mark} is {value}"),
            }));
        }
    }
    let tables = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') \
                  AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut tables_found = Vec::new();
    for row in query(tables).fetch_all(&mut *connection).await? {
        tables_found.push(row.try_get::<String, _>(0)?);
    }
    let present: HashSet<&str> = tables_found.iter().map(String::as_str).collect();
    if !REQUIRED_TABLES.iter().all(|table| present.contains(table)) {
        return Ok(match tables_found.first() {
            None => Ok(Contents::Nothing),
            Some(table) => Err(UnusableDatabase::Foreign {
                name: name.to_owned(),
                why: format!("it has a table `{table}`"),
            }),
        });
    }
    let row = query("SELECT COUNT(*) FROM schema_steps");
    let steps: i64 = row.fetch_one(&mut *connection).await?.try_get(0)?;
    let check = query("SELECT sealed FROM keyring LIMIT 1");
    let check = check.fetch_optional(&mut *connection).await?;
    let check = check.map(|row| row.try_get(0)).transpose()?;
    Ok(check_steps(steps, check))
}

async fn inspect_server(url: &DatabaseUrl) -> Result<Contents, UnusableDatabase> {
    let name = "the PostgreSQL database".to_owned();
    let mut connection = match connect_server(url).await {
        Ok(connection) => connection,
        Err(failure) => return Err(UnusableDatabase::Failed { name, failure }),
    };
    let inspection = async {
        let tables = "SELECT CAST(tablename AS TEXT) FROM pg_catalog.pg_tables \
                      WHERE schemaname = current_schema()";
        let mut present = HashSet::new();
        for row in query(tables).fetch_all(&mut connection).await? {
            present.insert(row.try_get::<String, _>(0)?);
        }
        if !REQUIRED_TABLES.iter().all(|table| present.contains(*table)) {
            // Unrelated tables may exist in the same schema.
            return Ok(
                match TABLES.iter().find(|table| present.contains(**table)) {
                    None => Ok(Contents::Nothing),
                    Some(table) => Err(UnusableDatabase::Foreign {
                        name: "the PostgreSQL schema".to_owned(),
                        why: format!("it has a table `{table}`"),
                    }),
                },
            );
        }
        let row = query("SELECT COUNT(*) FROM schema_steps");
        let steps: i64 = row.fetch_one(&mut connection).await?.try_get(0)?;
        let check = query("SELECT sealed FROM keyring LIMIT 1");
        let check = check.fetch_optional(&mut connection).await?;
        let check = check.map(|row| row.try_get(0)).transpose()?;
        Ok::<_, sqlx::Error>(check_steps(steps, check))
    };
    let contents = match inspection.await {
        Ok(contents) => contents?,
        Err(failure) => return Err(UnusableDatabase::Failed { name, failure }),
    };
    // It does not matter whether the server is notified of the close.
    drop(connection.close().await);
    Ok(contents)
}

/// Returns the contents of a database of this program, unless a newer version has migrated it.
fn check_steps(steps: i64, check: Option<String>) -> Result<Contents, UnusableDatabase> {
    match usize::try_from(steps) {
        Ok(steps) if steps <= STEPS.len() => Ok(Contents::Ours { check }),
        _ => Err(UnusableDatabase::Newer),
    }
}

/// Checks an SQLite file for corruption, for a limited time.
///
/// # Errors
/// When the file cannot be opened.
pub(crate) async fn quick_check(
    url: &DatabaseUrl,
    budget: Duration,
) -> Result<CorruptionCheck, sqlx::Error> {
    let mut connection = connect_file(url).await?;
    let deadline = Instant::now() + budget;
    let mut handle = connection.lock_handle().await?;
    handle.set_progress_handler(1_000, move || Instant::now() < deadline);
    drop(handle);
    let checked = query("PRAGMA quick_check(1)")
        .fetch_one(&mut connection)
        .await
        .and_then(|row| row.try_get::<String, _>(0));
    let checked = match checked {
        Ok(found) if found == "ok" => Ok(CorruptionCheck::Sound),
        Ok(found) => Ok(CorruptionCheck::Damaged(found)),
        Err(_) if Instant::now() >= deadline => Ok(CorruptionCheck::Unfinished),
        Err(failure) if DatabaseError::of(&failure) == DatabaseError::Damaged => {
            Ok(CorruptionCheck::Damaged(failure.to_string()))
        }
        Err(failure) => Err(failure),
    };
    // The connection has written nothing, so a failed close loses nothing.
    drop(connection.close().await);
    checked
}

/// Whether SQLite reports that a file is not a database.
fn is_no_database(failure: &sqlx::Error) -> bool {
    let code = failure.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| code == "26")
}

/// Connects to the SQLite file of an address, without creating it.
async fn connect_file(url: &DatabaseUrl) -> Result<SqliteConnection, sqlx::Error> {
    let options = SqliteConnectOptions::from_str(url.as_str())?;
    let options = options.create_if_missing(false).busy_timeout(LOCK_WAIT);
    options.connect().await
}

/// Connects to a PostgreSQL server, which may just be starting.
async fn connect_server(url: &DatabaseUrl) -> Result<AnyConnection, sqlx::Error> {
    sqlx::any::install_default_drivers();
    let options: AnyConnectOptions = url.as_str().parse()?;
    let deadline = Instant::now() + SERVER_WAIT;
    let mut is_logged = false;
    loop {
        let remaining = deadline.saturating_duration_since(Instant::now());
        let failure = match tokio::time::timeout(remaining, options.connect()).await {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(failure)) => failure,
            Err(_) => return Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
        };
        if !may_be_starting(&failure) || Instant::now() + SERVER_PAUSE >= deadline {
            return Err(failure);
        }
        if !is_logged {
            warn!(%failure, "waiting for the PostgreSQL server");
            is_logged = true;
        }
        tokio::time::sleep(SERVER_PAUSE).await;
    }
}

/// Whether a server that refuses a connection may accept one soon.
fn may_be_starting(failure: &sqlx::Error) -> bool {
    match failure {
        sqlx::Error::Io(_) => true,
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            code.starts_with("57P") || code.starts_with("53") || code.starts_with("08")
        }
        _ => false,
    }
}

impl DatabaseUrl {
    /// Returns the file of an SQLite database.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        match self.database() {
            Some(Database::File(_)) => {
                let options = SqliteConnectOptions::from_str(self.as_str()).ok()?;
                Some(options.get_filename().to_owned())
            }
            _ => None,
        }
    }
}

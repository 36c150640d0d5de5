//! Database errors by their codes.

use sqlx::Error;
use sqlx::sqlite::SqliteError;

/// Database error. Its message contains no internal details for the operator only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DatabaseError {
    /// Another process holds a lock for too long.
    #[error("the database is locked")]
    Locked,
    /// All connections are in use for too long.
    #[error("the database is busy or cannot be reached")]
    Busy,
    /// The database has no free space.
    #[error("the database is full")]
    Full,
    /// The database is read-only.
    #[error("the database is read-only")]
    ReadOnly,
    /// The files of the database cannot be opened, read or written at the moment.
    #[error("the database's disk fails")]
    Disk,
    /// The database server cannot be reached, or refuses connections.
    #[error("the database cannot be reached")]
    Unreachable,
    /// The database does not respond in time.
    #[error("the database does not answer in time")]
    Silent,
    /// The data of the database is corrupt.
    #[error("the database is damaged")]
    Damaged,
    /// The database file is no longer where it was opened.
    #[error("the database file was deleted or replaced while it was in use")]
    Replaced,
    /// The secrets in the database are sealed with a key that this server does not have.
    #[error("the encryption key was rotated, and this server has not been given the new one")]
    UnknownKey,
    /// Any other error.
    #[error("the database failed")]
    Other,
}

impl DatabaseError {
    /// Classifies an error of the database in use.
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Database(error) => {
                let code = error.code().unwrap_or_default();
                if error.try_downcast_ref::<SqliteError>().is_some() {
                    code.parse().map_or(Self::Other, Self::of_sqlite)
                } else {
                    Self::of_postgres(&code)
                }
            }
            Error::Io(_) | Error::Tls(_) => Self::Unreachable,
            Error::PoolTimedOut => Self::Busy,
            _ => Self::Other,
        }
    }

    /// Classifies an extended result code of SQLite: its low byte is the primary code.
    fn of_sqlite(code: i32) -> Self {
        match (code & 0xff, code >> 8) {
            (5 | 6, _) => Self::Locked,
            (8, _) => Self::ReadOnly,
            // I/O errors: a short file, wrong data, a corrupt file system, or a page that cannot be
            // mapped.
            (11 | 26, _) | (10, 2 | 32 | 33 | 34) => Self::Damaged,
            (10 | 14, _) => Self::Disk,
            (13, _) => Self::Full,
            _ => Self::Other,
        }
    }

    /// Classifies a SQLSTATE of PostgreSQL: its first two characters are the class.
    fn of_postgres(code: &str) -> Self {
        match code {
            "53100" => Self::Full,
            "25006" => Self::ReadOnly,
            // A lock that is not available, a deadlock, a serialization conflict.
            "55P03" | "40P01" | "40001" => Self::Locked,
            "XX001" | "XX002" => Self::Damaged,
            // A cancelled statement, or an idle transaction that timed out.
            "57014" | "25P03" => Self::Silent,
            _ => match code.get(..2) {
                // Connection errors, insufficient resources, operator intervention, invalid
                // authorization, and unknown databases.
                Some("08" | "53" | "57" | "28" | "3D") => Self::Unreachable,
                Some("58") => Self::Disk,
                _ => Self::Other,
            },
        }
    }

    /// Whether the same request may succeed later without any change.
    pub(crate) fn is_transient(self) -> bool {
        match self {
            Self::Locked
            | Self::Busy
            | Self::Full
            | Self::ReadOnly
            | Self::Disk
            | Self::Unreachable
            | Self::Silent
            | Self::UnknownKey => true,
            Self::Damaged | Self::Replaced | Self::Other => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use sqlx::{Connection, Executor, SqliteConnection};

    use super::*;

    #[test]
    fn codes_of_sqlite() {
        for (code, database_failure) in [
            (5, DatabaseError::Locked),
            (261, DatabaseError::Locked),
            (517, DatabaseError::Locked),
            (773, DatabaseError::Locked),
            (6, DatabaseError::Locked),
            (8, DatabaseError::ReadOnly),
            (1032, DatabaseError::ReadOnly),
            (10, DatabaseError::Disk),
            (778, DatabaseError::Disk),
            (1034, DatabaseError::Disk),
            (4874, DatabaseError::Disk),
            (522, DatabaseError::Damaged),
            (8202, DatabaseError::Damaged),
            (8458, DatabaseError::Damaged),
            (11, DatabaseError::Damaged),
            (779, DatabaseError::Damaged),
            (13, DatabaseError::Full),
            (14, DatabaseError::Disk),
            (26, DatabaseError::Damaged),
            (1, DatabaseError::Other),
            (19, DatabaseError::Other),
            (2067, DatabaseError::Other),
        ] {
            assert_eq!(DatabaseError::of_sqlite(code), database_failure, "{code}");
        }
    }

    #[test]
    fn codes_of_postgres() {
        for (code, database_failure) in [
            ("57014", DatabaseError::Silent),
            ("25P03", DatabaseError::Silent),
            ("57P01", DatabaseError::Unreachable),
            ("57P02", DatabaseError::Unreachable),
            ("57P03", DatabaseError::Unreachable),
            ("08006", DatabaseError::Unreachable),
            ("53300", DatabaseError::Unreachable),
            ("28P01", DatabaseError::Unreachable),
            ("3D000", DatabaseError::Unreachable),
            ("53100", DatabaseError::Full),
            ("25006", DatabaseError::ReadOnly),
            ("40P01", DatabaseError::Locked),
            ("55P03", DatabaseError::Locked),
            ("58030", DatabaseError::Disk),
            ("XX001", DatabaseError::Damaged),
            ("XX000", DatabaseError::Other),
            ("23505", DatabaseError::Other),
            ("42P01", DatabaseError::Other),
            ("", DatabaseError::Other),
        ] {
            assert_eq!(DatabaseError::of_postgres(code), database_failure, "{code}");
        }
    }

    #[tokio::test]
    async fn errors_of_real_databases() -> Result<(), Error> {
        let mut full = SqliteConnection::connect("sqlite::memory:").await?;
        full.execute("CREATE TABLE t (x); PRAGMA max_page_count = 2")
            .await?;
        let fill = "INSERT INTO t VALUES (zeroblob(1000000))";
        let failure = full
            .execute(fill)
            .await
            .map_err(|error| DatabaseError::of(&error));
        assert_eq!(failure.err(), Some(DatabaseError::Full));
        full.execute("PRAGMA query_only = ON").await?;
        let write = full.execute("DELETE FROM t").await;
        let failure = write.map_err(|error| DatabaseError::of(&error));
        assert_eq!(failure.err(), Some(DatabaseError::ReadOnly));
        let syntax = full.execute("SELEKT").await;
        let failure = syntax.map_err(|error| DatabaseError::of(&error));
        assert_eq!(failure.err(), Some(DatabaseError::Other));
        let refused = Error::Io(ErrorKind::ConnectionRefused.into());
        assert_eq!(DatabaseError::of(&refused), DatabaseError::Unreachable);
        assert_eq!(DatabaseError::of(&Error::PoolTimedOut), DatabaseError::Busy);
        Ok(())
    }
}

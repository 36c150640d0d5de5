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

    use rstest::rstest;
    use sqlx::{Connection, Executor, SqliteConnection};

    use super::*;

    #[rstest]
    #[case(5, DatabaseError::Locked)]
    #[case(261, DatabaseError::Locked)]
    #[case(517, DatabaseError::Locked)]
    #[case(773, DatabaseError::Locked)]
    #[case(6, DatabaseError::Locked)]
    #[case(8, DatabaseError::ReadOnly)]
    #[case(1032, DatabaseError::ReadOnly)]
    #[case(10, DatabaseError::Disk)]
    #[case(778, DatabaseError::Disk)]
    #[case(1034, DatabaseError::Disk)]
    #[case(4874, DatabaseError::Disk)]
    #[case(522, DatabaseError::Damaged)]
    #[case(8202, DatabaseError::Damaged)]
    #[case(8458, DatabaseError::Damaged)]
    #[case(11, DatabaseError::Damaged)]
    #[case(779, DatabaseError::Damaged)]
    #[case(13, DatabaseError::Full)]
    #[case(14, DatabaseError::Disk)]
    #[case(26, DatabaseError::Damaged)]
    #[case(1, DatabaseError::Other)]
    #[case(19, DatabaseError::Other)]
    #[case(2067, DatabaseError::Other)]
    fn codes_of_sqlite(#[case] code: i32, #[case] database_failure: DatabaseError) {
        assert_eq!(DatabaseError::of_sqlite(code), database_failure);
    }

    #[rstest]
    #[case("57014", DatabaseError::Silent)]
    #[case("25P03", DatabaseError::Silent)]
    #[case("57P01", DatabaseError::Unreachable)]
    #[case("57P02", DatabaseError::Unreachable)]
    #[case("57P03", DatabaseError::Unreachable)]
    #[case("08006", DatabaseError::Unreachable)]
    #[case("53300", DatabaseError::Unreachable)]
    #[case("28P01", DatabaseError::Unreachable)]
    #[case("3D000", DatabaseError::Unreachable)]
    #[case("53100", DatabaseError::Full)]
    #[case("25006", DatabaseError::ReadOnly)]
    #[case("40P01", DatabaseError::Locked)]
    #[case("55P03", DatabaseError::Locked)]
    #[case("58030", DatabaseError::Disk)]
    #[case("XX001", DatabaseError::Damaged)]
    #[case("XX000", DatabaseError::Other)]
    #[case("23505", DatabaseError::Other)]
    #[case("42P01", DatabaseError::Other)]
    #[case("", DatabaseError::Other)]
    fn codes_of_postgres(#[case] code: &str, #[case] database_failure: DatabaseError) {
        assert_eq!(DatabaseError::of_postgres(code), database_failure);
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

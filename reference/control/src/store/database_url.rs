//! Address of a database.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Address of a database. It may contain a password, so it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct DatabaseUrl(String);

impl Default for DatabaseUrl {
    /// Returns the address of an SQLite file in the working directory.
    fn default() -> Self {
        Self("sqlite:control.db".to_owned())
    }
}

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

/// Supported database.
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
    /// Returns the database that the address names, or `None` when it is invalid.
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

    /// Returns the address as it was given.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the address with an option that requires the file to exist: one that was deleted
    /// meanwhile is not created again, empty.
    pub(super) fn of_existing_file(&self) -> String {
        match self.database() {
            Some(Database::File(_)) if !self.0.contains("mode=") => {
                let separator = if self.0.contains('?') { '&' } else { '?' };
                format!("{}{separator}mode=rw", self.0)
            }
            _ => self.0.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::file("sqlite:a.db", Some(Database::File("a.db".into())))]
    #[case::file_after_slashes("sqlite://a.db", Some(Database::File("a.db".into())))]
    #[case::absolute_file_with_options(
        "sqlite:///v/a.db?cache=private",
        Some(Database::File("/v/a.db".into()))
    )]
    #[case::memory("sqlite::memory:", Some(Database::Memory))]
    #[case::postgres("postgres://h/d", Some(Database::Postgres))]
    #[case::postgresql("postgresql://h/d", Some(Database::Postgres))]
    #[case::mysql("mysql://h/d", None)]
    #[case::no_file("sqlite:", None)]
    #[case::no_scheme("a.db", None)]
    #[case::empty("", None)]
    fn addresses(#[case] url: &str, #[case] expected: Option<Database>) {
        assert_eq!(DatabaseUrl(url.to_owned()).database(), expected);
    }
}

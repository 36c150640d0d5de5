//! Section `database` of the configuration.

use std::fmt;

use reqwest::Url;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer};

use super::token::expand;
use crate::store::DatabaseUrl;

/// Database that stores the definitions.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a database")]
pub(super) struct Section {
    sql: Option<Sql>,
    aws_rds: Option<IgnoredAny>,
}

/// Section `database.sql` of OPA Control Plane: a driver, and its data source name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a database")]
struct Sql {
    driver: String,
    dsn: Dsn,
    credentials: String,
}

/// Data source name. It may contain a password, so it is never logged.
#[derive(Default)]
struct Dsn(String);

impl fmt::Debug for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dsn")
    }
}

impl<'de> Deserialize<'de> for Dsn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        expand(&text).map(Self).map_err(D::Error::custom)
    }
}

impl Section {
    /// Returns the URL of the database; `None` if the section does not name one.
    ///
    /// # Errors
    /// When the kind of database is not supported, or its data source name cannot be parsed.
    pub(super) fn url(&self) -> Result<Option<DatabaseUrl>, String> {
        if self.aws_rds.is_some() {
            return Err(unsupported("database.aws_rds is not served"));
        }
        let Some(Sql {
            driver,
            dsn: Dsn(dsn),
            credentials,
        }) = &self.sql
        else {
            return Ok(None);
        };
        if !credentials.is_empty() {
            return Err(
                "database.sql.credentials is not served: name the files of the \
                        certificates in the dsn, as sslrootcert, sslcert and sslkey"
                    .to_owned(),
            );
        }
        let url = match driver.as_str() {
            "" | "sqlite" | "sqlite3" => sqlite(dsn),
            "postgres" | "postgresql" | "pgx" => Some(postgres(dsn)?),
            other => {
                let what = format!("database.sql.driver `{other}` is not served");
                return Err(unsupported(&what));
            }
        };
        // Errors in the address are reported when the database is opened.
        Ok(url.and_then(|url| url.parse().ok()))
    }
}

/// Returns the error message for an unsupported database, with the supported ones.
fn unsupported(what: &str) -> String {
    format!("{what}: the drivers sqlite and postgres are, and --database names another database")
}

/// Converts the data source name of an SQLite file. Its options are dropped, because they are those
/// of OPA Control Plane's driver.
fn sqlite(dsn: &str) -> Option<String> {
    let name = dsn.strip_prefix("file:").unwrap_or(dsn);
    let (file, options) = name.split_once('?').unwrap_or((name, ""));
    let file = match file.strip_prefix("//") {
        Some(absolute) if absolute.starts_with('/') => absolute,
        _ => file,
    };
    let in_memory = options.split('&').any(|option| option == "mode=memory");
    match file {
        ":memory:" => Some("sqlite::memory:".to_owned()),
        _ if in_memory => Some("sqlite::memory:".to_owned()),
        "" => None,
        file => Some(format!("sqlite:{file}")),
    }
}

/// Converts the data source name of a PostgreSQL database: a URL, or `key=value` pairs.
fn postgres(dsn: &str) -> Result<String, String> {
    if dsn.starts_with("postgres://") || dsn.starts_with("postgresql://") {
        return Ok(dsn.to_owned());
    }
    let refused = || "database.sql.dsn is neither postgres://… nor key=value pairs".to_owned();
    let mut url = Url::parse("postgres:///").map_err(|_| refused())?;
    let mut rest = dsn.trim_start();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=').ok_or_else(refused)?;
        let (value, after) = value(after.trim_start()).ok_or_else(refused)?;
        url.query_pairs_mut().append_pair(key.trim(), &value);
        rest = after.trim_start();
    }
    match url.query() {
        Some(_) => Ok(url.into()),
        None => Err(refused()),
    }
}

/// Parses the value at the beginning of a string: a word, or a string in single quotes, in which a
/// backslash escapes the next character. Returns the value and the rest.
fn value(text: &str) -> Option<(String, &str)> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut characters = text.char_indices().skip(usize::from(quoted));
    while let Some((position, character)) = characters.next() {
        match character {
            '\\' => value.push(characters.next()?.1),
            '\'' if quoted => return Some((value, text.get(position + 1..)?)),
            space if !quoted && space.is_whitespace() => {
                return Some((value, text.get(position..)?));
            }
            other => value.push(other),
        }
    }
    (!quoted).then_some((value, ""))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::empty("{}", Ok(None))]
    #[case::empty_sql("sql: {}", Ok(None))]
    #[case::empty_dsn("sql: {driver: sqlite3, dsn: ''}", Ok(None))]
    #[case::sqlite("sql: {driver: sqlite, dsn: a.db}", Ok(Some("sqlite:a.db")))]
    #[case::sqlite_file("sql: {dsn: 'file:a/b.db?_pragma=x(1)'}", Ok(Some("sqlite:a/b.db")))]
    #[case::sqlite_absolute_file("sql: {dsn: 'file:///a/b.db'}", Ok(Some("sqlite:/a/b.db")))]
    #[case::memory("sql: {dsn: ':memory:'}", Ok(Some("sqlite::memory:")))]
    #[case::shared_memory(
        "sql: {dsn: 'file::memory:?cache=shared'}",
        Ok(Some("sqlite::memory:"))
    )]
    #[case::named_memory(
        "sql: {dsn: 'file:x?cache=shared&mode=memory'}",
        Ok(Some("sqlite::memory:"))
    )]
    #[case::postgres_url(
        "sql: {driver: pgx, dsn: 'postgres://u:p@h/d?sslmode=disable'}",
        Ok(Some("postgres://u:p@h/d?sslmode=disable"))
    )]
    #[case::postgres_words(
        r"sql: {driver: postgres, dsn: host=h port = 5 password='a b\'c' dbname=d\ e}",
        Ok(Some("postgres:///?host=h&port=5&password=a+b%27c&dbname=d+e"))
    )]
    #[case::postgres_one_word("sql: {driver: postgres, dsn: h}", Err("neither postgres://"))]
    #[case::postgres_open_quote(
        "sql: {driver: postgres, dsn: \"password='a\"}",
        Err("neither postgres://")
    )]
    #[case::postgres_without_dsn("sql: {driver: postgres}", Err("neither postgres://"))]
    #[case::mysql("sql: {driver: mysql, dsn: x}", Err("`mysql` is not served"))]
    #[case::cockroachdb("sql: {driver: cockroachdb}", Err("is not served"))]
    #[case::credentials("sql: {dsn: x, credentials: y}", Err("sslrootcert"))]
    #[case::aws_rds("aws_rds: {region: x}", Err("aws_rds is not served"))]
    fn sections_are_addresses(#[case] section: &str, #[case] expected: Result<Option<&str>, &str>) {
        let parsed: Result<Section, _> = serde_yaml::from_str(section);
        let url = parsed
            .map_err(|failure| failure.to_string())
            .and_then(|parsed| parsed.url());
        match expected {
            Ok(expected) => {
                let expected = expected.and_then(|url| url.parse::<DatabaseUrl>().ok());
                assert_eq!(url.as_ref(), Ok(&expected));
            }
            Err(part) => {
                let refused = url.as_ref().is_err_and(|message| message.contains(part));
                assert!(refused, "{url:?}");
            }
        }
    }
}

//! SQL injection: hostile constants, under every setting that changes how strings are parsed.

use std::collections::BTreeSet;
use std::error::Error;

use rego::Value;
use rego::filter::Dialect;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use super::cases::{Case, case};
use super::mariadb::{MariaDb, UTF8};
use super::names;
use super::postgresql::Session;
use super::rows::json;
use super::{Compiled, residual, rows, truth};
use super::{Selected, databases};
use crate::postgres::Postgres;
use crate::report;

/// Settings of a database session.
struct Setting {
    name: &'static str,
    dialect: Dialect,
    /// Encoding that the session declares for queries, which are always in UTF-8.
    encoding: &'static str,
    /// Statements at the start of the session.
    before: &'static str,
    /// Whether the filter must select the exact rows; otherwise only an injection is an error.
    exact: bool,
}

const fn setting(
    dialect: Dialect,
    name: &'static str,
    (encoding, before): (&'static str, &'static str),
    exact: bool,
) -> Setting {
    Setting {
        name,
        dialect,
        encoding,
        before,
        exact,
    }
}

use Dialect::{MySql, PostgreSql, Sqlite};

const OLD_STRINGS: &str = "SET standard_conforming_strings = off; SET escape_string_warning = off";
const NO_QUOTES: &str = "SET backslash_quote = off";

const SETTINGS: &[Setting] = &[
    setting(Sqlite, "SQLite", ("UTF8", ""), true),
    setting(PostgreSql, "PostgreSQL", ("UTF8", ""), true),
    setting(PostgreSql, "old strings", ("UTF8", OLD_STRINGS), true),
    setting(PostgreSql, "no escaped quotes", ("UTF8", NO_QUOTES), true),
    setting(PostgreSql, "SQL_ASCII", ("SQL_ASCII", OLD_STRINGS), true),
    setting(PostgreSql, "LATIN1", ("LATIN1", OLD_STRINGS), false),
    setting(PostgreSql, "WIN1252", ("WIN1252", ""), false),
    setting(PostgreSql, "SJIS", ("SJIS", ""), false),
    setting(
        PostgreSql,
        "SJIS, old strings",
        ("SJIS", OLD_STRINGS),
        false,
    ),
    setting(PostgreSql, "GBK", ("GBK", ""), false),
    setting(PostgreSql, "BIG5", ("BIG5", ""), false),
    setting(PostgreSql, "GB18030", ("GB18030", OLD_STRINGS), false),
    setting(PostgreSql, "UHC", ("UHC", ""), false),
    setting(MySql, "MariaDB", (UTF8, ""), true),
    setting(MySql, "no mode", (UTF8, "SET sql_mode = '';"), true),
    setting(
        MySql,
        "ANSI_QUOTES",
        (UTF8, "SET sql_mode = 'ANSI_QUOTES';"),
        true,
    ),
    setting(MySql, "ANSI", (UTF8, "SET sql_mode = 'ANSI';"), true),
    setting(
        MySql,
        "NO_BACKSLASH_ESCAPES",
        (UTF8, "SET sql_mode = 'NO_BACKSLASH_ESCAPES';"),
        true,
    ),
    setting(
        MySql,
        "PIPES_AS_CONCAT",
        (UTF8, "SET sql_mode = 'PIPES_AS_CONCAT';"),
        true,
    ),
    setting(
        MySql,
        "HIGH_NOT_PRECEDENCE",
        (UTF8, "SET sql_mode = 'HIGH_NOT_PRECEDENCE';"),
        true,
    ),
    setting(
        MySql,
        "EMPTY_STRING_IS_NULL",
        (UTF8, "SET sql_mode = 'EMPTY_STRING_IS_NULL';"),
        false,
    ),
    setting(
        MySql,
        "TRADITIONAL",
        (UTF8, "SET sql_mode = 'TRADITIONAL';"),
        true,
    ),
    setting(MySql, "latin1", ("latin1", ""), false),
    setting(MySql, "gbk", ("gbk", ""), false),
    setting(
        MySql,
        "gbk without escapes",
        ("gbk", "SET sql_mode = 'NO_BACKSLASH_ESCAPES';"),
        false,
    ),
    setting(MySql, "sjis", ("sjis", ""), false),
    setting(MySql, "cp932", ("cp932", ""), false),
    setting(MySql, "big5", ("big5", ""), false),
    setting(MySql, "ujis", ("ujis", ""), false),
    setting(MySql, "euckr", ("euckr", ""), false),
    setting(MySql, "binary", ("binary", ""), false),
];

/// SQL that an attack appends after it has ended a string.
const BEHIND: &[&str] = &[
    " OR 1=1 -- ",
    " OR 1=1 #",
    " OR 1=1 /*",
    "; DROP TABLE canary; -- ",
    "; DELETE FROM canary; -- ",
    ") OR (1=1) -- ",
];

/// Ends of strings for an attack: quotes, backslashes, and bytes that are the first half of a
/// character in other encodings, which end these UTF-8 characters.
const ENDS: &[&str] = &[
    "'",
    "''",
    "\\'",
    "\\\\'",
    "\"",
    "\\\"",
    "`",
    "$$",
    "$a$",
    "\n'",
    "\\\n'",
    "\r\n\\'",
    "\0'",
    "\0\\'",
    "\u{1a}'",
    "\u{8}\\'",
    "é\\'",
    "é'",
    "\u{101}\\'",
    "\u{101}\n'",
    "中\\'",
    "中'",
    "\u{2581}\\'",
    "表\\'",
    "ソ\\'",
    "\u{bf}\\'",
    "\u{bf}'",
    "\u{5c}\u{ff07}",
    "\u{ffff}\\'",
    "🍎\\'",
    "\u{2bc}",
    "\u{fffd}'",
    "%'",
    "_\\'",
    "!'",
    "!\\'",
    "[a]'",
    "E'",
    "N'",
    "X'",
    "*/'",
    "\u{feff}'",
];

/// Strings with a special meaning in queries, patterns, or numbers.
const WORDS: &[&str] = &[
    "",
    "?",
    ":name",
    "$1",
    "@x",
    "@@version",
    "%s",
    "{0}",
    "$$",
    "$$'$$",
    "E'x'",
    "E'\\''",
    "U&'\\0027'",
    "_utf8mb4'x'",
    "X'27'",
    "0x27",
    "b'1'",
    "/*!50000 1*/",
    "--",
    "#",
    "/*",
    "*/",
    ";",
    "\\",
    "\\\\",
    "\\%",
    "\\_",
    "%",
    "_",
    "%%",
    "!%",
    "!!",
    "[a-z]",
    "1e400",
    "-0",
    "9223372036854775808",
    "-9223372036854775809",
    "NaN",
    "Infinity",
    "-inf",
    "1_000",
    "0x1F",
    "1e1",
    "00",
    " 1 ",
    "null",
    "TRUE",
    "\u{d7ff}",
    "\u{e000}",
    "\u{ffff}",
    "\u{10ffff}",
    "\\ud800",
    "\\u0027",
    "\u{1}",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
];

/// Numbers for comparisons, in Rego syntax.
const NUMBERS: &[&str] = &[
    "1e400",
    "-1e400",
    "1e-400",
    "-0",
    "0.0",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "1e308",
    "1.7976931348623157e308",
    "5e-324",
    "123456789012345678901234567890.5",
];

/// String comparisons; every other one gets the string from the input.
const TESTS: &[&str] = &[
    "input.t.s == X",
    "input.t.s != X",
    "input.t.s in [\"a\", X]",
    "startswith(input.t.s, X)",
    "endswith(input.t.s, X)",
    "contains(input.t.s, X)",
    "not input.t.s == X",
    "input.t.s > X",
];

/// Number of quotes in a string that is longer than any column.
const LONG: usize = 60_000;

/// Runs all cases under all settings.
///
/// # Errors
/// When a case is an injection, a filter selects other rows, or a database cannot be started.
pub(super) fn run(sqlite_only: bool) -> Result<(), Box<dyn Error>> {
    let mut compiled = Vec::new();
    for case in cases() {
        let expected = truth(&case)?;
        if let Ok(filter) = residual(&case)? {
            compiled.push(Compiled {
                case,
                expected,
                filter,
            });
        }
    }
    let mut wrong = super::parse_for_sqlserver(&compiled)?;
    let postgres = if sqlite_only {
        None
    } else {
        Some(Postgres::start()?)
    };
    let mariadb = if sqlite_only {
        None
    } else {
        Some(MariaDb::start()?)
    };
    let servers = Servers::new(postgres.as_ref(), mariadb.as_ref())?;
    for setting in SETTINGS {
        if sqlite_only && setting.dialect != Sqlite {
            continue;
        }
        wrong.extend(setting.check(&compiled, &servers)?);
    }
    super::fail_if_wrong(&wrong)
}

fn cases() -> Vec<Case> {
    let mut texts: Vec<String> = WORDS.iter().map(|text| (*text).to_owned()).collect();
    for end in ENDS {
        texts.extend(BEHIND.iter().map(|injection| format!("a{end}{injection}")));
        texts.push((*end).to_owned());
    }
    texts.push("'\\".repeat(LONG) + " OR 1=1 -- ");
    let mut cases = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let value = Value::from(text.as_str());
        for (test, rule) in TESTS.iter().enumerate() {
            let constant = value.to_string();
            // Policies cannot contain a byte-order mark.
            let by_input =
                (index + test) % 2 == 1 || text.len() > LONG || text.contains('\u{feff}');
            let written = if by_input { "input.any" } else { &constant };
            let mut case = case(&format!("include if {}", rule.replace('X', written)), false);
            let mut input = case.input.as_object().cloned().unwrap_or_default();
            input.insert("any", value.clone());
            case.input = Value::from(input);
            cases.push(case);
        }
    }
    // Byte strings that are not UTF-8, or only partly.
    for bytes in [
        "/w==", "//8n", "vyc=", "v1wn", "4Lg=", "gVwn", "wKcn", "7aCA",
    ] {
        let rule = format!("include if input.t.s == base64.decode(\"{bytes}\")");
        cases.push(case(&rule, false));
    }
    for number in NUMBERS {
        for column in ["n", "r"] {
            for operator in ["==", "!=", "<", ">="] {
                let rule = format!("include if input.t.{column} {operator} {number}");
                cases.push(case(&rule, false));
            }
        }
    }
    cases.push(case("include if input.t.r in [-0, 1e400, 1]", false));
    cases.push(Case {
        input: json(r#"{"any": [1e400, -0, 9223372036854775808]}"#),
        ..case("include if input.t.n in input.any", false)
    });
    cases
}

/// Database servers with the tables of the cases and a canary table.
struct Servers<'s> {
    postgres: Option<&'s Postgres>,
    mariadb: Option<&'s MariaDb>,
}

const CANARY: &str = "CREATE TABLE canary (id bigint); INSERT INTO canary VALUES (7);";

impl<'s> Servers<'s> {
    fn new(
        postgres: Option<&'s Postgres>,
        mariadb: Option<&'s MariaDb>,
    ) -> Result<Self, Box<dyn Error>> {
        if let Some(server) = postgres {
            let mut session = Session::start(server.address(), "postgres", &[])?;
            session.select(&format!("{}{CANARY}", databases::script(PostgreSql)))??;
        }
        if let Some(server) = mariadb {
            server.create(&format!("{}{CANARY}", databases::script(MySql)))?;
        }
        Ok(Self { postgres, mariadb })
    }

    /// Runs each query in a session with these settings.
    fn select(
        &self,
        setting: &Setting,
        queries: &[String],
    ) -> Result<Vec<Selected>, Box<dyn Error>> {
        match (setting.dialect, self.postgres, self.mariadb) {
            (PostgreSql, Some(server), _) => {
                let encoding = [("client_encoding", setting.encoding)];
                let mut session = Session::start(server.address(), "postgres", &encoding)?;
                session.select(setting.before)??;
                queries.iter().map(|query| session.select(query)).collect()
            }
            (MySql, _, Some(server)) => {
                server.select_with(setting.encoding, setting.before, queries)
            }
            (Sqlite, ..) => sqlite(queries),
            _ => Err("no server of this kind is run".into()),
        }
    }
}

/// Runs each query in SQLite, in a way that would also run further statements in it.
fn sqlite(queries: &[String]) -> Result<Vec<Selected>, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut connection = sqlx::SqliteConnection::connect("sqlite::memory:").await?;
        let script = format!("{}{CANARY}", databases::script(Sqlite));
        connection.execute(AssertSqlSafe(script)).await?;
        let mut found = Vec::new();
        for query in queries {
            let execution = sqlx::raw_sql(AssertSqlSafe(query.clone()));
            found.push(match execution.fetch_all(&mut connection).await {
                Ok(rows) => Ok(rows.iter().map(|row| row.get(0)).collect()),
                Err(error) => Err(error.to_string()),
            });
        }
        Ok(found)
    })
}

impl Setting {
    /// Returns the errors of all cases under this setting.
    fn check(
        &self,
        compiled: &[Compiled],
        servers: &Servers<'_>,
    ) -> Result<Vec<String>, Box<dyn Error>> {
        let mut compiled_queries: Vec<(&Compiled, String)> = Vec::new();
        for one in compiled {
            if let Ok(Some(query)) = one.sql(self.dialect)? {
                compiled_queries.push((one, query));
            }
        }
        let mut queries: Vec<String> = compiled_queries
            .iter()
            .map(|(_, query)| query.clone())
            .collect();
        queries.push("SELECT id FROM canary".to_owned());
        queries.push(names::query(self.dialect, false, super::Schema::Plain, ""));
        let mut found = servers.select(self, &queries)?;
        let all = found.pop();
        let canary = found.pop();
        let mut wrong = Vec::new();
        let every: BTreeSet<i64> = rows::all(false).iter().map(|row| row.id).collect();
        if canary != Some(Ok([7].into())) || all.as_ref() != Some(&Ok(every.clone())) {
            wrong.push(format!("{}: tables were changed: {canary:?}", self.name));
        }
        let (mut same, mut refused, mut other) = (0, 0, 0);
        for ((one, query), found) in compiled_queries.iter().zip(found) {
            match found {
                Ok(found) if found == one.expected => same += 1,
                Err(error) if self.exact && !is_out_of_range(&error) => {
                    wrong.extend(super::judge(one, self.name, query, Err(error)));
                }
                Err(_) => refused += 1,
                Ok(found) if self.exact || becomes_true(&one.expected, &found, &every) => {
                    wrong.extend(super::judge(one, self.name, query, Ok(found)));
                }
                Ok(_) => other += 1,
            }
        }
        let summary = format!(
            "{} filters: {same} the same, {refused} refused, {other} of another encoding, {} wrong",
            compiled_queries.len(),
            wrong.len()
        );
        report(self.name, &summary);
        Ok(wrong)
    }
}

/// Whether a condition that should be true for few rows selects all rows.
fn becomes_true(expected: &BTreeSet<i64>, found: &BTreeSet<i64>, every: &BTreeSet<i64>) -> bool {
    expected.len() * 2 < every.len() && found == every
}

/// Whether a database's error reports a number out of range.
fn is_out_of_range(reason: &str) -> bool {
    reason.contains("out of range")
}

//! The databases that run clauses: SQLite in this process, PostgreSQL and MariaDB beside it.

use std::collections::BTreeSet;
use std::error::Error;

use rego::Value;
use rego::filter::Dialect;
use sqlx::{AssertSqlSafe, Connection, Executor, Row as _};

use super::mariadb::MariaDb;
use super::rows::{COLUMNS, all};
use crate::postgres::Postgres;

/// The rows that a clause selects, or why the database refuses it.
pub(super) type Selected = Result<BTreeSet<i64>, String>;

/// What each clause selects.
///
/// # Errors
/// When the database cannot be run, or does not take the table.
pub(super) fn select(dialect: Dialect, clauses: &[&str]) -> Result<Vec<Selected>, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match dialect {
        Dialect::Sqlite => runtime.block_on(async {
            let mut connection = sqlx::SqliteConnection::connect("sqlite::memory:").await?;
            connection.execute(AssertSqlSafe(table(dialect))).await?;
            let mut found = Vec::new();
            for clause in clauses {
                let rows = connection.fetch_all(AssertSqlSafe(query(clause))).await;
                found.push(match rows {
                    Ok(rows) => Ok(rows.iter().map(|row| row.get(0)).collect()),
                    Err(why) => Err(why.to_string()),
                });
            }
            Ok(found)
        }),
        Dialect::PostgreSql => {
            let server = Postgres::start()?;
            runtime.block_on(async {
                let mut connection = sqlx::PgConnection::connect(&server.url()).await?;
                sqlx::raw_sql(AssertSqlSafe(table(dialect)))
                    .execute(&mut connection)
                    .await?;
                let mut found = Vec::new();
                for clause in clauses {
                    let rows = connection.fetch_all(AssertSqlSafe(query(clause))).await;
                    found.push(match rows {
                        Ok(rows) => Ok(rows.iter().map(|row| row.get(0)).collect()),
                        Err(why) => Err(why.to_string()),
                    });
                }
                Ok(found)
            })
        }
        Dialect::MySql => MariaDb::start()?.select(&table(dialect), clauses),
        Dialect::SqlServer => Err("there is no SQL Server to run".into()),
    }
}

pub(super) fn query(clause: &str) -> String {
    format!("SELECT id FROM t {clause}")
}

/// The statements that make the table. Strings are given as bytes, so that no escape is relied on.
fn table(dialect: Dialect) -> String {
    let types = COLUMNS
        .iter()
        .map(|(name, [sqlite, postgresql, mysql])| match dialect {
            Dialect::Sqlite => format!("\"{name}\" {sqlite}"),
            Dialect::MySql => format!("`{name}` {mysql}"),
            _ => format!("\"{name}\" {postgresql}"),
        });
    let types = types.collect::<Vec<_>>().join(", ");
    let mut statements = vec![format!("CREATE TABLE t (id bigint, {types})")];
    for row in all() {
        let mut values = vec![row.id.to_string()];
        for (name, _) in COLUMNS {
            let value = row.columns.get(name).unwrap_or(&Value::Null);
            values.push(literal(dialect, value));
        }
        statements.push(format!("INSERT INTO t VALUES ({})", values.join(", ")));
    }
    statements.push(String::new());
    statements.join(";\n")
}

fn literal(dialect: Dialect, value: &Value) -> String {
    let Some(text) = value.as_str() else {
        return value.to_string();
    };
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    match dialect {
        Dialect::Sqlite => format!("CAST(X'{hex}' AS TEXT)"),
        Dialect::MySql => format!("CONVERT(X'{hex}' USING utf8mb4)"),
        _ => format!("convert_from('\\x{hex}'::bytea, 'UTF8')"),
    }
}

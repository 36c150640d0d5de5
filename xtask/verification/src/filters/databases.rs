//! Databases that run filters: SQLite in process, PostgreSQL and MariaDB as servers.

use std::error::Error;

use rego::Value;
use rego::filter::Dialect;
use sqlx::{AssertSqlSafe, Connection, Executor, Row as _};

use super::Selected;
use super::mariadb::MariaDb;
use super::names::{self, Schema};
use super::rows::tables;
use crate::postgres::Postgres;

/// Runs each query on a database with the tables of every schema.
///
/// # Errors
/// When the database cannot be started, or rejects the tables.
pub(super) fn select(
    dialect: Dialect,
    queries: &[String],
) -> Result<Vec<Selected>, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match dialect {
        Dialect::Sqlite => runtime.block_on(async {
            let mut connection = sqlx::SqliteConnection::connect("sqlite::memory:").await?;
            connection.execute(AssertSqlSafe(script(dialect))).await?;
            let mut found = Vec::new();
            for query in queries {
                let rows = connection.fetch_all(AssertSqlSafe(query.clone())).await;
                found.push(match rows {
                    Ok(rows) => Ok(rows.iter().map(|row| row.get(0)).collect()),
                    Err(error) => Err(error.to_string()),
                });
            }
            Ok(found)
        }),
        Dialect::PostgreSql => {
            let server = Postgres::start()?;
            runtime.block_on(async {
                let mut connection = sqlx::PgConnection::connect(&server.url()).await?;
                sqlx::raw_sql(AssertSqlSafe(script(dialect)))
                    .execute(&mut connection)
                    .await?;
                let mut found = Vec::new();
                for query in queries {
                    let rows = connection.fetch_all(AssertSqlSafe(query.clone())).await;
                    found.push(match rows {
                        Ok(rows) => Ok(rows.iter().map(|row| row.get(0)).collect()),
                        Err(error) => Err(error.to_string()),
                    });
                }
                Ok(found)
            })
        }
        Dialect::MySql => MariaDb::start()?.select(&script(dialect), queries),
        Dialect::SqlServer => Err("there is no SQL Server to run".into()),
    }
}

/// Returns the statements that create the tables of every schema. Strings are written as bytes, so
/// that no escapes are needed.
pub(super) fn script(dialect: Dialect) -> String {
    let mut statements = Vec::new();
    for (table, schema) in tables()
        .iter()
        .flat_map(|table| Schema::ALL.map(|schema| (table, schema)))
    {
        let name = names::quoted(dialect, names::table(table.name, schema));
        let types = table
            .columns
            .iter()
            .map(|(own, [sqlite, postgresql, mysql])| {
                let of = match dialect {
                    Dialect::Sqlite => sqlite,
                    Dialect::MySql => mysql,
                    _ => postgresql,
                };
                let column = names::column(table.name, own, schema);
                let collation = match schema {
                    Schema::Typed => exact_collation(dialect, of),
                    Schema::Plain | Schema::Renamed => "",
                };
                format!("{} {of}{collation}", names::quoted(dialect, column))
            });
        let types = types.collect::<Vec<_>>().join(", ");
        statements.push(format!("CREATE TABLE {name} (id bigint, {types})"));
        for (id, row) in table.rows.iter().enumerate() {
            let mut values = vec![id.to_string()];
            for (column, _) in table.columns {
                let value = row.get(column).unwrap_or(&Value::Null);
                values.push(literal(dialect, value));
            }
            statements.push(format!("INSERT INTO {name} VALUES ({})", values.join(", ")));
        }
    }
    statements.push(String::new());
    statements.join(";\n")
}

/// Returns the collation with which a string column distinguishes all strings; SQLite's default
/// does so already.
fn exact_collation(dialect: Dialect, of: &str) -> &'static str {
    match (dialect, of) {
        (Dialect::PostgreSql, "text") => " COLLATE \"C\"",
        (Dialect::MySql, "varchar(200)") => " COLLATE utf8mb4_nopad_bin",
        _ => "",
    }
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

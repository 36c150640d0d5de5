//! Schema migrations, applied at every start in one transaction.

use sqlx::{AssertSqlSafe, Executor, Row, query};

use super::migrations::STEPS;
use super::{Store, StoreError};
use crate::cipher::key_id;

/// Serialises the starts of several replicas on one PostgreSQL database.
const START_LOCK: &str = "SELECT pg_advisory_xact_lock(7309940812735201)";

impl Store {
    /// Migrates the schema and checks that the encryption key matches the database: `open` checks
    /// the stored sealed value, `seal` creates one.
    ///
    /// # Errors
    /// When the database fails, or was created by a newer program.
    pub(crate) async fn prepare<E: From<StoreError>>(
        &self,
        open: impl FnOnce(&str) -> Result<(), E>,
        seal: impl FnOnce() -> Result<String, E>,
    ) -> Result<(), E> {
        let mut transaction = self.begin().await?;
        let migrated: Result<(), StoreError> = async {
            if self.is_postgres() {
                transaction.execute(START_LOCK).await?;
            }
            let steps = "CREATE TABLE IF NOT EXISTS schema_steps (step BIGINT PRIMARY KEY)";
            transaction.execute(steps).await?;
            let row = transaction
                .fetch_one("SELECT COUNT(*) FROM schema_steps")
                .await?;
            let applied = usize::try_from(row.try_get::<i64, _>(0)?).unwrap_or_default();
            if applied > STEPS.len() {
                return Err(StoreError::Newer);
            }
            let identity = self.locking(
                "INTEGER PRIMARY KEY AUTOINCREMENT",
                "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            );
            for (index, step) in STEPS.iter().enumerate().skip(applied) {
                let step = step.replace("{identity}", identity);
                sqlx::raw_sql(AssertSqlSafe(step))
                    .execute(&mut *transaction)
                    .await?;
                query("INSERT INTO schema_steps (step) VALUES ($1)")
                    .bind(i64::try_from(index).unwrap_or(i64::MAX))
                    .execute(&mut *transaction)
                    .await?;
            }
            Ok(())
        }
        .await;
        migrated?;
        let stored = "SELECT sealed FROM keyring";
        let row = transaction.fetch_optional(stored).await;
        match row.map_err(StoreError::from)? {
            Some(row) => {
                let check: String = row.try_get(0).map_err(StoreError::from)?;
                open(&check)?;
                if key_id(&check).is_none() {
                    // Older versions did not store the id of the key.
                    let update = query("UPDATE keyring SET sealed = $1").bind(seal()?);
                    let updated = update.execute(&mut *transaction).await;
                    updated.map_err(StoreError::from)?;
                }
            }
            None => {
                let insert = query("INSERT INTO keyring (sealed) VALUES ($1)").bind(seal()?);
                let inserted = insert.execute(&mut *transaction).await;
                inserted.map_err(StoreError::from)?;
            }
        }
        transaction.commit().await.map_err(StoreError::from)?;
        Ok(())
    }
}

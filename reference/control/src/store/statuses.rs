//! Build statuses of the API.

use serde_json::{Value, json};
use sqlx::{Any, Row as _, Transaction, query};

use super::resources::not_found;
use super::{Store, StoreError};
use crate::model::{BuildResult, Kind, Phase};
use crate::principal::Principal;

/// Maximum number of statuses stored for a bundle.
pub(crate) const MAX_STATUSES: u32 = 10;

/// Status of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    /// Revision of the bundle; empty when the build failed before it was computed.
    pub(crate) revision: String,
    /// Last phase of the build.
    pub(crate) phase: Phase,
    /// Result of that phase.
    pub(crate) result: BuildResult,
    /// Reason of the failure; on success, why the bundle had to be written again, or empty.
    pub(crate) message: String,
}

impl Store {
    /// Returns the last statuses of a bundle as JSON objects, newest first; with a revision, only
    /// those of that revision.
    ///
    /// # Errors
    /// `NotFound` also for the bundles of others.
    pub(crate) async fn statuses(
        &self,
        principal: &Principal,
        bundle: &str,
        revision: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Value>, StoreError> {
        let select = query("SELECT id, owner FROM resources WHERE kind = $1 AND name = $2");
        let select = select.bind(Kind::Bundle.name()).bind(bundle);
        let id: i64 = match select.fetch_optional(self.reader()).await? {
            Some(row) if principal.sees(row.try_get(1)?) => row.try_get(0)?,
            _ => return Err(not_found(Kind::Bundle, bundle)),
        };
        let select = query(
            "SELECT revision, phase, status, message, created, updated FROM build_statuses \
             WHERE bundle_id = $1 AND ($2 = '' OR revision = $2) \
             ORDER BY updated DESC, created DESC LIMIT $3",
        );
        let select = select.bind(id).bind(revision.unwrap_or_default());
        let rows = select.bind(i64::from(limit)).fetch_all(self.reader());
        let mut statuses = Vec::new();
        for row in rows.await? {
            statuses.push(json!({
                "bundle_name": bundle,
                "revision": row.try_get::<String, _>(0)?,
                "phase": row.try_get::<String, _>(1)?,
                "status": row.try_get::<String, _>(2)?,
                "error_message": row.try_get::<String, _>(3)?,
                "created_at": time(row.try_get(4)?),
                "updated_at": time(row.try_get(5)?),
            }));
        }
        Ok(statuses)
    }

    /// Records a status: one row for each revision. A build with a revision removes the failures
    /// without one.
    pub(super) async fn record(
        &self,
        transaction: &mut Transaction<'static, Any>,
        bundle: i64,
        status: &Status,
    ) -> Result<(), StoreError> {
        // Statuses are in the order of builds, even if the clock was set back. The message that a
        // bundle was written again stays until its status changes.
        let upsert = query(self.dialect_sql(
            "INSERT INTO build_statuses \
             (bundle_id, revision, phase, status, message, created, updated) \
             SELECT $1, $2, $3, $4, $5, {now}, \
             CASE WHEN {now} > last.updated THEN {now} ELSE last.updated + 1 END \
             FROM (SELECT COALESCE(MAX(updated), 0) AS updated FROM build_statuses \
             WHERE bundle_id = $1) last WHERE 1 = 1 \
             ON CONFLICT (bundle_id, revision) DO UPDATE SET phase = excluded.phase, \
             status = excluded.status, updated = excluded.updated, message = CASE \
             WHEN excluded.message = '' AND build_statuses.status = excluded.status \
             THEN build_statuses.message ELSE excluded.message END",
        ));
        let upsert = upsert
            .bind(bundle)
            .bind(status.revision.as_str())
            .bind(status.phase.name())
            .bind(status.result.name())
            .bind(status.message.as_str());
        upsert.execute(&mut **transaction).await?;
        let delete = query(
            "DELETE FROM build_statuses WHERE bundle_id = $1 AND \
             ((revision = '' AND $2 <> '') OR revision NOT IN \
             (SELECT revision FROM build_statuses WHERE bundle_id = $1 \
             ORDER BY updated DESC, created DESC LIMIT $3))",
        );
        let delete = delete
            .bind(bundle)
            .bind(status.revision.as_str())
            .bind(i64::from(MAX_STATUSES));
        delete.execute(&mut **transaction).await?;
        Ok(())
    }
}

/// Formats milliseconds since 1970 as RFC 3339 in UTC.
fn time(milliseconds: i64) -> String {
    let time = chrono::DateTime::from_timestamp_millis(milliseconds).unwrap_or_default();
    time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

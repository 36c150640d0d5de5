//! Build schedule: due times and leases.
//!
//! A claim assigns a bundle to one owner until its lease ends. The owner renews the lease while it
//! works; when it is gone, the lease ends and another owner claims the bundle. Every claim has a
//! unique number, and all writes of an owner are conditional on it, so that an owner that has lost
//! the bundle changes nothing.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::{Row as _, query};

use super::claims::milliseconds;
use super::{Claim, Status, Store, StoreError};
use crate::model::Kind;

/// Outcome of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BuildOutcome {
    /// The storage has the bundle.
    Published {
        /// Status shown by the API.
        status: Status,
        /// Record of the stored object and its location.
        record: String,
        /// Delay until the next build if nothing changes; `None` means never.
        next: Option<Duration>,
    },
    /// The build failed; the record of the stored object stays.
    Failed {
        /// Status shown by the API.
        status: Status,
        /// Delay until the next build if nothing changes; `None` means never.
        retry: Option<Duration>,
        /// Whether the bundle was not built because processes crashed during its builds.
        condemned: bool,
    },
    /// The bundle is deleted.
    Deleted,
    /// Another owner has the bundle.
    Lost,
    /// The server stops, or the definition has changed.
    Abandoned,
}

impl Store {
    /// Extends the lease of a claim; `false` when the bundle is lost or deleted.
    pub(crate) async fn renew(&self, claim: &Claim, lease: Duration) -> Result<bool, StoreError> {
        let renew = query(self.dialect_sql(
            "UPDATE builds SET lease = {now} + $3 WHERE bundle_id = $1 AND claim = $2",
        ));
        let renew = renew.bind(claim.bundle).bind(claim.number);
        let renewed = self.write(renew.bind(milliseconds(lease)));
        Ok(renewed.await? == 1)
    }

    /// Whether a claim still belongs to its owner, with at least half of a lease left; a shorter
    /// lease is renewed. Most of the time nothing is written.
    pub(crate) async fn is_owner(
        &self,
        claim: &Claim,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        let select = query(self.dialect_sql(
            "SELECT 1 FROM builds WHERE bundle_id = $1 AND claim = $2 AND lease > {now} + $3",
        ));
        let select = select.bind(claim.bundle).bind(claim.number);
        let select = select.bind(milliseconds(lease / 2));
        match select.fetch_optional(self.reader()).await? {
            Some(_) => Ok(true),
            None => self.renew(claim, lease).await,
        }
    }

    /// Releases a claim; the bundle stays due.
    pub(crate) async fn release(&self, claim: &Claim) -> Result<(), StoreError> {
        let release =
            query("UPDATE builds SET owner = '', lease = 0 WHERE bundle_id = $1 AND claim = $2");
        let release = release.bind(claim.bundle).bind(claim.number);
        self.write(release).await?;
        Ok(())
    }

    /// Ends every lease on SQLite, which only one process uses: the one that starts now. The claims
    /// stay as marks of builds during which the process crashed.
    pub(crate) async fn release_all(&self) -> Result<(), StoreError> {
        if !self.is_postgres() {
            let release = query("UPDATE builds SET lease = 0 WHERE lease <> 0");
            self.write(release).await?;
        }
        Ok(())
    }

    /// Makes every bundle due that has ever been built: a server starts, and the storages may not
    /// have been checked meanwhile.
    pub(crate) async fn recheck_all(&self) -> Result<(), StoreError> {
        let update = query(self.dialect_sql("UPDATE builds SET due = {now} WHERE due > {now}"));
        self.write(update).await?;
        Ok(())
    }

    /// Records the outcome of a build and ends its claim. Returns `false` when the bundle is lost to
    /// another owner, or deleted. Nothing is recorded then, and the bundle is marked to be written
    /// once more, because the build may have overwritten the object of the new owner.
    pub(crate) async fn finish(
        &self,
        claim: &Claim,
        outcome: &BuildOutcome,
    ) -> Result<bool, StoreError> {
        let (status, record, next, condemned) = match outcome {
            BuildOutcome::Published {
                status,
                record,
                next,
            } => (status, Some(record.clone()), *next, false),
            BuildOutcome::Failed {
                status,
                retry,
                condemned,
            } => (status, None, *retry, *condemned),
            BuildOutcome::Deleted => return Ok(true),
            BuildOutcome::Abandoned => return self.release(claim).await.map(|()| true),
            BuildOutcome::Lost => return self.mark_lost(claim.bundle).await.map(|()| false),
        };
        let mut transaction = self.begin_unsynced().await?;
        if self.is_postgres() {
            let lock = "SELECT r.id FROM resources r WHERE r.id = $1 {hold}";
            let lock = query(self.dialect_sql(lock)).bind(claim.bundle);
            lock.fetch_optional(&mut *transaction).await?;
        }
        let update = query(self.dialect_sql(
            "UPDATE builds SET owner = '', lease = 0, seen = $3, \
             deaths = CASE WHEN $8 = 1 THEN deaths ELSE 0 END, \
             published = COALESCE($4, published), failures = CASE WHEN wanted = $3 THEN $5 ELSE 0 END, \
             due = CASE WHEN wanted = $3 THEN {now} + $6 ELSE {now} END, pause = $7 \
             WHERE bundle_id = $1 AND claim = $2",
        ));
        let failures = match &record {
            Some(_) => 0,
            None => i64::from(claim.failures) + 1,
        };
        let update = update
            .bind(claim.bundle)
            .bind(claim.number)
            .bind(claim.wanted)
            .bind(record)
            .bind(failures)
            .bind(next.map(milliseconds))
            .bind(next.map_or(0, milliseconds))
            .bind(i64::from(condemned));
        let updated = update.execute(&mut *transaction).await?;
        let is_owner = updated.rows_affected() == 1;
        if is_owner {
            self.record(&mut transaction, claim.bundle, status).await?;
        }
        transaction.commit().await?;
        if !is_owner {
            self.mark_lost(claim.bundle).await?;
        }
        Ok(is_owner)
    }

    /// Ends leases that extend beyond `lease`, and makes bundles due whose due time exceeds the
    /// pause of their last build plus `slack`: they date from before the clock of the database was
    /// set back. Returns the number of affected bundles.
    pub(crate) async fn repair_due_times(
        &self,
        lease: Duration,
        slack: Duration,
    ) -> Result<u64, StoreError> {
        // Allows a second between two statements.
        let lease = milliseconds(lease).saturating_add(1000);
        let slack = milliseconds(slack);
        let ahead = "SELECT 1 FROM builds WHERE lease > {now} + $1 OR due > {now} + pause + $2 \
                     LIMIT 1";
        let ahead = query(self.dialect_sql(ahead)).bind(lease).bind(slack);
        if ahead.fetch_optional(self.reader()).await?.is_none() {
            return Ok(0);
        }
        // A running build keeps its claim, unless another process claims the bundle first.
        let repair = query(self.dialect_sql(
            "UPDATE builds SET lease = CASE WHEN lease > {now} + $1 THEN 0 ELSE lease END, \
             due = CASE WHEN due > {now} + pause + $2 THEN {now} ELSE due END \
             WHERE lease > {now} + $1 OR due > {now} + pause + $2",
        ));
        self.write(repair.bind(lease).bind(slack)).await
    }

    /// Makes a bundle due, and deletes its record, so that it is written again even if it has not
    /// changed.
    pub(crate) async fn mark_for_rewrite(&self, bundle: i64) -> Result<(), StoreError> {
        let update = query(self.dialect_sql(
            "UPDATE builds SET published = '', wanted = wanted + 1, due = {now} \
             WHERE bundle_id = $1",
        ));
        self.write(update.bind(bundle)).await?;
        Ok(())
    }

    /// Returns the names of all resources of a kind, by their ids.
    pub(crate) async fn names(&self, kind: Kind) -> Result<HashMap<i64, String>, StoreError> {
        let select = query("SELECT id, name FROM resources WHERE kind = $1");
        let select = select.bind(kind.name());
        let rows = select.fetch_all(self.reader()).await?;
        let names = rows
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
        Ok(names.collect::<Result<_, sqlx::Error>>()?)
    }
}

//! Build schedule: due times and leases.
//!
//! A claim gives a bundle to one owner until its lease ends. The owner renews the lease while it
//! works; when it is gone, the lease ends and somebody else claims the bundle. Every claim has a
//! number of its own, and all that an owner writes is bound to it, so that one who has lost the
//! bundle changes nothing.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::{Row as _, query};

use super::{Claim, Status, Store, StoreError};
use crate::control::model::Kind;

/// What a build came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finish {
    /// What is shown of it.
    pub(crate) status: Status,
    /// Whether it succeeded.
    pub(crate) succeeded: bool,
    /// What is known of what is in the storage now, and where; `None` leaves it as it was.
    pub(crate) published: Option<String>,
    /// When to build again if nothing change_log; `None` is never.
    pub(crate) again: Option<Duration>,
    /// Whether the bundle was not built, because processes have ended during its builds.
    pub(crate) condemned: bool,
}

impl Store {
    /// Prolongs the lease of a claim; `false` when the bundle is lost or deleted.
    pub(crate) async fn renew(&self, claim: &Claim, lease: Duration) -> Result<bool, StoreError> {
        let renew = query(self.dialect_sql(
            "UPDATE builds SET lease = {now} + $3 WHERE bundle_id = $1 AND claim = $2",
        ));
        let renew = renew.bind(claim.bundle).bind(claim.number);
        let renewed = self.write(renew.bind(milliseconds(lease)));
        Ok(renewed.await? == 1)
    }

    /// Whether a claim is still its owner's, with no less than half of a lease left; a lease of
    /// which less is left is prolonged. Most of the time nothing is written.
    pub(crate) async fn keep(&self, claim: &Claim, lease: Duration) -> Result<bool, StoreError> {
        let held = query(self.dialect_sql(
            "SELECT 1 FROM builds WHERE bundle_id = $1 AND claim = $2 AND lease > {now} + $3",
        ));
        let held = held.bind(claim.bundle).bind(claim.number);
        let held = held.bind(milliseconds(lease / 2));
        match held.fetch_optional(self.reader()).await? {
            Some(_) => Ok(true),
            None => self.renew(claim, lease).await,
        }
    }

    /// Gives a claim back; the bundle stays due.
    pub(crate) async fn release(&self, claim: &Claim) -> Result<(), StoreError> {
        let release =
            query("UPDATE builds SET owner = '', lease = 0 WHERE bundle_id = $1 AND claim = $2");
        let release = release.bind(claim.bundle).bind(claim.number);
        self.write(release).await?;
        Ok(())
    }

    /// Ends every lease on SQLite, which only one process uses: the one that starts now. The
    /// claims stay as marks of builds during which the process ended.
    pub(crate) async fn release_all(&self) -> Result<(), StoreError> {
        if !self.is_postgres() {
            let release = query("UPDATE builds SET lease = 0 WHERE lease <> 0");
            self.write(release).await?;
        }
        Ok(())
    }

    /// Makes every bundle due that has ever been built: somebody starts, and nobody may have
    /// looked meanwhile at what is in the storages.
    pub(crate) async fn look_again(&self) -> Result<(), StoreError> {
        let due = query(self.dialect_sql("UPDATE builds SET due = {now} WHERE due > {now}"));
        self.write(due).await?;
        Ok(())
    }

    /// Records what a build came to and ends its claim; `false`, and nothing is recorded, when the
    /// bundle is lost or deleted.
    pub(crate) async fn finish(&self, claim: &Claim, finish: &Finish) -> Result<bool, StoreError> {
        let mut transaction = self.begin_unsynced().await?;
        if self.is_postgres() {
            let hold = "SELECT r.id FROM resources r WHERE r.id = $1 {hold}";
            let hold = query(self.dialect_sql(hold)).bind(claim.bundle);
            hold.fetch_optional(&mut *transaction).await?;
        }
        let update = query(self.dialect_sql(
            "UPDATE builds SET owner = '', lease = 0, seen = $3, \
             deaths = CASE WHEN $8 = 1 THEN deaths ELSE 0 END, \
             published = COALESCE($4, published), failures = CASE WHEN wanted = $3 THEN $5 ELSE 0 END, \
             due = CASE WHEN wanted = $3 THEN {now} + $6 ELSE {now} END, pause = $7 \
             WHERE bundle_id = $1 AND claim = $2",
        ));
        let failures = match finish.succeeded {
            true => 0,
            false => i64::from(claim.failures) + 1,
        };
        let update = update
            .bind(claim.bundle)
            .bind(claim.number)
            .bind(claim.wanted)
            .bind(finish.published.clone())
            .bind(failures)
            .bind(finish.again.map(milliseconds))
            .bind(finish.again.map_or(0, milliseconds))
            .bind(i64::from(finish.condemned));
        let updated = update.execute(&mut *transaction).await?;
        let kept = updated.rows_affected() == 1;
        if kept {
            self.record(&mut transaction, claim.bundle, &finish.status)
                .await?;
        }
        transaction.commit().await?;
        Ok(kept)
    }

    /// Ends the leases that reach further than `lease`, and makes due what is due later from now
    /// than the pause that its last build asked for and `slack`: they were given before the clock
    /// of the database was put back. Gives how many bundles that concerned.
    pub(crate) async fn repair_due_times(
        &self,
        lease: Duration,
        slack: Duration,
    ) -> Result<u64, StoreError> {
        // A second for the time between two statements.
        let lease = milliseconds(lease).saturating_add(1000);
        let slack = milliseconds(slack);
        let ahead = "SELECT 1 FROM builds WHERE lease > {now} + $1 OR due > {now} + pause + $2 \
                     LIMIT 1";
        let ahead = query(self.dialect_sql(ahead)).bind(lease).bind(slack);
        if ahead.fetch_optional(self.reader()).await?.is_none() {
            return Ok(0);
        }
        // Whoever still builds keeps the claim, unless another one is quicker.
        let mend = query(self.dialect_sql(
            "UPDATE builds SET lease = CASE WHEN lease > {now} + $1 THEN 0 ELSE lease END, \
             due = CASE WHEN due > {now} + pause + $2 THEN {now} ELSE due END \
             WHERE lease > {now} + $1 OR due > {now} + pause + $2",
        ));
        self.write(mend.bind(lease).bind(slack)).await
    }

    /// Makes a bundle due, and forgets what is published of it, so that it is written again even
    /// if it has not changed.
    pub(crate) async fn publish_again(&self, bundle: i64) -> Result<(), StoreError> {
        let again = query(self.dialect_sql(
            "UPDATE builds SET published = '', wanted = wanted + 1, due = {now} \
             WHERE bundle_id = $1",
        ));
        self.write(again.bind(bundle)).await?;
        Ok(())
    }

    /// The things of a kind that there are, by their ids.
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

pub(super) fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}

//! Claims: scheduling of builds among processes.
//!
//! A claim also marks a running build: it names the process that builds, and persists until the
//! process records the end or releases the bundle. A claim that has expired without that belongs to
//! a process that crashed, or lost its database. Such a bundle is *suspected*. It is claimed
//! separately, which counts the crash, and a process that survives resets the count.

use std::time::Duration;

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, Row as _, query};

use super::{Store, StoreError};

/// Claim on a bundle that its owner may build until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Id of the bundle.
    pub(crate) bundle: i64,
    /// Unique number of the claim.
    pub(crate) number: i64,
    /// Change count at the time of the claim: the build sees at least those changes.
    pub(crate) wanted: i64,
    /// Number of failed builds since the last success or change.
    pub(crate) failures: u32,
    /// Record of the last written object and its location; empty when there is none.
    pub(crate) published: String,
    /// Owner of the bundle; empty when it has none.
    pub(crate) tenant: String,
    /// Number of processes that crashed while they built the bundle.
    pub(crate) deaths: u32,
}

/// Number of crashes during builds of a bundle after which it is not built any more.
pub(crate) const MAX_DEATHS: u32 = 2;

/// Queue of bundles to claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Bundles with a change that has not been built.
    Changed,
    /// All due bundles, including those that are only rebuilt.
    Due,
}

/// Owner with due bundles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Name of the owner; empty for the bundles without one.
    pub(crate) tenant: String,
    /// Time since when the oldest due bundle waits.
    pub(crate) since: i64,
}

/// SQL condition of a suspected bundle, as in the index.
const SUSPECTED: &str = "(owner <> '' OR deaths > 0)";

/// SQL condition of due bundles that are not suspected.
const SOUND: &str = "due <= {now} AND owner = '' AND deaths = 0";

impl Queue {
    /// Returns the SQL condition of the bundles in the partial index of the queue.
    fn indexed(self) -> &'static str {
        match self {
            Self::Changed => "wanted > seen",
            Self::Due => "1 = 1",
        }
    }

    /// Returns the statement that selects all owners, and when the oldest of their bundles was due;
    /// it skips from one owner to the next in the index.
    fn owners(self) -> String {
        let indexed = self.indexed();
        format!(
            "WITH RECURSIVE tenants (tenant) AS (\
             SELECT * FROM (SELECT tenant FROM builds WHERE {indexed} \
             ORDER BY tenant LIMIT 1) AS first \
             UNION ALL SELECT (SELECT b.tenant FROM builds b \
             WHERE b.tenant > tenants.tenant AND {indexed} ORDER BY b.tenant LIMIT 1) \
             FROM tenants WHERE tenants.tenant IS NOT NULL) \
             SELECT tenant, (SELECT due FROM builds b \
             WHERE b.tenant = tenants.tenant AND {SOUND} AND {indexed} \
             ORDER BY due, bundle_id LIMIT 1) FROM tenants WHERE tenant IS NOT NULL"
        )
    }

    /// Returns the SQL statement that selects the next bundle to build for the owner `$3`.
    fn next(self) -> String {
        let indexed = self.indexed();
        format!(
            "SELECT bundle_id FROM builds WHERE tenant = $3 AND {SOUND} AND {indexed} \
             ORDER BY due, bundle_id LIMIT 1"
        )
    }
}

/// Returns the statement that finds the next suspected bundle.
fn next_suspected() -> String {
    format!(
        "SELECT bundle_id FROM builds WHERE due <= {{now}} AND lease <= {{now}} AND {SUSPECTED} \
         ORDER BY due, bundle_id LIMIT 1"
    )
}

impl Store {
    /// Returns the owners whose bundles are due and not suspected, in no particular order.
    pub(crate) async fn waiting(&self, queue: Queue) -> Result<Vec<Waiting>, StoreError> {
        let owners = query(self.dialect_sql(&queue.owners()));
        let rows = owners.fetch_all(self.reader()).await?;
        let mut waiting = Vec::new();
        for row in rows {
            if let Some(since) = row.try_get(1)? {
                let tenant = row.try_get(0)?;
                waiting.push(Waiting { tenant, since });
            }
        }
        Ok(waiting)
    }

    /// Claims the bundle of an owner that has been due for the longest time.
    pub(crate) async fn claim(
        &self,
        queue: Queue,
        tenant: &str,
        owner: &str,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        let claim = query(self.dialect_sql(&claim(&queue.next())));
        let claim = claim.bind(owner).bind(milliseconds(lease)).bind(tenant);
        self.run_claim(claim).await
    }

    /// Whether a suspected bundle is due.
    pub(crate) async fn has_suspect(&self) -> Result<bool, StoreError> {
        let next = query(self.dialect_sql(&next_suspected()));
        Ok(next.fetch_optional(self.reader()).await?.is_some())
    }

    /// Claims the suspected bundle that has been due for the longest time, and counts the crash of
    /// the process that built it, if that is another one.
    pub(crate) async fn claim_suspect(
        &self,
        owner: &str,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        let claim = query(self.dialect_sql(&claim(&next_suspected())));
        let claim = claim.bind(owner).bind(milliseconds(lease));
        self.run_claim(claim).await
    }

    async fn run_claim(
        &self,
        claim: Query<'_, Any, AnyArguments>,
    ) -> Result<Option<Claim>, StoreError> {
        let mut transaction = self.begin_unsynced().await?;
        let row = claim.fetch_optional(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(row.as_ref().map(read).transpose()?)
    }

    /// Makes a bundle due, and deletes its record, so that it is written again even if it has not
    /// changed. The process that lost it has survived, so the bundle is not suspected.
    pub(crate) async fn mark_lost(&self, bundle: i64) -> Result<(), StoreError> {
        let update = query(self.dialect_sql(
            "UPDATE builds SET published = '', wanted = wanted + 1, due = {now}, deaths = 0 \
             WHERE bundle_id = $1",
        ));
        self.write(update.bind(bundle)).await?;
        Ok(())
    }
}

/// Returns the statement that claims the bundle found by another statement.
fn claim(next: &str) -> String {
    format!(
        "WITH next (id) AS MATERIALIZED ({next} {{skip}}) \
         UPDATE builds SET owner = $1, claim = claim + 1, lease = {{now}} + $2, \
         deaths = CASE WHEN owner = '' OR owner = $1 THEN deaths ELSE deaths + 1 END \
         WHERE bundle_id IN (SELECT id FROM next) \
         RETURNING bundle_id, claim, wanted, failures, published, tenant, deaths"
    )
}

fn read(row: &AnyRow) -> Result<Claim, sqlx::Error> {
    let count = |column: usize| -> Result<u32, sqlx::Error> {
        Ok(u32::try_from(row.try_get::<i64, _>(column)?).unwrap_or_default())
    };
    Ok(Claim {
        bundle: row.try_get(0)?,
        number: row.try_get(1)?,
        wanted: row.try_get(2)?,
        failures: count(3)?,
        published: row.try_get(4)?,
        tenant: row.try_get(5)?,
        deaths: count(6)?,
    })
}

pub(super) fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::DatabaseUrl;

    type Tested<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

    /// However many bundles are due, no statement scans them.
    #[tokio::test]
    async fn claims_go_through_an_index() -> Tested {
        let url: DatabaseUrl = "sqlite::memory:".parse()?;
        let store = Store::connect(&url).await?;
        let seal = || Tested::Ok(String::new());
        store.prepare(|_| Tested::Ok(()), seal).await?;
        for (statement, expected) in [
            (
                Queue::Changed.next(),
                &["SEARCH builds USING INDEX builds_changed (tenant=? AND due<?)"] as &[_],
            ),
            (
                Queue::Due.next(),
                &["SEARCH builds USING INDEX builds_by_due (tenant=? AND due<?)"],
            ),
            (
                next_suspected(),
                &["SEARCH builds USING INDEX builds_suspected (due<?)"],
            ),
            (
                Queue::Due.owners(),
                &[
                    "SCAN builds USING COVERING INDEX builds_by_due",
                    "SEARCH b USING COVERING INDEX builds_by_due (tenant>?)",
                    "SEARCH b USING INDEX builds_by_due (tenant=? AND due<?)",
                ],
            ),
            (
                Queue::Changed.owners(),
                &[
                    "SCAN builds USING INDEX builds_changed",
                    "SEARCH b USING INDEX builds_changed (tenant>?)",
                    "SEARCH b USING INDEX builds_changed (tenant=? AND due<?)",
                ],
            ),
        ] {
            let explain = query(store.dialect_sql(&format!("EXPLAIN QUERY PLAN {statement}")));
            let mut steps = Vec::new();
            for step in explain.fetch_all(store.reader()).await? {
                steps.push(step.try_get::<String, _>("detail")?);
            }
            steps.retain(|step| step.contains(" builds") || step.contains(" b "));
            assert_eq!(steps, expected, "{statement}");
        }
        Ok(())
    }
}

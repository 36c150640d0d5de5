//! Changes of definitions, and the bundles they affect.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe, Row as _, Transaction, query};

use super::{MAX_DEATHS, Store, StoreError};
use crate::blocking;
use crate::model::{Bundle, Kind, Selection, Stack};

/// Maximum number of changes propagated in one transaction: few, because other writers wait.
const BATCH: usize = 50;

/// Number of bundles matched at a time against the selectors of stacks.
const PAGE: usize = 1000;

/// Timeout of matching one page of bundles against the selectors of stacks.
const MATCHING: Duration = Duration::from_secs(600);

/// One replica at a time propagates changes: the one that locks the row that every database has
/// exactly once; the others would only wait for it.
const LEADER_LOCK_SQL: &str = "SELECT sealed FROM keyring {skip}";

/// CTE of everything affected by a change: direct users, their users, and so on.
const REACHED: &str = "WITH RECURSIVE reached (id) AS ({start} UNION \
     SELECT u.user_id FROM source_uses u JOIN reached ON u.source_id = reached.id) ";

/// Makes the bundles among the rows of `r` due.
const DUE: &str = "INSERT INTO builds \
     (bundle_id, wanted, due, failures, owner, claim, lease, published, tenant) \
     SELECT r.id, 1, {now}, 0, '', 0, 0, '', r.owner FROM resources r \
     WHERE r.kind = 'bundle' AND r.id IN ({chosen}) {hold} \
     ON CONFLICT (bundle_id) DO UPDATE SET \
     wanted = builds.wanted + 1, failures = 0, {redefined}";

/// Additional updates for a changed definition.
const BY_DEFINITION: &str = "due = excluded.due, deaths = 0";

/// Updates for changed documents, which are frequent: a bundle that is not built any more stays so.
const BY_DATA: &str =
    "due = CASE WHEN builds.deaths >= {most} THEN builds.due ELSE excluded.due END";

/// Returns the statement that makes the bundles selected by another statement due.
fn due(chosen: &str, is_data: bool) -> String {
    let redefined = if is_data { BY_DATA } else { BY_DEFINITION };
    DUE.replace("{chosen}", chosen)
        .replace("{redefined}", redefined)
        .replace("{most}", &MAX_DEATHS.to_string())
}

/// Records a change of a stack with its previous definition, if any, for the bundles that it
/// selected. Those that the new definition selects are found by another record.
pub(super) async fn record_stack_change(
    transaction: &mut Transaction<'static, Any>,
    name: &str,
) -> Result<(), StoreError> {
    let insert = query(
        "INSERT INTO changes (kind, name, definition) \
         SELECT kind, name, definition FROM resources WHERE kind = 'stack' AND name = $1",
    );
    insert.bind(name).execute(&mut **transaction).await?;
    Ok(())
}

/// Recorded changes that are not propagated yet.
#[derive(Debug, Default)]
struct RecordedChanges {
    /// Ids of the recorded changes.
    ids: Vec<i64>,
    /// Names of changed resources, by kind and whether only data has changed.
    names: BTreeMap<(String, bool), BTreeSet<String>>,
    /// Stacks whose bundles are affected, by whether only data has changed.
    stacks: BTreeMap<bool, Vec<String>>,
}

impl Store {
    /// Makes every bundle due that recorded changes affect, and deletes the records. Returns
    /// whether there may be more to do.
    ///
    /// The bundles that stacks select are determined before anything is locked, because matching
    /// takes time for every pattern and every bundle. Changes made in between are recorded again.
    pub(crate) async fn propagate_changes(&self) -> Result<bool, StoreError> {
        let mut changes = self.recorded_changes().await?;
        if changes.ids.is_empty() {
            return Ok(false);
        }
        for (key, names) in &changes.names {
            let stacks = changes.stacks.entry(key.1).or_default();
            stacks.extend(self.using_stacks(&key.0, names).await?);
        }
        let mut chosen = Vec::new();
        for (is_data, stacks) in std::mem::take(&mut changes.stacks) {
            chosen.push((is_data, self.selected_bundles(stacks).await?));
        }
        let mut transaction = self.begin_unsynced().await?;
        let lock = query(self.dialect_sql(LEADER_LOCK_SQL));
        if lock.fetch_optional(&mut *transaction).await?.is_none() {
            return Ok(false);
        }
        let delete = format!(
            "DELETE FROM changes WHERE id IN ({})",
            id_list(&changes.ids)
        );
        let deleted = query(AssertSqlSafe(delete)).persistent(false);
        let deleted = deleted.execute(&mut *transaction).await?.rows_affected();
        // Another replica has been faster.
        if deleted == 0 {
            return Ok(true);
        }
        for ((kind, is_data), names) in &changes.names {
            self.mark_users_due(&mut transaction, (kind, *is_data), names)
                .await?;
        }
        for (is_data, bundles) in chosen {
            for page in bundles.chunks(PAGE) {
                let due = due(&id_list(page), is_data);
                let due = query(self.dialect_sql(&due)).persistent(false);
                due.execute(&mut *transaction).await?;
            }
        }
        transaction.commit().await?;
        Ok(changes.ids.len() == BATCH)
    }

    /// Returns the oldest recorded changes.
    async fn recorded_changes(&self) -> Result<RecordedChanges, StoreError> {
        let select =
            query("SELECT id, kind, name, definition, data FROM changes ORDER BY id LIMIT $1");
        let select = select.bind(i64::try_from(BATCH).unwrap_or(i64::MAX));
        let mut changes = RecordedChanges::default();
        for row in select.fetch_all(self.reader()).await? {
            changes.ids.push(row.try_get(0)?);
            match row.try_get::<Option<String>, _>(3)? {
                Some(definition) => changes.stacks.entry(false).or_default().push(definition),
                None => {
                    let key = (row.try_get(1)?, row.try_get::<i64, _>(4)? == 1);
                    let names = changes.names.entry(key).or_default();
                    names.insert(row.try_get(2)?);
                }
            }
        }
        Ok(changes)
    }

    /// Returns the definitions of the stacks that are these resources or use one of them.
    async fn using_stacks(
        &self,
        kind: &str,
        names: &BTreeSet<String>,
    ) -> Result<Vec<String>, StoreError> {
        if kind == Kind::Bundle.name() {
            return Ok(Vec::new());
        }
        let users = format!(
            "{}SELECT r.definition FROM resources r \
             WHERE r.kind = 'stack' AND r.id IN (SELECT id FROM reached)",
            affected_cte(kind, names)
        );
        let users = self.bind_names(&users, kind, names);
        let rows = users.fetch_all(self.reader()).await?;
        let definitions = rows.iter().map(|row| row.try_get(0));
        Ok(definitions.collect::<Result<_, sqlx::Error>>()?)
    }

    /// Makes the bundles due that are these resources or use one of them, directly or through
    /// sources. All in one statement: a start may have very many, and other writers wait meanwhile.
    async fn mark_users_due(
        &self,
        transaction: &mut Transaction<'static, Any>,
        (kind, is_data): (&str, bool),
        names: &BTreeSet<String>,
    ) -> Result<(), StoreError> {
        let due = match kind == Kind::Bundle.name() {
            true => due(&start_sql(kind, names), is_data),
            false => {
                let due = due("SELECT id FROM reached", is_data);
                format!("{}{due}", affected_cte(kind, names))
            }
        };
        let due = self.bind_names(&due, kind, names);
        due.execute(&mut **transaction).await?;
        Ok(())
    }

    /// Returns a statement with a kind and names as parameters.
    fn bind_names<'q>(
        &self,
        statement: &str,
        kind: &'q str,
        names: &'q BTreeSet<String>,
    ) -> Query<'q, Any, AnyArguments> {
        let bound = query(self.dialect_sql(statement)).persistent(false);
        let names = names.iter().map(String::as_str);
        names.fold(bound.bind(kind), |bound, name| bound.bind(name))
    }

    /// Returns the bundles that any of the stacks selects.
    async fn selected_bundles(&self, stacks: Vec<String>) -> Result<Vec<i64>, StoreError> {
        let mut selected = Vec::new();
        if stacks.is_empty() {
            return Ok(selected);
        }
        // An invalid definition selects nothing: no other program writes definitions.
        let stacks = stacks
            .iter()
            .filter_map(|text| serde_json::from_str::<Stack>(text).ok());
        let selections: Arc<Vec<Selection>> =
            Arc::new(stacks.map(|stack| stack.selection()).collect());
        let mut after = 0;
        loop {
            let page = query(
                "SELECT id, definition FROM resources \
                 WHERE kind = 'bundle' AND id > $1 ORDER BY id LIMIT $2",
            );
            let page = page
                .bind(after)
                .bind(i64::try_from(PAGE).unwrap_or(i64::MAX));
            let mut bundles = Vec::new();
            for row in page.fetch_all(self.reader()).await? {
                after = row.try_get(0)?;
                bundles.push((after, row.try_get(1)?));
            }
            if bundles.is_empty() {
                return Ok(selected);
            }
            let selections = Arc::clone(&selections);
            let matched = blocking::run(MATCHING, move |cancelled| {
                let bundles = bundles.into_iter();
                // Stops early when the server stops.
                let bundles = bundles.take_while(|_| !cancelled.load(Ordering::Relaxed));
                matching(bundles, &selections)
            });
            selected.extend(matched.await.map_err(|_| sqlx::Error::WorkerCrashed)?);
        }
    }
}

/// Returns the ids of the selected bundles.
fn matching(bundles: impl Iterator<Item = (i64, String)>, selections: &[Selection]) -> Vec<i64> {
    let bundles = bundles.filter(|(_, text)| {
        let bundle: Bundle = serde_json::from_str(text).unwrap_or_default();
        let labels = bundle.labels.unwrap_or_default();
        selections
            .iter()
            .any(|selection| selection.selects(&labels))
    });
    bundles.map(|(id, _)| id).collect()
}

/// Returns the statement that selects these resources, or the users of such secrets.
fn start_sql(kind: &str, names: &BTreeSet<String>) -> String {
    let start = match kind {
        "secret" => "SELECT user_id FROM secret_uses WHERE $1 = 'secret' AND secret",
        _ => "SELECT id FROM resources WHERE kind = $1 AND name",
    };
    let placeholders: Vec<String> = (0..names.len())
        .map(|index| format!("${}", index + 2))
        .collect();
    format!("{start} IN ({})", placeholders.join(","))
}

/// Returns the CTE of everything that these resources affect.
fn affected_cte(kind: &str, names: &BTreeSet<String>) -> String {
    REACHED.replace("{start}", &start_sql(kind, names))
}

/// Formats ids as an SQL list.
fn id_list(ids: &[i64]) -> String {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    ids.join(",")
}

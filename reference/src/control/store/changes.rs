//! Changes, and the bundles that they concern.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{Any, Row as _, Transaction, query};

use super::{MOST_DEATHS, Store, StoreError};
use crate::control::model::{Bundle, Kind, Stack};

/// Changes that are passed on in one transaction: few, because other writers wait for its end.
const BATCH: i64 = 50;

/// Bundles that are looked at together when stacks select among them.
const PAGE: i64 = 1000;

/// One replica at a time passes changes on, the one that holds the row that every database has
/// once; the others would only wait for it.
const LEADER_LOCK_SQL: &str = "SELECT sealed FROM keyring {skip}";

/// What a changed thing reaches: whoever uses it, those that use them, and so on.
const REACHED: &str = "WITH RECURSIVE reached (id) AS ({start} UNION \
     SELECT u.user_id FROM source_uses u JOIN reached ON u.source_id = reached.id) ";

/// Makes the bundles among the rows of `r` due.
const DUE: &str = "INSERT INTO builds \
     (bundle_id, wanted, due, failures, owner, claim, lease, published, tenant) \
     SELECT r.id, 1, {now}, 0, '', 0, 0, '', r.owner FROM resources r \
     WHERE r.kind = 'bundle' AND r.id IN ({chosen}) {hold} \
     ON CONFLICT (bundle_id) DO UPDATE SET \
     wanted = builds.wanted + 1, failures = 0, {redefined}";

/// What a new definition does besides.
const BY_DEFINITION: &str = "due = excluded.due, deaths = 0";

/// What documents do, which come often: a bundle that is not built any more stays so.
const BY_DATA: &str =
    "due = CASE WHEN builds.deaths >= {most} THEN builds.due ELSE excluded.due END";

/// The statement that makes the bundles due that another one gives.
fn due(chosen: &str, is_data: bool) -> String {
    let redefined = if is_data { BY_DATA } else { BY_DEFINITION };
    DUE.replace("{chosen}", chosen)
        .replace("{redefined}", redefined)
        .replace("{most}", &MOST_DEATHS.to_string())
}

/// Notes that a stack changes, with its definition as it is before, if there is one, for the bundles
/// that it selected. Those that it selects then are found by another note.
pub(super) async fn note_stack(
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

impl Store {
    /// Makes every bundle due that noted changes concern, and forgets the notes. Gives whether
    /// there may be more to do.
    pub(crate) async fn pass_on_changes(&self) -> Result<bool, StoreError> {
        let any = query("SELECT 1 FROM changes LIMIT 1");
        if any.fetch_optional(self.reader()).await?.is_none() {
            return Ok(false);
        }
        let mut transaction = self.begin_unsynced().await?;
        let turn = query(self.dialect_sql(LEADER_LOCK_SQL));
        if turn.fetch_optional(&mut *transaction).await?.is_none() {
            return Ok(false);
        }
        let take = query(
            "DELETE FROM changes WHERE id IN (SELECT id FROM changes ORDER BY id LIMIT $1) \
             RETURNING kind, name, definition, data",
        );
        let taken = take.bind(BATCH).fetch_all(&mut *transaction).await?;
        let mut names: BTreeMap<(String, bool), BTreeSet<String>> = BTreeMap::new();
        let mut stacks: BTreeMap<bool, Vec<String>> = BTreeMap::new();
        for row in &taken {
            match row.try_get::<Option<String>, _>(2)? {
                Some(definition) => stacks.entry(false).or_default().push(definition),
                None => drop(
                    names
                        .entry((row.try_get(0)?, row.try_get::<i64, _>(3)? == 1))
                        .or_default()
                        .insert(row.try_get(1)?),
                ),
            }
        }
        for ((kind, is_data), names) in &names {
            let stacks = stacks.entry(*is_data).or_default();
            self.follow(&mut transaction, (kind, *is_data), names, stacks)
                .await?;
        }
        for (is_data, stacks) in stacks {
            self.follow_stacks(&mut transaction, &stacks, is_data)
                .await?;
        }
        transaction.commit().await?;
        Ok(i64::try_from(taken.len()) == Ok(BATCH))
    }

    /// Makes the bundles due that are these things or use one of them, through sources or at once,
    /// and adds the definitions of the stacks that do. All at once: a server may start with very
    /// many, and other writers wait meanwhile.
    async fn follow(
        &self,
        transaction: &mut Transaction<'static, Any>,
        (kind, is_data): (&str, bool),
        names: &BTreeSet<String>,
        stacks: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let start = match kind {
            "secret" => "SELECT user_id FROM secret_uses WHERE $1 = 'secret' AND secret",
            _ => "SELECT id FROM resources WHERE kind = $1 AND name",
        };
        let places: Vec<String> = (0..names.len()).map(|at| format!("${}", at + 2)).collect();
        let start = format!("{start} IN ({})", places.join(","));
        let asked = |statement| {
            let asked = query(self.dialect_sql(statement)).persistent(false);
            let names = names.iter().map(String::as_str);
            names.fold(asked.bind(kind), |asked, name| asked.bind(name))
        };
        if kind == Kind::Bundle.name() {
            let due = due(&start, is_data);
            asked(&due).execute(&mut **transaction).await?;
            return Ok(());
        }
        let reached = REACHED.replace("{start}", &start);
        let due = due("SELECT id FROM reached", is_data);
        let due = format!("{reached}{due}");
        asked(&due).execute(&mut **transaction).await?;
        let users = format!(
            "{reached}SELECT r.definition FROM resources r \
             WHERE r.kind = 'stack' AND r.id IN (SELECT id FROM reached)"
        );
        for row in asked(&users).fetch_all(&mut **transaction).await? {
            stacks.push(row.try_get(0)?);
        }
        Ok(())
    }

    /// Makes the bundles due that any of the stacks selects.
    async fn follow_stacks(
        &self,
        transaction: &mut Transaction<'static, Any>,
        stacks: &[String],
        is_data: bool,
    ) -> Result<(), StoreError> {
        // What cannot be read selects nothing: no other program writes definitions.
        let stacks = stacks
            .iter()
            .filter_map(|text| serde_json::from_str(text).ok());
        let stacks: Vec<Stack> = stacks.collect();
        let mut after = 0;
        while !stacks.is_empty() {
            let page = query(
                "SELECT id, definition FROM resources \
                 WHERE kind = 'bundle' AND id > $1 ORDER BY id LIMIT $2",
            );
            let page = page.bind(after).bind(PAGE);
            let page = page.fetch_all(&mut **transaction).await?;
            let mut chosen = Vec::new();
            for row in &page {
                after = row.try_get(0)?;
                let text: String = row.try_get(1)?;
                let bundle: Bundle = serde_json::from_str(&text).unwrap_or_default();
                let labels = bundle.labels.unwrap_or_default();
                if stacks.iter().any(|stack| stack.selects(&labels)) {
                    chosen.push(after.to_string());
                }
            }
            if !chosen.is_empty() {
                let due = due(&chosen.join(","), is_data);
                let due = query(self.dialect_sql(&due)).persistent(false);
                due.execute(&mut **transaction).await?;
            }
            if page.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

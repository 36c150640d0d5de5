//! Inputs of a build, read from one snapshot of the database.
//!
//! A fixed number of statements reads them, however many sources there are. Each begins at the
//! bundle: `CROSS JOIN` prevents SQLite from starting with the data of all bundles, and PostgreSQL
//! is configured to use its indexes.

use std::collections::{BTreeMap, HashMap};

use futures_util::TryStreamExt as _;
use serde::Serialize;
use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Executor as _, Row as _, Transaction, query};

use super::error::ResourceRef;
use super::references::FOLLOWED;
use super::{Store, StoreError};
use crate::model::{Bundle, Kind, Stack};

/// Bundle, and everything that it and the stacks that select it require.
#[derive(Debug, Default, Serialize)]
pub(crate) struct BuildInputs {
    /// Name of the bundle.
    pub(crate) name: String,
    /// Definition of the bundle.
    pub(crate) bundle: Bundle,
    /// Stacks that select the bundle, by name.
    pub(crate) stacks: Vec<(String, Stack)>,
    /// Sources that the bundle and the stacks require, directly or transitively, by name.
    pub(crate) sources: BTreeMap<String, SourceRow>,
    /// Sealed values of the secrets that the bundle names and may use, by name.
    pub(crate) secrets: BTreeMap<String, String>,
}

/// Source and its documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SourceRow {
    /// Stored definition of the source.
    pub(crate) definition: String,
    /// Paths and JSON of the documents of the source.
    pub(crate) documents: Vec<(String, String)>,
    /// Sealed values of the secrets that it names and may use, by name. Secrets of other sources of
    /// the build are not visible to it, even under the same name.
    pub(crate) secrets: BTreeMap<String, String>,
}

/// PostgreSQL overestimates the number of reached rows, and would prefer sequential scans.
const BY_INDEX: &str = "SELECT set_config('enable_seqscan', 'off', true), \
     set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)";

const SOURCES: &str = "SELECT r.id, r.name, r.definition FROM reached CROSS JOIN resources r \
     WHERE r.id = reached.id AND r.kind = 'source'";

const DOCUMENTS: &str = "SELECT d.source_id, d.path, d.document \
     FROM reached CROSS JOIN documents d \
     WHERE d.source_id = reached.id ORDER BY d.source_id, d.path";

/// Selects the secrets that exist and may be used, with the resources that name them.
const SECRETS: &str = "SELECT u.user_id, s.name, s.definition \
     FROM reached CROSS JOIN secret_uses u CROSS JOIN resources s \
     WHERE u.user_id = reached.id AND s.kind = 'secret' AND s.name = u.secret AND {followed}";

/// Selects the first reference to a source that may not be followed any more.
const FORBIDDEN: &str = "SELECT r.kind, r.name, s.name \
     FROM reached CROSS JOIN source_uses u CROSS JOIN resources s CROSS JOIN resources r \
     WHERE u.user_id = reached.id AND s.id = u.source_id AND r.id = u.user_id \
     AND NOT {followed} ORDER BY r.id, s.id LIMIT 1";

fn followed(statement: &str) -> String {
    statement.replace("{followed}", FOLLOWED)
}

/// Root resources of a build; statements see these and everything they require as `reached`.
#[derive(Debug)]
struct RootResources {
    users: Vec<i64>,
}

impl RootResources {
    /// Returns a query whose statement can use `reached`.
    fn query(&self, statement: &str) -> Query<'static, Any, AnyArguments> {
        let users: Vec<_> = (1..=self.users.len())
            .map(|index| format!("${index}"))
            .collect();
        let statement = format!(
            "WITH RECURSIVE reached (id) AS (SELECT id FROM resources WHERE id IN ({}) \
             UNION SELECT u.source_id FROM reached CROSS JOIN source_uses u \
             WHERE u.user_id = reached.id) {statement}",
            users.join(",")
        );
        let query = query(AssertSqlSafe(statement));
        self.users
            .iter()
            .fold(query, |query, user| query.bind(*user))
    }
}

/// Rows of the resources of one build, by their ids.
type ById<T> = HashMap<i64, T>;

impl Store {
    /// Returns the inputs of a bundle, or `None` when it is deleted. They are a consistent
    /// snapshot, however many requests change them meanwhile.
    ///
    /// # Errors
    /// When the database fails, the documents together exceed `limit` bytes, or a definition
    /// requires a source that is not shared any more.
    pub(crate) async fn inputs(
        &self,
        bundle: i64,
        limit: u64,
    ) -> Result<Option<BuildInputs>, StoreError> {
        let mut transaction = self.begin_read().await?;
        if self.is_postgres() {
            transaction.execute(BY_INDEX).await?;
        }
        let Some(mut inputs) = definition(&mut transaction, bundle).await? else {
            return Ok(None);
        };
        let mut users = vec![bundle];
        users.extend(stacks(&mut transaction, &mut inputs).await?);
        let reached = RootResources { users };
        if let Some(refused) = first_forbidden(&mut transaction, &reached).await? {
            return Err(refused);
        }
        let mut documents = documents(&mut transaction, &reached, limit).await?;
        let mut secrets = secrets(&mut transaction, &reached).await?;
        inputs.secrets = secrets.remove(&bundle).unwrap_or_default();
        for row in reached.query(SOURCES).fetch_all(&mut *transaction).await? {
            let id: i64 = row.try_get(0)?;
            let source = SourceRow {
                definition: row.try_get(2)?,
                documents: documents.remove(&id).unwrap_or_default(),
                secrets: secrets.remove(&id).unwrap_or_default(),
            };
            inputs.sources.insert(row.try_get(1)?, source);
        }
        // Nothing was written, so a rollback ends the transaction equally well.
        transaction.rollback().await?;
        Ok(Some(inputs))
    }

    /// Returns a bundle with its secrets and without sources, or `None` when it is deleted.
    pub(crate) async fn bundle(&self, bundle: i64) -> Result<Option<BuildInputs>, StoreError> {
        let mut connection = self.reader().acquire().await?;
        let Some(mut inputs) = definition(&mut connection, bundle).await? else {
            return Ok(None);
        };
        let storage = inputs.bundle.object_storage.as_ref();
        if storage.is_some_and(|storage| storage.credentials().is_some()) {
            let root = RootResources {
                users: vec![bundle],
            };
            let mut secrets = secrets(&mut connection, &root).await?;
            inputs.secrets = secrets.remove(&bundle).unwrap_or_default();
        }
        Ok(Some(inputs))
    }
}

/// Returns a bundle with its definition, unless it is deleted.
async fn definition(
    connection: &mut AnyConnection,
    bundle: i64,
) -> Result<Option<BuildInputs>, StoreError> {
    let select = query("SELECT name, definition FROM resources WHERE kind = $1 AND id = $2");
    let select = select.bind(Kind::Bundle.name()).bind(bundle);
    let Some(row) = select.fetch_optional(&mut *connection).await? else {
        return Ok(None);
    };
    Ok(Some(BuildInputs {
        name: row.try_get(0)?,
        bundle: serde_json::from_str(row.try_get(1)?)?,
        ..BuildInputs::default()
    }))
}

/// Adds the stacks that select a bundle; returns their ids.
async fn stacks(
    transaction: &mut Transaction<'static, Any>,
    inputs: &mut BuildInputs,
) -> Result<Vec<i64>, StoreError> {
    let labels = inputs.bundle.labels.clone().unwrap_or_default();
    let select = query("SELECT id, name, definition FROM resources WHERE kind = $1 ORDER BY id");
    let select = select.bind(Kind::Stack.name());
    let mut ids = Vec::new();
    for row in select.fetch_all(&mut **transaction).await? {
        let stack: Stack = serde_json::from_str(row.try_get(2)?)?;
        if stack.selection().selects(&labels) {
            ids.push(row.try_get(0)?);
            inputs.stacks.push((row.try_get(1)?, stack));
        }
    }
    Ok(ids)
}

/// Returns the first reference to a source that may not be followed any more, if any.
async fn first_forbidden(
    transaction: &mut Transaction<'static, Any>,
    reached: &RootResources,
) -> Result<Option<StoreError>, StoreError> {
    let select = reached.query(&followed(FORBIDDEN));
    let Some(row) = select.fetch_optional(&mut **transaction).await? else {
        return Ok(None);
    };
    Ok(Some(StoreError::MissingReference {
        user: ResourceRef::of_stored_kind(row.try_get(0)?, row.try_get(1)?),
        missing: ResourceRef::new(Kind::Source, row.try_get(2)?),
    }))
}

/// Returns the paths and JSON of documents, by their sources.
async fn documents(
    transaction: &mut Transaction<'static, Any>,
    reached: &RootResources,
    limit: u64,
) -> Result<ById<Vec<(String, String)>>, StoreError> {
    let mut rows = reached.query(DOCUMENTS).fetch(&mut **transaction);
    let mut documents: ById<Vec<_>> = HashMap::new();
    let mut remaining = limit;
    while let Some(row) = rows.try_next().await? {
        let document: String = row.try_get(2)?;
        remaining = remaining
            .checked_sub(document.len() as u64)
            .ok_or(StoreError::TooLarge(limit))?;
        let of_source = documents.entry(row.try_get(0)?).or_default();
        of_source.push((row.try_get(1)?, document));
    }
    Ok(documents)
}

/// Returns the secrets that resources name, by resource, if they exist and may be used.
async fn secrets(
    connection: &mut AnyConnection,
    reached: &RootResources,
) -> Result<ById<BTreeMap<String, String>>, StoreError> {
    let select = reached.query(&followed(SECRETS));
    let mut secrets: ById<BTreeMap<_, _>> = HashMap::new();
    for row in select.fetch_all(&mut *connection).await? {
        let of_user = secrets.entry(row.try_get(0)?).or_default();
        of_user.insert(row.try_get(1)?, row.try_get(2)?);
    }
    Ok(secrets)
}

#[cfg(test)]
mod tests {
    use sqlx::Execute as _;

    use super::*;
    use crate::store::DatabaseUrl;

    type Tested<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

    /// Finding the inputs of one bundle does not scan the data of all bundles.
    #[tokio::test]
    async fn statements_begin_at_the_bundle() -> Tested {
        let url: DatabaseUrl = "sqlite::memory:".parse()?;
        let store = Store::connect(&url).await?;
        let seal = || Tested::Ok(String::new());
        store.prepare(|_| Tested::Ok(()), seal).await?;
        let reached = RootResources {
            users: vec![1, 2, 3],
        };
        for statement in [SOURCES, DOCUMENTS, SECRETS, FORBIDDEN] {
            let statement = followed(statement);
            let explained = format!(
                "EXPLAIN QUERY PLAN {}",
                reached.query(&statement).sql().as_str()
            );
            let mut scanned = Vec::new();
            let plan = store.reader().fetch_all(AssertSqlSafe(explained)).await?;
            for step in &plan {
                let step: String = step.try_get("detail")?;
                scanned.extend(step.strip_prefix("SCAN ").map(str::to_owned));
            }
            assert!(!plan.is_empty());
            scanned.retain(|table| table != "reached");
            assert_eq!(scanned, [""; 0], "{statement}");
        }
        Ok(())
    }
}

//! Inputs of a build, read from one snapshot of the database.
//!
//! A fixed number of statements reads it, however many sources there are. Each begins at the
//! bundle: `CROSS JOIN` keeps SQLite from beginning at what all bundles have stored, and
//! PostgreSQL is told to go by its indexes.

use std::collections::{BTreeMap, HashMap};

use futures_util::TryStreamExt as _;
use serde::Serialize;
use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Executor as _, Row as _, Transaction, query};

use super::error::ResourceRef;
use super::references::FOLLOWED;
use super::{Store, StoreError};
use crate::control::model::{Bundle, Kind, Stack};

/// The bundle, and everything that it and the stacks that select it lead to.
#[derive(Debug, Default, Serialize)]
pub(crate) struct BuildInputs {
    /// Name of the bundle.
    pub(crate) name: String,
    /// Its definition.
    pub(crate) bundle: Bundle,
    /// The stacks that select it, by name.
    pub(crate) stacks: Vec<(String, Stack)>,
    /// Their sources and those that they require, by name.
    pub(crate) sources: BTreeMap<String, SourceRow>,
    /// The sealed values of the secrets that the bundle names and may use, by name.
    pub(crate) secrets: BTreeMap<String, String>,
}

/// A source and its documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SourceRow {
    /// The text of its definition.
    pub(crate) definition: String,
    /// The paths and texts of its documents.
    pub(crate) documents: Vec<(String, String)>,
    /// The sealed values of the secrets that it names and may use, by name. What another source
    /// of the build may use under the same name is nothing to it.
    pub(crate) secrets: BTreeMap<String, String>,
}

/// PostgreSQL takes what is reached for hundreds of things, and would go through all sooner.
const BY_INDEX: &str = "SELECT set_config('enable_seqscan', 'off', true), \
     set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)";

const SOURCES: &str = "SELECT r.id, r.name, r.definition FROM reached CROSS JOIN resources r \
     WHERE r.id = reached.id AND r.kind = 'source'";

const DOCUMENTS: &str = "SELECT d.source_id, d.path, d.document \
     FROM reached CROSS JOIN documents d \
     WHERE d.source_id = reached.id ORDER BY d.source_id, d.path";

/// Those that exist and may be used, with what names them.
const SECRETS: &str = "SELECT u.user_id, s.name, s.definition \
     FROM reached CROSS JOIN secret_uses u CROSS JOIN resources s \
     WHERE u.user_id = reached.id AND s.kind = 'secret' AND s.name = u.secret AND {followed}";

/// The first reference to a source that may not be followed any more.
const FORBIDDEN: &str = "SELECT r.kind, r.name, s.name \
     FROM reached CROSS JOIN source_uses u CROSS JOIN resources s CROSS JOIN resources r \
     WHERE u.user_id = reached.id AND s.id = u.source_id AND r.id = u.user_id \
     AND NOT {followed} ORDER BY r.id, s.id LIMIT 1";

fn followed(statement: &str) -> String {
    statement.replace("{followed}", FOLLOWED)
}

/// The things whose requirements are followed, and all that those lead to: `reached`.
#[derive(Debug)]
struct Reached {
    users: Vec<i64>,
}

impl Reached {
    /// A statement about them.
    fn query(&self, statement: &str) -> Query<'static, Any, AnyArguments> {
        let users: Vec<_> = (1..=self.users.len()).map(|at| format!("${at}")).collect();
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

/// What was read of the things of one build, by their ids.
type ById<T> = HashMap<i64, T>;

impl Store {
    /// What a bundle is built from, or `None` when it is deleted. All of it is of one moment,
    /// however many requests change it meanwhile.
    ///
    /// # Errors
    /// When the database fails, the documents together have more than `limit` bytes, or something
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
        let reached = Reached { users };
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
        // Nothing was written; going back ends the transaction as well as anything.
        transaction.rollback().await?;
        Ok(Some(inputs))
    }

    /// A bundle with its secrets and without what it is built from, or `None` when it is deleted.
    pub(crate) async fn bundle(&self, bundle: i64) -> Result<Option<BuildInputs>, StoreError> {
        let mut connection = self.reader().acquire().await?;
        let Some(mut inputs) = definition(&mut connection, bundle).await? else {
            return Ok(None);
        };
        let storage = inputs.bundle.object_storage.as_ref();
        if storage.is_some_and(|storage| storage.credentials().is_some()) {
            let alone = Reached {
                users: vec![bundle],
            };
            let mut secrets = secrets(&mut connection, &alone).await?;
            inputs.secrets = secrets.remove(&bundle).unwrap_or_default();
        }
        Ok(Some(inputs))
    }
}

/// A bundle with its definition, unless it is deleted.
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

/// Adds the stacks that select a bundle; gives their ids.
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

/// The first reference to a source that may not be followed any more, if there is one.
async fn first_forbidden(
    transaction: &mut Transaction<'static, Any>,
    reached: &Reached,
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

/// The paths and texts of documents, by their sources.
async fn documents(
    transaction: &mut Transaction<'static, Any>,
    reached: &Reached,
    limit: u64,
) -> Result<ById<Vec<(String, String)>>, StoreError> {
    let mut rows = reached.query(DOCUMENTS).fetch(&mut **transaction);
    let mut documents: ById<Vec<_>> = HashMap::new();
    let mut left = limit;
    while let Some(row) = rows.try_next().await? {
        let document: String = row.try_get(2)?;
        left = left
            .checked_sub(document.len() as u64)
            .ok_or(StoreError::TooLarge(limit))?;
        let of_source = documents.entry(row.try_get(0)?).or_default();
        of_source.push((row.try_get(1)?, document));
    }
    Ok(documents)
}

/// The secrets that things name, by these things, as far as they exist and may be used.
async fn secrets(
    connection: &mut AnyConnection,
    reached: &Reached,
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
    use crate::control::store::DatabaseUrl;

    type Tested<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

    /// What all bundles have stored is not gone through to find what one of them is built from.
    #[tokio::test]
    async fn statements_begin_at_the_bundle() -> Tested {
        let url: DatabaseUrl = "sqlite::memory:".parse()?;
        let store = Store::connect(&url).await?;
        let seal = || Tested::Ok(String::new());
        store.prepare(|_| Tested::Ok(()), seal).await?;
        let reached = Reached {
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

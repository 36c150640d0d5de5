//! What a bundle is built from, as it is stored at one moment.

use std::collections::BTreeMap;

use sqlx::{Any, AssertSqlSafe, Row as _, Transaction, query};

use super::references::{self, FOLLOWED};
use super::{Store, StoreError};
use crate::control::model::{Bundle, Kind, Stack};

/// The bundle, and everything that it and the stacks that select it lead to.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceRow {
    /// The text of its definition.
    pub(crate) definition: String,
    /// The paths and texts of its documents.
    pub(crate) documents: Vec<(String, String)>,
    /// The sealed values of the secrets that it names and may use, by name. What another source
    /// of the build may use under the same name is nothing to it.
    pub(crate) secrets: BTreeMap<String, String>,
}

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
    ) -> Result<Option<Inputs>, StoreError> {
        let mut transaction = self.begin_read().await?;
        let select = query("SELECT name, definition FROM resources WHERE kind = $1 AND id = $2");
        let select = select.bind(Kind::Bundle.name()).bind(bundle);
        let Some(row) = select.fetch_optional(&mut *transaction).await? else {
            return Ok(None);
        };
        let mut inputs = Inputs {
            name: row.try_get(0)?,
            bundle: serde_json::from_str(row.try_get(1)?)?,
            ..Inputs::default()
        };
        let labels = inputs.bundle.labels.clone().unwrap_or_default();
        let mut users = vec![bundle];
        let select =
            query("SELECT id, name, definition FROM resources WHERE kind = $1 ORDER BY id");
        let select = select.bind(Kind::Stack.name());
        for row in select.fetch_all(&mut *transaction).await? {
            let stack: Stack = serde_json::from_str(row.try_get(2)?)?;
            if stack.selects(&labels) {
                users.push(row.try_get(0)?);
                inputs.stacks.push((row.try_get(1)?, stack));
            }
        }
        inputs.secrets = secrets(&mut transaction, bundle).await?;
        let mut left = (limit, limit);
        for user in users {
            sources(&mut transaction, user, &mut inputs, &mut left).await?;
        }
        // Nothing was written; going back ends the transaction as well as anything.
        transaction.rollback().await?;
        Ok(Some(inputs))
    }
}

/// Adds the sources that a bundle or a stack leads to, with their documents and secrets.
async fn sources(
    transaction: &mut Transaction<'static, Any>,
    user: i64,
    inputs: &mut Inputs,
    left: &mut (u64, u64),
) -> Result<(), StoreError> {
    if let Some(refused) = references::first_forbidden(transaction, user).await? {
        return Err(refused);
    }
    let select = query(
        "WITH RECURSIVE needed (id) AS (SELECT source_id FROM source_uses WHERE user_id = $1 \
         UNION SELECT u.source_id FROM source_uses u JOIN needed ON u.user_id = needed.id) \
         SELECT r.id, r.name, r.definition FROM resources r JOIN needed ON needed.id = r.id",
    );
    let rows = select.bind(user).fetch_all(&mut **transaction).await?;
    for row in rows {
        let (id, name): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
        if inputs.sources.contains_key(&name) {
            continue;
        }
        if let Some(refused) = references::first_forbidden(transaction, id).await? {
            return Err(refused);
        }
        let size = query(
            "SELECT CAST(COALESCE(SUM(LENGTH(document)), 0) AS BIGINT) FROM documents \
             WHERE source_id = $1",
        );
        let size = size.bind(id).fetch_one(&mut **transaction).await?;
        let size = u64::try_from(size.try_get::<i64, _>(0)?).unwrap_or(u64::MAX);
        left.0 = left
            .0
            .checked_sub(size)
            .ok_or(StoreError::TooLarge(left.1))?;
        let select =
            query("SELECT path, document FROM documents WHERE source_id = $1 ORDER BY path");
        let mut documents = Vec::new();
        for document in select.bind(id).fetch_all(&mut **transaction).await? {
            documents.push((document.try_get(0)?, document.try_get(1)?));
        }
        let definition = row.try_get(2)?;
        let source = SourceRow {
            definition,
            documents,
            secrets: secrets(transaction, id).await?,
        };
        inputs.sources.insert(name, source);
    }
    Ok(())
}

/// The secrets that a thing names, as far as they exist and it may use them.
async fn secrets(
    transaction: &mut Transaction<'static, Any>,
    user: i64,
) -> Result<BTreeMap<String, String>, StoreError> {
    let select = format!(
        "SELECT s.name, s.definition FROM secret_uses u \
         JOIN resources s ON s.kind = 'secret' AND s.name = u.secret \
         WHERE u.user_id = $1 AND {FOLLOWED}"
    );
    let select = query(AssertSqlSafe(select)).bind(user);
    let rows = select.fetch_all(&mut **transaction).await?;
    let secrets = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    Ok(secrets.collect::<Result<_, sqlx::Error>>()?)
}

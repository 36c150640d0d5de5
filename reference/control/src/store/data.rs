//! Source data: the documents of a source.

use sqlx::{Any, Row as _, Transaction, query};

use super::resources::not_found;
use super::{Store, StoreError};
use crate::model::{Document, Kind};
use crate::principal::Principal;

/// Records a change of the documents of the source `$3`.
const INSERT_CHANGE: &str = "INSERT INTO changes (kind, name, data) VALUES ('source', $3, 1)";

impl Store {
    /// Returns the JSON of a document.
    ///
    /// # Errors
    /// `NotFound` when the source or the document does not exist; `NotAuthorized` when the
    /// principal does not see the source, or would not if it existed.
    pub(crate) async fn document(
        &self,
        principal: &Principal,
        source: &str,
        path: &str,
    ) -> Result<String, StoreError> {
        let select = query(
            "SELECT r.owner, d.document FROM resources r \
             LEFT JOIN documents d ON d.source_id = r.id AND d.path = $3 \
             WHERE r.kind = $1 AND r.name = $2",
        );
        let select = select.bind(Kind::Source.name()).bind(source).bind(path);
        match select.fetch_optional(self.reader()).await? {
            Some(row) if principal.sees(row.try_get(0)?) => {
                let document: Option<String> = row.try_get(1)?;
                document.ok_or_else(|| no_document(source, path))
            }
            None if principal.sees_all() => Err(not_found(Kind::Source, source)),
            _ => Err(StoreError::NotAuthorized),
        }
    }

    /// Stores a document.
    ///
    /// # Errors
    /// `NotAuthorized`, or `NotFound` when the source does not exist.
    pub(crate) async fn put_document(
        &self,
        principal: &Principal,
        source: &str,
        path: &str,
        document: &Document,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let id = self
            .lock_source(&mut transaction, principal, source)
            .await?;
        let upsert = self.combine(&[
            INSERT_CHANGE,
            "INSERT INTO documents (source_id, path, document) VALUES ($1, $2, $4) \
             ON CONFLICT (source_id, path) DO UPDATE SET document = excluded.document",
        ]);
        let upsert = query(upsert).bind(id).bind(path).bind(source);
        let upsert = upsert.bind(document.text());
        upsert.execute(&mut *transaction).await?;
        transaction.commit().await?;
        self.notify_changed();
        Ok(())
    }

    /// Deletes a document.
    ///
    /// # Errors
    /// `NotAuthorized`, or `NotFound` when the source or the document does not exist.
    pub(crate) async fn delete_document(
        &self,
        principal: &Principal,
        source: &str,
        path: &str,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let id = self
            .lock_source(&mut transaction, principal, source)
            .await?;
        let delete = self.combine(&[
            INSERT_CHANGE,
            "DELETE FROM documents WHERE source_id = $1 AND path = $2 RETURNING path",
        ]);
        let delete = query(delete).bind(id).bind(path).bind(source);
        if delete.fetch_all(&mut *transaction).await?.is_empty() {
            return Err(no_document(source, path));
        }
        transaction.commit().await?;
        self.notify_changed();
        Ok(())
    }

    /// Returns the id of a source that the principal manages; it cannot be deleted until the
    /// transaction ends.
    async fn lock_source(
        &self,
        transaction: &mut Transaction<'static, Any>,
        principal: &Principal,
        source: &str,
    ) -> Result<i64, StoreError> {
        let select = self.locking(
            "SELECT id, owner FROM resources WHERE kind = $1 AND name = $2",
            "SELECT id, owner FROM resources WHERE kind = $1 AND name = $2 FOR KEY SHARE",
        );
        let select = query(select).bind(Kind::Source.name()).bind(source);
        match select.fetch_optional(&mut **transaction).await? {
            Some(row) if principal.manages(Kind::Source, row.try_get(1)?) => Ok(row.try_get(0)?),
            None if principal.manages_all() => Err(not_found(Kind::Source, source)),
            _ => Err(StoreError::NotAuthorized),
        }
    }
}

fn no_document(source: &str, path: &str) -> StoreError {
    // The client knows the path without the file name that the service appends.
    let path = path.strip_suffix("data.json").unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    StoreError::NotFound(format!("source `{source}` has no data at `{path}`"))
}

//! Upserts of definitions.

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe, Row as _, Transaction, query};

use super::error::StoreError;
use super::{Store, change_log};
use crate::model::{Entry, Kind};

/// Creates the resource `$2` of the kind `$1`, or replaces it unless it belongs to others. Checking
/// in the statement itself avoids a race for the name.
const UPSERT: &str = "INSERT INTO resources (kind, name, owner, definition, shared) \
     VALUES ($1, $2, $3, $5, $6) \
     ON CONFLICT (kind, name) DO UPDATE SET definition = excluded.definition, \
     shared = CASE WHEN $4 = 1 THEN excluded.shared ELSE resources.shared END \
     WHERE resources.owner = excluded.owner OR $4 = 1";

/// Records the change of the written resource.
const INSERT_CHANGE: &str = "INSERT INTO changes (kind, name) SELECT $1, $2 WHERE $7 = 1";

/// Columns of a resource's state: its id, whether it is shared, and its numbers of locations and
/// references.
const STATE: &str = "id, shared, \
     (SELECT COUNT(*) FROM places WHERE bundle_id = resources.id), \
     (SELECT COUNT(*) FROM source_uses WHERE user_id = resources.id) \
     + (SELECT COUNT(*) FROM secret_uses WHERE user_id = resources.id)";

/// Source of that state: no row if it belongs to others.
const WRITTEN: &str = "FROM resources WHERE kind = $1 AND name = $2 AND (owner = $3 OR $4 = 1)";

/// Deletes the references of a resource.
const FORGET: [&str; 2] = [
    "DELETE FROM source_uses WHERE user_id = $1",
    "DELETE FROM secret_uses WHERE user_id = $1",
];

/// Permissions of the writer of a definition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer<'a> {
    /// Owner of the resource if it is created.
    pub(super) owner: &'a str,
    /// Whether the resources of others may be replaced, and sharing changed.
    pub(super) of_others: bool,
    /// Whether the write is a change for users of the resource.
    pub(super) changes: bool,
}

/// Written resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Upsert {
    /// Id of the resource.
    pub(super) id: i64,
    /// Whether the resource has claimed storage locations already.
    pub(super) has_places: bool,
}

impl Store {
    /// Creates or replaces a resource, without references; `None` when it belongs to somebody else,
    /// and the transaction must not be committed.
    ///
    /// # Errors
    /// `SharedByOthers` when it sets sharing, which only an administrator may do.
    pub(super) async fn write_entry(
        &self,
        transaction: &mut Transaction<'static, Any>,
        entry: &Entry,
        writer: &Writer<'_>,
    ) -> Result<Option<Upsert>, StoreError> {
        // Bundles that it selects afterwards are found by its name.
        if entry.kind == Kind::Stack && writer.changes {
            change_log::record_stack_change(transaction, &entry.name).await?;
        }
        let state = if self.is_postgres() {
            // A single statement would not see concurrent writes that it waited for.
            let upsert = query(self.combine(&[INSERT_CHANGE, UPSERT]));
            let upsert = bind_definition(bind_identity(upsert, entry, writer), entry, writer);
            upsert.execute(&mut **transaction).await?;
            let state = query(AssertSqlSafe(format!("SELECT {STATE} {WRITTEN}")));
            let state = bind_identity(state, entry, writer);
            state.fetch_all(&mut **transaction).await?
        } else {
            let upsert = format!("{UPSERT} RETURNING {STATE}");
            let upsert = query(self.combine(&[INSERT_CHANGE, &upsert]));
            let upsert = bind_definition(bind_identity(upsert, entry, writer), entry, writer);
            upsert.fetch_all(&mut **transaction).await?
        };
        let Some(state) = state.first() else {
            return Ok(None);
        };
        let shared = state.try_get::<i64, _>(1)? == 1;
        if entry.shared.is_some_and(|requested| requested != shared) {
            return Err(StoreError::SharedByOthers);
        }
        let id = state.try_get(0)?;
        if state.try_get::<i64, _>(3)? > 0 {
            let forget = query(self.combine(&FORGET)).bind(id);
            forget.execute(&mut **transaction).await?;
        }
        Ok(Some(Upsert {
            id,
            has_places: state.try_get::<i64, _>(2)? > 0,
        }))
    }
}

/// Binds the identity of the resource and the permissions of its writer.
fn bind_identity<'q>(
    statement: Query<'q, Any, AnyArguments>,
    entry: &'q Entry,
    writer: &Writer<'q>,
) -> Query<'q, Any, AnyArguments> {
    statement
        .bind(entry.kind.name())
        .bind(entry.name.as_str())
        .bind(writer.owner)
        .bind(i64::from(writer.of_others))
}

/// Binds the written values.
fn bind_definition<'q>(
    statement: Query<'q, Any, AnyArguments>,
    entry: &'q Entry,
    writer: &Writer<'_>,
) -> Query<'q, Any, AnyArguments> {
    // The sharing set by an administrator stays when the owner replaces it.
    let shared = writer.of_others && entry.shared == Some(true);
    statement
        .bind(entry.text.as_str())
        .bind(i64::from(shared))
        .bind(i64::from(writer.changes))
}

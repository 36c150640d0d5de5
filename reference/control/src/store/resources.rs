//! Resources: bundles, sources, stacks and secrets, all with a kind, a name and an owner.

use sqlx::{Any, AssertSqlSafe, Row as _, Transaction, query};

use super::error::{ResourceRef, StoreError};
use super::references::{FOLLOWED, Rights};
use super::upsert::Writer;
use super::{Store, change_log};
use crate::model::{Entry, Kind};
use crate::page::Page;
use crate::principal::Principal;

/// Maximum number of users that an error lists.
const NAMED_USERS: usize = 10;

/// Stored resource in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Position in the list.
    pub(crate) id: i64,
    /// Name of the resource.
    pub(crate) name: String,
    /// Stored definition.
    pub(crate) definition: String,
}

impl Store {
    /// Returns the stored definition of a resource.
    ///
    /// # Errors
    /// `NotFound` also for the resources of others.
    pub(crate) async fn get(
        &self,
        principal: &Principal,
        kind: Kind,
        name: &str,
    ) -> Result<String, StoreError> {
        let select =
            query("SELECT owner, definition, shared FROM resources WHERE kind = $1 AND name = $2");
        let select = select.bind(kind.name()).bind(name);
        match select.fetch_optional(self.reader()).await? {
            Some(row) if principal.sees(row.try_get(0)?) => {
                Ok(api_definition(kind, row.try_get(1)?, row.try_get(2)?))
            }
            _ => Err(not_found(kind, name)),
        }
    }

    /// Returns a page of the resources that the principal can see, in the order of their creation,
    /// and whether there are more.
    pub(crate) async fn list(
        &self,
        principal: &Principal,
        kind: Kind,
        page: Page,
    ) -> Result<(Vec<Row>, bool), StoreError> {
        let limit = page.limit as usize;
        let rows = if principal.sees_all() {
            query(
                "SELECT id, name, definition, shared FROM resources \
                 WHERE kind = $1 AND id > $2 ORDER BY id LIMIT $3",
            )
        } else {
            query(
                "SELECT id, name, definition, shared FROM resources \
                 WHERE kind = $1 AND id > $2 AND owner = $4 ORDER BY id LIMIT $3",
            )
        };
        let mut rows = rows
            .bind(kind.name())
            .bind(page.after)
            .bind(i64::from(page.limit) + 1);
        if !principal.sees_all() {
            rows = rows.bind(principal.name());
        }
        let mut rows = rows.fetch_all(self.reader()).await?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let result = rows.iter().map(|row| {
            Ok(Row {
                id: row.try_get(0)?,
                name: row.try_get(1)?,
                definition: api_definition(kind, row.try_get(2)?, row.try_get(3)?),
            })
        });
        Ok((result.collect::<Result<_, sqlx::Error>>()?, more))
    }

    /// Creates a resource, or replaces it as a whole.
    ///
    /// # Errors
    /// `NotAuthorized`; `MissingReference` when a required target does not exist or may not be
    /// referenced; `PlaceTaken` when another bundle has its location. Then nothing has changed.
    pub(crate) async fn put(&self, principal: &Principal, entry: &Entry) -> Result<(), StoreError> {
        if !principal.may_write(entry.kind) {
            return Err(StoreError::NotAuthorized);
        }
        let mut transaction = self.begin().await?;
        self.lock_key(&mut transaction, std::slice::from_ref(entry))
            .await?;
        let writer = Writer {
            owner: principal.name(),
            of_others: principal.manages_all(),
            changes: true,
        };
        let written = self.write_entry(&mut transaction, entry, &writer).await?;
        let written = written.ok_or(StoreError::NotAuthorized)?;
        let rights = Rights::Of(principal);
        self.add_references(&mut transaction, written.id, entry, rights)
            .await?;
        self.claim_defined_places(&mut transaction, &written, entry, principal)
            .await?;
        transaction.commit().await?;
        self.notify_changed();
        Ok(())
    }

    /// Creates or replaces the declared definitions of the configuration, all or nothing. Sources
    /// may require each other in any order. An identical existing definition is not a change.
    ///
    /// # Errors
    /// `MissingReference`, or `PlaceTaken` when two declared bundles have the same location.
    pub(crate) async fn declare(&self, entries: &[Entry]) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        self.lock_key(&mut transaction, entries).await?;
        let mut written = Vec::new();
        for entry in entries {
            // Resources created by the configuration belong to no principal.
            let writer = Writer {
                owner: "",
                of_others: true,
                changes: !self.is_declared(&mut transaction, entry).await?,
            };
            if let Some(upsert) = self.write_entry(&mut transaction, entry, &writer).await? {
                written.push((upsert, entry));
            }
        }
        for (upsert, entry) in &written {
            let rights = Rights::Operator;
            self.add_references(&mut transaction, upsert.id, entry, rights)
                .await?;
        }
        self.claim_declared_places(&mut transaction, &written)
            .await?;
        transaction.commit().await?;
        self.notify_changed();
        Ok(())
    }

    /// Whether the configuration has declared an identical resource before; it stays locked until
    /// the end of the transaction. Only the operator and administrators can have written it since,
    /// and their references have the same rights.
    async fn is_declared(
        &self,
        transaction: &mut Transaction<'static, Any>,
        entry: &Entry,
    ) -> Result<bool, StoreError> {
        let select = self.locking(
            "SELECT 1 FROM resources WHERE kind = $1 AND name = $2 AND owner = '' \
             AND definition = $3 AND shared = $4",
            "SELECT 1 FROM resources WHERE kind = $1 AND name = $2 AND owner = '' \
             AND definition = $3 AND shared = $4 FOR NO KEY UPDATE",
        );
        let select = query(select).bind(entry.kind.name());
        let select = select.bind(entry.name.as_str());
        let select = select.bind(entry.text.as_str());
        let select = select.bind(i64::from(entry.shared == Some(true)));
        Ok(select.fetch_optional(&mut **transaction).await?.is_some())
    }

    /// Deletes an unused resource.
    ///
    /// # Errors
    /// `NotAuthorized`, `NotFound`, or `InUse`; then nothing has changed.
    pub(crate) async fn delete(
        &self,
        principal: &Principal,
        kind: Kind,
        name: &str,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let select = self.locking(
            "SELECT id, owner FROM resources WHERE kind = $1 AND name = $2",
            "SELECT id, owner FROM resources WHERE kind = $1 AND name = $2 FOR UPDATE",
        );
        let select = query(select).bind(kind.name()).bind(name);
        let row = match select.fetch_optional(&mut *transaction).await? {
            Some(row) if principal.manages(kind, row.try_get(1)?) => row,
            None if principal.manages_all() => return Err(not_found(kind, name)),
            _ => return Err(StoreError::NotAuthorized),
        };
        let id: i64 = row.try_get(0)?;
        if let Some(in_use) = in_use(&mut transaction, principal, kind, id, name).await? {
            return Err(in_use);
        }
        if kind == Kind::Stack {
            change_log::record_stack_change(&mut transaction, name).await?;
        }
        // A source may require itself: that reference is deleted first.
        for delete in [
            "DELETE FROM source_uses WHERE user_id = $1",
            "DELETE FROM resources WHERE id = $1",
        ] {
            query(delete).bind(id).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        self.notify_changed();
        Ok(())
    }
}

/// Returns the error for a resource that does not exist, or that the principal may not see.
pub(super) fn not_found(kind: Kind, name: &str) -> StoreError {
    StoreError::NotFound(format!("{kind} `{name}` does not exist"))
}

/// Returns a definition as the API shows it. Sharing is stored separately, because an owner may
/// replace the definition but not the sharing.
fn api_definition(kind: Kind, definition: String, shared: i64) -> String {
    match definition.strip_suffix('}') {
        Some(members) if kind == Kind::Source && shared == 1 => {
            format!(r#"{members},"shared":true}}"#)
        }
        _ => definition,
    }
}

/// Returns why a resource cannot be deleted, if it is in use.
async fn in_use(
    transaction: &mut Transaction<'static, Any>,
    principal: &Principal,
    kind: Kind,
    id: i64,
    name: &str,
) -> Result<Option<StoreError>, StoreError> {
    let users = match kind {
        Kind::Source => query(
            "SELECT r.kind, r.name, r.owner, '' FROM source_uses u \
             JOIN resources r ON r.id = u.user_id \
             WHERE u.source_id = $1 AND u.user_id <> $1 ORDER BY u.user_id LIMIT $2",
        )
        .bind(id),
        // A reference to a secret that may not be followed does not prevent its deletion.
        Kind::Secret => query(AssertSqlSafe(format!(
            "SELECT r.kind, r.name, r.owner, u.place FROM secret_uses u \
             JOIN resources r ON r.id = u.user_id JOIN resources s ON s.id = $1 \
             WHERE u.secret = s.name AND {FOLLOWED} ORDER BY u.user_id LIMIT $2"
        )))
        .bind(id),
        Kind::Bundle | Kind::Stack => return Ok(None),
    };
    let users = users.bind(NAMED_USERS as i64 + 1);
    let rows = users.fetch_all(&mut **transaction).await?;
    let mut named = Vec::new();
    for row in rows.iter().take(NAMED_USERS) {
        if principal.sees(row.try_get(2)?) {
            let place: String = row.try_get(3)?;
            named.push(ResourceRef {
                kind: row.try_get(0)?,
                name: row.try_get(1)?,
                place: Some(place).filter(|place| !place.is_empty()),
            });
        }
    }
    Ok((!rows.is_empty()).then(|| StoreError::InUse {
        kind,
        name: name.to_owned(),
        more: rows.len() > named.len(),
        users: named,
    }))
}

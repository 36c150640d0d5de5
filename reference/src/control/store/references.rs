//! References: what a definition names, and with whose rights that is followed.
//!
//! A reference is judged when it is written, by what its writer sees, and again with each build,
//! by what is shared then. The second look is needed because a secret may be named before it
//! exists: whoever creates it later need not be whoever named it.

use sqlx::{Any, AssertSqlSafe, Row as _, Transaction, query};

use super::Store;
use super::error::{ResourceRef, StoreError};
use crate::control::model::{Entry, Kind};
use crate::control::principal::Principal;

/// Whether the reference `u` is followed to the thing `s`.
pub(super) const FOLLOWED: &str =
    "(u.rights IN ('', '*') OR u.rights = ('=' || s.owner) OR s.shared = 1)";

/// With whose rights references are followed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rights<'p> {
    /// Those of the configuration, which may name everything.
    Operator,
    /// Those of a principal.
    Of(&'p Principal),
}

impl Rights<'_> {
    /// Whether a thing may be referred to.
    fn reach(self, owner: &str, shared: bool) -> bool {
        match self {
            Self::Operator => true,
            Self::Of(principal) => shared || principal.sees(owner),
        }
    }

    /// The rights as they are stored.
    fn text(self) -> String {
        match self {
            Self::Of(principal) if !principal.sees_all() => format!("={}", principal.name()),
            Self::Operator | Self::Of(_) => "*".to_owned(),
        }
    }
}

/// A reference that is older than the rights of references and leads to somebody else's thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OldReference {
    /// Whose definition it is in.
    pub(crate) user: ResourceRef,
    /// Who owns that definition.
    pub(crate) owner: String,
    /// What it leads to.
    pub(crate) target: ResourceRef,
}

impl Store {
    /// Replaces what a thing refers to.
    ///
    /// # Errors
    /// `MissingReference` when it names something that must exist, and does not or may not be
    /// referred to: nobody learns which of the two it is.
    pub(super) async fn replace_references(
        &self,
        transaction: &mut Transaction<'static, Any>,
        id: i64,
        entry: &Entry,
        rights: Rights<'_>,
    ) -> Result<(), StoreError> {
        let delete = query(self.locking(
            "DELETE FROM source_uses WHERE user_id = $1; \
             DELETE FROM secret_uses WHERE user_id = $1",
            "WITH sources AS (DELETE FROM source_uses WHERE user_id = $1) \
             DELETE FROM secret_uses WHERE user_id = $1",
        ));
        delete.bind(id).execute(&mut **transaction).await?;
        for name in &entry.uses.sources {
            let held = self
                .lock_row(transaction, Kind::Source, name, rights)
                .await?;
            let Some(source) = held else {
                return Err(missing(entry, Kind::Source, name));
            };
            let insert = "INSERT INTO source_uses (user_id, source_id, rights) VALUES ($1, $2, $3)";
            let insert = query(insert).bind(id).bind(source).bind(rights.text());
            insert.execute(&mut **transaction).await?;
        }
        for secret in &entry.uses.secrets {
            let held = self.lock_row(transaction, Kind::Secret, &secret.name, rights);
            if held.await?.is_none() && secret.place.needs_existing() {
                return Err(missing(entry, Kind::Secret, &secret.name));
            }
            let insert = query(
                "INSERT INTO secret_uses (user_id, secret, place, rights) VALUES ($1, $2, $3, $4)",
            );
            let insert = insert.bind(id).bind(secret.name.as_str());
            let insert = insert.bind(secret.place.name()).bind(rights.text());
            insert.execute(&mut **transaction).await?;
        }
        Ok(())
    }

    /// The id of a thing that may be referred to; it cannot be deleted until the transaction has
    /// ended.
    async fn lock_row(
        &self,
        transaction: &mut Transaction<'static, Any>,
        kind: Kind,
        name: &str,
        rights: Rights<'_>,
    ) -> Result<Option<i64>, StoreError> {
        let select = self.locking(
            "SELECT id, owner, shared FROM resources WHERE kind = $1 AND name = $2",
            "SELECT id, owner, shared FROM resources WHERE kind = $1 AND name = $2 FOR KEY SHARE",
        );
        let select = query(select).bind(kind.name()).bind(name);
        match select.fetch_optional(&mut **transaction).await? {
            Some(row) if rights.reach(row.try_get(1)?, row.try_get::<i64, _>(2)? == 1) => {
                Ok(Some(row.try_get(0)?))
            }
            _ => Ok(None),
        }
    }

    /// Gives references that are older than their rights the rights of the owners of their
    /// definitions, where those suffice; `administrators` see everything. Gives the others, which
    /// stay as they are until somebody writes their definitions.
    pub(crate) async fn migrate_references(
        &self,
        administrators: &[&str],
    ) -> Result<Vec<OldReference>, StoreError> {
        let mut transaction = self.begin().await?;
        for (uses, target) in TARGETS {
            for administrator in administrators.iter().chain(&[""]) {
                let all = format!(
                    "UPDATE {uses} SET rights = '*' WHERE rights = '' AND user_id IN \
                     (SELECT id FROM resources WHERE owner = $1)"
                );
                let all = query(AssertSqlSafe(all)).bind(*administrator);
                all.execute(&mut *transaction).await?;
            }
            let own = format!(
                "UPDATE {uses} SET rights = \
                 (SELECT '=' || r.owner FROM resources r WHERE r.id = {uses}.user_id) \
                 WHERE rights = '' AND NOT EXISTS (SELECT 1 FROM resources r, resources s \
                 WHERE r.id = {uses}.user_id AND {target} \
                 AND s.owner <> r.owner AND s.shared = 0)",
                target = target.replace("u.", &format!("{uses}."))
            );
            query(AssertSqlSafe(own)).execute(&mut *transaction).await?;
        }
        let mut old = Vec::new();
        for (uses, target) in TARGETS {
            let left = format!(
                "SELECT r.kind, r.name, r.owner, s.kind, s.name FROM {uses} u \
                 JOIN resources r ON r.id = u.user_id JOIN resources s ON {target} \
                 WHERE u.rights = '' ORDER BY r.id, s.id"
            );
            let left = query(AssertSqlSafe(left));
            for row in left.fetch_all(&mut *transaction).await? {
                old.push(OldReference {
                    user: ResourceRef::of_stored_kind(row.try_get(0)?, row.try_get(1)?),
                    owner: row.try_get(2)?,
                    target: ResourceRef::of_stored_kind(row.try_get(3)?, row.try_get(4)?),
                });
            }
        }
        transaction.commit().await?;
        Ok(old)
    }
}

/// The tables of references, and how each finds what it leads to.
const TARGETS: [(&str, &str); 2] = [
    ("source_uses", "s.id = u.source_id"),
    ("secret_uses", "s.kind = 'secret' AND s.name = u.secret"),
];

/// A definition names something that must exist and does not.
fn missing(entry: &Entry, kind: Kind, name: &str) -> StoreError {
    StoreError::MissingReference {
        user: ResourceRef::new(entry.kind, &entry.name),
        missing: ResourceRef::new(kind, name),
    }
}

//! References between definitions, and the rights to follow them.
//!
//! A reference is checked when it is written, against what its writer can see, and again in each
//! build, against what is shared then. The second check is needed because a secret may be named
//! before it exists: its later creator may not be the user who named it.

use sqlx::{Any, AssertSqlSafe, Row as _, Transaction, query};

use super::Store;
use super::error::{ResourceRef, StoreError};
use crate::model::{Entry, Kind};
use crate::principal::Principal;

/// Condition: the reference `u` to the resource `s` may be followed.
pub(super) const FOLLOWED: &str =
    "(u.rights IN ('', '*') OR u.rights = ('=' || s.owner) OR s.shared = 1)";

/// Adds a reference from `$1` with the rights `$2` to the source `r`.
const USE_SOURCE: &str = "INSERT INTO source_uses (user_id, source_id, rights) \
     SELECT $1, r.id, $2 FROM resources r WHERE r.kind = 'source'";

/// Adds a reference from `$1` with the rights `$2` to the secret `r` at `$4`.
const USE_SECRET: &str = "INSERT INTO secret_uses (user_id, rights, secret, place) \
     SELECT $1, $2, r.name, $4 FROM resources r WHERE r.kind = 'secret'";

/// Condition on `r`: it has the name `$3`, and the rights cover it.
const REACHED: &str =
    "AND r.name = $3 AND ($2 = '*' OR $2 = ('=' || r.owner) OR r.shared = 1) {hold}";

/// Adds that `$1` names the secret `$3` at `$4`, whether or not it exists yet.
const NAME_SECRET: &str =
    "INSERT INTO secret_uses (user_id, rights, secret, place) VALUES ($1, $2, $3, $4)";

/// Rights to follow references.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rights<'p> {
    /// Rights of the configuration, which may name everything.
    Operator,
    /// Rights of a principal.
    Of(&'p Principal),
}

impl Rights<'_> {
    /// Returns the rights as they are stored.
    fn text(self) -> String {
        match self {
            Self::Of(principal) if !principal.sees_all() => format!("={}", principal.name()),
            Self::Operator | Self::Of(_) => "*".to_owned(),
        }
    }
}

/// Reference that predates rights of references and names a resource of another owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OldReference {
    /// Definition that contains the reference.
    pub(crate) user: ResourceRef,
    /// Owner of that definition.
    pub(crate) owner: String,
    /// Referenced resource.
    pub(crate) target: ResourceRef,
}

impl Store {
    /// Adds the references of a resource. Targets that must exist cannot be deleted until the
    /// transaction ends.
    ///
    /// # Errors
    /// `MissingReference` when a required target does not exist or may not be referenced: the error
    /// does not reveal which.
    pub(super) async fn add_references(
        &self,
        transaction: &mut Transaction<'static, Any>,
        id: i64,
        entry: &Entry,
        rights: Rights<'_>,
    ) -> Result<(), StoreError> {
        let rights = rights.text();
        for name in &entry.uses.sources {
            let insert = query(self.dialect_sql(&format!("{USE_SOURCE} {REACHED}")));
            let insert = insert.bind(id).bind(rights.as_str()).bind(name.as_str());
            if insert.execute(&mut **transaction).await?.rows_affected() == 0 {
                return Err(missing(entry, Kind::Source, name));
            }
        }
        for secret in &entry.uses.secrets {
            let insert = match secret.place.needs_existing() {
                true => query(self.dialect_sql(&format!("{USE_SECRET} {REACHED}"))),
                false => query(NAME_SECRET),
            };
            let insert = insert.bind(id).bind(rights.as_str());
            let insert = insert.bind(secret.name.as_str()).bind(secret.place.name());
            if insert.execute(&mut **transaction).await?.rows_affected() == 0 {
                return Err(missing(entry, Kind::Secret, &secret.name));
            }
        }
        Ok(())
    }

    /// Assigns the rights of the owners to references that predate rights, where those suffice;
    /// `administrators` see everything. Returns the others, which stay unchanged until their
    /// definitions are written again.
    pub(crate) async fn migrate_references(
        &self,
        administrators: &[&str],
    ) -> Result<Vec<OldReference>, StoreError> {
        let mut transaction = self.begin().await?;
        for (uses, target) in TARGETS {
            for administrator in administrators.iter().chain(&[""]) {
                let update = format!(
                    "UPDATE {uses} SET rights = '*' WHERE rights = '' AND user_id IN \
                     (SELECT id FROM resources WHERE owner = $1)"
                );
                let update = query(AssertSqlSafe(update)).bind(*administrator);
                update.execute(&mut *transaction).await?;
            }
            let update = format!(
                "UPDATE {uses} SET rights = \
                 (SELECT '=' || r.owner FROM resources r WHERE r.id = {uses}.user_id) \
                 WHERE rights = '' AND NOT EXISTS (SELECT 1 FROM resources r, resources s \
                 WHERE r.id = {uses}.user_id AND {target} \
                 AND s.owner <> r.owner AND s.shared = 0)",
                target = target.replace("u.", &format!("{uses}."))
            );
            query(AssertSqlSafe(update))
                .execute(&mut *transaction)
                .await?;
        }
        let mut old = Vec::new();
        for (uses, target) in TARGETS {
            let select = format!(
                "SELECT r.kind, r.name, r.owner, s.kind, s.name FROM {uses} u \
                 JOIN resources r ON r.id = u.user_id JOIN resources s ON {target} \
                 WHERE u.rights = '' ORDER BY r.id, s.id"
            );
            let select = query(AssertSqlSafe(select));
            for row in select.fetch_all(&mut *transaction).await? {
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

/// Tables of references, and the SQL conditions that find their targets.
const TARGETS: [(&str, &str); 2] = [
    ("source_uses", "s.id = u.source_id"),
    ("secret_uses", "s.kind = 'secret' AND s.name = u.secret"),
];

/// Returns the error for a required target that does not exist.
fn missing(entry: &Entry, kind: Kind, name: &str) -> StoreError {
    StoreError::MissingReference {
        user: ResourceRef::new(entry.kind, &entry.name),
        missing: ResourceRef::new(kind, name),
    }
}

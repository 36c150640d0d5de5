//! Storage locations claimed by bundles.
//!
//! The table rows are authoritative, and the primary key prevents two bundles from claiming one
//! location. Each transaction claims the locations of its bundle in sorted order and releases
//! others only afterwards, so that two of them cannot deadlock; a start, which claims those of many
//! bundles, takes a table lock. So does a claim for a file: it must not be within the location of
//! another bundle, nor contain one, which no table constraint expresses.

use std::collections::BTreeSet;
use std::path::PathBuf;

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Executor, Row as _, Transaction, query};
use tracing::warn;

use super::Store;
use super::error::StoreError;
use super::upsert::Upsert;
use crate::model::{Bundle, Entry, LocationDigests, ObjectStorage};
use crate::principal::Principal;
use crate::storage_location;

/// Maximum number of claim attempts if a location is released before its holder is read.
const ATTEMPTS: usize = 3;

/// Result of claiming a location for a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClaimOutcome {
    /// The bundle has the location.
    Own,
    /// The bundle of this name has the location.
    Foreign(String),
    /// The links of its folder cannot be resolved, for this reason.
    Unknown(String),
    /// The bundle is deleted, or its definition now has another location than the build.
    Changed,
}

/// Bundle that holds a location.
struct Holder {
    id: i64,
    name: String,
    owner: String,
}

impl Holder {
    fn read(row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            owner: row.try_get(2)?,
        })
    }
}

impl Store {
    /// Claims the locations of declared bundles. One whose location belongs to a bundle that is not
    /// declared gets none, so that nobody can prevent the server from starting.
    ///
    /// # Errors
    /// `PlaceTaken` when two declared bundles have the same location.
    pub(super) async fn claim_declared_places(
        &self,
        transaction: &mut Transaction<'static, Any>,
        written: &[(Upsert, &Entry)],
    ) -> Result<(), StoreError> {
        self.lock_places(transaction).await?;
        // Releases first, because another one may claim the location.
        let mut bundles = Vec::new();
        for (bundle, entry) in written {
            let current = previous_places(transaction, bundle).await?;
            if current != entry.places.own {
                delete_folders(transaction, bundle.id).await?;
            }
            release_places(transaction, bundle.id, &current, &entry.places).await?;
            bundles.push((bundle, entry, current));
        }
        for (bundle, entry, current) in bundles {
            let Some(holder) =
                claim_places(transaction, bundle.id, &current, &entry.places).await?
            else {
                continue;
            };
            if written.iter().any(|(other, _)| other.id == holder.id) {
                return Err(StoreError::PlaceTaken {
                    bundle: entry.name.clone(),
                    holder: Some(holder.name),
                });
            }
            warn_of_conflict(&entry.name, &holder.name);
            release_places(
                transaction,
                bundle.id,
                &entry.places.own,
                &LocationDigests::default(),
            )
            .await?;
        }
        Ok(())
    }

    /// Claims locations for bundles that have none yet, the oldest bundle first. One whose location
    /// is taken gets none, which is logged.
    pub(crate) async fn migrate_storage_locations(
        &self,
        roots: &[PathBuf],
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        self.lock_places(&mut transaction).await?;
        let select = query(
            "SELECT r.id, r.name, r.definition FROM resources r WHERE r.kind = 'bundle' \
             AND NOT EXISTS (SELECT 1 FROM places p WHERE p.bundle_id = r.id) ORDER BY r.id",
        );
        for row in select.fetch_all(&mut *transaction).await? {
            let (id, name): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
            let bundle: Bundle = serde_json::from_str(row.try_get(2)?)?;
            let storage = bundle.object_storage.as_ref();
            let places = storage.map(|storage| storage_location::places(storage, roots));
            let places = places.unwrap_or_default();
            let current = BTreeSet::new();
            if let Some(holder) = claim_places(&mut transaction, id, &current, &places).await? {
                warn_of_conflict(&name, &holder.name);
                release_places(
                    &mut transaction,
                    id,
                    &places.own,
                    &LocationDigests::default(),
                )
                .await?;
            }
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Prevents others from claiming or releasing locations until the transaction ends, which is
    /// needed when one transaction claims the locations of many bundles.
    async fn lock_places(
        &self,
        transaction: &mut Transaction<'static, Any>,
    ) -> Result<(), StoreError> {
        if self.is_postgres() {
            let lock = "LOCK TABLE places IN SHARE ROW EXCLUSIVE MODE";
            transaction.execute(lock).await?;
        }
        Ok(())
    }

    /// Claims, for a build, the locations that its storage resolves to.
    pub(crate) async fn claim_locations(
        &self,
        bundle: i64,
        storage: &ObjectStorage,
        places: &LocationDigests,
    ) -> Result<ClaimOutcome, StoreError> {
        if places_of(self.reader(), bundle).await? == places.own {
            return Ok(ClaimOutcome::Own);
        }
        let mut transaction = self.begin().await?;
        // A concurrent change of the definition waits, or is visible here.
        let select = self.locking(
            "SELECT definition FROM resources WHERE id = $1",
            "SELECT definition FROM resources WHERE id = $1 FOR NO KEY UPDATE",
        );
        let row = query(select).bind(bundle);
        let Some(row) = row.fetch_optional(&mut *transaction).await? else {
            return Ok(ClaimOutcome::Changed);
        };
        let stored: Bundle = serde_json::from_str(row.try_get(0)?)?;
        let stored = serde_json::to_value(&stored.object_storage)?;
        if stored != serde_json::to_value(storage)? {
            return Ok(ClaimOutcome::Changed);
        }
        if places.is_file {
            self.lock_places(&mut transaction).await?;
        }
        let current = places_of(&mut *transaction, bundle).await?;
        match claim_places(&mut transaction, bundle, &current, places).await? {
            Some(holder) => Ok(ClaimOutcome::Foreign(holder.name)),
            None => {
                release_places(&mut transaction, bundle, &current, places).await?;
                transaction.commit().await?;
                Ok(ClaimOutcome::Own)
            }
        }
    }

    /// Marks other bundles to be written again that claimed one of these locations while a build of
    /// this bundle, which had it before, may still have written there.
    pub(crate) async fn rewrite_others(
        &self,
        bundle: i64,
        places: &BTreeSet<String>,
    ) -> Result<(), StoreError> {
        for place in places {
            let select = query("SELECT bundle_id FROM places WHERE place = $1 AND bundle_id <> $2");
            let select = select.bind(place.as_str()).bind(bundle);
            if let Some(row) = select.fetch_optional(self.reader()).await? {
                self.mark_for_rewrite(row.try_get(0)?).await?;
            }
        }
        Ok(())
    }

    /// Claims the locations of a bundle's definition, and releases all others.
    ///
    /// # Errors
    /// `PlaceTaken`; it names the other bundle only if the principal can see it.
    pub(super) async fn claim_defined_places(
        &self,
        transaction: &mut Transaction<'static, Any>,
        bundle: &Upsert,
        entry: &Entry,
        principal: &Principal,
    ) -> Result<(), StoreError> {
        let current = previous_places(transaction, bundle).await?;
        if entry.places.is_file && current != entry.places.own {
            self.lock_places(transaction).await?;
        }
        match claim_places(transaction, bundle.id, &current, &entry.places).await? {
            None => release_places(transaction, bundle.id, &current, &entry.places).await,
            Some(holder) => Err(StoreError::PlaceTaken {
                bundle: entry.name.clone(),
                holder: Some(holder.name).filter(|_| principal.sees(&holder.owner)),
            }),
        }
    }
}

/// Returns the locations that a resource had before it was written.
async fn previous_places(
    transaction: &mut Transaction<'static, Any>,
    written: &Upsert,
) -> Result<BTreeSet<String>, StoreError> {
    match written.has_places {
        true => places_of(&mut **transaction, written.id).await,
        false => Ok(BTreeSet::new()),
    }
}

/// Returns the locations of a bundle.
async fn places_of(
    executor: impl Executor<'_, Database = Any>,
    bundle: i64,
) -> Result<BTreeSet<String>, StoreError> {
    let select = query("SELECT place FROM places WHERE bundle_id = $1").bind(bundle);
    let rows = select.fetch_all(executor).await?;
    let places = rows.iter().map(|row| row.try_get(0));
    Ok(places.collect::<Result<_, sqlx::Error>>()?)
}

/// Claims additional locations for a bundle; returns the holder of one of them, of a location that
/// contains one, or of a location within one.
async fn claim_places(
    transaction: &mut Transaction<'static, Any>,
    id: i64,
    current: &BTreeSet<String>,
    requested: &LocationDigests,
) -> Result<Option<Holder>, StoreError> {
    if requested.own == *current {
        return Ok(None);
    }
    for place in requested.own.difference(current) {
        if let Some(holder) = claim_place(transaction, id, place).await? {
            return Ok(Some(holder));
        }
    }
    if !requested.is_file {
        return Ok(None);
    }
    let inner = "SELECT r.id, r.name, r.owner FROM place_folders p \
         JOIN resources r ON r.id = p.bundle_id WHERE p.bundle_id <> $1 AND p.folder";
    if let Some(holder) = find_holder(transaction, inner, id, &requested.own).await? {
        return Ok(Some(holder));
    }
    let outer = "SELECT r.id, r.name, r.owner FROM places p \
         JOIN resources r ON r.id = p.bundle_id WHERE p.bundle_id <> $1 AND p.place";
    if let Some(holder) = find_holder(transaction, outer, id, &requested.folders).await? {
        return Ok(Some(holder));
    }
    record_folders(transaction, id, &requested.folders).await?;
    Ok(None)
}

/// Claims a location for a bundle; returns its current holder, if any.
async fn claim_place(
    transaction: &mut Transaction<'static, Any>,
    id: i64,
    place: &str,
) -> Result<Option<Holder>, StoreError> {
    for _ in 0..ATTEMPTS {
        let insert = query(
            "INSERT INTO places (place, bundle_id) VALUES ($1, $2) \
             ON CONFLICT (place) DO NOTHING",
        );
        let insert = insert.bind(place).bind(id);
        if insert.execute(&mut **transaction).await?.rows_affected() == 1 {
            return Ok(None);
        }
        let select = query(
            "SELECT r.id, r.name, r.owner FROM places p \
             JOIN resources r ON r.id = p.bundle_id WHERE p.place = $1",
        );
        let select = select.bind(place);
        if let Some(row) = select.fetch_optional(&mut **transaction).await? {
            let holder = Holder::read(&row)?;
            return Ok(Some(holder).filter(|holder| holder.id != id));
        }
    }
    Ok(None)
}

/// Returns the first other bundle that a statement finds with any of these digests.
async fn find_holder(
    transaction: &mut Transaction<'static, Any>,
    statement: &str,
    id: i64,
    digests: &BTreeSet<String>,
) -> Result<Option<Holder>, StoreError> {
    if digests.is_empty() {
        return Ok(None);
    }
    let numbers: Vec<String> = (0..digests.len())
        .map(|index| format!("${}", index + 2))
        .collect();
    let statement = format!("{statement} IN ({}) LIMIT 1", numbers.join(","));
    let select = query(AssertSqlSafe(statement)).bind(id);
    let select = digests
        .iter()
        .fold(select, |select, digest| select.bind(digest.as_str()));
    let row = select.fetch_optional(&mut **transaction).await?;
    Ok(row.as_ref().map(Holder::read).transpose()?)
}

/// Replaces the recorded folders of a bundle's location.
async fn record_folders(
    transaction: &mut Transaction<'static, Any>,
    id: i64,
    folders: &BTreeSet<String>,
) -> Result<(), StoreError> {
    delete_folders(transaction, id).await?;
    if folders.is_empty() {
        return Ok(());
    }
    let rows: Vec<String> = (0..folders.len())
        .map(|index| format!("(${}, $1)", index + 2))
        .collect();
    let statement = format!(
        "INSERT INTO place_folders (folder, bundle_id) VALUES {}",
        rows.join(",")
    );
    let insert = query(AssertSqlSafe(statement)).bind(id);
    let insert = folders
        .iter()
        .fold(insert, |insert, folder| insert.bind(folder.as_str()));
    insert.execute(&mut **transaction).await?;
    Ok(())
}

/// Releases the locations that a bundle no longer needs.
async fn release_places(
    transaction: &mut Transaction<'static, Any>,
    id: i64,
    current: &BTreeSet<String>,
    requested: &LocationDigests,
) -> Result<(), StoreError> {
    let released: Vec<&String> = current.difference(&requested.own).collect();
    for place in &released {
        let delete = query("DELETE FROM places WHERE place = $1 AND bundle_id = $2");
        let delete = delete.bind(place.as_str()).bind(id);
        delete.execute(&mut **transaction).await?;
    }
    // The folders of a file are recorded again when it is claimed.
    if !released.is_empty() && !requested.is_file {
        delete_folders(transaction, id).await?;
    }
    Ok(())
}

async fn delete_folders(
    transaction: &mut Transaction<'static, Any>,
    id: i64,
) -> Result<(), StoreError> {
    let delete = query("DELETE FROM place_folders WHERE bundle_id = $1").bind(id);
    delete.execute(&mut **transaction).await?;
    Ok(())
}

fn warn_of_conflict(bundle: &str, holder: &str) {
    warn!(
        bundle,
        holder,
        "two bundles have one place in a storage: the holder keeps it, the other is not built"
    );
}

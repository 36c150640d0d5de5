//! Changes, claims and statuses, on SQLite and, when `CONFORMANCE_POSTGRES_URL` names one, on
//! PostgreSQL.

mod crowd;
mod deaths;
mod given_up;
mod tenants;

use std::collections::BTreeSet;
use std::time::Duration;

use sqlx::Row as _;
use tempfile::TempDir;

use super::{BuildOutcome, Claim, DatabaseUrl, MAX_DEATHS, Queue, Status, Store, StoreError};
use crate::model::{
    BuildResult, Bundle, Definition, Document, Entry, Kind, Phase, Source, Stack, read,
};
use crate::principal::{KeyDigest, Keys, Principal, Role};
use crate::storage_location;

type Tested<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const LEASE: Duration = Duration::from_secs(3600);

/// Empty database of a kind.
struct TestDatabase {
    url: DatabaseUrl,
    _folder: Option<TempDir>,
}

impl TestDatabase {
    /// Returns the available databases, each with nothing but the schema.
    async fn all(test: &str) -> Tested<Vec<Self>> {
        let folder = TempDir::new()?;
        let file = format!("sqlite:{}", folder.path().join("store.db").display());
        let mut databases = vec![Self {
            url: file.parse()?,
            _folder: Some(folder),
        }];
        if let Ok(url) = std::env::var("CONFORMANCE_POSTGRES_URL") {
            sqlx::any::install_default_drivers();
            let pool = sqlx::AnyPool::connect(&url).await?;
            let schema = format!("store_{test}");
            let create = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
            let create = sqlx::raw_sql(sqlx::AssertSqlSafe(create));
            create.execute(&pool).await?;
            pool.close().await;
            let separator = if url.contains('?') { '&' } else { '?' };
            let url = format!("{url}{separator}options=-c%20search_path%3D{schema}");
            databases.push(Self {
                url: url.parse()?,
                _folder: None,
            });
        }
        for database in &databases {
            let store = database.store().await?;
            let seal = || Tested::Ok(String::new());
            store.prepare(|_| Tested::Ok(()), seal).await?;
        }
        Ok(databases)
    }

    /// Connects to the database.
    async fn store(&self) -> Result<Store, StoreError> {
        Store::connect(&self.url).await
    }
}

fn administrator() -> Tested<Principal> {
    let mut keys = Keys::default();
    keys.add("admin", Role::Administrator, KeyDigest::of("k"))?;
    let found = keys.principal("Bearer k").cloned();
    found.ok_or_else(|| "the key is not known".into())
}

fn entry(kind: Kind, name: &str, body: &str) -> Tested<Entry> {
    fn read_entry<D: Definition>(name: &str, body: &str) -> Tested<Entry> {
        let mut entry = read::<D>(name, body.as_bytes())?;
        if let Some(storage) = &entry.storage {
            entry.places = storage_location::places(storage, &[]);
        }
        Ok(entry)
    }
    match kind {
        Kind::Bundle => read_entry::<Bundle>(name, body),
        Kind::Source => read_entry::<Source>(name, body),
        Kind::Stack => read_entry::<Stack>(name, body),
        Kind::Secret => Ok(Entry::secret(name, body.to_owned(), None)),
    }
}

/// Applies a change: `KIND NAME BODY` stores, `data SOURCE DOCUMENT` stores source data, `delete
/// KIND NAME` deletes, and `delete data SOURCE` its data.
async fn change(store: &Store, line: &str) -> Tested {
    let principal = administrator()?;
    let kind = |word: &str| match word {
        "bundle" => Kind::Bundle,
        "source" => Kind::Source,
        "stack" => Kind::Stack,
        _ => Kind::Secret,
    };
    let mut words = line.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default();
    match (word(), word(), word()) {
        ("delete", "data", source) => {
            store
                .delete_document(&principal, source, "d/data.json")
                .await?
        }
        ("delete", word, name) => store.delete(&principal, kind(word), name).await?,
        ("data", source, text) => {
            let document = Document::read(text.as_bytes())?;
            let stored = store.put_document(&principal, source, "d/data.json", &document);
            stored.await?;
        }
        (word, name, body) => {
            store
                .put(&principal, &entry(kind(word), name, body)?)
                .await?
        }
    }
    Ok(())
}

/// Claims any due bundle.
async fn claim(store: &Store, owner: &str, lease: Duration) -> Result<Option<Claim>, StoreError> {
    for waiting in store.waiting(Queue::Due).await? {
        let claimed = store.claim(Queue::Due, &waiting.tenant, owner, lease);
        if let Some(claim) = claimed.await? {
            return Ok(Some(claim));
        }
    }
    store.claim_suspect(owner, lease).await
}

/// Claims at most `max` bundles of a queue.
async fn claims(store: &Store, queue: Queue, max: usize) -> Result<Vec<Claim>, StoreError> {
    let mut claims = Vec::new();
    for waiting in store.waiting(queue).await? {
        while claims.len() < max
            && let Some(claim) = store.claim(queue, &waiting.tenant, "o", LEASE).await?
        {
            claims.push(claim);
        }
    }
    Ok(claims)
}

fn finish(revision: &str, result: BuildResult, next: Option<Duration>) -> BuildOutcome {
    let succeeded = result == BuildResult::Success;
    let status = Status {
        revision: revision.to_owned(),
        phase: if succeeded { Phase::Push } else { Phase::Sync },
        result,
        message: String::new(),
    };
    if succeeded {
        let record = format!("digest of {revision}");
        return BuildOutcome::Published {
            status,
            record,
            next,
        };
    }
    BuildOutcome::Failed {
        status,
        retry: next,
        condemned: false,
    }
}

/// Returns the names of the due bundles, and finishes their builds.
async fn due(store: &Store) -> Tested<BTreeSet<String>> {
    while store.propagate_changes().await? {}
    let mut names = BTreeSet::new();
    while let Some(claim) = claim(store, "test", LEASE).await? {
        let inputs = store.inputs(claim.bundle, u64::MAX).await?;
        names.extend(inputs.map(|inputs| inputs.name));
        store
            .finish(&claim, &finish("r", BuildResult::Success, None))
            .await?;
    }
    Ok(names)
}

#[tokio::test]
async fn changes_make_the_bundles_due_that_they_concern() -> Tested {
    let script: &[(&str, &[&str])] = &[
        ("secret k {}", &[]),
        ("source lib {\"git\":{\"credentials\":\"k\"}}", &[]),
        ("source app {\"requirements\":[{\"source\":\"lib\"}]}", &[]),
        ("source other {}", &[]),
        ("source global {}", &[]),
        ("bundle b {\"requirements\":[{\"source\":\"app\"}]}", &["b"]),
        ("bundle p {\"labels\":{\"env\":\"prod\"}}", &["p"]),
        ("bundle d {\"labels\":{\"env\":\"dev\"}}", &["d"]),
        (
            "stack g {\"selector\":{\"env\":[\"pr*\"]},\"requirements\":[{\"source\":\"global\"}]}",
            &["p"],
        ),
        ("data lib 1", &["b"]),
        ("data lib 1", &["b"]),
        ("delete data lib", &["b"]),
        ("data other 1", &[]),
        ("secret k {\"new\":1}", &["b"]),
        ("source lib {\"git\":{\"credentials\":\"k\"}}", &["b"]),
        ("data global 1", &["p"]),
        (
            "source global {\"requirements\":[{\"source\":\"lib\"}]}",
            &["p"],
        ),
        ("data lib 2", &["b", "p"]),
        // Those that it no longer selects, and those that it selects now.
        ("stack g {\"selector\":{\"env\":[\"dev\"]}}", &["d", "p"]),
        ("stack g {\"selector\":{}}", &["b", "d", "p"]),
        ("stack g {\"selector\":{\"team\":[]}}", &["b", "d", "p"]),
        ("delete stack g", &[]),
        // A source that the bundle no longer requires does not affect it.
        ("bundle b {}", &["b"]),
        ("data lib 3", &[]),
        ("delete bundle b", &[]),
        ("bundle b {}", &["b"]),
    ];
    for database in TestDatabase::all("changes").await? {
        let store = database.store().await?;
        for (line, expected) in script {
            change(&store, line).await?;
            let expected = expected.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(due(&store).await?, expected, "{line}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn many_changes_are_passed_on_whole() -> Tested {
    for database in TestDatabase::all("many").await? {
        let store = database.store().await?;
        let mut entries = Vec::new();
        for index in 0..1300 {
            entries.push(entry(Kind::Bundle, &format!("b{index}"), "{}")?);
        }
        entries.push(entry(Kind::Stack, "s", "{}")?);
        store.declare(&entries).await?;
        let mut rounds = 1;
        while store.propagate_changes().await? {
            rounds += 1;
        }
        // In small batches.
        assert_eq!(rounds, 27);
        change(&store, "stack s {\"selector\":{}}").await?;
        assert!(!store.propagate_changes().await?);
        // Once for itself, and once for each change of the stack.
        let count = "SELECT COUNT(*) FROM builds WHERE wanted = 3";
        let row = sqlx::query(count).fetch_one(store.reader()).await?;
        assert_eq!(row.try_get::<i64, _>(0)?, 1300);
    }
    Ok(())
}

/// A start declares the same definitions again.
#[tokio::test]
async fn what_is_declared_again_is_no_change() -> Tested {
    for database in TestDatabase::all("declared").await? {
        let store = database.store().await?;
        let declared = |body: &str| {
            let user = "{\"requirements\":[{\"source\":\"s\"}]}";
            let stack = "{\"selector\":{\"env\":[]}}";
            Tested::Ok([
                entry(Kind::Source, "s", body)?,
                entry(Kind::Bundle, "b", user)?,
                entry(Kind::Bundle, "c", "{\"labels\":{\"env\":\"x\"}}")?,
                entry(Kind::Stack, "t", stack)?,
            ])
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        for (body, expected) in [
            ("{}", names(&["b", "c"])),
            ("{}", names(&[])),
            ("{\"directory\":\"d\"}", names(&["b"])),
        ] {
            store.declare(&declared(body)?).await?;
            assert_eq!(due(&store).await?, expected, "{body}");
        }
        // A change by an administrator is reverted.
        change(&store, "source s {}").await?;
        due(&store).await?;
        store.declare(&declared("{\"directory\":\"d\"}")?).await?;
        assert_eq!(due(&store).await?, names(&["b"]));
    }
    Ok(())
}

#[tokio::test]
async fn a_bundle_has_one_owner() -> Tested {
    for database in TestDatabase::all("owners").await? {
        let (old, new) = (database.store().await?, database.store().await?);
        change(&old, "bundle b {}").await?;
        old.propagate_changes().await?;
        // The lease of a crashed owner expires.
        let lost = claim(&old, "old", Duration::ZERO).await?.ok_or("not due")?;
        let current = claim(&new, "new", LEASE).await?.ok_or("not taken over")?;
        assert_eq!(lost.bundle, current.bundle);
        assert_eq!(claim(&old, "old", LEASE).await?, None);
        // An owner that has lost the bundle records nothing any more.
        assert!(!old.renew(&lost, LEASE).await?);
        assert!(
            !old.finish(&lost, &finish("x", BuildResult::Success, None))
                .await?
        );
        old.release(&lost).await?;
        assert!(new.renew(&current, LEASE).await?);
        assert_eq!(claim(&old, "old", LEASE).await?, None);
        // A change during a build requires another build.
        change(&old, "bundle b {}").await?;
        old.propagate_changes().await?;
        assert_eq!(claim(&old, "old", LEASE).await?, None);
        assert!(
            new.finish(&current, &finish("r", BuildResult::Success, None))
                .await?
        );
        let next = claim(&old, "old", LEASE)
            .await?
            .ok_or("the change is lost")?;
        assert_eq!(next.published, "digest of r");
        // A possibly overwritten object is written once more.
        new.mark_for_rewrite(next.bundle).await?;
        assert!(
            old.finish(&next, &finish("s", BuildResult::Success, None))
                .await?
        );
        let again = claim(&old, "old", LEASE)
            .await?
            .ok_or("not written again")?;
        // A released bundle is claimed at once; failures are counted.
        old.release(&again).await?;
        let again = claim(&new, "new", LEASE).await?.ok_or("not given back")?;
        let failed = finish("", BuildResult::SyncFailed, Some(Duration::ZERO));
        assert!(new.finish(&again, &failed).await?);
        let again = claim(&new, "new", LEASE).await?.ok_or("not tried again")?;
        assert_eq!(
            (again.failures, again.published.as_str()),
            (1, "digest of s")
        );
        // A deleted bundle has no owner.
        change(&old, "delete bundle b").await?;
        assert!(!new.renew(&again, LEASE).await?);
        assert!(
            !new.finish(&again, &finish("t", BuildResult::Success, None))
                .await?
        );
        assert!(new.inputs(again.bundle, u64::MAX).await?.is_none());
    }
    Ok(())
}

#[tokio::test]
async fn a_change_comes_before_what_is_only_built_again() -> Tested {
    const BUNDLES: usize = 1000;
    for database in TestDatabase::all("queues").await? {
        let store = database.store().await?;
        let mut entries = Vec::new();
        for index in 0..BUNDLES {
            entries.push(entry(Kind::Bundle, &format!("b{index}"), "{}")?);
        }
        store.declare(&entries).await?;
        while store.propagate_changes().await? {}
        let first = claims(&store, Queue::Changed, BUNDLES).await?;
        assert_eq!(first.len(), BUNDLES);
        for claim in &first {
            let again = finish("r", BuildResult::Success, Some(Duration::ZERO));
            assert!(store.finish(claim, &again).await?);
        }
        // All of them are due again.
        assert_eq!(claims(&store, Queue::Changed, 9).await?, []);
        change(&store, "bundle b7 {}").await?;
        store.propagate_changes().await?;
        let changed = claims(&store, Queue::Changed, 9).await?;
        let [changed] = changed.as_slice() else {
            return Err(format!("not the change alone: {changed:?}").into());
        };
        let inputs = store.inputs(changed.bundle, u64::MAX).await?;
        assert_eq!(inputs.map(|inputs| inputs.name).as_deref(), Some("b7"));
        // No more are claimed than requested, and none twice.
        let due = claims(&store, Queue::Due, 9).await?;
        assert_eq!(due.len(), 9);
        assert!(due.iter().all(|claim| claim.bundle != changed.bundle));
        // A failed build is retried, and no longer comes first.
        let failed = finish("", BuildResult::SyncFailed, Some(Duration::ZERO));
        assert!(store.finish(changed, &failed).await?);
        assert_eq!(claims(&store, Queue::Changed, 9).await?, []);
    }
    Ok(())
}

/// Databases created before bundles had two queues.
#[tokio::test]
async fn what_older_programs_have_built_is_no_change() -> Tested {
    for database in TestDatabase::all("older").await? {
        let store = database.store().await?;
        change(&store, "bundle old {}").await?;
        store.propagate_changes().await?;
        for statement in [
            "DROP TABLE place_folders",
            "DROP INDEX builds_changed",
            "DROP INDEX builds_by_due",
            "DROP INDEX builds_suspected",
            "ALTER TABLE builds DROP COLUMN seen",
            "ALTER TABLE builds DROP COLUMN tenant",
            "ALTER TABLE builds DROP COLUMN deaths",
            "ALTER TABLE changes DROP COLUMN data",
            "CREATE INDEX builds_by_due ON builds (due)",
            "DELETE FROM schema_steps WHERE step >= 5",
        ] {
            sqlx::query(statement).execute(store.reader()).await?;
        }
        let store = database.store().await?;
        let seal = || Tested::Ok(String::new());
        store.prepare(|_| Tested::Ok(()), seal).await?;
        assert_eq!(claims(&store, Queue::Changed, 9).await?, []);
        assert_eq!(claims(&store, Queue::Due, 9).await?.len(), 1);
        change(&store, "bundle new {}").await?;
        store.propagate_changes().await?;
        assert_eq!(claims(&store, Queue::Changed, 9).await?.len(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_start_on_sqlite_takes_over_what_was_claimed() -> Tested {
    let databases = TestDatabase::all("restart").await?;
    let database = databases.first().ok_or("there is always SQLite")?;
    let store = database.store().await?;
    change(&store, "bundle b {}").await?;
    store.propagate_changes().await?;
    let before = claim(&store, "killed", LEASE).await?.ok_or("not due")?;
    let restarted = database.store().await?;
    restarted.release_all().await?;
    let after = claim(&restarted, "new", LEASE)
        .await?
        .ok_or("not released")?;
    assert_ne!(before.number, after.number);
    Ok(())
}

#[tokio::test]
async fn statuses_are_one_for_each_revision_newest_first() -> Tested {
    for database in TestDatabase::all("statuses").await? {
        let store = database.store().await?;
        let principal = administrator()?;
        change(&store, "bundle b {}").await?;
        store.propagate_changes().await?;
        let mut listed = Vec::new();
        for (revision, result) in [
            ("", BuildResult::SyncFailed),
            ("", BuildResult::BuildFailed),
            ("r1", BuildResult::Success),
            ("r2", BuildResult::PushFailed),
            ("r2", BuildResult::Success),
            ("", BuildResult::ConfigError),
            ("r1", BuildResult::Success),
        ] {
            let claim = claim(&store, "test", LEASE).await?.ok_or("not due")?;
            let again = Some(Duration::ZERO);
            store
                .finish(&claim, &finish(revision, result, again))
                .await?;
            let rows = store.statuses(&principal, "b", None, 10).await?;
            let text = |row: &serde_json::Value| format!("{} {}", row["revision"], row["status"]);
            listed.push(
                rows.iter()
                    .map(text)
                    .collect::<Vec<_>>()
                    .join(", ")
                    .replace('"', ""),
            );
            // The clock of the database has to advance.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert_eq!(
            listed,
            [
                " SYNC_FAILED",
                " BUILD_FAILED",
                "r1 SUCCESS",
                "r2 PUSH_FAILED, r1 SUCCESS",
                "r2 SUCCESS, r1 SUCCESS",
                " CONFIG_ERROR, r2 SUCCESS, r1 SUCCESS",
                "r1 SUCCESS, r2 SUCCESS",
            ]
        );
        for index in 0..12 {
            let claim = claim(&store, "test", LEASE).await?.ok_or("not due")?;
            let again = Some(Duration::ZERO);
            let finish = finish(&format!("n{index}"), BuildResult::Success, again);
            store.finish(&claim, &finish).await?;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let rows = store.statuses(&principal, "b", None, 100).await?;
        assert_eq!(rows.len(), 10);
        let newest = rows.first().and_then(|row| row.get("revision"));
        assert_eq!(newest, Some(&"n11".into()));
        assert_eq!(
            store.statuses(&principal, "b", Some("n5"), 10).await?.len(),
            1
        );
        assert_eq!(
            store.statuses(&principal, "b", Some("n1"), 10).await?.len(),
            0
        );
        assert!(
            store
                .statuses(&principal, "absent", None, 10)
                .await
                .is_err()
        );
    }
    Ok(())
}

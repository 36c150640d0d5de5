//! Storage locations, and references that predate rights.

use super::*;
use crate::model::ObjectStorage;
use crate::storage_location;
use crate::store::ClaimOutcome;
use crate::store::migrations::STEPS;

#[tokio::test]
async fn databases_from_before_the_rules_about_tenants_still_open() -> Tested {
    for database in TestDatabase::all("tenants").await? {
        let store = database.store().await?;
        drop_everything(&store).await?;
        let identity = store.locking(
            "INTEGER PRIMARY KEY AUTOINCREMENT",
            "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        );
        let mut script = "CREATE TABLE schema_steps (step BIGINT PRIMARY KEY);".to_owned();
        for (index, step) in STEPS.iter().take(2).enumerate() {
            script.push_str(&step.replace("{identity}", identity));
            script.push_str(&format!(
                "INSERT INTO schema_steps (step) VALUES ({index});"
            ));
        }
        let storage = r#"{"object_storage":{"filesystem":{"path":"x"}}}"#;
        for (kind, name, owner, definition) in [
            ("source", "boss", "admin", "{}"),
            ("source", "own", "ann", "{}"),
            ("bundle", "old", "ann", storage),
            ("bundle", "young", "bob", storage),
            ("bundle", "managed", "admin", "{}"),
            ("secret", "key", "admin", ""),
        ] {
            script.push_str(&format!(
                "INSERT INTO resources (kind, name, owner, definition) \
                 VALUES ('{kind}', '{name}', '{owner}', '{definition}');"
            ));
        }
        for (user, source) in [("old", "own"), ("old", "boss"), ("managed", "own")] {
            script.push_str(&format!(
                "INSERT INTO source_uses (user_id, source_id) SELECT u.id, s.id \
                 FROM resources u, resources s WHERE u.name = '{user}' AND s.name = '{source}';"
            ));
        }
        for (user, secret) in [("own", "key"), ("own", "late"), ("boss", "key")] {
            script.push_str(&format!(
                "INSERT INTO secret_uses (user_id, secret, place) \
                 SELECT id, '{secret}', 'git' FROM resources WHERE name = '{user}';"
            ));
        }
        let old = sqlx::raw_sql(sqlx::AssertSqlSafe(script));
        old.execute(store.reader()).await?;
        store
            .prepare(|_| Tested::Ok(()), || Tested::Ok(String::new()))
            .await?;
        store.migrate_storage_locations(&[]).await?;
        for _ in 0..2 {
            let remaining = store.migrate_references(&["admin"]).await?;
            let remaining: Vec<String> = remaining
                .iter()
                .map(|old| format!("{} of {} to {}", old.user, old.owner, old.target))
                .collect();
            assert_eq!(
                remaining,
                [
                    "bundle `old` of ann to source `boss`",
                    "source `own` of ann to secret `key`"
                ]
            );
        }
        // An existing target is followed; a later one is not.
        let select = sqlx::query("SELECT id FROM resources WHERE name = 'old'");
        let id: i64 = select.fetch_one(store.reader()).await?.try_get(0)?;
        change(&store, "secret late {}").await?;
        let inputs = store.inputs(id, u64::MAX).await?.ok_or("deleted")?;
        assert_eq!(inputs.sources.len(), 2);
        let source = inputs.sources.get("own").ok_or("not followed")?;
        let names: Vec<&str> = source.secrets.keys().map(String::as_str).collect();
        assert_eq!(names, ["key"]);
        // The older bundle has the location.
        let select =
            sqlx::query("SELECT r.name FROM places p JOIN resources r ON r.id = p.bundle_id");
        let holders = select.fetch_all(store.reader()).await?;
        let holders: Result<Vec<String>, _> = holders.iter().map(|row| row.try_get(0)).collect();
        assert_eq!(holders?, ["old"]);
    }
    Ok(())
}

#[tokio::test]
async fn builds_take_places_and_leave_them() -> Tested {
    let storage = |path: &str| -> Tested<ObjectStorage> {
        let text = format!(r#"{{"filesystem":{{"path":"{path}"}}}}"#);
        Ok(serde_json::from_str(&text)?)
    };
    for database in TestDatabase::all("places").await? {
        let store = database.store().await?;
        let put = async |bundle: &str, path: &str| {
            let body = format!(r#"{{"object_storage":{{"filesystem":{{"path":"{path}"}}}}}}"#);
            change(&store, &format!("bundle {bundle} {body}")).await
        };
        let id = async |bundle: &str| -> Tested<i64> {
            let select = sqlx::query("SELECT id FROM resources WHERE name = $1");
            let row = select.bind(bundle).fetch_one(store.reader()).await?;
            Ok(row.try_get(0)?)
        };
        put("a", "x").await?;
        put("b", "y").await?;
        let (a, b) = (id("a").await?, id("b").await?);
        let take = async |bundle: i64, path: &str, location: &str| {
            let places = storage_location::places(&storage(location)?, &[]);
            Tested::Ok(
                store
                    .claim_locations(bundle, &storage(path)?, &places)
                    .await?,
            )
        };
        // Links may resolve both to one location, which the first one built gets.
        assert_eq!(take(a, "x", "z").await?, ClaimOutcome::Own);
        assert_eq!(take(a, "x", "z").await?, ClaimOutcome::Own);
        assert_eq!(
            take(b, "y", "z").await?,
            ClaimOutcome::Foreign("a".to_owned())
        );
        assert_eq!(take(b, "y", "y").await?, ClaimOutcome::Own);
        // A build with an outdated definition claims nothing.
        put("a", "w").await?;
        assert_eq!(take(a, "x", "v").await?, ClaimOutcome::Changed);
        assert_eq!(take(b, "y", "v").await?, ClaimOutcome::Own);
        assert_eq!(take(i64::MAX, "y", "u").await?, ClaimOutcome::Changed);
        // The current holder of a late build's location is written again.
        put("b", "x").await?;
        due(&store).await?;
        store
            .rewrite_others(a, &storage_location::places(&storage("x")?, &[]).own)
            .await?;
        assert_eq!(due(&store).await?, BTreeSet::from(["b".to_owned()]));
        store
            .rewrite_others(b, &storage_location::places(&storage("x")?, &[]).own)
            .await?;
        assert_eq!(due(&store).await?, BTreeSet::new());
    }
    Ok(())
}

/// Empties a database.
async fn drop_everything(store: &Store) -> Tested {
    for table in [
        "probes",
        "places",
        "place_folders",
        "build_statuses",
        "builds",
        "changes",
        "documents",
        "secret_uses",
        "source_uses",
        "resources",
        "keyring",
        "schema_steps",
    ] {
        let drop = sqlx::AssertSqlSafe(format!("DROP TABLE {table}"));
        sqlx::query(drop).execute(store.reader()).await?;
    }
    Ok(())
}

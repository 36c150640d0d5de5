//! Unusable databases: the start fails immediately with the reason, and changes nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use libtest_mimic::Failed;
use sqlx::{Connection, Executor, SqliteConnection};

use crate::environment::{Environment, TOKENS};
use crate::transcript::run_script;
use crate::{Case, HANG_LIMIT, Outcome};

pub(crate) const SQLITE: &[Case] = &[
    ("databases-of-others-are-refused", of_others),
    ("a-damaged-database-is-refused", damaged),
    ("a-locked-database-is-refused", locked),
    ("a-lost-key-is-noticed", lost_key),
    ("database-files-are-private", private_files),
    ("the-configuration-names-a-database", named_by_configuration),
];

pub(crate) const POSTGRES: &[Case] = &[
    ("schemas-of-others-are-refused", schemas_of_others),
    ("a-server-that-is-not-there", no_server),
];

/// SQL commands that create a database which is refused, with a part of the error.
const OTHERS: &[(&str, &str)] = &[
    ("CREATE TABLE customers (id)", "it has a table `customers`"),
    ("CREATE VIEW v AS SELECT 1", "it has a table `v`"),
    ("CREATE TABLE resources (id)", "it has a table `resources`"),
    (
        "CREATE TABLE schema_steps (step); CREATE TABLE other (id)",
        "it has a table `other`",
    ),
    (
        "PRAGMA application_id = 252006673",
        "its application_id is 252006673",
    ),
    ("PRAGMA user_version = 7", "its user_version is 7"),
];

async fn refusal(environment: &Environment, url: &str, further: &[&str]) -> Result<String, Failed> {
    let opened = environment.open_at(url, further);
    match tokio::time::timeout(HANG_LIMIT, opened).await? {
        Ok(_) => Err(format!("{url} was accepted").into()),
        Err(refusal) => Ok(refusal.to_string()),
    }
}

fn expect_contains(message: &str, part: &str) -> Result<(), Failed> {
    match message.contains(part) {
        true => Ok(()),
        false => Err(format!("{message}, without `{part}`").into()),
    }
}

/// Returns the name, mode and content of each file in a folder.
fn contents(folder: &Path) -> Result<Vec<(String, u32, Vec<u8>)>, Failed> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let mode = entry.metadata()?.permissions().mode();
        files.push((name, mode, fs::read(entry.path())?));
    }
    files.sort();
    Ok(files)
}

fn of_others(environment: Environment) -> Outcome {
    Box::pin(async move {
        let folder = environment.folder().join("others");
        fs::create_dir(&folder)?;
        let file = folder.join("other.db");
        let url = format!("sqlite:{}", file.display());
        fs::write(&file, "this is a text, and no database at all")?;
        let before = contents(&folder)?;
        let message = refusal(&environment, &url, &[]).await?;
        if message != format!("`{}` is not a database", file.display()) {
            return Err(message.into());
        }
        if contents(&folder)? != before {
            return Err("a file that is not a database was changed".into());
        }
        for (script, part) in OTHERS {
            fs::remove_file(&file)?;
            let mut other = SqliteConnection::connect(&format!("{url}?mode=rwc")).await?;
            other.execute(*script).await?;
            other.close().await?;
            let before = contents(&folder)?;
            expect_contains(&refusal(&environment, &url, &[]).await?, part)?;
            if contents(&folder)? != before {
                return Err(format!("after `{script}` something was written").into());
            }
        }
        Ok(())
    })
}

fn named_by_configuration(environment: Environment) -> Outcome {
    Box::pin(async move {
        let folder = environment.folder();
        let (by_config, by_flag) = (folder.join("named.db"), folder.join("given.db"));
        let config = |driver: &str| {
            let by_config = by_config.display();
            format!(
                "{TOKENS}\ndatabase: {{sql: {{driver: {driver}, dsn: 'file:{by_config}?_pragma=x'}}}}\n\
                 service: {{api_prefix: /my/api}}\nmetrics: {{enabled: false}}\n\
                 metadata: {{exported_from: elsewhere}}\n\
                 sources: {{s: , t: {{some.product.v1: x, datasources: [{{type: http, config: {{url: 'x${{PATH}}'}}}}]}}}}\n"
            )
        };
        let control = environment.open_alone(&config("sqlite3"), &[]).await?;
        let path = serde_json::Value::from(format!("x{}", std::env::var("PATH")?));
        let script = format!(
            r#"admin GET /my/api/v1/sources/t => 200 {{"result":{{"name":"t","datasources":[{{"type":"http","config":{{"url":{path}}}}}]}}}}"#
        );
        run_script(&control, &script).await?;
        run_script(
            &control,
            r#"
            nobody GET /my/api/health => 200 {}
            admin GET /my/api/v1/sources/s => 200 {"result":{"name":"s"}}
            nobody GET /my/api/v1/bundles => 401
            nobody GET /health => 404
            admin GET /v1/sources => 404
            admin GET /my/apiv1/sources => 404
            "#,
        )
        .await?;
        drop(control);
        if !by_config.is_file() {
            return Err("the configured database was not used".into());
        }
        let mysql = environment.open_alone(&config("mysql"), &[]).await;
        let refused = mysql
            .err()
            .and_then(|failure| failure.message().map(str::to_owned));
        expect_contains(
            &refused.unwrap_or_default(),
            "alone.yaml: database.sql.driver `mysql` is not",
        )?;
        let url = format!("sqlite:{}", by_flag.display());
        let flag = ["--database", &url];
        drop(environment.open_alone(&config("mysql"), &flag).await?);
        match by_flag.is_file() {
            true => Ok(()),
            false => Err("the flag does not count before the configuration".into()),
        }
    })
}

fn schemas_of_others(environment: Environment) -> Outcome {
    Box::pin(async move {
        let pool = environment.database().await?;
        let key = environment.folder().join("key").display().to_string();
        let key = ["--encryption-key-file", &key];
        pool.execute("CREATE TABLE documents (id BIGINT)").await?;
        let message = refusal(&environment, environment.url(), &key).await?;
        expect_contains(&message, "it has a table `documents`")?;
        // Tables of other programs may exist next to those of the control plane.
        pool.execute("ALTER TABLE documents RENAME TO customers")
            .await?;
        drop(environment.open_at(environment.url(), &key).await?);
        pool.execute("INSERT INTO schema_steps (step) VALUES (1000)")
            .await?;
        let message = refusal(&environment, environment.url(), &key).await?;
        expect_contains(&message, "made by a newer version")
    })
}

fn no_server(environment: Environment) -> Outcome {
    Box::pin(async move {
        let key = environment.folder().join("key").display().to_string();
        let key = ["--encryption-key-file", &key];
        let nowhere = "postgres://nobody:wrong@127.0.0.1:1/nowhere";
        // A start waits for a database server that is starting up, for a limited time.
        let opened = environment.open_at(nowhere, &key);
        match tokio::time::timeout(HANG_LIMIT, opened).await? {
            Ok(_) => Err("a server that is not there was accepted".into()),
            Err(refusal) => {
                expect_contains(&refusal.to_string(), "PostgreSQL database cannot be used")
            }
        }
    })
}

fn damaged(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open_at(environment.url(), &[]).await?;
        run_script(&control, "admin PUT /v1/sources/s {} => 200").await?;
        let document = "x".repeat(2_000);
        for at in 0..100 {
            let put = format!("admin PUT /v1/sources/s/data/d{at} \"{document}\" => 200");
            run_script(&control, &put).await?;
        }
        drop(control);
        let file = environment.folder().join("control.db");
        // A checkpoint moves all writes from the write-ahead log to the database file.
        let mut other = SqliteConnection::connect(environment.url()).await?;
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?;
        other.close().await?;
        let mut bytes = fs::read(&file)?;
        let middle = bytes.len() / 2 / 4096 * 4096;
        for byte in bytes.iter_mut().skip(middle).take(8192) {
            *byte = 0xA5;
        }
        fs::write(&file, &bytes)?;
        let message = refusal(&environment, environment.url(), &[]).await?;
        expect_contains(&message, "is damaged (")?;
        expect_contains(&message, "restore it from a backup")?;
        match fs::read(&file)? == bytes {
            true => Ok(()),
            false => Err("a damaged database was written to".into()),
        }
    })
}

fn locked(environment: Environment) -> Outcome {
    Box::pin(async move {
        drop(environment.open_at(environment.url(), &[]).await?);
        // The connections of the dropped control plane close a moment later.
        let mut other = SqliteConnection::connect(environment.url()).await?;
        other.execute("PRAGMA busy_timeout = 10000").await?;
        other.execute("PRAGMA locking_mode = EXCLUSIVE").await?;
        other
            .execute("BEGIN EXCLUSIVE; DELETE FROM changes; COMMIT")
            .await?;
        let message = refusal(&environment, environment.url(), &[]).await?;
        expect_contains(&message, "is locked by another process")?;
        other.close().await?;
        drop(environment.open_at(environment.url(), &[]).await?);
        Ok(())
    })
}

fn lost_key(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open_at(environment.url(), &[]).await?;
        let put = r#"admin PUT /v1/secrets/k {"value":{"token":"t"}} => 200"#;
        run_script(&control, put).await?;
        drop(control);
        let key = environment.folder().join("control.db.key");
        let away = environment.folder().join("away");
        fs::rename(&key, &away)?;
        let message = refusal(&environment, environment.url(), &[]).await?;
        expect_contains(&message, "control.db.key` is gone")?;
        if key.exists() {
            return Err("a new key was made for a database that has one".into());
        }
        fs::rename(&away, &key)?;
        let control = environment.open_at(environment.url(), &[]).await?;
        run_script(&control, "admin GET /v1/secrets/k => 200").await
    })
}

fn private_files(environment: Environment) -> Outcome {
    Box::pin(async move {
        let names = [
            "control.db",
            "control.db-wal",
            "control.db-shm",
            "control.db.key",
        ];
        let modes = || -> Result<Vec<u32>, Failed> {
            let modes = names.map(|name| environment.folder().join(name).metadata());
            let modes = modes
                .into_iter()
                .map(|file| Ok(file?.permissions().mode() & 0o777));
            modes.collect()
        };
        let control = environment.open_at(environment.url(), &[]).await?;
        run_script(&control, "admin PUT /v1/sources/s {} => 200").await?;
        if modes()? != [0o600; 4] {
            return Err(format!("new files have the modes {:?}", modes()?).into());
        }
        // Simulates files that an older version created, while another control plane uses them.
        for name in names {
            let mode = fs::Permissions::from_mode(0o644);
            fs::set_permissions(environment.folder().join(name), mode)?;
        }
        let second = environment.open_at(environment.url(), &[]).await?;
        run_script(&second, "admin PUT /v1/sources/s {} => 200").await?;
        match modes()? == [0o600; 4] {
            true => Ok(()),
            false => Err(format!("old files have the modes {:?}", modes()?).into()),
        }
    })
}

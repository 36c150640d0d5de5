//! API keys, which the configuration changes, and encryption keys, which are rotated.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use clap::Parser;
use libtest_mimic::Failed;
use reference::StartError;
use reference::control::{Control, RotateKey};
use sqlx::Row;

use crate::database_failures::health;
use crate::environment::{Environment, send, text};
use crate::transcript::run_script;
use crate::workers::eventually;
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[
    ("configuration-is-read-again", read_again),
    ("what-cannot-be-used-changes-nothing", changes_nothing),
    ("keys-are-rotated-beside-servers", rotated_beside_servers),
    ("rotations-that-are-refused", refused_rotations),
];

/// Encryption keys by file name: the old and the new key of a rotation, and an unrelated one.
const KEYS: [(&str, &str); 3] = [
    ("old", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="),
    ("new", "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="),
    ("other", "AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM="),
];

fn read_again(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment
            .open("tokens: {guest: {api_key: guest-key, scopes: [{role: owner}]}}")
            .await?;
        run_script(
            &control,
            "
            guest PUT /v1/bundles/mine {} => 200
            guest GET /v1/bundles/theirs => 404
            late GET /v1/bundles => 401
            ",
        )
        .await?;
        environment.file(
            "further.yaml",
            "
            tokens:
              guest: {api_key: guest-key, scopes: [{role: viewer}]}
              late: {api_key: late-key, scopes: [{role: owner}]}
            secrets: {k: {type: token_auth, token: t}}
            sources: {s: {git: {repo: r, credentials: k}}}
            bundles: {theirs: {labels: {a: b}, requirements: [{source: s}]}}
            ",
        )?;
        // The configuration is read only when it is reloaded.
        run_script(&control, "late GET /v1/bundles => 401").await?;
        control.reload().await?;
        run_script(
            &control,
            r#"
            late PUT /v1/bundles/late {} => 200
            guest PUT /v1/bundles/mine {} => 403 not_authorized
            guest GET /v1/bundles/theirs => 200 {"result":{"name":"theirs","labels":{"a":"b"},"requirements":[{"source":"s"}]}}
            admin DELETE /v1/secrets/k => 409 conflict
            admin PUT /v1/bundles/theirs {} => 200
            "#,
        )
        .await?;
        // A definition that is no longer declared stays; a token that is no longer declared is
        // removed.
        environment.file("further.yaml", "bundles: {theirs: {labels: {a: c}}}")?;
        control.reload().await?;
        run_script(
            &control,
            r#"
            late GET /v1/bundles => 401
            guest GET /v1/bundles => 401
            admin GET /v1/bundles/theirs => 200 {"result":{"name":"theirs","labels":{"a":"c"}}}
            admin GET /v1/sources/s => 200
            admin GET /v1/bundles/late => 200
            "#,
        )
        .await
    })
}

fn changes_nothing(environment: Environment) -> Outcome {
    Box::pin(async move {
        let guest = "tokens: {guest: {api_key: guest-key, scopes: [{role: owner}]}}";
        let control = environment.open(guest).await?;
        for (config, part) in [
            ("tokens: [", "further.yaml"),
            ("tokenz: {}", "unknown field `tokenz`"),
            (
                "tokens: {a: {api_key: owner-key, scopes: [{role: viewer}]}}",
                "same key as token",
            ),
            (
                "{bundles: {a: {}, b: {requirements: [{source: none}]}}}",
                "source `none`, which does not exist",
            ),
            ("secrets: {k: {token: '${NOT_SET_ANYWHERE}'}}", "is not set"),
        ] {
            environment.file("further.yaml", config)?;
            match control.reload().await {
                Ok(()) => return Err(format!("{config} was accepted").into()),
                Err(refusal) if refusal.to_string().contains(part) => {}
                Err(refusal) => return Err(format!("{config}: {refusal}").into()),
            }
            run_script(
                &control,
                "
                guest PUT /v1/bundles/mine {} => 200
                admin GET /v1/bundles/a => 404
                ",
            )
            .await?;
        }
        std::fs::remove_file(environment.folder().join("further.yaml"))?;
        if control.reload().await.is_ok() {
            return Err("a file that is gone was accepted".into());
        }
        run_script(&control, "guest GET /v1/bundles/mine => 200").await
    })
}

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(flatten)]
    rotate: RotateKey,
}

/// Opens a control plane with these encryption keys; the first one is preferred.
async fn open(environment: &Environment, keys: &[&str]) -> Result<Arc<Control>, StartError> {
    let path = |name: &str| environment.folder().join(name).display().to_string();
    let mut arguments = Vec::new();
    let mut flag = "--encryption-key-file";
    for key in keys {
        arguments.extend([flag.to_owned(), path(key)]);
        flag = "--previous-encryption-key-file";
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    environment.open_at(environment.url(), &arguments).await
}

async fn rotate(environment: &Environment, old: &str, new: &str) -> Result<String, StartError> {
    let path = |name: &str| environment.folder().join(name).display().to_string();
    let (old, new) = (path(old), path(new));
    let arguments = [
        "rotate-key",
        "--database",
        environment.url(),
        "--encryption-key-file",
        &old,
        "--new-encryption-key-file",
        &new,
    ];
    CommandLine::try_parse_from(arguments)?.rotate.run().await
}

fn write_keys(environment: &Environment) -> Result<(), Failed> {
    for (name, key) in KEYS {
        environment.file(name, key)?;
    }
    Ok(())
}

/// Returns the distinct ids of the keys that the secrets and the key check are sealed with.
async fn key_ids(environment: &Environment) -> Result<Vec<String>, Failed> {
    let pool = environment.database().await?;
    let mut ids = Vec::new();
    for select in [
        "SELECT sealed FROM keyring",
        "SELECT definition FROM resources WHERE kind = 'secret'",
    ] {
        for row in sqlx::query(select).fetch_all(&pool).await? {
            let sealed: String = row.try_get(0)?;
            ids.extend(sealed.split(':').next().map(str::to_owned));
        }
    }
    pool.close().await;
    ids.sort();
    ids.dedup();
    Ok(ids)
}

fn rotated_beside_servers(environment: Environment) -> Outcome {
    Box::pin(async move {
        write_keys(&environment)?;
        let late = open(&environment, &["old"]).await?;
        let put = r#"admin PUT /v1/secrets/first {"value":{"token":"t"}} => 200"#;
        run_script(&late, put).await?;
        let old = key_ids(&environment).await?;
        // Servers with both keys use the old one until the rotation.
        let servers = [
            open(&environment, &["new", "old"]).await?,
            open(&environment, &["old", "new"]).await?,
        ];
        for server in &servers {
            run_script(server, put).await?;
        }
        if key_ids(&environment).await? != old || old.len() != 1 {
            return Err(format!("before the rotation: {:?}", key_ids(&environment).await?).into());
        }
        let stop = Arc::new(AtomicBool::new(false));
        let written: [Arc<AtomicUsize>; 2] = Default::default();
        let mut writers = Vec::new();
        for (at, (server, written)) in servers.iter().zip(&written).enumerate() {
            let (stop, written) = (Arc::clone(&stop), Arc::clone(written));
            let writer = keep_writing(Arc::clone(server), at, stop, written);
            writers.push(tokio::spawn(writer));
        }
        further_writes(&written).await?;
        let output = rotate(&environment, "old", "new").await?;
        if !output.ends_with("secrets are encrypted with the new key") {
            return Err(output.into());
        }
        further_writes(&written).await?;
        stop.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.await??;
        }
        let new = key_ids(&environment).await?;
        if new.len() != 1 || new == old {
            return Err(format!("{old:?} became {new:?} beside {written:?} writes").into());
        }
        // A server without the new key responds with an error and stores nothing.
        let put = r#"admin PUT /v1/secrets/first {"value":{"token":"t"}}"#;
        run_script(&late, &format!("{put} => 503 unavailable was rotated")).await?;
        health(&late, 500, "not been given the new one").await?;
        if open(&environment, &["old"]).await.is_ok() {
            return Err("the old key alone was accepted".into());
        }
        // After a reload with the new key, the server continues without a restart.
        std::fs::copy(
            environment.folder().join("new"),
            environment.folder().join("old"),
        )?;
        late.reload().await?;
        run_script(&late, &format!("{put} => 200")).await?;
        health(&late, 200, "{}").await?;
        drop(open(&environment, &["new"]).await?);
        if key_ids(&environment).await? != new {
            return Err("another key came back".into());
        }
        // All secrets were sealed with the new key: the next rotation requires no other.
        let output = rotate(&environment, "new", "other").await?;
        let all = output.split(' ').next().unwrap_or_default().to_owned();
        let listed = text(&send(&late, "admin", "GET", "/v1/secrets", "").await?);
        let listed = listed.matches("\"w").count() + 1;
        match all == listed.to_string() {
            true => Ok(()),
            false => Err(format!("{all} of {listed} secrets were rotated").into()),
        }
    })
}

/// Stores secrets until `stop` is set, and counts them in `written`. A failed request is an error.
async fn keep_writing(
    control: Arc<Control>,
    writer: usize,
    stop: Arc<AtomicBool>,
    written: Arc<AtomicUsize>,
) -> Result<(), Failed> {
    while !stop.load(Ordering::Relaxed) {
        let number = written.load(Ordering::Relaxed) % 20;
        let target = format!("/v1/secrets/w{writer}-{number}");
        let body = r#"{"value":{"token":"t"}}"#;
        let reply = send(&control, "admin", "PUT", &target, body).await?;
        if reply.status.as_u16() != 200 {
            return Err(format!("{target}: {} {}", reply.status, text(&reply)).into());
        }
        written.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Waits until every writer has stored further secrets.
async fn further_writes(written: &[Arc<AtomicUsize>]) -> Result<(), Failed> {
    for one in written {
        let before = one.load(Ordering::Relaxed);
        eventually("further writes", || async {
            let now = one.load(Ordering::Relaxed);
            Ok((now >= before + 3).then_some(()))
        })
        .await?;
    }
    Ok(())
}

fn refused_rotations(environment: Environment) -> Outcome {
    Box::pin(async move {
        write_keys(&environment)?;
        let refused = rotate(&environment, "old", "new").await;
        match refused.map_err(|refusal| refusal.to_string()) {
            Err(message) if message.contains("holds nothing of a control plane") => {}
            outcome => return Err(format!("an empty database: {outcome:?}").into()),
        }
        if environment.is_sqlite() && environment.folder().join("control.db").exists() {
            return Err("a database was made".into());
        }
        let control = open(&environment, &["old"]).await?;
        let put = r#"admin PUT /v1/secrets/k {"value":{"token":"t"}} => 200"#;
        run_script(&control, put).await?;
        let before = key_ids(&environment).await?;
        environment.file("text", "no key")?;
        for (old, new, part) in [
            ("other", "new", "not the one"),
            ("old", "text", "32 random bytes"),
            ("old", "absent", "absent"),
        ] {
            match rotate(&environment, old, new).await {
                Ok(_) => return Err(format!("{old} to {new} was done").into()),
                Err(refusal) if refusal.to_string().contains(part) => {}
                Err(refusal) => return Err(format!("{old} to {new}: {refusal}").into()),
            }
        }
        // A secret that none of the keys opens: the rotation changes nothing.
        let pool = environment.database().await?;
        let copied = "INSERT INTO resources (kind, name, owner, definition) \
                      SELECT kind, 'stranger', owner, definition FROM resources WHERE name = 'k'";
        sqlx::query(copied).execute(&pool).await?;
        match rotate(&environment, "old", "new").await {
            Err(refusal) if refusal.to_string().contains("`stranger`") => {}
            outcome => return Err(format!("{outcome:?}").into()),
        }
        if key_ids(&environment).await? != before {
            return Err("a rotation that failed changed something".into());
        }
        run_script(&control, put).await
    })
}

//! Failures of the database while the server runs: 503 for transient failures, and the reason in
//! `/health`.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use reference::control::Control;
use sqlx::{Connection, Executor, SqliteConnection};

use crate::environment::{Environment, send, text};
use crate::transcript::run_script;
use crate::{Case, HANG_LIMIT, Outcome};

pub(crate) const CASES: &[Case] = &[("health-probes-are-shared", probes_are_shared)];

pub(crate) const SQLITE: &[Case] = &[
    ("a-locked-database-is-unavailable", locked),
    ("a-database-that-is-damaged-later", damaged_later),
    ("a-database-that-is-replaced", replaced),
];

/// Waits until `/health` responds with this status and this part of the message.
pub(crate) async fn health(control: &Arc<Control>, status: u16, part: &str) -> Result<(), Failed> {
    let started = Instant::now();
    loop {
        let reply = send(control, "nobody", "GET", "/health", "").await?;
        let body = text(&reply);
        if reply.status.as_u16() == status && body.contains(part) {
            return Ok(());
        }
        if started.elapsed() > HANG_LIMIT {
            return Err(format!("/health still answers {} {body}", reply.status).into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn locked(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        run_script(&control, "admin PUT /v1/sources/s {} => 200").await?;
        health(&control, 200, "{}").await?;
        let mut other = SqliteConnection::connect(environment.url()).await?;
        other.execute("BEGIN IMMEDIATE").await?;
        // Writes that wait for the database connection get a response, too.
        let writes = (0..8).map(|at| {
            let control = Arc::clone(&control);
            tokio::spawn(async move {
                let target = format!("/v1/sources/n{at}");
                send(&control, "admin", "PUT", &target, "{}").await
            })
        });
        let writes = futures_util::future::join_all(writes);
        for write in tokio::time::timeout(HANG_LIMIT, writes).await? {
            let reply = write??;
            let status = reply.status.as_u16();
            let after = reply.headers.get("retry-after");
            if status != 503 || after.is_none() {
                return Err(format!("{status} {after:?}").into());
            }
        }
        run_script(
            &control,
            "
            admin GET /v1/sources/s => 200
            admin PUT /v1/sources/n {} => 503 unavailable the database is
            ",
        )
        .await?;
        health(&control, 500, "the database is locked").await?;
        other.execute("ROLLBACK").await?;
        other.close().await?;
        run_script(
            &control,
            "
            admin PUT /v1/sources/n {} => 200
            admin GET /v1/sources/n0 => 404 not_found
            ",
        )
        .await?;
        health(&control, 200, "{}").await
    })
}

fn damaged_later(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        run_script(&control, "admin PUT /v1/sources/s {} => 200").await?;
        let document = "x".repeat(3_000);
        for at in 0..400 {
            let put = format!("admin PUT /v1/sources/s/data/d{at} \"{document}\" => 200");
            run_script(&control, &put).await?;
        }
        health(&control, 200, "{}").await?;
        let mut other = SqliteConnection::connect(environment.url()).await?;
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?;
        // The second half of the file contains pages of documents; the pages of the schema stay
        // intact.
        let file = fs::OpenOptions::new()
            .write(true)
            .open(environment.folder().join("control.db"))?;
        let length = file.metadata()?.len();
        let broken = vec![0xA5; usize::try_from(length / 2)?];
        std::os::unix::fs::FileExt::write_all_at(&file, &broken, length / 2)?;
        let mut failed = 0;
        for at in 0..400 {
            let target = format!("/v1/sources/s/data/d{at}");
            let reply = send(&control, "admin", "GET", &target, "").await?;
            if reply.status.as_u16() == 500 {
                failed += 1;
                // The response does not contain the reason; only the log does.
                if !text(&reply).contains("the server failed") {
                    return Err(text(&reply).into());
                }
            }
        }
        if failed == 0 {
            return Err("no document was damaged".into());
        }
        health(&control, 500, "the database is damaged").await
    })
}

fn replaced(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        health(&control, 200, "{}").await?;
        let file = environment.folder().join("control.db");
        let away = environment.folder().join("away.db");
        fs::rename(&file, &away)?;
        health(&control, 500, "deleted or replaced").await?;
        fs::write(&file, "")?;
        health(&control, 500, "deleted or replaced").await?;
        fs::rename(&away, &file)?;
        health(&control, 200, "{}").await
    })
}

/// Concurrent health checks share one probe of the database per second.
fn probes_are_shared(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        let pool = environment.database().await?;
        let started = Instant::now();
        for _ in 0..20 {
            let probes = (0..50).map(|_| send(&control, "nobody", "GET", "/health", ""));
            for reply in futures_util::future::try_join_all(probes).await? {
                if reply.status.as_u16() != 200 {
                    return Err(text(&reply).into());
                }
            }
        }
        let row = sqlx::query("SELECT written FROM probes");
        let written: i64 = sqlx::Row::try_get(&row.fetch_one(&pool).await?, 0)?;
        let most = i64::try_from(started.elapsed().as_secs())? + 2;
        match (1..=most).contains(&written) {
            true => Ok(()),
            false => Err(format!("{written} probes for 1,000 requests").into()),
        }
    })
}

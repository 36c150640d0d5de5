//! Decision logs with a buffer on disk.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::environment::{Done, Environment, quick, until};
use crate::mock_services::{Fixture, bundle};
use crate::program::Program;

/// Returns a section `decision_logs` with a disk buffer in a folder.
fn logs(environment: &Environment, folder: &str, more: Value) -> Value {
    let mut reporting = quick();
    reporting["buffer_type"] = json!("disk");
    reporting["buffer_directory"] = json!(place(environment, folder));
    for (name, value) in more.as_object().into_iter().flatten() {
        reporting[name] = value.clone();
    }
    json!({"service": "depot", "reporting": reporting})
}

fn place(environment: &Environment, folder: &str) -> PathBuf {
    environment.folder.path().join(folder)
}

/// Returns the decision ids in all uploads after the first `since` ones, in order.
fn arrived(environment: &Environment, since: usize) -> Vec<String> {
    let uploads = environment.mock.seen("/logs").split_off(since);
    let events = uploads.into_iter().filter_map(|upload| match upload.body {
        Value::Array(events) => Some(events),
        _ => None,
    });
    let ids = events.flatten().map(|event| event["decision_id"].clone());
    ids.filter_map(|id| id.as_str().map(str::to_owned))
        .collect()
}

/// Waits until the uploads after the first `since` ones contain all decisions; returns the ids.
async fn until_all_arrive(
    environment: &Environment,
    since: usize,
    expected: &[String],
) -> Done<Vec<String>> {
    until("all decisions", || {
        let ids = arrived(environment, since);
        let there: BTreeSet<&String> = ids.iter().collect();
        expected.iter().all(|id| there.contains(id)).then_some(ids)
    })
    .await
}

/// Returns true if `expected` occurs in `ids` in the same order; other ids and repetitions are
/// ignored.
fn in_order(ids: &[String], expected: &[String]) -> bool {
    let first = |id: &String| ids.iter().position(|other| other == id);
    let places: Vec<_> = expected.iter().map(first).collect();
    places.iter().all(Option::is_some) && places.is_sorted()
}

fn client() -> Done<reqwest::Client> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    Ok(reqwest::Client::builder().no_proxy().build()?)
}

/// Requests a decision; returns the status and the decision id.
async fn decide(
    client: &reqwest::Client,
    address: SocketAddr,
    path: &str,
) -> Done<(u16, Option<String>)> {
    let url = format!("http://{address}/v1/data/{path}");
    let answer = client.get(url).send().await?;
    let status = answer.status().as_u16();
    let body: Value = serde_json::from_slice(&answer.bytes().await?)?;
    Ok((status, body["decision_id"].as_str().map(str::to_owned)))
}

/// Returns the contents of all files in a folder.
fn on_disk(folder: &Path) -> Done<Vec<u8>> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        bytes.extend(std::fs::read(entry?.path())?);
    }
    Ok(bytes)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_outlive_a_killed_process() -> Done {
    for sync in ["always", "interval", "never"] {
        let environment = Environment::new().await?;
        environment.mock.answer_posts(503);
        let config =
            json!({"decision_logs": logs(&environment, "spool", json!({"buffer_sync": sync}))});
        let (program, address) = Program::start(&environment, config.clone())?;
        let (killed, count) = (
            Arc::new(AtomicBool::new(false)),
            Arc::<AtomicUsize>::default(),
        );
        let client = client()?;
        let askers = (0..4).map(|_| {
            let (client, killed, count) = (client.clone(), Arc::clone(&killed), Arc::clone(&count));
            tokio::spawn(async move {
                let mut decision_ids = Vec::new();
                // The loop ends when the kill aborts a request.
                while let Ok((200, Some(id))) = decide(&client, address, "a").await {
                    decision_ids.push(id);
                    count.fetch_add(1, Ordering::Relaxed);
                }
                assert!(killed.load(Ordering::Relaxed), "it stopped before");
                decision_ids
            })
        });
        let askers: Vec<_> = askers.collect();
        until("many decisions", || {
            (count.load(Ordering::Relaxed) >= 400).then_some(())
        })
        .await?;
        killed.store(true, Ordering::Relaxed);
        program.kill()?;
        let refused = environment.mock.seen("/logs").len();
        environment.mock.answer_posts(200);
        let (_program, address) = Program::start(&environment, config)?;
        let (_, last) = decide(&client, address, "last").await?;
        let mut all: Vec<String> = last.into_iter().collect();
        let mut lists = Vec::new();
        for asker in askers {
            let decision_ids = asker.await?;
            all.extend(decision_ids.iter().cloned());
            lists.push(decision_ids);
        }
        assert!(all.len() > 400, "{}", all.len());
        let ids = until_all_arrive(&environment, refused, &all).await?;
        for decision_ids in lists {
            assert!(in_order(&ids, &decision_ids), "{sync}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_at_the_end_is_sent_by_the_next_process() -> Done {
    let environment = Environment::new().await?;
    environment.mock.answer_posts(503);
    let config = json!({"decision_logs": logs(&environment, "spool", json!({}))});
    let (mut program, address) = Program::start(&environment, config.clone())?;
    let client = client()?;
    let mut decision_ids = Vec::new();
    for path in ["a", "b", "c"] {
        decision_ids.extend(decide(&client, address, path).await?.1);
    }
    program.signal("TERM")?;
    assert!(program.0.wait()?.success());
    let refused = environment.mock.seen("/logs").len();
    environment.mock.answer_posts(200);
    // The next process gets no requests, and its first regular upload would be after an hour.
    let mut patient = config;
    patient["decision_logs"]["reporting"]["min_delay_seconds"] = json!(3600);
    patient["decision_logs"]["reporting"]["max_delay_seconds"] = json!(7200);
    let (_program, _) = Program::start(&environment, patient)?;
    assert_eq!(
        until_all_arrive(&environment, refused, &decision_ids).await?,
        decision_ids
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_do_not_share_a_directory() -> Done {
    let environment = Environment::new().await?;
    let config = json!({"decision_logs": logs(&environment, "spool", json!({}))});
    let (_program, _) = Program::start(&environment, config.clone())?;
    let refused = Program::start(&environment, config)
        .err()
        .ok_or("it started")?;
    let refused = refused.to_string();
    assert!(refused.contains("another process uses it"), "{refused}");
    Ok(())
}

#[tokio::test]
async fn what_is_masked_is_nowhere() -> Done {
    let mut environment = Environment::new().await?;
    let policy = r#"
        package system.log
        import rego.v1
        mask contains "/input/password"
        mask contains {"op": "upsert", "path": "/input/token", "value": "***"}
    "#;
    let rules = r#"
        package a
        import rego.v1
        fails := to_number(input.password)
        echo := sprintf("no %s, no %v", [input.password, input.token])
    "#;
    let files = [
        (".manifest", r#"{"roots": ["a", "system/log"]}"#),
        ("log.rego", policy),
        ("a.rego", rules),
    ];
    let fixture = Fixture::of(bundle(&files)?, "1");
    environment.mock.put("/bundles/rules", fixture);
    environment.mock.answer_posts(503);
    let bundles = json!({"rules": {"polling": quick()}});
    let config =
        json!({"bundles": bundles, "decision_logs": logs(&environment, "spool", json!({}))});
    environment.engine(config).await?;
    environment
        .wait_for("/health?bundles", |status, _| status == 200)
        .await?;
    let input = "%7B%22password%22:%22PWSECRET%22,%22token%22:987654321%7D";
    let failing = format!("/v1/data/a/fails?strict-builtin-errors&input={input}");
    let (status, answer) = environment.get(&failing).await?;
    assert_eq!(status, 500);
    assert!(answer.to_string().contains("PWSECRET"), "{answer}");
    let (_, echoed) = environment
        .get(&format!("/v1/data/a/echo?input={input}"))
        .await?;
    assert_eq!(echoed["result"], "no PWSECRET, no 987654321");
    let id = echoed["decision_id"].as_str().ok_or("no id")?;

    let folder = place(&environment, "spool");
    let written = on_disk(&folder)?;
    assert!(contains(&written, id) && contains(&written, "eval_builtin_error"));
    for secret in ["PWSECRET", "987654321"] {
        assert!(!contains(&written, secret), "{secret}");
    }
    let mode = |path: &Path| Ok::<_, std::io::Error>(path.metadata()?.permissions().mode() & 0o777);
    assert_eq!(mode(&folder)?, 0o700);
    for entry in std::fs::read_dir(&folder)? {
        assert_eq!(mode(&entry?.path())?, 0o600);
    }

    let refused = environment.mock.seen("/logs").len();
    environment.mock.answer_posts(200);
    until_all_arrive(&environment, refused, &[id.to_owned()]).await?;
    for upload in environment.mock.seen("/logs") {
        let text = upload.body.to_string();
        assert!(
            !text.contains("PWSECRET") && !text.contains("987654321"),
            "{text}"
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_buffer_drops_the_oldest_if_it_shall() -> Done {
    let environment = Environment::new().await?;
    environment.mock.answer_posts(503);
    let limit = json!({"buffer_disk_size_limit_bytes": 20_000, "buffer_full": "drop"});
    let config =
        json!({"decision_logs": logs(&environment, "spool", limit), "status": {"console": true}});
    let client = client()?;
    // The buffer is full by its configured limit, and by the limit of the operating system.
    for short_files in [false, true] {
        let mut config = config.clone();
        let (_program, address) = if short_files {
            let reporting = &mut config["decision_logs"]["reporting"];
            reporting["buffer_disk_size_limit_bytes"] = json!(1 << 30);
            reporting["buffer_directory"] = json!(place(&environment, "short"));
            Program::start_with_short_files(&environment, config, 32)?
        } else {
            Program::start(&environment, config)?
        };
        let mut decision_ids = Vec::new();
        for _ in 0..200 {
            let (status, id) = decide(&client, address, "a").await?;
            assert_eq!(status, 200);
            decision_ids.extend(id);
        }
        let (_, status) = crate::environment::get(address, "/v1/status").await?;
        let status = &status["result"];
        let buffer = &status["decision_logs"]["buffer"];
        let waiting = buffer["events"].as_u64().unwrap_or_default() as usize;
        let dropped = buffer["dropped"].as_u64().unwrap_or_default() as usize;
        assert!(waiting > 0 && dropped > 0, "{status}");
        assert_eq!(waiting + dropped, 200, "{status}");
        assert!(buffer["size_bytes"].as_u64() <= Some(20_000), "{status}");
        assert_eq!(
            status["metrics"]["prometheus"]["counter_decision_logs_dropped_buffer_size_limit_exceeded"],
            dropped
        );
        let refused = environment.mock.seen("/logs").len();
        environment.mock.answer_posts(200);
        let left = decision_ids.split_off(dropped);
        let ids = until_all_arrive(&environment, refused, &left).await?;
        assert!(in_order(&ids, &left));
        environment.mock.answer_posts(503);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_buffer_refuses_decisions_if_it_shall() -> Done {
    let environment = Environment::new().await?;
    let limit = json!({"buffer_disk_size_limit_bytes": 20_000, "buffer_full": "refuse"});
    let config =
        json!({"decision_logs": logs(&environment, "spool", limit), "status": {"console": true}});
    let client = client()?;
    for short_files in [false, true] {
        environment.mock.answer_posts(503);
        let mut config = config.clone();
        let (_program, address) = if short_files {
            let reporting = &mut config["decision_logs"]["reporting"];
            reporting["buffer_disk_size_limit_bytes"] = json!(1 << 30);
            reporting["buffer_directory"] = json!(place(&environment, "short"));
            Program::start_with_short_files(&environment, config, 32)?
        } else {
            Program::start(&environment, config)?
        };
        let mut decision_ids = Vec::new();
        while let (200, Some(id)) = decide(&client, address, "a").await? {
            decision_ids.push(id);
            assert!(decision_ids.len() < 500, "nothing is refused");
        }
        for path in ["/v1/data/a", "/v1/query?q=x=1", "/v0/data/system/version"] {
            let url = format!("http://{address}{path}");
            let answer = match path.starts_with("/v0") {
                true => client.post(url).body("{}").send().await?,
                false => client.get(url).send().await?,
            };
            assert_eq!(answer.status(), 503, "{path}");
            assert_eq!(answer.headers()["retry-after"], "1", "{path}");
            let body: Value = serde_json::from_slice(&answer.bytes().await?)?;
            assert_eq!(body["code"], "unavailable", "{path}");
            assert!(body["result"].is_null(), "{path}");
        }
        // Requests without a decision log still succeed.
        assert_eq!(
            client
                .get(format!("http://{address}/health"))
                .send()
                .await?
                .status(),
            200
        );
        let (_, status) = crate::environment::get(address, "/v1/status").await?;
        let buffer = &status["result"]["decision_logs"]["buffer"];
        assert_eq!(buffer["refused"], 4, "{status}");
        assert_eq!(buffer["failing"], true, "{status}");
        assert_eq!(buffer["events"], decision_ids.len(), "{status}");
        let refused = environment.mock.seen("/logs").len();
        environment.mock.answer_posts(200);
        let ids = until_all_arrive(&environment, refused, &decision_ids).await?;
        assert!(in_order(&ids, &decision_ids));
        let mut again = None;
        while again.is_none() {
            again = decide(&client, address, "a").await?.1;
        }
        until_all_arrive(&environment, refused, again.as_slice()).await?;
    }
    Ok(())
}

#[tokio::test]
async fn what_waits_is_sent_whatever_becomes_of_the_configuration() -> Done {
    let mut environment = Environment::new().await?;
    environment.mock.answer_posts(503);
    let memory = json!({"service": "depot", "reporting": quick()});
    let configs = [
        memory.clone(),
        logs(&environment, "one", json!({})),
        logs(
            &environment,
            "one",
            json!({"buffer_sync": "interval", "buffer_full": "refuse"}),
        ),
        logs(&environment, "two", json!({})),
        memory,
    ];
    let mut decision_ids = Vec::new();
    for logs in configs {
        let config = json!({"decision_logs": logs, "status": {"console": true}});
        match environment.running {
            None => environment.engine(config).await?,
            Some(_) => {
                environment.configure(config)?;
                environment.reload().await;
            }
        }
        let (_, answer) = environment.get("/v1/data/a").await?;
        decision_ids.extend(answer["decision_id"].as_str().map(str::to_owned));
    }
    assert_eq!(decision_ids.len(), 5);
    let refused = environment.mock.seen("/logs").len();
    environment.mock.answer_posts(200);
    until_all_arrive(&environment, refused, &decision_ids).await?;
    let buffer = |_, answer: &Value| answer["result"]["decision_logs"] == json!({});
    environment.wait_for("/v1/status", buffer).await?;
    // The locks of replaced buffer directories are released.
    for folder in ["one", "two"] {
        let lock = std::fs::File::open(place(&environment, folder).join("lock"))?;
        until("the lock", || lock.try_lock().ok()).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_directory_that_cannot_be_used_changes_nothing() -> Done {
    let mut environment = Environment::new().await?;
    std::fs::write(place(&environment, "file"), "")?;
    let section = logs(&environment, "file", json!({}));
    let refused = environment.engine(json!({"decision_logs": section})).await;
    let refused = refused.err().ok_or("it started")?.to_string();
    assert!(
        refused.contains("decision_logs: the buffer directory"),
        "{refused}"
    );
    let good = json!({"decision_logs": logs(&environment, "good", json!({}))});
    environment.engine(good).await?;
    environment.configure(json!({"decision_logs": section}))?;
    environment.reload().await;
    let (_, answer) = environment.get("/v1/data/a").await?;
    let id = answer["decision_id"].as_str().ok_or("no id")?.to_owned();
    until_all_arrive(&environment, 0, &[id]).await?;
    Ok(())
}

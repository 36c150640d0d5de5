//! Decision logs that are uploaded to a service.

use serde_json::{Value, json};

use crate::environment::{Done, Environment, quick, until};
use crate::mock_services::{Fixture, bundle};

/// Returns the events in all uploads to a path, in order.
fn events(environment: &Environment, path: &str) -> Vec<Value> {
    let uploads = environment.mock.seen(path).into_iter();
    let events = uploads.flat_map(|upload| match upload.body {
        Value::Array(events) => events,
        _ => Vec::new(),
    });
    events.collect()
}

#[tokio::test]
async fn decisions_are_uploaded_as_policies_want_them() -> Done {
    let mut environment = Environment::new().await?;
    let policy = r#"
        package system.log
        import rego.v1
        mask contains "/input/password"
        mask contains {"op": "upsert", "path": "/input/name", "value": "***"}
        mask contains "/result/secret"
        drop if input.path == "a/dropped"
    "#;
    let manifest = r#"{"revision": "r1", "roots": ["a", "system/log"]}"#;
    let data = r#"{"a": {"secret": 1, "open": 2, "dropped": 3}}"#;
    let files = [
        (".manifest", manifest),
        ("data.json", data),
        ("log.rego", policy),
    ];
    environment
        .mock
        .put("/bundles/rules", Fixture::of(bundle(&files)?, "1"));
    let context = json!({"http": {"headers": ["Accept"]}});
    let logs = json!({"service": "depot", "reporting": quick(), "request_context": context});
    environment
        .engine(json!({
            "bundles": {"rules": {"polling": quick()}},
            "decision_logs": logs,
            "nd_builtin_cache": true,
            "labels": {"region": "west"},
            "status": {"console": true},
        }))
        .await?;
    environment.wait_for_data("a/open", json!(2)).await?;
    let (_, dropped) = environment.get("/v1/data/a/dropped").await?;
    assert!(dropped["decision_id"].is_string());
    let input = "%7B%22password%22:%22x%22,%22name%22:%22bob%22,%22n%22:1%7D";
    let (_, answer) = environment
        .get(&format!("/v1/data/a?input={input}"))
        .await?;
    assert_eq!(answer["result"]["secret"], 1);
    let (_, queried) = environment
        .get("/v1/query?q=x%20:=%20time.now_ns()")
        .await?;
    let now = &queried["result"][0]["x"];
    assert!(now.is_number());
    let event = until("the event of the decision", || {
        let events = events(&environment, "/logs");
        let mut events = events.into_iter();
        events.find(|event| event["decision_id"] == answer["decision_id"])
    })
    .await?;
    for (name, expected) in [
        ("bundles", json!({"rules": {"revision": "r1"}})),
        ("path", json!("a")),
        ("input", json!({"name": "***", "n": 1})),
        ("result", json!({"dropped": 3, "open": 2})),
        ("erased", json!(["/input/password", "/result/secret"])),
        ("masked", json!(["/input/name"])),
        ("nd_builtin_cache", json!({})),
        (
            "request_context",
            json!({"http": {"headers": {"Accept": ["*/*"]}}}),
        ),
    ] {
        assert_eq!(event[name], expected, "{name}");
    }
    assert_eq!(event["labels"]["region"], "west");
    assert!(event["labels"]["id"].is_string());
    assert!(event["metrics"]["timer_rego_query_eval_ns"].is_number());
    let by = event["requested_by"].as_str().unwrap_or_default();
    assert!(by.starts_with("127.0.0.1:"), "{by}");
    let time = event["timestamp"].as_str().unwrap_or_default();
    assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    let queries = || {
        let events = events(&environment, "/logs");
        events.into_iter().find(|event| event["query"].is_string())
    };
    let query = until("the event of the query", queries).await?;
    assert_eq!(query["result"], json!([{"x": now}]));
    let calls = json!({"time.now_ns": {"[]": now}});
    assert_eq!(query["nd_builtin_cache"], calls);
    let paths = events(&environment, "/logs");
    assert!(paths.iter().all(|event| event["path"] != "a/dropped"));
    let upload = environment.mock.seen("/logs").remove(0);
    assert_eq!(upload.header("content-encoding"), Some("gzip"));
    assert_eq!(upload.header("content-type"), Some("application/json"));
    Ok(())
}

#[tokio::test]
async fn a_policy_that_cannot_be_asked_lets_nothing_out() -> Done {
    let mut environment = Environment::new().await?;
    let policy =
        "package system.log\nimport rego.v1\nmask := [\"/labels/id\"] if input.path == \"a\"\n";
    let manifest = r#"{"roots": ["system/log"]}"#;
    let files = [(".manifest", manifest), ("log.rego", policy)];
    environment
        .mock
        .put("/bundles/rules", Fixture::of(bundle(&files)?, "1"));
    let logs = json!({"service": "depot", "reporting": quick()});
    environment
        .engine(json!({
            "bundles": {"rules": {"polling": quick()}},
            "decision_logs": logs,
            "status": {"prometheus": true},
        }))
        .await?;
    environment
        .wait_for("/health?bundles", |status, _| status == 200)
        .await?;
    environment.get("/v1/data/a").await?;
    environment.get("/v1/data/b").await?;
    only_the_second_is_logged(&environment).await
}

/// Asserts that of two decisions, the event of the first was dropped and counted, and that of the
/// second, about `b`, was uploaded.
async fn only_the_second_is_logged(environment: &Environment) -> Done {
    let first = until("an event", || {
        events(environment, "/logs").into_iter().next()
    })
    .await?;
    assert_eq!(first["path"], "b");
    let metrics = environment.text("/metrics").await?;
    assert!(
        metrics.contains("decision_logs_dropped_mask_failed_total 1"),
        "{metrics}"
    );
    Ok(())
}

/// A mask can insert a value that is small in memory because of shared parts, but huge as JSON. The
/// buffer limit applies to its size as JSON.
#[tokio::test]
async fn what_masks_put_into_events_is_charged() -> Done {
    masked_by_a_shared_value(json!({}), 200).await?;
    let disk = json!({"buffer_type": "disk", "buffer_full": "refuse"});
    masked_by_a_shared_value(disk, 503).await
}

/// Asserts the status of a decision with such a mask, for a kind of buffer.
async fn masked_by_a_shared_value(buffer: Value, masked: u16) -> Done {
    let mut environment = Environment::new().await?;
    let mut policy = "package system.log\nv0 := [1]\n".to_owned();
    for level in 1..=60 {
        let below = level - 1;
        policy += &format!("v{level} := [v{below}, v{below}]\n");
    }
    policy += r#"mask contains {"op": "upsert", "path": "/input/secret", "value": v60} if input.path == "a""#;
    let manifest = r#"{"roots": ["system/log"]}"#;
    let files = [(".manifest", manifest), ("log.rego", &policy)];
    environment
        .mock
        .put("/bundles/rules", Fixture::of(bundle(&files)?, "1"));
    let mut reporting = quick();
    for (name, value) in buffer.as_object().into_iter().flatten() {
        reporting[name] = value.clone();
        reporting["buffer_directory"] = json!(environment.folder.path().join("decisions"));
    }
    let logs = json!({"service": "depot", "console": true, "reporting": reporting});
    environment
        .engine(json!({
            "bundles": {"rules": {"polling": quick()}},
            "decision_logs": logs,
            "status": {"prometheus": true},
        }))
        .await?;
    environment
        .wait_for("/health?bundles", |status, _| status == 200)
        .await?;
    let input = "input=%7B%22secret%22:%22abcdef%22%7D";
    for (path, expected) in [("a", masked), ("b", 200)] {
        let (status, _) = environment.get(&format!("/v1/data/{path}?{input}")).await?;
        assert_eq!(status, expected, "{path}");
    }
    only_the_second_is_logged(&environment).await
}

#[tokio::test]
async fn uploads_stay_below_their_limit_and_survive_failures() -> Done {
    let mut environment = Environment::new().await?;
    let mut reporting = quick();
    reporting["upload_size_limit_bytes"] = json!(600);
    let logs = json!({"service": "depot", "resource": "/own/logs", "reporting": reporting});
    environment.mock.answer_posts(503);
    environment
        .engine(json!({"decision_logs": logs, "status": {"console": true}}))
        .await?;
    let mut decision_ids = Vec::new();
    for number in 0..40 {
        let (_, answer) = environment
            .get(&format!("/v1/data/number/{number}"))
            .await?;
        decision_ids.push(answer["decision_id"].clone());
    }
    // An event larger than an upload is dropped; the following events are uploaded.
    let long: String = (0..3000_u32)
        .map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761)))
        .collect();
    environment.get(&format!("/v1/data/{long}")).await?;
    let failed = |_, answer: &Value| {
        let status = &answer["result"]["decision_logs"];
        status["http_code"] == 503 && status["code"] == "decision_log_error"
    };
    environment.wait_for("/v1/status", failed).await?;
    let refused = environment.mock.seen("/own/logs").len();
    environment.mock.answer_posts(200);
    let (_, last) = environment.get("/v1/data/last").await?;
    decision_ids.push(last["decision_id"].clone());
    let accepted = || {
        let seen = environment.mock.seen("/own/logs").split_off(refused);
        let events = seen.iter().filter_map(|upload| upload.body.as_array());
        let ids: Vec<Value> = events
            .flatten()
            .map(|event| event["decision_id"].clone())
            .collect();
        ids.contains(&last["decision_id"]).then_some(ids)
    };
    let mut ids = until("the last event", accepted).await?;
    // The server may have refused a request while the status changed, so some ids may be repeated.
    ids.dedup();
    assert!(decision_ids.iter().all(|id| ids.contains(id)), "{ids:?}");
    for upload in environment.mock.seen("/own/logs") {
        assert!(upload.length <= 600, "{}", upload.length);
    }
    let fine = |_, answer: &Value| answer["result"]["decision_logs"] == json!({});
    let answer = environment.wait_for("/v1/status", fine).await?;
    let counters = &answer["result"]["metrics"]["prometheus"];
    assert_eq!(
        counters["counter_enc_log_exceeded_upload_size_limit_bytes"],
        1
    );
    assert_ne!(counters["counter_decision_logs_chunks_upload_failed"], 0);
    Ok(())
}

#[tokio::test]
async fn a_full_buffer_drops_the_oldest_and_what_is_left_is_sent_at_the_end() -> Done {
    let mut environment = Environment::new().await?;
    let reporting = json!({"buffer_type": "event", "buffer_size_limit_events": 2});
    let logs = json!({"service": "depot", "partition_name": "part", "reporting": reporting});
    environment
        .engine(json!({"decision_logs": logs, "status": {"console": true}}))
        .await?;
    for path in ["a", "b", "c"] {
        environment.get(&format!("/v1/data/{path}")).await?;
    }
    let status = environment.status().await?;
    let counters = &status["metrics"]["prometheus"];
    assert_eq!(
        counters["counter_decision_logs_dropped_buffer_size_limit_exceeded"],
        1
    );
    assert!(environment.mock.seen("/logs/part").is_empty());
    environment.stop().await;
    let events = events(&environment, "/logs/part");
    let paths: Vec<&Value> = events.iter().map(|event| &event["path"]).collect();
    assert_eq!(paths, ["b", "c"]);
    Ok(())
}

#[tokio::test]
async fn what_fills_an_upload_is_sent_at_once() -> Done {
    let mut environment = Environment::new().await?;
    let reporting = json!({
        "trigger": "immediate",
        "upload_size_limit_bytes": 1000,
        "min_delay_seconds": 3600,
        "max_delay_seconds": 3600,
    });
    let logs = json!({"service": "depot", "reporting": reporting});
    environment.engine(json!({"decision_logs": logs})).await?;
    for number in 0..20 {
        environment
            .get(&format!("/v1/data/number/{number}"))
            .await?;
    }
    let sent = || Some(events(&environment, "/logs")).filter(|events| !events.is_empty());
    until("an upload", sent).await?;
    Ok(())
}

#[tokio::test]
async fn too_many_decisions_in_a_second_are_dropped() -> Done {
    let mut environment = Environment::new().await?;
    let reporting = json!({"max_decisions_per_second": 0.001});
    let logs = json!({"service": "depot", "reporting": reporting});
    environment.engine(json!({"decision_logs": logs})).await?;
    for path in ["a", "b", "c"] {
        environment.get(&format!("/v1/data/{path}")).await?;
    }
    environment.stop().await;
    let events = events(&environment, "/logs");
    let paths: Vec<&Value> = events.iter().map(|event| &event["path"]).collect();
    assert_eq!(paths, ["a"]);
    Ok(())
}

#[tokio::test]
async fn what_functions_answered_is_left_out_where_there_is_no_room() -> Done {
    let mut environment = Environment::new().await?;
    let policy = r#"
        package a
        import rego.v1
        few := rand.intn("few", 10) >= 0
        many := count([n |
            some i in numbers.range(1, 400)
            n := rand.intn(sprintf("%d", [(i * 2654435761) % 4294967296]), 1000000)
        ])
    "#;
    let files = [(".manifest", r#"{"roots": ["a"]}"#), ("a.rego", policy)];
    environment
        .mock
        .put("/bundles/rules", Fixture::of(bundle(&files)?, "1"));
    let mut reporting = quick();
    reporting["upload_size_limit_bytes"] = json!(800);
    environment
        .engine(json!({
            "bundles": {"rules": {"polling": quick()}},
            "decision_logs": {"service": "depot", "reporting": reporting},
            "nd_builtin_cache": true,
            "status": {"console": true},
        }))
        .await?;
    environment.wait_for_data("a/few", json!(true)).await?;
    assert_eq!(environment.data("a/many").await?, 400);
    environment.stop().await;
    let events = events(&environment, "/logs");
    let event = |path: &str| {
        let mut events = events.iter();
        let event = events.find(|event| event["path"] == path && !event["result"].is_null());
        event.ok_or(format!("{path} is not logged"))
    };
    let few = event("a/few")?;
    assert!(few["nd_builtin_cache"]["rand.intn"].is_object(), "{few}");
    let many = event("a/many")?;
    assert_eq!(many["result"], 400);
    assert_eq!(many["nd_builtin_cache"], Value::Null);
    Ok(())
}

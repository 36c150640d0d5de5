//! Status reports of the engine.

use rstest::rstest;
use serde_json::{Value, json};

use crate::environment::{Done, Environment, quick, until};
use crate::mock_services::{Fixture, bundle};

#[tokio::test]
async fn the_service_is_told_what_the_api_shows() -> Done {
    let mut environment = Environment::new().await?;
    let archive = bundle(&[(".manifest", r#"{"revision": "r1", "roots": ["a"]}"#)])?;
    let size = archive.len();
    environment
        .mock
        .put("/bundles/rules", Fixture::of(archive, "1"));
    environment
        .engine(json!({
            "bundles": {"rules": {"polling": quick()}},
            "status": {"service": "depot", "partition_name": "part"},
            "labels": {"region": "west"},
        }))
        .await?;
    let uploaded = until("a report of the activation", || {
        let seen = environment.mock.seen("/status/part").into_iter();
        let mut reports = seen.map(|seen| seen.body);
        reports.find(|report| report["plugins"]["bundle"]["state"] == "OK")
    })
    .await?;
    let served = environment.status().await?;
    for report in [uploaded, served] {
        assert_eq!(report["labels"]["region"], "west");
        assert!(report["labels"]["id"].is_string() && report["labels"]["version"].is_string());
        let status = &report["bundles"]["rules"];
        assert_eq!(status["name"], "rules");
        assert_eq!(status["active_revision"], "r1");
        assert_eq!(status["type"], "snapshot");
        assert_eq!(status["size"], size);
        for name in [
            "last_request",
            "last_successful_request",
            "last_successful_download",
            "last_successful_activation",
        ] {
            let time = status[name].as_str().unwrap_or_default();
            assert!(
                time.starts_with("20") && time.ends_with('Z'),
                "{name}: {time}"
            );
        }
        assert!(status["metrics"]["timer_bundle_request_ns"].is_number());
        let fine = json!({"state": "OK"});
        let plugins = json!({"bundle": fine, "discovery": fine, "status": fine});
        assert_eq!(report["plugins"], plugins);
        assert!(report["metrics"].is_object());
    }
    Ok(())
}

#[tokio::test]
async fn a_report_that_could_not_be_sent_is_sent_later() -> Done {
    let mut environment = Environment::new().await?;
    environment.mock.answer_posts(500);
    environment
        .engine(json!({"status": {"service": "depot"}}))
        .await?;
    let refused = until("a report", || {
        Some(environment.mock.seen("/status").len()).filter(|n| *n > 0)
    });
    let refused = refused.await?;
    until("another try", || {
        (environment.mock.seen("/status").len() > refused).then_some(())
    })
    .await?;
    environment.mock.answer_posts(200);
    environment.stop().await;
    let seen = environment.mock.seen("/status");
    let last = seen
        .last()
        .map(|seen| seen.body["plugins"]["status"]["state"].clone());
    assert_eq!(last, Some(json!("OK")));
    Ok(())
}

#[rstest]
#[case::nothing(json!({}), 500)]
#[case::no_service(json!({"services": {}, "status": {}}), 500)]
#[case::default(json!({"status": {}}), 200)]
#[case::console(json!({"status": {"console": true}}), 200)]
#[case::prometheus(json!({"status": {"prometheus": true}}), 200)]
#[tokio::test]
async fn nothing_is_shown_where_nobody_is_told(#[case] config: Value, #[case] status: u16) -> Done {
    let environment = Environment::start(config).await?;
    assert_eq!(environment.get("/v1/status").await?.0, status);
    Ok(())
}

#[tokio::test]
async fn health_rules_see_the_plugins() -> Done {
    let mut environment = Environment::new().await?;
    let policy = r#"
        package system.health
        import rego.v1
        ready if input.plugins_ready
        states if input.plugin_state == {"bundle": "OK", "discovery": "OK"}
        waits if input.plugin_state == {"bundle": "NOT_READY", "discovery": "OK"}
        waits_not if not input.plugins_ready
    "#;
    let source = |name: &str| json!({"resource": name, "polling": quick()});
    environment.mock.put(
        "/health",
        Fixture::of(
            bundle(&[
                (".manifest", r#"{"roots": ["system/health"]}"#),
                ("h.rego", policy),
            ])?,
            "1",
        ),
    );
    environment
        .engine(json!({"bundles": {"health": source("health"), "rules": source("rules")}}))
        .await?;
    environment
        .wait_for("/health/waits", |status, _| status == 200)
        .await?;
    for (rule, status) in [("waits_not", 200), ("ready", 500), ("states", 500)] {
        assert_eq!(
            environment.get(&format!("/health/{rule}")).await?.0,
            status,
            "{rule}"
        );
    }
    let archive = bundle(&[(".manifest", r#"{"roots": ["a"]}"#)])?;
    environment.mock.put("/rules", Fixture::of(archive, "1"));
    environment
        .wait_for("/health/ready", |status, _| status == 200)
        .await?;
    for (rule, status) in [("states", 200), ("waits", 500), ("waits_not", 500)] {
        let answer: (u16, Value) = environment.get(&format!("/health/{rule}")).await?;
        assert_eq!(answer.0, status, "{rule}");
    }
    Ok(())
}

#[tokio::test]
async fn prometheus_is_told_if_the_configuration_says_so() -> Done {
    let mut environment = Environment::new().await?;
    let archive = bundle(&[(".manifest", r#"{"revision": "r1", "roots": ["a"]}"#)])?;
    environment.mock.put("/good", Fixture::of(archive, "1"));
    let source = |name: &str| json!({"resource": name, "polling": quick()});
    let collectors = json!({"bundle_loading_duration_ns": {"buckets": [1, 9e15]}});
    let config = |prometheus: bool| {
        json!({
            "bundles": {"good": source("good"), "missing": source("missing")},
            "decision_logs": {"service": "depot", "reporting": {"buffer_type": "event"}},
            "status": {
                "prometheus": prometheus,
                "console": true,
                "prometheus_config": {"collectors": collectors},
            },
        })
    };
    environment.engine(config(true)).await?;
    environment
        .wait_for("/v1/status", |_, answer| {
            let bundles = &answer["result"]["bundles"];
            bundles["good"]["active_revision"] == "r1" && bundles["missing"]["http_code"] == 404
        })
        .await?;
    environment.data("a").await?;
    let expected = [
        "opa_info{version=",
        "plugin_status_gauge{name=\"status\",status=\"OK\"} 1",
        "plugin_status_gauge{name=\"bundle\",status=\"NOT_READY\"} 1",
        "bundle_loaded_counter{name=\"good\"} ",
        "bundle_failed_load_counter{name=\"missing\",code=\"bundle_error\",message=\"server replied with Not Found\"} ",
        "last_bundle_request{name=\"missing\"} 1",
        "last_success_bundle_request{name=\"missing\"} -6795364578871345000",
        "last_success_bundle_activation{name=\"good\",active_revision=\"r1\"} 1",
        "bundle_loading_duration_ns_bucket{le=\"1.0\",name=\"good\",stage=\"timer_bundle_request_ns\"} 0",
        "bundle_loading_duration_ns_bucket{le=\"9000000000000000.0\",name=\"good\",stage=\"timer_bundle_request_ns\"} ",
        "decision_logs_status_gauge{code=\"\",http_code=\"\"} 1",
        "decision_logs_chunks_uploaded_total 0",
        "decision_logs_buffer_size_events 1",
        "http_request_duration_seconds_count{",
    ];
    environment
        .wait_for_text("/metrics", |text| {
            expected.iter().all(|part| text.contains(part))
        })
        .await?;
    let text = environment.text("/metrics").await?;
    assert!(
        text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1,
        "{text}"
    );
    assert!(!text.contains("buffer_size_bytes"), "{text}");

    environment.configure(config(false))?;
    environment.reload().await;
    let text = environment.text("/metrics").await?;
    assert!(!text.contains("bundle"), "{text}");
    Ok(())
}

#[tokio::test]
async fn durations_of_requests_are_counted_as_configured() -> Done {
    let durations = |buckets: Value| {
        let prom = json!({"http_request_duration_seconds": {"buckets": buckets}});
        json!({"server": {"metrics": {"prom": prom}}})
    };
    let environment = Environment::start(durations(json!([0.25, 2.5]))).await?;
    environment.get("/v1/data").await?;
    let text = environment.text("/metrics").await?;
    for (bound, there) in [("0.25", true), ("2.5", true), ("0.1", false)] {
        assert_eq!(text.contains(&format!("le=\"{bound}\"")), there, "{bound}");
    }
    let refused = Environment::start(durations(json!([2, 1]))).await;
    let reason = refused
        .err()
        .map(|reason| reason.to_string())
        .unwrap_or_default();
    assert!(reason.contains("must increase"), "{reason}");
    Ok(())
}

//! Export of spans to collectors, and failures of collectors.

use std::net::TcpListener;

use reference::start;
use serde_json::{Value, json};

use crate::certificates;
use crate::collector::{CallStatus, Collector};
use crate::environment::{Done, Environment, HANG_LIMIT, get, until};
use crate::tracing::sent_to;

/// Returns options that export spans only when the engine stops or is reconfigured.
fn late() -> Value {
    json!({"batch_timeout_ms": 3_600_000})
}

/// Returns the number of received spans of served requests.
fn served(collector: &Collector) -> Done<usize> {
    let spans = collector.spans()?;
    let served = spans.iter().filter(|sent| sent.span.kind == 2);
    Ok(served.count())
}

#[tokio::test]
async fn spans_come_over_http_and_grpc_with_and_without_tls() -> Done {
    let mut environment = Environment::new().await?;
    let folder = environment.folder.path().to_owned();
    let file = |name: &str| folder.join(name);
    for kind in ["http", "grpc"] {
        for encryption in ["off", "tls", "mtls"] {
            let secure = encryption != "off";
            let tls = certificates::server(&folder, encryption == "mtls")?;
            let collector = Collector::start_with(secure.then_some(tls)).await?;
            let port = collector.address.port();
            let mut section = json!({
                "type": kind,
                "address": format!("localhost:{port}"),
                "encryption": encryption,
            });
            if secure {
                section["tls_ca_cert_file"] = json!(file("server.pem"));
            }
            if encryption == "mtls" {
                section["tls_cert_file"] = json!(file("client.pem"));
                section["tls_private_key_file"] = json!(file("client.key"));
            }
            let config = json!({"distributed_tracing": section});
            environment.engine(config).await?;
            environment.get("/v1/data/a").await?;
            environment.stop().await;
            let spans = collector.spans()?;
            assert_eq!(spans.len(), 1, "{kind} {encryption}");
            assert_eq!(spans[0].span.name, "GET /v1/data/{path...}");
            assert_eq!(spans[0].resource["service.name"], "opa");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_collector_that_is_not_trusted_gets_nothing() -> Done {
    let mut environment = Environment::new().await?;
    let folder = environment.folder.path().to_owned();
    let tls = certificates::server(&folder, false)?;
    let collector = Collector::start_with(Some(tls)).await?;
    let address = format!("localhost:{}", collector.address.port());
    for (more, expected) in [
        (json!({}), 0),
        (json!({"tls_ca_cert_file": folder.join("client.pem")}), 0),
        (json!({"allow_insecure_tls": true}), 1),
    ] {
        let mut section = sent_to(&collector, more.clone());
        section["address"] = json!(address);
        section["encryption"] = json!("tls");
        let config = json!({"distributed_tracing": section});
        environment.engine(config).await?;
        environment.get("/v1/data/a").await?;
        environment.stop().await;
        assert_eq!(collector.spans()?.len(), expected, "{more}");
    }
    Ok(())
}

#[tokio::test]
async fn the_status_of_a_call_says_whether_it_is_made_again() -> Done {
    let mut environment = Environment::new().await?;
    for (status, calls) in [
        (CallStatus::Trailer("0"), 1),
        (CallStatus::Trailer("14"), 2),
        (CallStatus::Trailer("3"), 1),
        (CallStatus::Head("14"), 2),
        (CallStatus::Head("3"), 1),
    ] {
        let collector = Collector::start().await?;
        collector.answer_calls(&[status]);
        let grpc = json!({"type": "grpc", "batch_span_processor_options": late()});
        let config = json!({"distributed_tracing": sent_to(&collector, grpc)});
        environment.engine(config).await?;
        environment.get("/v1/data/a").await?;
        environment.stop().await;
        assert_eq!(collector.requests(), calls, "{status:?}");
        assert_eq!(served(&collector)?, calls, "{status:?}");
    }
    Ok(())
}

#[tokio::test]
async fn full_batches_are_sent_and_the_rest_at_the_end() -> Done {
    let collector = Collector::start().await?;
    let mut batches = late();
    batches["max_export_batch_size"] = json!(10);
    let section = sent_to(&collector, json!({"batch_span_processor_options": batches}));
    let mut environment = Environment::start(json!({"distributed_tracing": section})).await?;
    for _ in 0..9 {
        environment.get("/v1/data/a").await?;
    }
    assert_eq!(collector.requests(), 0);
    for _ in 0..4 {
        environment.get("/v1/data/a").await?;
    }
    until("a batch", || (collector.requests() > 0).then_some(())).await?;
    environment.stop().await;
    assert_eq!(collector.spans()?.len(), 13);
    Ok(())
}

#[tokio::test]
async fn a_new_configuration_names_another_collector() -> Done {
    let (first, second) = (Collector::start().await?, Collector::start().await?);
    let mut environment = Environment::start(json!({})).await?;
    environment.get("/v1/data/a").await?;
    let of = |collector| {
        let batches = json!({"batch_span_processor_options": late()});
        json!({"distributed_tracing": sent_to(collector, batches)})
    };
    // Pending spans are exported when tracing is turned off or another collector is configured.
    for (config, collector) in [
        (of(&first), &first),
        (of(&second), &second),
        (of(&first), &first),
    ] {
        let before = served(collector)?;
        environment.configure(config)?;
        environment.reload().await;
        environment.get("/v1/data/b").await?;
        environment.configure(json!({}))?;
        environment.reload().await;
        let came = || match served(collector) {
            Ok(now) => (now > before).then_some(Ok(now)),
            Err(error) => Some(Err(error)),
        };
        assert_eq!(until("the span", came).await??, before + 1);
    }
    // A configuration that cannot be applied changes nothing.
    environment.configure(of(&second))?;
    environment.reload().await;
    let mut wrong = of(&first);
    wrong["distributed_tracing"]["tls_ca_cert_file"] = json!("/none");
    environment.configure(wrong)?;
    environment.reload().await;
    environment.get("/v1/data/c").await?;
    environment.stop().await;
    assert_eq!((served(&first)?, served(&second)?), (2, 2));
    Ok(())
}

#[tokio::test]
async fn certificates_are_read_again_with_the_configuration() -> Done {
    let mut environment = Environment::new().await?;
    let folder = environment.folder.path().to_owned();
    let tls = certificates::server(&folder, false)?;
    let collector = Collector::start_with(Some(tls)).await?;
    let (trusted, server) = (folder.join("trusted.pem"), folder.join("server.pem"));
    std::fs::copy(folder.join("client.pem"), &trusted)?;
    let mut section = sent_to(&collector, json!({"tls_ca_cert_file": trusted}));
    section["address"] = json!(format!("localhost:{}", collector.address.port()));
    section["encryption"] = json!("tls");
    environment
        .engine(json!({"distributed_tracing": section}))
        .await?;
    std::fs::copy(server, &trusted)?;
    environment.reload().await;
    environment.get("/v1/data/a").await?;
    environment.stop().await;
    assert_eq!(served(&collector)?, 1);
    Ok(())
}

#[tokio::test]
async fn nothing_waits_for_a_collector_that_does_not_answer() -> Done {
    let silent = TcpListener::bind("127.0.0.1:0")?;
    let hangs = silent.local_addr()?.to_string();
    // Connections to port 1 are refused.
    let refuses = "127.0.0.1:1".to_owned();
    let environment = Environment::new().await?;
    for address in [hangs, refuses] {
        for kind in ["http", "grpc"] {
            let section = json!({
                "type": kind,
                "address": address,
                "batch_span_processor_options": {
                    "batch_timeout_ms": 1,
                    "export_timeout_ms": 3_600_000,
                    "max_queue_size": 4,
                    "max_export_batch_size": 2,
                },
            });
            let file = environment.configure(json!({"distributed_tracing": section}))?;
            let file = file.to_string_lossy().into_owned();
            let args = ["engine", "--addr", "127.0.0.1:0", "--config-file", &file];
            let args = args.into_iter().chain(["--shutdown-grace-period", "1"]);
            let running = start(args.map(str::to_owned)).await?;
            let engine = running.engine.ok_or("no address")?;
            for _ in 0..50 {
                assert_eq!(get(engine, "/v1/data/a").await?.0, 200);
            }
            let ended = tokio::time::timeout(HANG_LIMIT, running.shutdown()).await;
            assert!(
                ended.is_ok(),
                "{address} {kind}: the server waits for its collector"
            );
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_used_stops_the_start() -> Done {
    let environment = Environment::new().await?;
    let folder = environment.folder.path();
    certificates::server(folder, false)?;
    std::fs::write(folder.join("empty.pem"), "none\n")?;
    let (empty, key) = (folder.join("empty.pem"), folder.join("client.key"));
    let batches = |name: &str, value: i64| json!({"type": "grpc", "batch_span_processor_options": {name: value}});
    for (section, reason) in [
        (json!({"type": "jaeger"}), "unknown variant `jaeger`"),
        (
            json!({"type": "grpc", "encryption": "x"}),
            "unknown variant `x`",
        ),
        (
            json!({"type": "grpc", "encryption": "mtls"}),
            "needs `tls_cert_file`",
        ),
        (
            json!({"type": "grpc", "tls_cert_file": key}),
            "must be set together",
        ),
        (
            json!({"type": "grpc", "tls_private_key_file": key}),
            "must be set together",
        ),
        (
            json!({"type": "grpc", "tls_ca_cert_file": "/none"}),
            "file `/none`",
        ),
        (
            json!({"type": "grpc", "tls_ca_cert_file": empty}),
            "no certificate",
        ),
        (
            json!({"type": "grpc", "tls_cert_file": empty, "tls_private_key_file": key}),
            "`tls_cert_file`",
        ),
        (
            json!({"sample_percentage": 101}),
            "`sample_percentage` must be",
        ),
        (
            json!({"sample_percentage": -1}),
            "`sample_percentage` must be",
        ),
        (json!({"exclude_paths": ["["]}), "`exclude_paths`: `[`"),
        (
            json!({"type": "http", "address": "http://c:1"}),
            "`address` must be",
        ),
        (
            json!({"type": "http", "address": "c:1/path"}),
            "`address` must be",
        ),
        (
            json!({"type": "http", "address": "user@c:1"}),
            "`address` must be",
        ),
        (batches("batch_timeout_ms", 0), "`batch_timeout_ms` must be"),
        (
            batches("export_timeout_ms", -1),
            "`export_timeout_ms` must be",
        ),
        (batches("max_queue_size", 0), "`max_queue_size` must be"),
        (
            batches("max_export_batch_size", 1_000_000),
            "`max_export_batch_size` must be",
        ),
        (json!([]), "expected an object"),
    ] {
        let file = environment.configure(json!({"distributed_tracing": section}))?;
        let file = file.to_string_lossy().into_owned();
        let args = ["engine", "--addr", "127.0.0.1:0", "--config-file", &file];
        let refused = start(args.map(str::to_owned)).await.err();
        let refused = refused.ok_or_else(|| format!("{section} is taken"))?;
        assert!(refused.to_string().contains(reason), "{section}: {refused}");
    }
    Ok(())
}

//! Flags of `opa run --server`, as docs/opa-options.md lists them.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use reference::start;
use rstest::rstest;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::environment::{Done, Environment, HANG_LIMIT, get, quick, until};
use crate::mock_services::{Fixture, bundle};
use crate::program::Program;
use crate::started::Started;

/// Flags in the output of `opa run --help` of OPA 1.22.0.
const FLAGS: &[&str] = &[
    "addr",
    "authentication",
    "authorization",
    "bundle",
    "config-file",
    "diagnostic-addr",
    "exclude-files-verify",
    "format",
    "h2c",
    "help",
    "history",
    "ignore",
    "log-format",
    "log-level",
    "log-level-request",
    "log-timestamp-format",
    "max-errors",
    "min-tls-version",
    "optimize-store-for-read-speed",
    "pprof",
    "ready-timeout",
    "scope",
    "server",
    "set",
    "set-file",
    "shutdown-grace-period",
    "shutdown-wait-period",
    "signing-alg",
    "skip-known-schema-check",
    "skip-verify",
    "skip-version-check",
    "tls-ca-cert-file",
    "tls-cert-file",
    "tls-cert-refresh-period",
    "tls-cipher-suites",
    "tls-private-key-file",
    "unix-socket-perm",
    "v0-compatible",
    "verification-key",
    "verification-key-id",
    "watch",
    "watch-config",
];

/// Row of the table in `docs/opa-options.md`.
struct Row {
    name: String,
    has_effect: bool,
    /// Arguments with which the flag is tested.
    arguments: String,
}

/// Parses the table of flags in `docs/opa-options.md`.
fn rows() -> Done<Vec<Row>> {
    let page = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/opa-options.md"
    ))?;
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, flag, becomes, _, arguments, _] = cells.as_slice() else {
            return None;
        };
        let name = flag.split("`--").nth(1)?.trim_end_matches('`');
        Some(Row {
            name: name.to_owned(),
            has_effect: *becomes == "served",
            arguments: arguments.trim_matches('`').to_owned(),
        })
    });
    Ok(rows.collect())
}

/// Creates a folder with the files that [`Row::arguments`] name.
fn folder() -> Done<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text);
    fs::create_dir(folder.path().join("policies"))?;
    write("policies/p.rego", "package p\n\nx := 1\n")?;
    write("config.json", "{}")?;
    write("region", "west\n")?;
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    write("cert.pem", &certificate.cert.pem())?;
    write("key.pem", &certificate.signing_key.serialize_pem())?;
    Ok(folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_may_stand_in_the_environment() -> Done {
    let environment = Environment::new().await?;
    let variables = [
        ("OPA_RUN_SET", "labels.from=environment"),
        // A flag on the command line takes precedence over its variable.
        ("OPA_RUN_ADDR", "nowhere:0"),
        ("OPA_RUN_AUTHORIZATION", ""),
    ];
    let variables = variables.map(|(name, value)| (name, value.to_owned()));
    let (_program, address) = Program::start_within(&environment, json!({}), &variables)?;
    let (_, answer) = get(address, "/v1/config").await?;
    assert_eq!(answer["result"]["labels"]["from"], "environment");
    Ok(())
}

#[test]
fn every_flag_of_opa_is_taken_as_the_page_says() -> Done {
    let rows = rows()?;
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, FLAGS);
    let folder = folder()?;
    let place = folder.path().to_string_lossy().into_owned();
    for row in rows {
        let arguments = row.arguments.replace("{dir}", &place);
        let mut arguments: Vec<&str> = arguments.split(' ').collect();
        if !arguments.contains(&"--addr") {
            arguments.extend(["--addr", "127.0.0.1:0"]);
        }
        let flag = format!("--{}", row.name);
        assert!(arguments.contains(&&*flag), "{arguments:?}");
        let mut engine = Started::engine(&arguments)?;
        if row.name == "help" {
            assert!(engine.ended()?.success());
            continue;
        }
        assert!(
            engine.wait_for_log("the engine is listening")?,
            "{flag}: {}",
            engine.log()
        );
        let is_reported = engine
            .events("these flags have no effect")
            .into_iter()
            .any(|event| {
                let flags = event["flags"].as_str().unwrap_or_default();
                flags.split(' ').any(|named| named == flag)
            });
        // The flag `server` has no effect, and is not reported: this program always serves.
        assert_eq!(
            is_reported,
            !row.has_effect && row.name != "server",
            "{flag}: {}",
            engine.log()
        );
    }
    Ok(())
}

#[tokio::test]
async fn sockets_in_the_file_system_are_listened_on() -> Done {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("engine.sock");
    let address = format!("unix://{}", path.display());
    for permissions in ["700", "755"] {
        let args = [
            "engine",
            "--addr",
            &address,
            "--unix-socket-perm",
            permissions,
        ];
        let running = start(args.map(str::to_owned)).await?;
        let mode = fs::metadata(&path)?.permissions().mode() & 0o777;
        assert_eq!(format!("{mode:o}"), permissions);
        let mut stream = UnixStream::connect(&path).await?;
        let request = b"GET /v1/data HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        running.shutdown().await;
        assert!(!path.exists());
    }
    fs::write(&path, "a file")?;
    let args = ["engine", "--addr", &address].map(str::to_owned);
    let refused = start(args).await.err().map(|failure| failure.to_string());
    assert!(refused.unwrap_or_default().contains("not a socket"));
    assert_eq!(fs::read_to_string(&path)?, "a file");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn diagnostics_have_addresses_of_their_own() -> Done {
    let args = ["--addr", "127.0.0.1:0", "--diagnostic-addr", "127.0.0.1:0"];
    let mut engine = Started::engine(args)?;
    let main = engine.address("the engine is listening")?;
    let diagnostics = engine.address("the engine's diagnostics are listening")?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    for (path, there) in [
        ("/health", true),
        ("/metrics", true),
        ("/health/live", true),
        ("/v1/data", false),
        ("/", false),
        ("/debug/pprof/", false),
    ] {
        for (address, known) in [(diagnostics, there), (main, path != "/debug/pprof/")] {
            let answer = client.get(format!("http://{address}{path}")).send().await?;
            assert_eq!(answer.status() != 404, known, "{address}{path}");
        }
    }
    let post = client
        .post(format!("http://{diagnostics}/health"))
        .send()
        .await?;
    assert_eq!(post.status(), 405);
    Ok(())
}

#[tokio::test]
async fn nothing_is_listened_on_before_plugins_are_ready() -> Done {
    let mut environment = Environment::new().await?;
    environment.mock.put("/bundles/rules", Fixture::status(404));
    let config = json!({"bundles": {"rules": {"polling": quick()}}});
    let config = environment
        .configure(config)?
        .to_string_lossy()
        .into_owned();
    let args = |seconds: &str| {
        let args = ["engine", "--addr", "127.0.0.1:0", "--config-file", &config];
        let args = args.into_iter().chain(["--ready-timeout", seconds]);
        args.map(str::to_owned).collect::<Vec<_>>()
    };
    let late = start(args("1"))
        .await
        .err()
        .map(|failure| failure.to_string());
    assert_eq!(late.as_deref(), Some("not ready within 1 s: bundle"));
    let files = [("data.json", r#"{"a": 1}"#)];
    environment
        .mock
        .put("/bundles/rules", Fixture::of(bundle(&files)?, "1"));
    let running = tokio::time::timeout(HANG_LIMIT, start(args("3600"))).await??;
    environment.running = Some(running);
    assert_eq!(environment.data("a").await?, 1);
    Ok(())
}

#[tokio::test]
async fn bundles_can_be_named_by_their_address() -> Done {
    let mut environment = Environment::new().await?;
    let files = [("data.json", r#"{"a": 1}"#)];
    environment
        .mock
        .put("/x/rules.tar.gz", Fixture::of(bundle(&files)?, "1"));
    let persistence = environment.folder.path().join("kept");
    let persistence = format!("persistence_directory={}", persistence.display());
    let bundle = format!("{}/x/rules.tar.gz", environment.url());
    let args = [
        "engine",
        "--addr",
        "127.0.0.1:0",
        "--set",
        &persistence,
        &bundle,
    ];
    environment.running = Some(start(args.map(str::to_owned)).await?);
    environment.wait_for_data("a", json!(1)).await?;
    let (_, config) = environment.get("/v1/config").await?;
    let bundle_config = &config["result"]["bundles"]["cli1"];
    let expected = json!({"service": "cli1", "resource": "/x/rules.tar.gz", "persist": true});
    for (name, value) in expected.as_object().into_iter().flatten() {
        assert_eq!(bundle_config[name], *value, "{bundle_config}");
    }
    Ok(())
}

#[rstest]
#[case::error("error", "error", Some("error"))]
#[case::info("info", "info", Some("info"))]
#[case::debug("debug", "debug", Some("debug"))]
#[case::below_the_level_of_the_log("info", "debug", None)]
#[tokio::test(flavor = "multi_thread")]
async fn lines_of_requests_have_a_level_of_their_own(
    #[case] log: &str,
    #[case] request: &str,
    #[case] level: Option<&str>,
) -> Done {
    // A log at level `error` does not contain the address, so the test uses a known socket
    // path.
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("engine.sock");
    let address = format!("unix://{}", path.display());
    let args = ["--addr", &address, "--set", "decision_logs.console=true"];
    let levels = ["--log-level", log, "--log-level-request", request];
    let mut engine = Started::engine(args.into_iter().chain(levels))?;
    let mut stream = until("the socket", || connect(&path)).await?;
    stream.write_all(b"GET /v1/data/a HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")?;
    stream.read_to_string(&mut String::new())?;
    let last = match level {
        Some(_) => "Sent response.",
        None => "Decision Log",
    };
    assert!(engine.wait_for_log(last)?, "{}", engine.log());
    for message in ["Received request.", "Sent response."] {
        let lines = engine.events(message);
        let levels: Vec<&str> = lines
            .iter()
            .filter_map(|line| line["level"].as_str())
            .collect();
        assert_eq!(levels, Vec::from_iter(level), "{}", engine.log());
    }
    Ok(())
}

fn connect(path: &std::path::Path) -> Option<std::os::unix::net::UnixStream> {
    std::os::unix::net::UnixStream::connect(path).ok()
}

//! Bundles from a service: loading, updates and removal.

use serde_json::{Value, json};

use crate::environment::{Done, Environment, quick, until};
use crate::mock_services::{Fixture, ReceivedRequest, bundle};
use crate::started::Started;

const PATH: &str = "/bundles/rules";

fn rules() -> Value {
    json!({
        "bundles": {"rules": {"service": "depot", "polling": quick()}},
        "status": {"console": true},
    })
}

/// Returns a bundle with the root `a`, a revision, and a document with this revision.
fn revision(revision: &str) -> Done<Vec<u8>> {
    let manifest = json!({"revision": revision, "roots": ["a"]}).to_string();
    let data = json!({"a": {"is": revision}}).to_string();
    bundle(&[(".manifest", &manifest), ("data.json", &data)])
}

/// A long ETag is not sent to the server, and after a refused request no ETag is sent.
#[tokio::test]
async fn versions_that_servers_refuse_are_not_sent_again() -> Done {
    let environment = Environment::start(rules()).await?;
    let last = || environment.mock.seen(PATH).pop();
    let version = |seen: &ReceivedRequest| seen.header("if-none-match").map(str::to_owned);
    environment
        .mock
        .put(PATH, Fixture::of(revision("long")?, &"1".repeat(2_000)));
    environment.wait_for_data("a/is", json!("long")).await?;
    let before = environment.mock.seen(PATH).len();
    let further = || (environment.mock.seen(PATH).len() > before + 1).then_some(());
    until("further requests", further).await?;
    assert_eq!(last().as_ref().and_then(version), None);

    environment
        .mock
        .put(PATH, Fixture::of(revision("short")?, "2"));
    environment.wait_for_data("a/is", json!("short")).await?;
    let known = || last().as_ref().and_then(version);
    until("a request with the version", known).await?;
    environment.mock.put(PATH, Fixture::status(431));
    let without = || last().filter(|seen| version(seen).is_none());
    until("a request without the version", without).await?;
    Ok(())
}

#[tokio::test]
async fn bundles_come_and_a_bad_one_never_replaces_a_good_one() -> Done {
    let environment = Environment::start(rules()).await?;
    let pending = json!({"error": "not all configured bundles have been activated"});
    environment
        .wait_for("/v1/status", |_, answer| {
            answer["result"]["bundles"]["rules"]["http_code"] == 404
        })
        .await?;
    assert_eq!(environment.get("/health?bundles").await?, (500, pending));
    assert_eq!(environment.get("/health?plugins").await?.0, 500);
    let (_, ready) = environment
        .get("/health?plugins&exclude-plugin=bundle")
        .await?;
    assert_eq!(ready, json!({}));

    environment
        .mock
        .put(PATH, Fixture::of(revision("first")?, "1"));
    environment.wait_for_data("a/is", json!("first")).await?;
    // The document is available shortly before the status reports the bundle as active.
    let healthy = (200, json!({}));
    environment
        .wait_for("/health?bundles&plugins", |status, answer| {
            (status, answer) == (healthy.0, &healthy.1)
        })
        .await?;
    let find_request = || {
        let seen = environment.mock.seen(PATH);
        let mut seen = seen.iter().rev();
        seen.find(|seen| seen.header("if-none-match") == Some("\"1\""))
            .cloned()
    };
    let request = until("a request with the version", find_request).await?;
    assert_eq!(request.header("prefer"), Some("modes=snapshot,delta"));

    let policy = "package a\nimport rego.v1\np if undefined_function(1)\n";
    let manifest = r#"{"roots": ["b"]}"#;
    for (at, (fixture, code, part)) in [
        (
            Fixture::status(500),
            json!(500),
            "server replied with Internal Server Error",
        ),
        (Fixture::of(b"garbage".to_vec(), "2"), Value::Null, ""),
        (Fixture::of(Vec::new(), "3"), Value::Null, ""),
        (
            Fixture::of(bundle(&[("a/p.rego", policy)])?, "4"),
            Value::Null,
            "error(s) occurred while compiling module(s)",
        ),
        (
            Fixture::of(
                bundle(&[(".manifest", manifest), ("data.json", "{\"a\": 1}")])?,
                "5",
            ),
            Value::Null,
            "root",
        ),
        (
            Fixture::status(302),
            json!(302),
            "server replied with Found",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        environment.mock.put(PATH, fixture);
        let is_reported = |_, answer: &Value| {
            let status = &answer["result"]["bundles"]["rules"];
            let message = status["message"].as_str().unwrap_or_default();
            status["code"] == "bundle_error"
                && status["http_code"] == code
                && message.contains(part)
        };
        let answer = environment.wait_for("/v1/status", is_reported).await?;
        let status = &answer["result"]["bundles"]["rules"];
        assert_eq!(status["active_revision"], "first", "case {at}");
        assert_eq!(environment.data("a/is").await?, "first", "case {at}");
        assert_eq!(
            environment.get("/health?bundles&plugins").await?,
            healthy,
            "case {at}"
        );
        environment
            .mock
            .put(PATH, Fixture::of(revision("first")?, "1"));
        environment
            .wait_for("/v1/status", |_, answer| {
                answer["result"]["bundles"]["rules"]["code"].is_null()
            })
            .await?;
    }

    environment
        .mock
        .put(PATH, Fixture::of(revision("second")?, "9"));
    environment.wait_for_data("a/is", json!("second")).await?;
    let (_, answer) = environment.get("/v1/data/a/is?provenance").await?;
    let bundles = &answer["provenance"]["bundles"];
    assert_eq!(*bundles, json!({"rules": {"revision": "second"}}));
    Ok(())
}

#[tokio::test]
async fn mistakes_in_policies_are_reported_with_their_places() -> Done {
    let environment = Environment::new().await?;
    let policy = "package a\nimport rego.v1\np if undefined_function(1)\n";
    let archive = bundle(&[("a/p.rego", policy)])?;
    environment.mock.put(PATH, Fixture::of(archive, "1"));
    let mut environment = environment;
    environment.engine(rules()).await?;
    let answer = environment
        .wait_for("/v1/status", |_, answer| {
            answer["result"]["bundles"]["rules"]["errors"].is_array()
        })
        .await?;
    let error = &answer["result"]["bundles"]["rules"]["errors"][0];
    assert_eq!(error["code"], "rego_type_error");
    assert_eq!(error["location"]["row"], 3);
    Ok(())
}

#[tokio::test]
async fn bundles_wait_for_each_other() -> Done {
    let one = "package one\nimport rego.v1\nf(x) := x\np := data.two.f(1)\n";
    let two = "package two\nimport rego.v1\nf(x) := x\np := data.one.f(2)\n";
    let environment = Environment::new().await?;
    let owned = |root: &str| json!({"roots": [root]}).to_string();
    let files = |root: &'static str, text| bundle(&[(".manifest", &owned(root)), ("p.rego", text)]);
    environment
        .mock
        .put("/one", Fixture::of(files("one", one)?, "1"));
    let mut environment = environment;
    let source = |resource| json!({"resource": resource, "polling": quick()});
    environment
        .engine(json!({"bundles": {"one": source("one"), "two": source("two")}}))
        .await?;
    // The engine has tried to activate the first bundle before the second one exists.
    until("two requests", || {
        (environment.mock.seen("/one").len() > 1).then_some(())
    })
    .await?;
    assert_eq!(environment.data("one/p").await?, Value::Null);
    environment
        .mock
        .put("/two", Fixture::of(files("two", two)?, "1"));
    environment.wait_for_data("one/p", json!(1)).await?;
    assert_eq!(environment.data("two/p").await?, 2);
    assert_eq!(environment.get("/health?bundles").await?.0, 200);
    Ok(())
}

#[tokio::test]
async fn a_root_goes_from_one_bundle_to_another() -> Done {
    let mut environment = Environment::new().await?;
    let files = |roots: &[&str], is: &str| {
        let manifest = json!({"roots": roots}).to_string();
        let data = roots.iter().map(|root| ((*root).to_owned(), json!(is)));
        let data = Value::Object(data.collect()).to_string();
        bundle(&[(".manifest", &manifest), ("data.json", &data)])
    };
    environment
        .mock
        .put("/one", Fixture::of(files(&["a", "b"], "one")?, "1"));
    environment
        .mock
        .put("/two", Fixture::of(files(&["c"], "two")?, "1"));
    let source = |resource| json!({"resource": resource, "polling": quick()});
    let bundles = json!({"one": source("one"), "two": source("two")});
    environment
        .engine(json!({"bundles": bundles, "status": {"console": true}}))
        .await?;
    environment.wait_for_data("b", json!("one")).await?;
    environment.wait_for_data("c", json!("two")).await?;
    environment
        .mock
        .put("/two", Fixture::of(files(&["b", "c"], "two")?, "2"));
    environment
        .wait_for("/v1/status", |_, answer| {
            let message = &answer["result"]["bundles"]["two"]["message"];
            message
                .as_str()
                .is_some_and(|message| message.contains("overlapping roots"))
        })
        .await?;
    assert_eq!(environment.data("b").await?, "one");
    environment
        .mock
        .put("/one", Fixture::of(files(&["a"], "one")?, "2"));
    environment.wait_for_data("b", json!("two")).await?;
    assert_eq!(environment.data("a").await?, "one");
    Ok(())
}

#[tokio::test]
async fn a_bundle_that_is_kept_is_there_without_its_service() -> Done {
    let mut environment = Environment::new().await?;
    let folder = environment.folder.path().join("kept");
    let config = json!({
        "bundles": {"rules": {"resource": "rules", "polling": quick(), "persist": true}},
        "persistence_directory": folder,
    });
    environment
        .mock
        .put("/rules", Fixture::of(revision("first")?, "1"));
    environment.engine(config.clone()).await?;
    environment.wait_for_data("a/is", json!("first")).await?;
    let file = folder.join("bundles/rules/bundle.tar.gz");
    until("the archive on disk", || file.exists().then_some(())).await?;
    environment.stop().await;
    environment.mock.put("/rules", Fixture::status(500));
    environment.engine(config.clone()).await?;
    environment.wait_for_data("a/is", json!("first")).await?;
    assert_eq!(environment.get("/health?bundles").await?.0, 200);
    // A persisted bundle is validated like a downloaded one.
    environment.stop().await;
    std::fs::write(&file, "garbage")?;
    environment.engine(config).await?;
    assert_eq!(environment.get("/health?bundles").await?.0, 500);
    environment
        .mock
        .put("/rules", Fixture::of(revision("second")?, "2"));
    environment.wait_for_data("a/is", json!("second")).await?;
    Ok(())
}

#[tokio::test]
async fn a_delta_changes_what_is_active() -> Done {
    let mut environment = Environment::new().await?;
    environment
        .mock
        .put(PATH, Fixture::of(revision("first")?, "1"));
    environment.engine(rules()).await?;
    environment.wait_for_data("a/is", json!("first")).await?;
    let patch = json!({"data": [{"op": "upsert", "path": "/a/more", "value": [1]}]});
    let manifest = json!({"revision": "delta", "roots": ["a"]});
    let delta = bundle(&[
        (".manifest", &manifest.to_string()),
        ("patch.json", &patch.to_string()),
    ])?;
    environment.mock.put(PATH, Fixture::of(delta, "2"));
    environment
        .wait_for_data("a", json!({"is": "first", "more": [1]}))
        .await?;
    let status = environment.status().await?;
    assert_eq!(status["bundles"]["rules"]["type"], "delta");
    assert_eq!(status["bundles"]["rules"]["active_revision"], "delta");
    Ok(())
}

#[tokio::test]
async fn a_bundle_may_lie_on_disk() -> Done {
    let mut environment = Environment::new().await?;
    let file = environment.folder.path().join("rules.tar.gz");
    std::fs::write(&file, revision("here")?)?;
    let resource = format!("file://{}", file.display());
    environment
        .engine(json!({"bundles": {"rules": {"resource": resource}}}))
        .await?;
    environment.wait_for_data("a/is", json!("here")).await?;
    assert_eq!(environment.get("/health?bundles").await?.0, 200);
    Ok(())
}

#[tokio::test]
async fn a_signature_that_is_asked_for_must_be_there() -> Done {
    let mut environment = Environment::new().await?;
    environment
        .mock
        .put(PATH, Fixture::of(revision("first")?, "1"));
    let mut config = rules();
    config["keys"] = json!({"own": {"algorithm": "HS256", "key": "secret"}});
    config["bundles"]["rules"]["signing"] = json!({"keyid": "own"});
    environment.engine(config).await?;
    environment
        .wait_for("/v1/status", |_, answer| {
            let message = &answer["result"]["bundles"]["rules"]["message"];
            message
                .as_str()
                .is_some_and(|message| message.contains(".signatures.json"))
        })
        .await?;
    assert_eq!(environment.data("a").await?, Value::Null);
    Ok(())
}

#[tokio::test]
async fn a_service_that_holds_requests_back_is_asked_at_once() -> Done {
    let mut environment = Environment::new().await?;
    let kind = "application/vnd.openpolicyagent.bundles".to_owned();
    let fixture = Fixture {
        headers: vec![("content-type", kind)],
        ..Fixture::of(revision("first")?, "1")
    };
    environment.mock.put(PATH, fixture);
    let polling = json!({
        "min_delay_seconds": 3600, "max_delay_seconds": 3600, "long_polling_timeout_seconds": 7,
    });
    environment
        .engine(json!({"bundles": {"rules": {"polling": polling}}}))
        .await?;
    let seen = until("three requests", || {
        Some(environment.mock.seen(PATH)).filter(|seen| seen.len() > 2)
    })
    .await?;
    let prefer = seen[0].header("prefer");
    assert_eq!(prefer, Some("modes=snapshot,delta;wait=7"));
    Ok(())
}

/// A bundle with the root `` may remove the authorization policy; the log then names this policy.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_names_policies_from_files_that_a_bundle_removes() -> Done {
    let environment = Environment::new().await?;
    let everything = |revision: &str| {
        let manifest = json!({"revision": revision, "roots": [""]}).to_string();
        bundle(&[
            (".manifest", &manifest),
            ("q.rego", "package q\n\nx := 1\n"),
        ])
    };
    environment
        .mock
        .put(PATH, Fixture::of(everything("1")?, "1"));
    let file = environment.folder.path().join("authz.rego");
    std::fs::write(&file, "package system.authz\n\nallow := true\n")?;
    let config = environment.configure(rules())?;
    let [config, file] = [config, file].map(|path| path.display().to_string());
    let mut program = Started::engine(["--addr=127.0.0.1:0", "--config-file", &config, &file])?;
    const ACTIVE: &str = "the bundle is active";
    assert!(program.wait_for_log(ACTIVE)?);
    // A later revision removes only policies of the bundle itself.
    environment
        .mock
        .put(PATH, Fixture::of(everything("2")?, "2"));
    let again = || (program.events(ACTIVE).len() > 1).then_some(());
    until("another activation", again).await?;
    let words = "the bundle owns the packages of policies from files or clients, which are removed";
    let [warning] =
        <[Value; 1]>::try_from(program.events(words)).map_err(|all| format!("{all:?}"))?;
    assert_eq!(warning["level"], "warning");
    assert_eq!(warning["bundle"], "rules");
    let named = warning["policies"].as_str().unwrap_or_default();
    assert!(named.ends_with("authz.rego"), "{warning}");
    Ok(())
}

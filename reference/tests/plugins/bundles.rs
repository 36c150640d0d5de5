//! Bundles from a service: how they come, stay and go.

use serde_json::{Value, json};

use crate::depot::{Shelf, bundle};
use crate::world::{Done, World, quick, until};

const PATH: &str = "/bundles/rules";

fn rules() -> Value {
    json!({
        "bundles": {"rules": {"service": "depot", "polling": quick()}},
        "status": {"console": true},
    })
}

/// A bundle that owns `a` and says which one it is.
fn revision(revision: &str) -> Done<Vec<u8>> {
    let manifest = json!({"revision": revision, "roots": ["a"]}).to_string();
    let data = json!({"a": {"is": revision}}).to_string();
    bundle(&[(".manifest", &manifest), ("data.json", &data)])
}

#[tokio::test]
async fn bundles_come_and_a_bad_one_never_replaces_a_good_one() -> Done {
    let world = World::start(rules()).await?;
    let pending = json!({"error": "not all configured bundles have been activated"});
    world
        .wait_for("/v1/status", |_, answer| {
            answer["result"]["bundles"]["rules"]["http_code"] == 404
        })
        .await?;
    assert_eq!(world.get("/health?bundles").await?, (500, pending));
    assert_eq!(world.get("/health?plugins").await?.0, 500);
    let (_, ready) = world.get("/health?plugins&exclude-plugin=bundle").await?;
    assert_eq!(ready, json!({}));

    world.depot.put(PATH, Shelf::of(revision("first")?, "1"));
    world.wait_for_data("a/is", json!("first")).await?;
    let healthy = (200, json!({}));
    assert_eq!(world.get("/health?bundles&plugins").await?, healthy);
    let asks = || {
        let seen = world.depot.seen(PATH);
        let mut seen = seen.iter().rev();
        seen.find(|seen| seen.header("if-none-match") == Some("\"1\""))
            .cloned()
    };
    let asked = until("a request with the version", asks).await?;
    assert_eq!(asked.header("prefer"), Some("modes=snapshot,delta"));

    let policy = "package a\nimport rego.v1\np if undefined_function(1)\n";
    let manifest = r#"{"roots": ["b"]}"#;
    for (at, (shelf, code, part)) in [
        (
            Shelf::status(500),
            json!(500),
            "server replied with Internal Server Error",
        ),
        (Shelf::of(b"garbage".to_vec(), "2"), Value::Null, ""),
        (Shelf::of(Vec::new(), "3"), Value::Null, ""),
        (
            Shelf::of(bundle(&[("a/p.rego", policy)])?, "4"),
            Value::Null,
            "error(s) occurred while compiling module(s)",
        ),
        (
            Shelf::of(
                bundle(&[(".manifest", manifest), ("data.json", "{\"a\": 1}")])?,
                "5",
            ),
            Value::Null,
            "root",
        ),
        (Shelf::status(302), json!(302), "server replied with Found"),
    ]
    .into_iter()
    .enumerate()
    {
        world.depot.put(PATH, shelf);
        let fits = |_, answer: &Value| {
            let status = &answer["result"]["bundles"]["rules"];
            let message = status["message"].as_str().unwrap_or_default();
            status["code"] == "bundle_error"
                && status["http_code"] == code
                && message.contains(part)
        };
        let answer = world.wait_for("/v1/status", fits).await?;
        let status = &answer["result"]["bundles"]["rules"];
        assert_eq!(status["active_revision"], "first", "case {at}");
        assert_eq!(world.data("a/is").await?, "first", "case {at}");
        assert_eq!(
            world.get("/health?bundles&plugins").await?,
            healthy,
            "case {at}"
        );
        world.depot.put(PATH, Shelf::of(revision("first")?, "1"));
        world
            .wait_for("/v1/status", |_, answer| {
                answer["result"]["bundles"]["rules"]["code"].is_null()
            })
            .await?;
    }

    world.depot.put(PATH, Shelf::of(revision("second")?, "9"));
    world.wait_for_data("a/is", json!("second")).await?;
    let (_, answer) = world.get("/v1/data/a/is?provenance").await?;
    let bundles = &answer["provenance"]["bundles"];
    assert_eq!(*bundles, json!({"rules": {"revision": "second"}}));
    Ok(())
}

#[tokio::test]
async fn mistakes_in_policies_are_reported_with_their_places() -> Done {
    let world = World::new().await?;
    let policy = "package a\nimport rego.v1\np if undefined_function(1)\n";
    let archive = bundle(&[("a/p.rego", policy)])?;
    world.depot.put(PATH, Shelf::of(archive, "1"));
    let mut world = world;
    world.engine(rules()).await?;
    let answer = world
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
    let world = World::new().await?;
    let owned = |root: &str| json!({"roots": [root]}).to_string();
    let files = |root: &'static str, text| bundle(&[(".manifest", &owned(root)), ("p.rego", text)]);
    world.depot.put("/one", Shelf::of(files("one", one)?, "1"));
    let mut world = world;
    let source = |resource| json!({"resource": resource, "polling": quick()});
    world
        .engine(json!({"bundles": {"one": source("one"), "two": source("two")}}))
        .await?;
    // The first is tried alone before the second is there.
    until("two requests", || {
        (world.depot.seen("/one").len() > 1).then_some(())
    })
    .await?;
    assert_eq!(world.data("one/p").await?, Value::Null);
    world.depot.put("/two", Shelf::of(files("two", two)?, "1"));
    world.wait_for_data("one/p", json!(1)).await?;
    assert_eq!(world.data("two/p").await?, 2);
    assert_eq!(world.get("/health?bundles").await?.0, 200);
    Ok(())
}

#[tokio::test]
async fn a_root_goes_from_one_bundle_to_another() -> Done {
    let mut world = World::new().await?;
    let files = |roots: &[&str], is: &str| {
        let manifest = json!({"roots": roots}).to_string();
        let data = roots.iter().map(|root| ((*root).to_owned(), json!(is)));
        let data = Value::Object(data.collect()).to_string();
        bundle(&[(".manifest", &manifest), ("data.json", &data)])
    };
    world
        .depot
        .put("/one", Shelf::of(files(&["a", "b"], "one")?, "1"));
    world
        .depot
        .put("/two", Shelf::of(files(&["c"], "two")?, "1"));
    let source = |resource| json!({"resource": resource, "polling": quick()});
    let bundles = json!({"one": source("one"), "two": source("two")});
    world
        .engine(json!({"bundles": bundles, "status": {"console": true}}))
        .await?;
    world.wait_for_data("b", json!("one")).await?;
    world.wait_for_data("c", json!("two")).await?;
    world
        .depot
        .put("/two", Shelf::of(files(&["b", "c"], "two")?, "2"));
    world
        .wait_for("/v1/status", |_, answer| {
            let message = &answer["result"]["bundles"]["two"]["message"];
            message
                .as_str()
                .is_some_and(|message| message.contains("overlapping roots"))
        })
        .await?;
    assert_eq!(world.data("b").await?, "one");
    world
        .depot
        .put("/one", Shelf::of(files(&["a"], "one")?, "2"));
    world.wait_for_data("b", json!("two")).await?;
    assert_eq!(world.data("a").await?, "one");
    Ok(())
}

#[tokio::test]
async fn a_bundle_that_is_kept_is_there_without_its_service() -> Done {
    let mut world = World::new().await?;
    let folder = world.folder.path().join("kept");
    let config = json!({
        "bundles": {"rules": {"resource": "rules", "polling": quick(), "persist": true}},
        "persistence_directory": folder,
    });
    world
        .depot
        .put("/rules", Shelf::of(revision("first")?, "1"));
    world.engine(config.clone()).await?;
    world.wait_for_data("a/is", json!("first")).await?;
    let file = folder.join("bundles/rules/bundle.tar.gz");
    until("the archive on disk", || file.exists().then_some(())).await?;
    world.stop().await;
    world.depot.put("/rules", Shelf::status(500));
    world.engine(config.clone()).await?;
    world.wait_for_data("a/is", json!("first")).await?;
    assert_eq!(world.get("/health?bundles").await?.0, 200);
    // What lies there is judged like what comes from a service.
    world.stop().await;
    std::fs::write(&file, "garbage")?;
    world.engine(config).await?;
    assert_eq!(world.get("/health?bundles").await?.0, 500);
    world
        .depot
        .put("/rules", Shelf::of(revision("second")?, "2"));
    world.wait_for_data("a/is", json!("second")).await?;
    Ok(())
}

#[tokio::test]
async fn a_delta_changes_what_is_active() -> Done {
    let mut world = World::new().await?;
    world.depot.put(PATH, Shelf::of(revision("first")?, "1"));
    world.engine(rules()).await?;
    world.wait_for_data("a/is", json!("first")).await?;
    let patch = json!({"data": [{"op": "upsert", "path": "/a/more", "value": [1]}]});
    let manifest = json!({"revision": "delta", "roots": ["a"]});
    let delta = bundle(&[
        (".manifest", &manifest.to_string()),
        ("patch.json", &patch.to_string()),
    ])?;
    world.depot.put(PATH, Shelf::of(delta, "2"));
    world
        .wait_for_data("a", json!({"is": "first", "more": [1]}))
        .await?;
    let status = world.status().await?;
    assert_eq!(status["bundles"]["rules"]["type"], "delta");
    assert_eq!(status["bundles"]["rules"]["active_revision"], "delta");
    Ok(())
}

#[tokio::test]
async fn a_bundle_may_lie_on_disk() -> Done {
    let mut world = World::new().await?;
    let file = world.folder.path().join("rules.tar.gz");
    std::fs::write(&file, revision("here")?)?;
    let resource = format!("file://{}", file.display());
    world
        .engine(json!({"bundles": {"rules": {"resource": resource}}}))
        .await?;
    world.wait_for_data("a/is", json!("here")).await?;
    assert_eq!(world.get("/health?bundles").await?.0, 200);
    Ok(())
}

#[tokio::test]
async fn a_signature_that_is_asked_for_must_be_there() -> Done {
    let mut world = World::new().await?;
    world.depot.put(PATH, Shelf::of(revision("first")?, "1"));
    let mut config = rules();
    config["keys"] = json!({"own": {"algorithm": "HS256", "key": "secret"}});
    config["bundles"]["rules"]["signing"] = json!({"keyid": "own"});
    world.engine(config).await?;
    world
        .wait_for("/v1/status", |_, answer| {
            let message = &answer["result"]["bundles"]["rules"]["message"];
            message
                .as_str()
                .is_some_and(|message| message.contains(".signatures.json"))
        })
        .await?;
    assert_eq!(world.data("a").await?, Value::Null);
    Ok(())
}

#[tokio::test]
async fn a_service_that_holds_requests_back_is_asked_at_once() -> Done {
    let mut world = World::new().await?;
    let kind = "application/vnd.openpolicyagent.bundles".to_owned();
    let holds = Shelf {
        headers: vec![("content-type", kind)],
        ..Shelf::of(revision("first")?, "1")
    };
    world.depot.put(PATH, holds);
    let polling = json!({
        "min_delay_seconds": 3600, "max_delay_seconds": 3600, "long_polling_timeout_seconds": 7,
    });
    world
        .engine(json!({"bundles": {"rules": {"polling": polling}}}))
        .await?;
    let seen = until("three requests", || {
        Some(world.depot.seen(PATH)).filter(|seen| seen.len() > 2)
    })
    .await?;
    let prefer = seen[0].header("prefer");
    assert_eq!(prefer, Some("modes=snapshot,delta;wait=7"));
    Ok(())
}

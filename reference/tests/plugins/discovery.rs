//! A configuration that is discovered.

use serde_json::{Value, json};

use crate::depot::{Shelf, bundle};
use crate::world::{Done, World, quick};

/// A bundle with the documents and policies of a configuration.
fn discovered(data: &Value) -> Done<Vec<u8>> {
    let policy = r#"
        package choice
        import rego.v1
        config := {
            "labels": {"chosen": opa.runtime().config.labels.region},
            "default_decision": "/chosen",
        }
    "#;
    bundle(&[("data.json", &data.to_string()), ("choice.rego", policy)])
}

fn owned(root: &str, value: &Value) -> Done<Shelf> {
    let manifest = json!({"roots": [root]}).to_string();
    let data = json!({root: value}).to_string();
    let archive = bundle(&[(".manifest", &manifest), ("data.json", &data)])?;
    Ok(Shelf::of(archive, "1"))
}

#[tokio::test]
async fn the_discovered_configuration_takes_effect_and_changes() -> Done {
    let mut world = World::new().await?;
    world.depot.put("/a", owned("a", &json!(1))?);
    world.depot.put("/b", owned("b", &json!(2))?);
    let discovery = json!({"resource": "/config", "decision": "given", "polling": quick()});
    world
        .engine(json!({
            "discovery": &discovery,
            "labels": {"region": "west"},
            "status": {"console": true},
        }))
        .await?;
    world
        .wait_for("/v1/status", |_, answer| {
            answer["result"]["discovery"]["http_code"] == 404
        })
        .await?;
    assert_eq!(world.get("/health?bundles").await?.0, 500);
    let source = |resource: &str| json!({"resource": resource, "polling": quick()});
    let first = json!({"given": {
        "bundles": {"a": source("a"), "b": source("b")},
        "labels": {"region": "east", "more": "yes"},
        "default_decision": "/a",
        "services": {"more": {"url": "http://more", "credentials": {"bearer": {"token": "secret"}}}},
        "discovery": {"resource": "/elsewhere"},
    }});
    world
        .depot
        .put("/config", Shelf::of(discovered(&first)?, "1"));
    world.wait_for_data("b", json!(2)).await?;
    world.wait_for_data("a", json!(1)).await?;
    assert_eq!(world.get("/health?bundles&plugins").await?.0, 200);
    let (_, config) = world.get("/v1/config").await?;
    let config = &config["result"];
    assert_eq!(config["default_decision"], "/a");
    assert_eq!(config["discovery"], discovery);
    assert_eq!(config["services"]["more"], json!({"url": "http://more"}));
    // What the engine was started with decides.
    assert_eq!(config["labels"]["region"], "west");
    assert_eq!(config["labels"]["more"], "yes");
    let id = config["labels"]["id"].clone();

    let second = json!({"given": {"bundles": {"b": source("b")}}});
    world
        .depot
        .put("/config", Shelf::of(discovered(&second)?, "2"));
    world.wait_for_data("a", Value::Null).await?;
    assert_eq!(world.data("b").await?, 2);
    let (_, config) = world.get("/v1/config").await?;
    assert_eq!(config["result"]["default_decision"], "/system/main");
    assert_eq!(config["result"]["labels"]["id"], id);
    let status = world.status().await?;
    assert_eq!(status["bundles"]["a"], Value::Null);
    assert!(status["discovery"]["code"].is_null(), "{status}");

    for (bad, part) in [
        (
            json!({"given": {"nonsense": 1}}),
            "unknown field `nonsense`",
        ),
        (json!({"given": 1}), "must be an object"),
        (json!({}), "is undefined"),
        (
            json!({"given": {"services": {"depot": {"headers": {"a": "b"}}}}}),
            "cannot be changed by discovery",
        ),
        (
            json!({"given": {"bundles": {"a": {"service": "none"}}}}),
            "not configured",
        ),
    ] {
        world
            .depot
            .put("/config", Shelf::of(discovered(&bad)?, part));
        world
            .wait_for("/v1/status", |_, answer| {
                let message = &answer["result"]["discovery"]["message"];
                message
                    .as_str()
                    .is_some_and(|message| message.contains(part))
            })
            .await?;
        assert_eq!(world.data("b").await?, 2, "{part}");
        assert_eq!(world.get("/health?bundles&plugins").await?.0, 200, "{part}");
    }
    Ok(())
}

#[tokio::test]
async fn policies_may_make_the_configuration() -> Done {
    let mut world = World::new().await?;
    world
        .depot
        .put("/config", Shelf::of(discovered(&json!({}))?, "1"));
    let discovery =
        json!({"resource": "/config", "decision": "/choice/config", "polling": quick()});
    world
        .engine(json!({"discovery": discovery, "labels": {"region": "west"}}))
        .await?;
    world
        .wait_for("/health?bundles", |status, _| status == 200)
        .await?;
    let (_, config) = world.get("/v1/config").await?;
    assert_eq!(config["result"]["labels"]["chosen"], "west");
    assert_eq!(config["result"]["default_decision"], "/chosen");
    Ok(())
}

#[tokio::test]
async fn a_reload_changes_what_runs() -> Done {
    let mut world = World::new().await?;
    world.depot.put("/a", owned("a", &json!(1))?);
    world.depot.put("/b", owned("b", &json!(2))?);
    let source = |resource: &str| json!({"resource": resource, "polling": quick()});
    world.engine(json!({"bundles": {"a": source("a")}})).await?;
    world.wait_for_data("a", json!(1)).await?;
    world.configure(json!({"bundles": {"b": source("b")}, "status": {"console": true}}))?;
    world.reload().await;
    world.wait_for_data("b", json!(2)).await?;
    assert_eq!(world.data("a").await?, Value::Null);
    assert_eq!(world.get("/v1/status").await?.0, 200);
    // What cannot be used changes nothing.
    world.configure(json!({"bundles": {"b": {"service": "none"}}}))?;
    world.reload().await;
    assert_eq!(world.data("b").await?, 2);
    assert_eq!(world.get("/health?bundles&plugins").await?.0, 200);
    Ok(())
}

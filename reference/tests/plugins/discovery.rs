//! Discovery: configuration from a bundle.

use serde_json::{Value, json};

use crate::environment::{Done, Environment, quick};
use crate::mock_services::{Fixture, bundle};

/// Returns a discovery bundle with documents and policies.
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

fn owned(root: &str, value: &Value) -> Done<Fixture> {
    let manifest = json!({"roots": [root]}).to_string();
    let data = json!({root: value}).to_string();
    let archive = bundle(&[(".manifest", &manifest), ("data.json", &data)])?;
    Ok(Fixture::of(archive, "1"))
}

#[tokio::test]
async fn the_discovered_configuration_takes_effect_and_changes() -> Done {
    let mut environment = Environment::new().await?;
    environment.mock.put("/a", owned("a", &json!(1))?);
    environment.mock.put("/b", owned("b", &json!(2))?);
    let discovery = json!({"resource": "/config", "decision": "given", "polling": quick()});
    environment
        .engine(json!({
            "discovery": &discovery,
            "labels": {"region": "west"},
            "status": {"console": true},
        }))
        .await?;
    environment
        .wait_for("/v1/status", |_, answer| {
            answer["result"]["discovery"]["http_code"] == 404
        })
        .await?;
    assert_eq!(environment.get("/health?bundles").await?.0, 500);
    let source = |resource: &str| json!({"resource": resource, "polling": quick()});
    let first = json!({"given": {
        "bundles": {"a": source("a"), "b": source("b")},
        "labels": {"region": "east", "more": "yes"},
        "default_decision": "/a",
        "services": {"more": {"url": "http://more", "credentials": {"bearer": {"token": "secret"}}}},
        "discovery": {"resource": "/elsewhere"},
    }});
    environment
        .mock
        .put("/config", Fixture::of(discovered(&first)?, "1"));
    environment.wait_for_data("b", json!(2)).await?;
    environment.wait_for_data("a", json!(1)).await?;
    assert_eq!(environment.get("/health?bundles&plugins").await?.0, 200);
    let (_, config) = environment.get("/v1/config").await?;
    let config = &config["result"];
    assert_eq!(config["default_decision"], "/a");
    assert_eq!(config["discovery"], discovery);
    assert_eq!(config["services"]["more"], json!({"url": "http://more"}));
    // The configuration file takes precedence over the discovered configuration.
    assert_eq!(config["labels"]["region"], "west");
    assert_eq!(config["labels"]["more"], "yes");
    let id = config["labels"]["id"].clone();

    let second = json!({"given": {"bundles": {"b": source("b")}}});
    environment
        .mock
        .put("/config", Fixture::of(discovered(&second)?, "2"));
    environment.wait_for_data("a", Value::Null).await?;
    assert_eq!(environment.data("b").await?, 2);
    let (_, config) = environment.get("/v1/config").await?;
    assert_eq!(config["result"]["default_decision"], "/system/main");
    assert_eq!(config["result"]["labels"]["id"], id);
    let status = environment.status().await?;
    assert_eq!(status["bundles"]["a"], Value::Null);
    assert!(status["discovery"]["code"].is_null(), "{status}");

    for (bad, part) in [
        (
            json!({"given": {"default_decision": 1}}),
            "expected a string",
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
        environment
            .mock
            .put("/config", Fixture::of(discovered(&bad)?, part));
        environment
            .wait_for("/v1/status", |_, answer| {
                let message = &answer["result"]["discovery"]["message"];
                message
                    .as_str()
                    .is_some_and(|message| message.contains(part))
            })
            .await?;
        assert_eq!(environment.data("b").await?, 2, "{part}");
        assert_eq!(
            environment.get("/health?bundles&plugins").await?.0,
            200,
            "{part}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn policies_may_make_the_configuration() -> Done {
    let mut environment = Environment::new().await?;
    environment
        .mock
        .put("/config", Fixture::of(discovered(&json!({}))?, "1"));
    let discovery =
        json!({"resource": "/config", "decision": "/choice/config", "polling": quick()});
    environment
        .engine(json!({"discovery": &discovery, "labels": {"region": "west"}}))
        .await?;
    environment
        .wait_for("/health?bundles", |status, _| status == 200)
        .await?;
    let (_, config) = environment.get("/v1/config").await?;
    assert_eq!(config["result"]["labels"]["chosen"], "west");
    assert_eq!(config["result"]["default_decision"], "/chosen");
    // `opa.runtime()` contains the discovered configuration.
    let path = "/v1/query?q=x=opa.runtime().config";
    let (_, runtime) = environment.get(path).await?;
    let runtime = &runtime["result"][0]["x"];
    assert_eq!(
        runtime["labels"],
        json!({"chosen": "west", "region": "west"})
    );
    assert_eq!(runtime["discovery"], discovery);
    Ok(())
}

#[tokio::test]
async fn a_reload_changes_what_runs() -> Done {
    let mut environment = Environment::new().await?;
    environment.mock.put("/a", owned("a", &json!(1))?);
    environment.mock.put("/b", owned("b", &json!(2))?);
    let source = |resource: &str| json!({"resource": resource, "polling": quick()});
    environment
        .engine(json!({"bundles": {"a": source("a")}}))
        .await?;
    environment.wait_for_data("a", json!(1)).await?;
    environment.configure(json!({"bundles": {"b": source("b")}, "status": {"console": true}}))?;
    environment.reload().await;
    environment.wait_for_data("b", json!(2)).await?;
    let path = "/v1/query?q=x=opa.runtime().config.status";
    let (_, runtime) = environment.get(path).await?;
    assert_eq!(runtime["result"], json!([{"x": {"console": true}}]));
    assert_eq!(environment.data("a").await?, Value::Null);
    assert_eq!(environment.get("/v1/status").await?.0, 200);
    // An invalid configuration changes nothing.
    environment.configure(json!({"bundles": {"b": {"service": "none"}}}))?;
    environment.reload().await;
    assert_eq!(environment.data("b").await?, 2);
    assert_eq!(environment.get("/health?bundles&plugins").await?.0, 200);
    Ok(())
}

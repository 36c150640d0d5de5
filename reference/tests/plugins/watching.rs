//! Reload of changed files and of the configuration.

use std::fs;

use reference::start;
use serde_json::json;

use crate::environment::{Done, Environment, get, until};
use crate::started::Started;

#[tokio::test]
async fn changed_files_are_loaded() -> Done {
    let mut environment = Environment::new().await?;
    let folder = environment.folder.path().join("files");
    fs::create_dir(&folder)?;
    let write = |name: &str, text: &str| fs::write(folder.join(name), text);
    write("a.rego", "package a\n\nx := 1\n")?;
    write("b.rego", "package b\n\ny := data.a.x\n")?;
    write("d.json", r#"{"d": 1}"#)?;
    let place = folder.to_string_lossy().into_owned();
    let args = ["engine", "--watch", "--addr", "127.0.0.1:0", &place].map(str::to_owned);
    let running = start(args).await?;
    let address = running.engine.ok_or("no address")?;
    environment.running = Some(running);
    let client = reqwest::Client::builder().no_proxy().build()?;
    let put = |path: &str, body: &'static str| {
        client
            .put(format!("http://{address}{path}"))
            .body(body)
            .send()
    };
    put("/v1/policies/own", "package own\n\nz := 1")
        .await?
        .error_for_status()?;
    put("/v1/data/written", "1").await?.error_for_status()?;
    write("a.rego", "package a\n\nx := 2\n")?;
    environment.wait_for_data("b/y", json!(2)).await?;
    // As in Open Policy Agent, a reload replaces all documents, and policies of clients stay.
    let all = json!({"a": {"x": 2}, "b": {"y": 2}, "d": 1, "own": {"z": 1}});
    environment.wait_for_data("", all).await?;
    write("d.json", r#"{"d": 2}"#)?;
    write("e.json", r#"{"e": 1}"#)?;
    fs::remove_file(folder.join("b.rego"))?;
    write("a.rego", "package a\n\nx := 4\n")?;
    let all = json!({"a": {"x": 4}, "d": 2, "e": 1, "own": {"z": 1}});
    environment.wait_for_data("", all).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_change_is_told_and_leaves_everything() -> Done {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("a.rego");
    fs::write(&file, "package a\n\nx := 1\n")?;
    let path = folder.path().to_string_lossy().into_owned();
    let mut engine = Started::engine(["-w", "--addr", "127.0.0.1:0", &path])?;
    let address = engine.address("the engine is listening")?;
    fs::write(&file, "package a\n\nx := := 2\n")?;
    let watch_message = "Processed file watch event.";
    assert!(engine.wait_for_log(watch_message)?, "{}", engine.log());
    let event = engine.events(watch_message).remove(0);
    let reason = event["err"].as_str().unwrap_or_default();
    assert!(
        reason.contains("rego_parse_error") && event["duration"].is_number(),
        "{event}"
    );
    // Changes of other files have no effect while one file is invalid.
    let event_count = engine.events(watch_message).len();
    fs::write(folder.path().join("d.json"), r#"{"d": 1}"#)?;
    let again = || (engine.events(watch_message).len() > event_count).then_some(());
    until("the next turn", again).await?;
    let (_, answer) = get(address, "/v1/data").await?;
    assert_eq!(answer["result"], json!({"a": {"x": 1}}));
    Ok(())
}

#[tokio::test]
async fn changed_bundles_are_loaded() -> Done {
    let mut environment = Environment::new().await?;
    let folder = environment.folder.path().join("bundle");
    fs::create_dir(&folder)?;
    fs::write(folder.join("data.json"), r#"{"a": 1}"#)?;
    let place = folder.to_string_lossy().into_owned();
    let args = ["engine", "-w", "-b", "--addr", "127.0.0.1:0", &place].map(str::to_owned);
    environment.running = Some(start(args).await?);
    environment.wait_for_data("a", json!(1)).await?;
    fs::write(folder.join("data.json"), r#"{"a": 23}"#)?;
    environment.wait_for_data("a", json!(23)).await
}

#[tokio::test]
async fn a_changed_configuration_is_read() -> Done {
    let mut environment = Environment::new().await?;
    let config = environment.configure(json!({"labels": {"region": "west"}}))?;
    let place = config.to_string_lossy().into_owned();
    let args = [
        "engine",
        "--addr",
        "127.0.0.1:0",
        "--watch-config",
        "--config-file",
        &place,
    ];
    environment.running = Some(start(args.map(str::to_owned)).await?);
    for (text, region) in [
        (r#"{"labels": {"region": "east"}}"#, "east"),
        (r#"{"labels": {"region": "south"}"#, "east"),
        (r#"{"labels": {"region": "north"}}"#, "north"),
    ] {
        fs::write(&config, text)?;
        let has_region =
            |_, answer: &serde_json::Value| answer["result"]["labels"]["region"] == region;
        environment.wait_for("/v1/config", has_region).await?;
    }
    Ok(())
}

//! What evaluations leave for each other.

use serde_json::{Value, json};

use crate::depot::{Shelf, bundle};
use crate::world::{Done, World, quick};

/// A policy that asks the depot, for a text that is 1,000 bytes long.
fn policy(url: &str) -> String {
    format!(
        r#"
        package a
        import rego.v1
        length := count(http.send({{
            "method": "GET",
            "url": "{url}/text",
            "force_cache": true,
            "force_cache_duration_seconds": 600,
        }}).raw_body)
        "#
    )
}

fn config(caching: &Value) -> Value {
    json!({"bundles": {"rules": {"polling": quick()}}, "caching": caching})
}

// A decision that is quick as a rule is made by the thread that serves its connection. The only one
// here serves the depot too, so a decision that asks the depot must not keep it.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn responses_are_kept_as_far_as_the_configuration_says() -> Done {
    let sized = |size| json!({"inter_query_builtin_cache": {"max_size_bytes": size}});
    let mut half = sized(3000);
    half["inter_query_builtin_cache"]["forced_eviction_threshold_percentage"] = json!(10);
    let mut world = World::new().await?;
    let files = [
        (".manifest", r#"{"roots": ["a"]}"#),
        ("a.rego", &policy(&world.url())),
    ];
    world
        .depot
        .put("/bundles/rules", Shelf::of(bundle(&files)?, "1"));
    let text = Shelf {
        body: vec![b'x'; 1000],
        ..Shelf::default()
    };
    world.depot.put("/text", text);
    for (caching, kept) in [
        (json!({}), true),
        (sized(0), true),
        (sized(3000), true),
        (sized(300), false),
        (half, false),
    ] {
        world.engine(config(&caching)).await?;
        world.wait_for_data("a/length", json!(1000)).await?;
        let asked = world.depot.seen("/text").len();
        for _ in 0..3 {
            assert_eq!(world.data("a/length").await?, 1000);
        }
        let again = world.depot.seen("/text").len() - asked;
        assert_eq!(again, if kept { 0 } else { 3 }, "{caching}");
        if kept {
            // Less room takes effect at once.
            world.configure(config(&sized(300)))?;
            world.reload().await;
            assert_eq!(world.data("a/length").await?, 1000);
            assert_eq!(world.depot.seen("/text").len(), asked + 1, "{caching}");
        }
        world.stop().await;
    }
    Ok(())
}

//! Cache of `http.send` that evaluations share.

use serde_json::{Value, json};

use crate::environment::{Done, Environment, quick};
use crate::mock_services::{Fixture, bundle};

/// Returns a policy that fetches a string of 1,000 bytes from the mock server.
fn policy(url: &str) -> String {
    format!(
        r#"
        package a
        import rego.v1
        length := count(http.send({{
            "method": "GET",
            "url": "{url}/text",
            "timeout": "1h",
            "force_cache": true,
            "force_cache_duration_seconds": 600,
        }}).raw_body)
        "#
    )
}

fn config(caching: &Value) -> Value {
    json!({"bundles": {"rules": {"polling": quick()}}, "caching": caching})
}

// Rules that were quick before are evaluated on the thread of their connection. The single thread
// of this test also runs the mock server, so an evaluation that waits for the mock must not block
// it.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn responses_are_kept_as_far_as_the_configuration_says() -> Done {
    let sized = |size| json!({"inter_query_builtin_cache": {"max_size_bytes": size}});
    let mut half = sized(3000);
    half["inter_query_builtin_cache"]["forced_eviction_threshold_percentage"] = json!(10);
    let mut environment = Environment::new().await?;
    let files = [
        (".manifest", r#"{"roots": ["a"]}"#),
        ("a.rego", &policy(&environment.url())),
    ];
    environment
        .mock
        .put("/bundles/rules", Fixture::of(bundle(&files)?, "1"));
    let text = Fixture {
        body: vec![b'x'; 1000],
        ..Fixture::default()
    };
    environment.mock.put("/text", text);
    for (caching, is_cached) in [
        (json!({}), true),
        (sized(0), true),
        (sized(3000), true),
        (sized(300), false),
        (half, false),
    ] {
        environment.engine(config(&caching)).await?;
        environment.wait_for_data("a/length", json!(1000)).await?;
        let request_count = environment.mock.seen("/text").len();
        for _ in 0..3 {
            assert_eq!(environment.data("a/length").await?, 1000);
        }
        let again = environment.mock.seen("/text").len() - request_count;
        assert_eq!(again, if is_cached { 0 } else { 3 }, "{caching}");
        if is_cached {
            // A smaller limit takes effect immediately after a reload.
            environment.configure(config(&sized(300)))?;
            environment.reload().await;
            assert_eq!(environment.data("a/length").await?, 1000);
            assert_eq!(
                environment.mock.seen("/text").len(),
                request_count + 1,
                "{caching}"
            );
        }
        environment.stop().await;
    }
    Ok(())
}

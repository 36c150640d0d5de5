//! What the service does

use crate::scenario::*;

/// The text of a secret that no answer may hold.
const TOKEN: &str = "token-that-stays-inside";

pub(crate) const RULES: &[Rule] = &[
    Rule::new("definitions-stored", || {
        scenario()
            .given(put("/v1/bundles/{ns}").json(json!({"labels": {"env": "prod"}})))
            .given(put("/v1/sources/{ns}").json(json!({"git": {
                "repo": "https://git.example.com/policies.git",
                "reference": "refs/heads/main",
            }})))
            .given(put("/v1/stacks/{ns}").json(json!({"selector": {"env": ["prod"]}})))
            .when(get("/v1/bundles/{ns}").keep(at("/result/labels/env")))
            .when(get("/v1/sources/{ns}").keep(at("/result/git/repo")))
            .when(get("/v1/stacks/{ns}").keep(at("/result/selector/env")))
    }),
    Rule::new("secret-value-not-in-single-read", || {
        scenario()
            .given(secret())
            .when(get("/v1/secrets/{ns}").keep(status()).keep(without(TOKEN)))
    }),
    Rule::new("secret-value-not-in-list", || {
        scenario().given(secret()).when(
            walk("/v1/secrets")
                .keep(names("/result"))
                .keep(without(TOKEN)),
        )
    }),
    Rule::new("secret-not-leaked-elsewhere", || {
        let storage =
            json!({"bucket": "b", "key": "k", "region": "eu-west-1", "credentials": "{ns}"});
        let git = json!({
            "repo": "https://git.example.com/policies.git",
            "reference": "refs/heads/main",
            "credentials": "{ns}",
        });
        let datasource = json!({
            "name": "users",
            "path": "users",
            "type": "http",
            "config": {"url": "https://data.example.com/users"},
            "credentials": "{ns}",
        });
        scenario()
            .given(secret())
            .given(put("/v1/bundles/{ns}").json(json!({"object_storage": {"aws": storage}})))
            .given(put("/v1/sources/{ns}").json(json!({"git": git, "datasources": [datasource]})))
            .when(
                get("/v1/bundles/{ns}")
                    .keep(at("/result/object_storage/aws/credentials"))
                    .keep(without(TOKEN)),
            )
            .when(
                get("/v1/sources/{ns}")
                    .keep(at("/result/git/credentials"))
                    .keep(at("/result/datasources/0/credentials"))
                    .keep(without(TOKEN)),
            )
            .when(
                walk("/v1/bundles")
                    .keep(names("/result"))
                    .keep(without(TOKEN)),
            )
            .when(
                walk("/v1/sources")
                    .keep(names("/result"))
                    .keep(without(TOKEN)),
            )
    }),
    Rule::new("versioned-paths-need-authentication", || {
        scenario().each(
            ["/v1/bundles", "/v1/sources", "/v1/stacks", "/v1/secrets"],
            |scenario, path| scenario.when(get(path).anonymous().keep(status())),
        )
    }),
    Rule::new("health-needs-no-authentication", || {
        scenario().when(get("/health").anonymous().keep(status()))
    }),
];

/// A stored secret whose text would be noticed anywhere.
fn secret() -> Step {
    put("/v1/secrets/{ns}").json(json!({"value": {"type": "token_auth", "token": TOKEN}}))
}

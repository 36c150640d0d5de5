//! Secret

use crate::rules::control::distribution::{
    add_source_with, bundle, datasource_fields, decides, distributed, feed, requirements,
    stored as stored_files,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("name-identifies", || {
        stored()
            .when(get("/v1/secrets/{ns}").expect(at("/result")))
            .when(get("/v1/secrets/{ns}-other").expect(status()))
    }),
    Rule::new("name-must-equal-path", || {
        let value = json!({"type": "token_auth", "token": "t"});
        scenario()
            .given(put("/v1/secrets/{ns}-same").json(json!({"name": "{ns}-same", "value": value})))
            .when(
                put("/v1/secrets/{ns}")
                    .json(json!({"name": "{ns}-other", "value": value}))
                    .expect(error()),
            )
            .when(get("/v1/secrets/{ns}").expect(status()))
            .when(get("/v1/secrets/{ns}-other").expect(status()))
    }),
    Rule::new("token-auth-value", || {
        scenario()
            .when(
                put("/v1/secrets/{ns}")
                    .json(json!({"value": {"type": "token_auth", "token": "t"}}))
                    .expect(status()),
            )
            .when(get("/v1/secrets/{ns}").expect(status()))
    }),
    Rule::new("reads-give-plain-name", || {
        stored()
            .when(
                get("/v1/secrets/{ns}")
                    .expect(at("/result"))
                    .expect(without("token_auth"))
                    .expect(without("token-that-stays-inside")),
            )
            .when(
                walk("/v1/secrets")
                    .expect(includes("/result", json!("{ns}")))
                    .expect(without("token-that-stays-inside")),
            )
    }),
    Rule::new("other-value-types", || {
        let values = [
            (
                "basic",
                json!({"type": "basic_auth", "username": "u", "password": "p"}),
            ),
            (
                "aws",
                json!({"type": "aws_auth", "access_key_id": "a", "secret_access_key": "s"}),
            ),
            ("ssh", json!({"type": "ssh_key", "key": "k"})),
            ("unheard-of", json!({"type": "unheard-of"})),
        ];
        scenario().each(values, |scenario, (form, value)| {
            scenario.when(
                put(format!("/v1/secrets/{{ns}}-{form}"))
                    .json(json!({"value": value}))
                    .expect(status()),
            )
        })
    }),
    Rule::new("value-left-out", || {
        scenario()
            .when(put("/v1/secrets/{ns}").json(json!({})).expect(status()))
            .when(get("/v1/secrets/{ns}").expect(status()))
    }),
    Rule::new("credentials-of-a-datasource", || {
        guarded().when(decides("roles", json!({"alice": "admin"})))
    }),
    Rule::new("value-not-in-bundle", || {
        guarded()
            .when(decides("roles", json!({"alice": "admin"})))
            .when(
                stored_files("first")
                    .expect(status())
                    .expect(without(TOKEN)),
            )
    }),
];

/// A string that occurs only in a secret.
const TOKEN: &str = "token-that-stays-inside";

/// A bundle with data that is fetched with the token of a secret.
fn guarded() -> Scenario {
    let secret = json!({"value": {"type": "token_auth", "token": TOKEN}});
    let guarded = json!({"guarded": {"token": TOKEN, "text": r#"{"alice": "admin"}"#}});
    let shop = distributed()
        .given(put("/v1/secrets/{ns}").json(secret))
        .given(feed(guarded));
    let fields = datasource_fields(json!({"path": "roles", "credentials": "{ns}"}));
    add_source_with(shop, "shop", fields).given(bundle(
        "first",
        json!({"requirements": requirements(&["shop"])}),
    ))
}

/// A secret whose token would be noticed in a response.
fn stored() -> Scenario {
    scenario().given(
        put("/v1/secrets/{ns}")
            .json(json!({"value": {"type": "token_auth", "token": "token-that-stays-inside"}})),
    )
}

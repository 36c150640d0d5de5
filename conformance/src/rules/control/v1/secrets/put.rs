//! PUT /v1/secrets/{secret}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("takes-optional-name-and-value", || {
    let value = json!({"type": "token_auth", "token": "t"});
    scenario()
        .when(
            put("/v1/secrets/{ns}-named")
                .json(json!({"name": "{ns}-named", "value": value}))
                .keep(status())
                .keep(body()),
        )
        .when(
            put("/v1/secrets/{ns}-unnamed")
                .json(json!({"value": value}))
                .keep(status())
                .keep(body()),
        )
        .when(get("/v1/secrets/{ns}-named").keep(at("/result")))
        .when(get("/v1/secrets/{ns}-unnamed").keep(at("/result")))
})];

//! PUT /v1/secrets/{secret}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("takes-optional-name-and-value", || {
    let value = json!({"type": "token_auth", "token": "t"});
    scenario()
        .when(
            put("/v1/secrets/{ns}-named")
                .json(json!({"name": "{ns}-named", "value": value}))
                .expect(status())
                .expect(body()),
        )
        .when(
            put("/v1/secrets/{ns}-unnamed")
                .json(json!({"value": value}))
                .expect(status())
                .expect(body()),
        )
        .when(get("/v1/secrets/{ns}-named").expect(at("/result")))
        .when(get("/v1/secrets/{ns}-unnamed").expect(at("/result")))
})];

//! GET /v1/secrets/{secret}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("result-is-the-name", || {
    scenario()
        .given(put("/v1/secrets/{ns}").json(json!({"value": {"type": "token_auth", "token": "t"}})))
        .when(
            get("/v1/secrets/{ns}")
                .expect(status())
                .expect(at("/result")),
        )
})];

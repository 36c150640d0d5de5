//! DELETE /v1/secrets/{secret}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-empty-object", || {
    scenario()
        .given(put("/v1/secrets/{ns}").json(json!({"value": {"type": "token_auth", "token": "t"}})))
        .when(delete("/v1/secrets/{ns}").expect(status()).expect(body()))
        .when(get("/v1/secrets/{ns}").expect(status()))
        .when(walk("/v1/secrets").expect(names("/result")))
})];

//! DELETE /v1/sources/{source}

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-empty-object", || {
    scenario()
        .given(put("/v1/sources/{ns}").json(definitions::source(json!({}))))
        .when(delete("/v1/sources/{ns}").expect(status()).expect(body()))
        .when(get("/v1/sources/{ns}").expect(status()))
        .when(walk("/v1/sources").expect(names("/result")))
})];

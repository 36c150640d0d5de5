//! Limits

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("gzip-only-on-request", || {
    scenario()
        .given(put("/v1/data/{ns}").json(json!({"name": "long", "filler": "text ".repeat(4000)})))
        .when(
            get("/v1/data/{ns}")
                .expect(header("Content-Encoding"))
                .expect(at("/result/name")),
        )
})];

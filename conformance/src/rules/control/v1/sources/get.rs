//! GET /v1/sources/{source}

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("result-is-the-source", || {
    scenario()
        .given(put("/v1/sources/{ns}").json(definitions::source(json!({}))))
        .when(
            get("/v1/sources/{ns}")
                .expect(status())
                .expect(at("/result/name"))
                .expect(at("/result/git/repo")),
        )
})];

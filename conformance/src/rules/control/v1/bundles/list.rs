//! GET /v1/bundles

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-list-envelope", || {
    scenario()
        .given(
            put("/v1/bundles/{ns}")
                .json(definitions::bundle("", json!({"labels": {"env": "prod"}}))),
        )
        .when(
            walk("/v1/bundles")
                .expect(status())
                .expect(names("/result"))
                .expect(kind_among("/next_cursor", &[Kind::String, Kind::Null])),
        )
})];

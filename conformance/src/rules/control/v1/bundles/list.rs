//! GET /v1/bundles

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-list-envelope", || {
    scenario()
        .given(put("/v1/bundles/{ns}").json(json!({"labels": {"env": "prod"}})))
        .when(
            walk("/v1/bundles")
                .keep(status())
                .keep(names("/result"))
                .keep(kind_among("/next_cursor", &[Kind::String, Kind::Null])),
        )
})];

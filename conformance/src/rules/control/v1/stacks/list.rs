//! GET /v1/stacks

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-list-envelope", || {
    scenario()
        .given(put("/v1/stacks/{ns}").json(json!({"selector": {"env": ["prod"]}})))
        .when(
            walk("/v1/stacks")
                .keep(status())
                .keep(names("/result"))
                .keep(kind_among("/next_cursor", &[Kind::String, Kind::Null])),
        )
})];

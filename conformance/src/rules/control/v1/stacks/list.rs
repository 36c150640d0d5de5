//! GET /v1/stacks

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-list-envelope", || {
    scenario()
        .given(put("/v1/stacks/{ns}").json(definitions::stack(json!({}))))
        .when(
            walk("/v1/stacks")
                .expect(status())
                .expect(names("/result"))
                .expect(kind_among("/next_cursor", &[Kind::String, Kind::Null])),
        )
})];

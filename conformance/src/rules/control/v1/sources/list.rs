//! GET /v1/sources

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-list-envelope", || {
    scenario()
        .given(put("/v1/sources/{ns}").json(definitions::source(json!({}))))
        .when(
            walk("/v1/sources")
                .expect(status())
                .expect(names("/result"))
                .expect(kind_among("/next_cursor", &[Kind::String, Kind::Null])),
        )
})];

//! GET /v1/sources

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-list-envelope", || {
    scenario()
        .given(
            put("/v1/sources/{ns}")
                .json(json!({"git": {"repo": "https://git.example.com/policies.git", "reference": "refs/heads/main"}})),
        )
        .when(
            walk("/v1/sources")
                .keep(status())
                .keep(names("/result"))
                .keep(kind_among("/next_cursor", &[Kind::String, Kind::Null])),
        )
})];

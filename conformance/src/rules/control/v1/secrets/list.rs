//! GET /v1/secrets

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-list-envelope", || {
    scenario()
        .given(put("/v1/secrets/{ns}").json(json!({"value": {"type": "token_auth", "token": "t"}})))
        .when(
            walk("/v1/secrets")
                .expect(status())
                .expect(names("/result"))
                .expect(kind_among("/next_cursor", &[Kind::String, Kind::Null])),
        )
})];

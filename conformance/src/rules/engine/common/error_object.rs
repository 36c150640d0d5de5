//! Error object

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("code-is-string", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                put("/v1/data/{ns}/a/b")
                    .json(json!(2))
                    .keep(kind("/code", Kind::String)),
            )
    }),
    Rule::new("message-is-string", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                put("/v1/data/{ns}/a/b")
                    .json(json!(2))
                    .keep(kind("/message", Kind::String)),
            )
    }),
];

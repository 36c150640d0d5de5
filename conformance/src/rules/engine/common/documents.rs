//! Documents

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("base-document-is-written-data", || {
        scenario()
            .given(put("/v1/data/{ns}/a/b").json(json!(1)))
            .when(get("/v1/data/{ns}/a/b").keep(at("/result")))
            .when(get("/v1/data/{ns}/a").keep(at("/result")))
            .when(get("/v1/data/{ns}").keep(at("/result")))
    }),
    Rule::new("numeric-segment-is-array-index", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(["first", {"b": ["inner"]}])))
            .when(get("/v1/data/{ns}/a/0").keep(at("/result")))
            .when(get("/v1/data/{ns}/a/1/b/0").keep(at("/result")))
    }),
    Rule::new("other-segment-is-member-name", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": {"name": 1, "1st": 2, "two words": 3}})))
            .when(get("/v1/data/{ns}/a/name").keep(at("/result")))
            .when(get("/v1/data/{ns}/a/1st").keep(at("/result")))
            .when(get("/v1/data/{ns}/a/two%20words").keep(at("/result")))
    }),
    Rule::new("numeric-member-name", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"1": "one"})))
            .when(get("/v1/data/{ns}/1").keep(status()).keep(at("/result")))
    }),
];

//! GET /v1/sources/{source}/data/{path}

use super::{document, with_source};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("document-in-result", || {
        with_source()
            .given(put(document("limits")).json(json!({"max": 7})))
            .when(get(document("limits")).keep(status()).keep(at("/result")))
    }),
    Rule::new("read-without-suffix", || {
        with_source()
            .given(put(document("limits%2Fupper")).json(json!({"max": 7})))
            .when(get(document("limits%2Fupper")).keep(at("/result")))
    }),
    Rule::new("suffix-in-path", || {
        with_source()
            .given(put(document("limits")).json(json!({"max": 7})))
            .when(
                get(document("limits%2Fdata.json"))
                    .keep(status())
                    .keep(at("/result")),
            )
    }),
    Rule::new("nested-paths", || {
        with_source()
            .given(put(document("limits")).json(json!({"max": 7})))
            .when(
                put(document("limits%2Fupper"))
                    .json(json!({"max": 8}))
                    .keep(status()),
            )
            .when(get(document("limits")).keep(at("/result")))
            .when(get(document("limits%2Fupper")).keep(at("/result")))
    }),
];

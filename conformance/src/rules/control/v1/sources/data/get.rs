//! GET /v1/sources/{source}/data/{path}

use super::{document, with_source};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("document-in-result", || {
        with_source()
            .given(put(document("limits")).json(json!({"max": 7})))
            .when(
                get(document("limits"))
                    .expect(status())
                    .expect(at("/result")),
            )
    }),
    Rule::new("read-without-suffix", || {
        with_source()
            .given(put(document("limits%2Fupper")).json(json!({"max": 7})))
            .when(get(document("limits%2Fupper")).expect(at("/result")))
    }),
    Rule::new("suffix-in-path", || {
        with_source()
            .given(put(document("limits")).json(json!({"max": 7})))
            .when(
                get(document("limits%2Fdata.json"))
                    .expect(status())
                    .expect(at("/result")),
            )
    }),
    Rule::new("nested-paths", || {
        with_source()
            .given(put(document("limits")).json(json!({"max": 7})))
            .when(
                put(document("limits%2Fupper"))
                    .json(json!({"max": 8}))
                    .expect(status()),
            )
            .when(get(document("limits")).expect(at("/result")))
            .when(get(document("limits%2Fupper")).expect(at("/result")))
    }),
];

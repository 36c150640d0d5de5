//! PUT /v1/sources/{source}/data/{path}

use super::{another_source, document, document_of, no_document, replaces, stores_any_json};
use crate::rules::control::common::with_source;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("stores-any-json", || stores_any_json("PUT")),
    Rule::new("replaces-document", || replaces("PUT")),
    Rule::new("attached-to-one-source", || {
        let other = || document_of("-east", "limits");
        with_source()
            .given(another_source("-east"))
            .when(
                put(document("limits"))
                    .json(json!({"max": 7}))
                    .expect(success()),
            )
            .when(no_document(other()))
            .when(put(other()).json(json!({"max": 8})).expect(success()))
            .when(get(document("limits")).expect(at("/result")))
            .when(get(other()).expect(at("/result")))
    }),
];

//! DELETE /v1/sources/{source}/data/{path}

use super::{another_source, document, document_of, no_document, with_source};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("removes-document", || {
    with_source()
        .given(another_source("-east"))
        .given(put(document("limits")).json(json!({"max": 7})))
        .given(put(document("rates")).json(json!({"max": 8})))
        .given(put(document_of("-east", "limits")).json(json!({"max": 9})))
        .when(get(document("limits")).expect(at("/result")))
        .when(delete(document("limits")).expect(success()))
        .when(no_document(document("limits")))
        .when(get(document("rates")).expect(at("/result")))
        .when(get(document_of("-east", "limits")).expect(at("/result")))
})];

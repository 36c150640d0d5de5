//! DELETE /v1/sources/{source}/data/{path}

use super::{document, with_source};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("removes-document", || {
    with_source()
        .given(put(document("limits")).json(json!({"max": 7})))
        .when(get(document("limits")).keep(at("/result")))
        .when(delete(document("limits")).keep(success()))
        .when(
            get(document("limits"))
                .keep(status_among(&[200, 404]))
                .keep(lacks("/result")),
        )
})];

//! GET /v1/stacks/{stack}

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("result-is-the-stack", || {
    scenario()
        .given(put("/v1/stacks/{ns}").json(definitions::stack(json!({}))))
        .when(
            get("/v1/stacks/{ns}")
                .expect(status())
                .expect(at("/result/name"))
                .expect(at("/result/selector/env")),
        )
})];

//! DELETE /v1/stacks/{stack}

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-empty-object", || {
    scenario()
        .given(put("/v1/stacks/{ns}").json(definitions::stack(json!({}))))
        .when(delete("/v1/stacks/{ns}").expect(status()).expect(body()))
        .when(get("/v1/stacks/{ns}").expect(status()))
        .when(walk("/v1/stacks").expect(names("/result")))
})];

//! GET /health

use crate::rules::control::common::keys_required;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("ready-empty-object", || {
    scenario()
        .given(keys_required())
        .when(get("/health").anonymous().expect(status()).expect(body()))
})];

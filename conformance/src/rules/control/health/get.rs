//! GET /health

use crate::rules::control::common::keys_are_asked_for;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("ready-empty-object", || {
    scenario()
        .given(keys_are_asked_for())
        .when(get("/health").anonymous().expect(status()).expect(body()))
})];

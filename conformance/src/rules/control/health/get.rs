//! GET /health

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("ready-empty-object", || {
    scenario().when(get("/health").anonymous().keep(status()).keep(body()))
})];

//! Versioning

use super::BUNDLE;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("version-in-path-prefix", || {
    scenario()
        .when(get(BUNDLE.list).keep(status()))
        .when(get("/health").anonymous().keep(status()))
})];

//! Versioning

use super::BUNDLE;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("version-in-path-prefix", || {
    scenario()
        .given(BUNDLE.create())
        .when(BUNDLE.first_page().expect(status()))
        .when(get("/health").anonymous().expect(status()))
})];

//! Rules of the policy engine.

use super::Section;

/// One line per file of rules: `Section { path: "engine/…", rules: file::RULES }`.
pub(crate) const SECTIONS: &[Section] = &[];

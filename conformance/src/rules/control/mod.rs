//! Rules of the control plane.

use super::Section;

/// One line per file of rules: `Section { path: "control/…", rules: file::RULES }`.
pub(crate) const SECTIONS: &[Section] = &[];

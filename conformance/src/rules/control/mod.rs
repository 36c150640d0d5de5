//! Rules of the control plane.

use super::Section;

mod common;
mod health;
mod v1;

/// One line per file of rules.
#[rustfmt::skip]
pub(crate) const SECTIONS: &[Section] = &[
    Section { path: "control/common/authentication", rules: common::authentication::RULES },
    Section { path: "control/common/errors", rules: common::errors::RULES },
    Section { path: "control/common/media", rules: common::media::RULES },
    Section { path: "control/common/names", rules: common::names::RULES },
    Section { path: "control/common/paging", rules: common::paging::RULES },
    Section { path: "control/common/paths", rules: common::paths::RULES },
    Section { path: "control/common/pretty", rules: common::pretty::RULES },
    Section { path: "control/common/reads", rules: common::reads::RULES },
    Section { path: "control/common/success", rules: common::success::RULES },
    Section { path: "control/common/updates", rules: common::updates::RULES },
    Section { path: "control/common/usage", rules: common::usage::RULES },
    Section { path: "control/common/versioning", rules: common::versioning::RULES },
    Section { path: "control/health/get", rules: health::get::RULES },
    Section { path: "control/v1/sources/data/delete", rules: v1::sources::data::delete::RULES },
    Section { path: "control/v1/sources/data/get", rules: v1::sources::data::get::RULES },
    Section { path: "control/v1/sources/data/post", rules: v1::sources::data::post::RULES },
    Section { path: "control/v1/sources/data/put", rules: v1::sources::data::put::RULES },
];

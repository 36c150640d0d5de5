//! Rules of the control plane.

use super::Section;

mod common;
mod definitions;
mod distribution;
mod health;
mod v1;

/// Sections of the control plane, one line per file of rules.
#[rustfmt::skip]
pub(crate) const SECTIONS: &[Section] = &[
    Section { path: "control/common/authentication", rules: common::authentication::RULES },
    Section { path: "control/common/bundle", rules: common::bundle::RULES },
    Section { path: "control/common/datasource", rules: common::datasource::RULES },
    Section { path: "control/common/distribution", rules: common::distribution::RULES },
    Section { path: "control/common/errors", rules: common::errors::RULES },
    Section { path: "control/common/git", rules: common::git::RULES },
    Section { path: "control/common/introduction", rules: common::introduction::RULES },
    Section { path: "control/common/list-envelope", rules: common::list_envelope::RULES },
    Section { path: "control/common/media", rules: common::media::RULES },
    Section { path: "control/common/names", rules: common::names::RULES },
    Section { path: "control/common/object-storage", rules: common::object_storage::RULES },
    Section { path: "control/common/paging", rules: common::paging::RULES },
    Section { path: "control/common/paths", rules: common::paths::RULES },
    Section { path: "control/common/pretty", rules: common::pretty::RULES },
    Section { path: "control/common/reads", rules: common::reads::RULES },
    Section { path: "control/common/requirement", rules: common::requirement::RULES },
    Section { path: "control/common/resources", rules: common::resources::RULES },
    Section { path: "control/common/secret", rules: common::secret::RULES },
    Section { path: "control/common/service", rules: common::service::RULES },
    Section { path: "control/common/source", rules: common::source::RULES },
    Section { path: "control/common/stack", rules: common::stack::RULES },
    Section { path: "control/common/success", rules: common::success::RULES },
    Section { path: "control/common/updates", rules: common::updates::RULES },
    Section { path: "control/common/usage", rules: common::usage::RULES },
    Section { path: "control/common/versioning", rules: common::versioning::RULES },
    Section { path: "control/health/get", rules: health::get::RULES },
    Section { path: "control/v1/bundles/delete", rules: v1::bundles::delete::RULES },
    Section { path: "control/v1/bundles/get", rules: v1::bundles::get::RULES },
    Section { path: "control/v1/bundles/list", rules: v1::bundles::list::RULES },
    Section { path: "control/v1/bundles/put", rules: v1::bundles::put::RULES },
    Section { path: "control/v1/secrets/delete", rules: v1::secrets::delete::RULES },
    Section { path: "control/v1/secrets/get", rules: v1::secrets::get::RULES },
    Section { path: "control/v1/secrets/list", rules: v1::secrets::list::RULES },
    Section { path: "control/v1/secrets/put", rules: v1::secrets::put::RULES },
    Section { path: "control/v1/sources/data/delete", rules: v1::sources::data::delete::RULES },
    Section { path: "control/v1/sources/data/get", rules: v1::sources::data::get::RULES },
    Section { path: "control/v1/sources/data/post", rules: v1::sources::data::post::RULES },
    Section { path: "control/v1/sources/data/put", rules: v1::sources::data::put::RULES },
    Section { path: "control/v1/sources/delete", rules: v1::sources::delete::RULES },
    Section { path: "control/v1/sources/get", rules: v1::sources::get::RULES },
    Section { path: "control/v1/sources/list", rules: v1::sources::list::RULES },
    Section { path: "control/v1/sources/put", rules: v1::sources::put::RULES },
    Section { path: "control/v1/stacks/delete", rules: v1::stacks::delete::RULES },
    Section { path: "control/v1/stacks/get", rules: v1::stacks::get::RULES },
    Section { path: "control/v1/stacks/list", rules: v1::stacks::list::RULES },
    Section { path: "control/v1/stacks/put", rules: v1::stacks::put::RULES },
];

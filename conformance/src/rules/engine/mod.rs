//! Rules of the policy engine.

use super::Section;
use crate::scenario::{Step, put};

mod common;
mod health;
pub(super) mod mock;
mod root;
mod v0;
mod v1;

/// Sections of the policy engine, one line per file of rules.
#[rustfmt::skip]
pub(crate) const SECTIONS: &[Section] = &[
    Section { path: "engine/common/introduction", rules: common::introduction::RULES },
    Section { path: "engine/common/groups", rules: common::groups::RULES },
    Section { path: "engine/common/request-headers", rules: common::request_headers::RULES },
    Section { path: "engine/common/policy-module", rules: common::policy_module::RULES },
    Section { path: "engine/common/documents", rules: common::documents::RULES },
    Section { path: "engine/common/decision-envelope", rules: common::decision_envelope::RULES },
    Section { path: "engine/common/error-object", rules: common::error_object::RULES },
    Section { path: "engine/common/trace", rules: common::trace::RULES },
    Section { path: "engine/common/states", rules: common::states::RULES },
    Section { path: "engine/common/pretty", rules: common::pretty::RULES },
    Section { path: "engine/v1/policies/list", rules: v1::policies::list::RULES },
    Section { path: "engine/v1/policies/get", rules: v1::policies::get::RULES },
    Section { path: "engine/v1/policies/put", rules: v1::policies::put::RULES },
    Section { path: "engine/v1/policies/delete", rules: v1::policies::delete::RULES },
    Section { path: "engine/v1/data/get", rules: v1::data::get::RULES },
    Section { path: "engine/v1/data/post", rules: v1::data::post::RULES },
    Section { path: "engine/v0/data/post", rules: v0::data::post::RULES },
    Section { path: "engine/v1/data/put", rules: v1::data::put::RULES },
    Section { path: "engine/v1/data/patch", rules: v1::data::patch::RULES },
    Section { path: "engine/v1/data/delete", rules: v1::data::delete::RULES },
    Section { path: "engine/root/post", rules: root::post::RULES },
    Section { path: "engine/v1/query/get", rules: v1::query::get::RULES },
    Section { path: "engine/v1/query/post", rules: v1::query::post::RULES },
    Section { path: "engine/v1/compile/post", rules: v1::compile::post::RULES },
    Section { path: "engine/v1/compile/filters/post", rules: v1::compile::filters::post::RULES },
    Section { path: "engine/common/authentication", rules: common::authentication::RULES },
    Section { path: "engine/common/events", rules: common::events::RULES },
    Section { path: "engine/common/methods", rules: common::methods::RULES },
    Section { path: "engine/common/errors", rules: common::errors::RULES },
    Section { path: "engine/common/limits", rules: common::limits::RULES },
    Section { path: "engine/common/metrics", rules: common::metrics::RULES },
    Section { path: "engine/common/provenance", rules: common::provenance::RULES },
    Section { path: "engine/common/versioning", rules: common::versioning::RULES },
    Section { path: "engine/health/get", rules: health::get::RULES },
    Section { path: "engine/health/rule/get", rules: health::rule::get::RULES },
    Section { path: "engine/v1/config/get", rules: v1::config::get::RULES },
    Section { path: "engine/v1/status/get", rules: v1::status::get::RULES },
];

/// Writes a module with these rules, whose id and package are the scenario's own name. The import
/// of `rego.v1` makes the syntax the same in every version of the language.
pub(super) fn policy(rules: &str) -> Step {
    put("/v1/policies/{ns}").text("text/plain", module("{ns}", rules))
}

/// Writes a module of a package that other scenarios see, so the scenario has to run alone.
fn shared_policy(package: &str, rules: &str) -> Step {
    put(format!("/v1/policies/{{ns}}-{package}")).text("text/plain", module(package, rules))
}

/// The source of a module: its package and its rules.
fn module(package: &str, rules: &str) -> String {
    format!("package {package}\n\nimport rego.v1\n\n{rules}\n")
}

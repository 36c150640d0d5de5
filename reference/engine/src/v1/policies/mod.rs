//! `/v1/policies`

use http::StatusCode;
use rego::CompiledModule;
use rego::Value;

use crate::active_bundles::OwnedByBundle;
use crate::metrics::Metrics;
use crate::state::Contents;
use http_server::{Reply, Request};

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod put;

/// Id in a path: everything after `/v1/policies/`, decoded.
fn id(request: &Request) -> String {
    request.path.open().join("/")
}

/// Refuses a change of a policy that a bundle owns.
fn permit(contents: &Contents, id: &str) -> Result<(), OwnedByBundle> {
    match contents.policy.module(id) {
        Some(module) => contents.bundles.permit(&module.package().names()),
        None => Ok(()),
    }
}

/// Policy in a response: its id, source and compiled syntax tree.
fn to_json(module: &CompiledModule) -> Value {
    Value::object([
        ("id", Value::from(module.id())),
        ("raw", Value::from(module.text())),
        ("ast", module.tree().to_json()),
    ])
}

/// 200 after a change, with the requested metrics.
fn changed(request: &Request, metrics: Metrics) -> Reply {
    let metrics = metrics
        .is_requested()
        .then(|| ("metrics", metrics.to_value()));
    let body = Value::object(metrics);
    Reply::document(StatusCode::OK, &body, request.flag("pretty"))
}

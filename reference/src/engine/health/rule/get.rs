//! GET /health/{rule-name}

use rego::Value;
use rego::value::Object;

use crate::engine::Engine;
use crate::engine::evaluate::Asked;
use crate::engine::health::{healthy, unhealthy};
use crate::http::{ApiError, Reply, Request};

/// Says whether the rule or document of that name below `system/health` is `true`. Rules see in
/// their input whether the plugins are ready, and the state of each.
///
/// # Errors
/// None: everything else answers 500 with its reason.
pub(in crate::engine) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut path = vec!["system".to_owned(), "health".to_owned()];
    path.extend_from_slice(&request.segments);
    let name = format!("data.{}", path.join("."));
    let input = input(engine);
    Ok(
        match engine.read(&path, &Asked::plainly(request, Some(&input))) {
            Ok(Some(Value::Bool(true))) => healthy(),
            Ok(Some(_)) => unhealthy(&format!("health policy was not true at {name}")),
            Ok(None) => unhealthy(&format!("health policy was undefined at {name}")),
            Err(_) => unhealthy("unable to perform evaluation"),
        },
    )
}

/// The input document of health rules. What runs is the console's decision log and discovery
/// that has nothing to discover; other plugins that are configured do not run yet.
fn input(engine: &Engine) -> Value {
    let config = engine.config();
    let mut states = Object::new();
    states.insert("discovery", Value::from("OK"));
    if config.decision_log {
        states.insert("decision_logs", Value::from("OK"));
    }
    for plugin in &config.plugins {
        states.insert(*plugin, Value::from("NOT_READY"));
    }
    Value::object([
        ("plugins_ready", Value::from(config.plugins.is_empty())),
        ("plugin_state", Value::from(states)),
    ])
}

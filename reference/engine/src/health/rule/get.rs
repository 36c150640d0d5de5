//! GET /health/{rule-name}

use rego::Value;

use crate::Engine;
use crate::evaluate::RequestEvaluation;
use crate::health::{healthy, unhealthy};
use http_server::{ApiError, Reply, Request};

/// Reports whether the rule or document `{rule-name}` below `system/health` is `true`. The input of
/// the rules states whether the plugins are ready, and the state of each.
///
/// # Errors
/// None: any other result answers 500 with the reason.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut path = vec!["system".to_owned(), "health".to_owned()];
    path.extend_from_slice(request.path.open());
    let name = format!("data.{}", path.join("."));
    let input = input(engine);
    let state = engine.state();
    let evaluation = RequestEvaluation::new(&state, request);
    Ok(match evaluation.read(&path, Some(&input)) {
        Ok(Some(Value::Bool(true))) => healthy(),
        Ok(Some(_)) => unhealthy(&format!("health policy was not true at {name}")),
        Ok(None) => unhealthy(&format!("health policy was undefined at {name}")),
        Err(_) => unhealthy("unable to perform evaluation"),
    })
}

/// Input document of health rules.
fn input(engine: &Engine) -> Value {
    let statuses = &engine.plugins().statuses;
    let states = statuses.states();
    let states = states.map(|(name, state)| (name, Value::from(state)));
    Value::object([
        ("plugins_ready", Value::from(statuses.ready())),
        ("plugin_state", Value::object(states)),
    ])
}

//! What the evaluation itself is asked: `opa.runtime` and `time.now_ns`.

use std::time::SystemTime;

use super::expected::CallResult;
use super::operand::answer;
use super::{Call, Cost, Group};
use crate::Value;
use crate::value::Object;

pub(super) const BUILTINS: Group = &[
    ("opa.runtime", Cost::Outside, runtime),
    ("time.now_ns", Cost::Linear, now),
];

fn now(call: &mut Call<'_>, _operands: &[Value]) -> CallResult {
    let now = call.session.now();
    let since = match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |size| -size),
    };
    answer(since)
}

/// What the host says, without the secrets of its configuration.
fn runtime(call: &mut Call<'_>, _operands: &[Value]) -> CallResult {
    let mut members = match call.host().runtime() {
        Some(Value::Object(members)) => members,
        Some(other) => return answer(other),
        None => Object::new(),
    };
    let has_config = members
        .get("config")
        .is_some_and(|config| config.as_object().is_some());
    if has_config
        && let Some(config) = members.get_mut("config")
        && let Some(config) = config.as_object_mut()
    {
        strip(config, "services", &["credentials"]);
        strip(config, "keys", &["key", "private_key"]);
    }
    answer(Value::Object(members))
}

/// Takes members away from each entry of a section.
fn strip(config: &mut Object, section: &str, secrets: &[&str]) {
    let entries: Vec<&mut Value> = match config.get_mut(section) {
        Some(Value::Array(items)) => items.iter_mut().collect(),
        Some(Value::Object(members)) => members.values_mut().collect(),
        _ => return,
    };
    for entry in entries {
        if let Some(entry) = entry.as_object_mut() {
            for secret in secrets {
                entry.remove(secret);
            }
        }
    }
}

//! Functions about the evaluation itself: `opa.runtime`, `time.now_ns`, and `rego.metadata.*`
//! outside of rules.

use std::time::SystemTime;

use super::expected::CallResult;
use super::operand::answer;
use super::{Call, Cost, Group};
use crate::Value;
use crate::value::Object;

pub(super) const BUILTINS: Group = &[
    ("opa.runtime", Cost::BuiltinContext, runtime),
    ("rego.metadata.chain", Cost::Linear, undefined),
    ("rego.metadata.rule", Cost::Linear, undefined),
    ("time.now_ns", Cost::Linear, now),
];

/// `rego.metadata.*` in a query, which has no metadata: undefined in any mode. In rules, such calls
/// are constants and are not evaluated.
fn undefined(_call: &mut Call<'_>, _operands: &[Value]) -> CallResult {
    Ok(None)
}

fn now(call: &mut Call<'_>, _operands: &[Value]) -> CallResult {
    let now = call.session.now();
    let since = match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |size| -size),
    };
    answer(since)
}

/// Configuration sections, and the members of their entries that are secret.
const SECRETS: [(&str, &[&str]); 2] = [
    ("services", &["credentials"]),
    ("keys", &["key", "private_key"]),
];

/// Returns the host's runtime without configuration secrets, shared if there are none.
fn runtime(call: &mut Call<'_>, _operands: &[Value]) -> CallResult {
    let mut info = match call.host().runtime() {
        Some(info) => info,
        None => Value::from(Object::new()),
    };
    for (section, secrets) in SECRETS {
        let content = info.get("config").and_then(|config| config.get(section));
        if content.is_some_and(|content| has_any_secret(content, secrets))
            && let Some(members) = info.as_object_mut()
            && let Some(config) = members.get_mut("config").and_then(Value::as_object_mut)
        {
            strip(config, section, secrets);
        }
    }
    answer(info)
}

/// Whether any entry of a section has one of the secret members.
fn has_any_secret(section: &Value, secrets: &[&str]) -> bool {
    let has_secret = |entry: &Value| secrets.iter().any(|secret| entry.get(secret).is_some());
    match section {
        Value::Array(items) => items.iter().any(has_secret),
        Value::Object(members) => members.values().any(has_secret),
        _ => false,
    }
}

/// Removes the secret members from each entry of a section.
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

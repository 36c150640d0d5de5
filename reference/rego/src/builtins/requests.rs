//! Common parts of HTTP request descriptions.

use super::Failure;
use super::operand::names;
use crate::Value;
use crate::value::Object;

const PARAMETERS: [&str; 28] = [
    "body",
    "cache",
    "cache_ignored_headers",
    "caching_mode",
    "enable_redirect",
    "force_cache",
    "force_cache_duration_seconds",
    "force_json_decode",
    "force_yaml_decode",
    "headers",
    "max_retry_attempts",
    "method",
    "raise_error",
    "raw_body",
    "timeout",
    "tls_ca_cert",
    "tls_ca_cert_env_variable",
    "tls_ca_cert_file",
    "tls_client_cert",
    "tls_client_cert_env_variable",
    "tls_client_cert_file",
    "tls_client_key",
    "tls_client_key_env_variable",
    "tls_client_key_file",
    "tls_insecure_skip_verify",
    "tls_server_name",
    "tls_use_system_certs",
    "url",
];

/// Fails if the description has an unknown parameter or lacks a required one.
pub(super) fn check(request: &Object) -> Result<(), Failure> {
    let known = |key: &Value| key.as_str().is_some_and(|name| PARAMETERS.contains(&name));
    let unknown: Vec<&Value> = request.keys().filter(|key| !known(key)).collect();
    if !unknown.is_empty() {
        return Err(Failure::Type(format!(
            "operand 1 invalid request parameters(s): {}",
            names(unknown)
        )));
    }
    let required = ["method", "url"].into_iter();
    let missing = required.filter(|name| !request.contains_key(name));
    let missing: Vec<Value> = missing.map(Value::from).collect();
    if !missing.is_empty() {
        return Err(Failure::Type(format!(
            "operand 1 missing required request parameters(s): {}",
            names(&missing)
        )));
    }
    Ok(())
}

/// Serializes a value as JSON with sorted keys and with escapes for characters that could end a
/// script in an HTML page.
pub(super) fn json(value: &Value) -> String {
    let text = value.to_string();
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.as_str();
    // The serialized value has a backslash only where an escape begins.
    while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}', '\\']) {
        let (unescaped, special) = rest.split_at(at);
        escaped.push_str(unescaped);
        let (known, short) = match special.get(..6) {
            Some("\\u0008") => (6, "\\b"),
            Some("\\u000c") => (6, "\\f"),
            _ => (0, ""),
        };
        let taken = match special.chars().next() {
            _ if known > 0 => {
                escaped.push_str(short);
                known
            }
            Some('\\') => {
                let pair = special.get(..2).unwrap_or(special);
                escaped.push_str(pair);
                pair.len()
            }
            Some(other) => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(other)));
                other.len_utf8()
            }
            None => 0,
        };
        rest = special.get(taken..).unwrap_or_default();
    }
    escaped.push_str(rest);
    escaped
}

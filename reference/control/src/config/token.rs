//! API tokens and their roles.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::principal::{KeyDigest, Role};

/// API key with its scopes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a token")]
pub(super) struct Token {
    #[serde(rename = "api_key", deserialize_with = "digest")]
    digest: KeyDigest,
    #[serde(deserialize_with = "one_scope")]
    scopes: Scope,
}

/// Scope of a key: its role.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a scope")]
struct Scope {
    role: Role,
}

impl Token {
    /// Returns the digest of the key; the key itself is not stored.
    pub(super) fn digest(&self) -> KeyDigest {
        self.digest
    }

    /// Returns the role in the scope of the token.
    pub(super) fn role(&self) -> Role {
        self.scopes.role
    }
}

fn digest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<KeyDigest, D::Error> {
    let text = Zeroizing::new(String::deserialize(deserializer)?);
    let key = expand(&text).map_err(D::Error::custom)?;
    let key = Zeroizing::new(key);
    if key.is_empty() {
        return Err(D::Error::custom("an API key cannot be empty"));
    }
    // A key is sent in a header, which contains no other characters.
    let printable = |character: char| character == ' ' || character.is_ascii_graphic();
    if key.trim() != key.as_str() || !key.chars().all(printable) {
        let message = "an API key is printable ASCII without space around it";
        return Err(D::Error::custom(message));
    }
    Ok(KeyDigest::of(&key))
}

fn one_scope<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Scope, D::Error> {
    let mut scopes = Vec::<Scope>::deserialize(deserializer)?;
    match (scopes.pop(), scopes.is_empty()) {
        (Some(scope), true) => Ok(scope),
        _ => Err(D::Error::custom("a token has exactly one scope")),
    }
}

/// Replaces each `${NAME}` with the value of the environment variable `NAME`.
///
/// # Errors
/// When a variable is not set, or its braces are not closed.
pub(super) fn expand(text: &str) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else {
            return Err("`${` without `}`".to_owned());
        };
        let value = std::env::var(name);
        let value = value.map_err(|_| format!("environment variable `{name}` is not set"))?;
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Expands environment variables in every string of a value.
///
/// # Errors
/// When a variable is not set, or its braces are not closed.
pub(super) fn expand_strings(value: &mut Value) -> Result<(), String> {
    match value {
        Value::String(text) => *text = expand(text)?,
        Value::Array(items) => items.iter_mut().try_for_each(expand_strings)?,
        Value::Object(members) => members.values_mut().try_for_each(expand_strings)?,
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

//! Keeps secrets out of messages, whatever library wrote them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::BuildError;
use crate::control::model::{Secret, wipe};

/// Shorter values are words that messages hold anyway.
const SHORTEST: usize = 4;

/// What stands in the place of a secret.
const HIDDEN: &str = "***";

/// Members of secrets that are none.
const OPEN: &[&str] = &[
    "type",
    "in",
    "issuer",
    "token_endpoint",
    "scopes",
    "fingerprints",
];

/// Takes the values of secrets out of the message of a failure.
pub(super) fn hide(mut failure: BuildError, secrets: &BTreeMap<String, Secret>) -> BuildError {
    for secret in secrets.values() {
        let Ok(mut value) = serde_json::from_slice::<Value>(secret.expose()) else {
            continue;
        };
        if let Value::Object(members) = &value {
            let hidden = members
                .iter()
                .filter(|(name, _)| !OPEN.contains(&name.as_str()));
            hidden.for_each(|(_, value)| hide_value(&mut failure.message, value));
        }
        wipe(&mut value);
    }
    failure
}

fn hide_value(message: &mut String, value: &Value) {
    match value {
        Value::String(text) if text.len() >= SHORTEST => {
            *message = message.replace(text.as_str(), HIDDEN);
        }
        Value::Array(items) => items.iter().for_each(|item| hide_value(message, item)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeroize::Zeroizing;

    #[test]
    fn values_are_hidden() {
        let text = br#"{"type":"basic_auth","username":"ann","password":"hush-hush","headers":["X: quiet"]}"#;
        let secret = Secret::opened(Zeroizing::new(text.to_vec()));
        let secrets = BTreeMap::from([("s".to_owned(), secret)]);
        let failure = BuildError::sync("basic_auth of ann: hush-hush, X: quiet, hush");
        let hidden = hide(failure, &secrets);
        assert_eq!(hidden.message, "basic_auth of ann: ***, ***, hush");
    }
}

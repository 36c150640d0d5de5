//! Secret: a named credential with a value that the API never returns.

use std::fmt;

use serde_json::{Map, Value};
use zeroize::{Zeroize, Zeroizing};

use super::{Kind, ValidationError, deserialize, name};
use crate::allowed_hosts::AllowedHosts;

/// Member with the hosts that a secret may be sent to.
const ALLOWED_HOSTS: &str = "allowed_hosts";

/// Value of a secret as JSON, with the hosts that it may be sent to. The program never prints the
/// value, and overwrites its memory when it is dropped.
pub(crate) struct Secret {
    value: Zeroizing<Vec<u8>>,
    allowed_hosts: Option<Vec<String>>,
}

/// Secret in a request or in the configuration. `shared` is true if every owner may reference it.
#[derive(Debug)]
pub(crate) struct GivenSecret {
    pub(crate) secret: Secret,
    pub(crate) shared: Option<bool>,
}

impl Secret {
    /// Parses the secret in a request body; its name is that in the path. The value is the member
    /// `value`, or else the whole body.
    ///
    /// Serves `control/common/names/secret-mismatch-refused`.
    ///
    /// # Errors
    /// When the body is not a JSON object, names another secret, or its value is not an object.
    pub(crate) fn read(path_name: &str, body: &[u8]) -> Result<GivenSecret, ValidationError> {
        name::check_name(path_name)?;
        let mut value = deserialize::json(body)?;
        let read = match &mut value {
            Value::Object(members) => Self::from_named_members(path_name, members),
            _ => Err(ValidationError::new("must be an object")),
        };
        wipe(&mut value);
        read
    }

    /// Parses a secret with an optional member `name`, which must match the path.
    fn from_named_members(
        path_name: &str,
        members: &mut Map<String, Value>,
    ) -> Result<GivenSecret, ValidationError> {
        let body_name = match members.remove("name") {
            None | Some(Value::Null) => None,
            Some(Value::String(body_name)) => Some(body_name),
            Some(_) => return Err(ValidationError::new("must be a string").under("name")),
        };
        name::check_same(Kind::Secret, path_name, body_name.as_deref())?;
        Self::from_members(members)
    }

    /// Parses a secret from an object. The value is the member `value`, or else the object without
    /// the attributes `shared` and `allowed_hosts`; `allowed_hosts` may also be inside the value.
    ///
    /// # Errors
    /// When the value, its `type` or `token`, or an attribute has the wrong type.
    pub(crate) fn from_members(
        members: &mut Map<String, Value>,
    ) -> Result<GivenSecret, ValidationError> {
        let shared = match members.remove("shared") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(shared)) => Some(shared),
            Some(_) => return Err(ValidationError::new("must be true or false").under("shared")),
        };
        let outer = hosts(members.remove(ALLOWED_HOSTS).as_ref())?;
        let value = match members.get("value") {
            None | Some(Value::Null) => members,
            Some(_) => match members.get_mut("value").and_then(Value::as_object_mut) {
                Some(value) => value,
                None => return Err(ValidationError::new("must be an object").under("value")),
            },
        };
        let inner = hosts(value.remove(ALLOWED_HOSTS).as_ref());
        let inner = inner.map_err(|invalid| invalid.under("value"))?;
        let allowed_hosts = outer.or(inner);
        for field in ["type", "token"] {
            if value.get(field).is_some_and(|field| !field.is_string()) {
                return Err(ValidationError::new("must be a string")
                    .under(field)
                    .under("value"));
            }
        }
        match serde_json::to_vec(value) {
            Ok(text) => {
                let value = Zeroizing::new(text);
                let secret = Self {
                    value,
                    allowed_hosts,
                };
                Ok(GivenSecret { secret, shared })
            }
            Err(_) => Err(ValidationError::new("cannot be written").under("value")),
        }
    }

    /// Restores a secret from its stored JSON: the value including `allowed_hosts`.
    pub(crate) fn opened(stored: Zeroizing<Vec<u8>>) -> Self {
        let mut value: Value = serde_json::from_slice(&stored).unwrap_or_default();
        let members = value.as_object_mut();
        let allowed = members.and_then(|members| members.remove(ALLOWED_HOSTS));
        // Stored hosts are always valid; if they were not, no host would be allowed.
        let allowed_hosts = hosts(allowed.as_ref()).unwrap_or_else(|_| Some(Vec::new()));
        let stripped = serde_json::to_vec(&value);
        wipe(&mut value);
        let value = match (allowed, stripped) {
            (Some(_), Ok(stripped)) => Zeroizing::new(stripped),
            _ => stored,
        };
        Self {
            value,
            allowed_hosts,
        }
    }

    /// Returns the value.
    pub(crate) fn expose(&self) -> &[u8] {
        &self.value
    }

    /// Returns the JSON to encrypt and store: the value including `allowed_hosts`.
    pub(crate) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut text = self.value.clone();
        if let Some(hosts) = &self.allowed_hosts
            && text.pop() == Some(b'}')
        {
            let comma = match text.len() {
                1 => "",
                _ => ",",
            };
            let hosts = Value::from(hosts.clone());
            text.extend(format!("{comma}\"{ALLOWED_HOSTS}\":{hosts}}}").bytes());
        }
        text
    }

    /// Returns the host patterns of the secret; `None` means that it has no restriction.
    pub(crate) fn allowed_hosts(&self) -> Option<&[String]> {
        self.allowed_hosts.as_deref()
    }
}

/// Parses host patterns, if present.
fn hosts(value: Option<&Value>) -> Result<Option<Vec<String>>, ValidationError> {
    let refused = |error: &str| ValidationError::new(error).under(ALLOWED_HOSTS);
    let items = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(refused("must be an array of strings")),
    };
    let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
    let texts: Option<Vec<String>> = texts.collect();
    let texts = texts.ok_or_else(|| refused("must be an array of strings"))?;
    match AllowedHosts::read(&texts) {
        Ok(_) => Ok(Some(texts)),
        Err(error) => Err(refused(&error)),
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Overwrites the memory of all strings in a JSON value.
pub(crate) fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(members) => members.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::value(
        r#"{"value":{"token":"t","type":"token_auth"}}"#,
        Some(r#"{"token":"t","type":"token_auth"}"#)
    )]
    #[case::name_and_value(r#"{"name":"s","value":{}}"#, Some("{}"))]
    #[case::empty_name(r#"{"name":"","value":{}}"#, Some("{}"))]
    #[case::no_value(r#"{"type":"password"}"#, Some(r#"{"type":"password"}"#))]
    #[case::empty("{}", Some("{}"))]
    #[case::other_name(r#"{"name":"other","value":{}}"#, None)]
    #[case::name_that_is_no_string(r#"{"name":1,"value":{}}"#, None)]
    #[case::value_that_is_no_object(r#"{"value":5}"#, None)]
    #[case::type_that_is_no_string(r#"{"value":{"type":5}}"#, None)]
    #[case::token_that_is_no_string(r#"{"value":{"token":[]}}"#, None)]
    #[case::array("[]", None)]
    #[case::null("null", None)]
    #[case::open_end("{", None)]
    fn bodies_and_their_values(#[case] body: &str, #[case] expected: Option<&str>) {
        let parsed = Secret::read("s", body.as_bytes());
        let text = parsed.as_ref().ok().map(|parsed| parsed.secret.expose());
        assert_eq!(text, expected.map(str::as_bytes));
        assert!(!format!("{parsed:?}").contains("token_auth"));
    }

    #[rstest]
    #[case::nothing(r#"{"value":{"type":"t"}}"#, None, None)]
    #[case::shared_beside_fields(r#"{"type":"t","shared":true}"#, Some(true), None)]
    #[case::shared_beside_the_value(r#"{"value":{"type":"t"},"shared":false}"#, Some(false), None)]
    #[case::hosts_beside_the_value(
        r#"{"value":{"type":"t"},"allowed_hosts":["a"]}"#,
        None,
        Some(1)
    )]
    #[case::hosts_beside_fields(r#"{"type":"t","allowed_hosts":["a","*.b:1"]}"#, None, Some(2))]
    #[case::hosts_in_the_value(r#"{"value":{"allowed_hosts":[],"type":"t"}}"#, None, Some(0))]
    #[case::null(r#"{"type":"t","allowed_hosts":null}"#, None, None)]
    fn what_is_said_of_a_secret_is_no_part_of_its_value(
        #[case] body: &str,
        #[case] shared: Option<bool>,
        #[case] hosts: Option<usize>,
    ) -> Result<(), ValidationError> {
        let parsed = Secret::read("s", body.as_bytes())?;
        assert_eq!(parsed.shared, shared);
        let opened = Secret::opened(parsed.secret.to_bytes());
        for secret in [parsed.secret, opened] {
            assert_eq!(secret.expose(), br#"{"type":"t"}"#);
            assert_eq!(secret.allowed_hosts().map(<[_]>::len), hosts);
        }
        Ok(())
    }

    #[rstest]
    #[case::shared_number(r#"{"value":{},"shared":1}"#)]
    #[case::hosts_string(r#"{"value":{},"allowed_hosts":"a"}"#)]
    #[case::hosts_of_numbers(r#"{"value":{},"allowed_hosts":[1]}"#)]
    #[case::hosts_object(r#"{"value":{"allowed_hosts":{}}}"#)]
    #[case::broken_pattern(r#"{"value":{},"allowed_hosts":["["]}"#)]
    fn what_is_said_of_a_secret_is_checked(#[case] body: &str) {
        assert!(Secret::read("s", body.as_bytes()).is_err());
    }

    #[test]
    fn hosts_of_an_empty_secret_are_kept() -> Result<(), ValidationError> {
        let empty = Secret::read("s", br#"{"allowed_hosts":["a"]}"#)?.secret;
        assert_eq!(empty.to_bytes().as_slice(), br#"{"allowed_hosts":["a"]}"#);
        Ok(())
    }
}

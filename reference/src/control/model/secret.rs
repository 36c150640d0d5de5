//! Secret: a named credential, whose value nobody reads back.

use std::fmt;

use serde_json::{Map, Value};
use zeroize::{Zeroize, Zeroizing};

use super::{Invalid, Kind, given, name};

/// The value of a secret as JSON text. It shows in no output of the program, and its memory is
/// overwritten when it is dropped.
pub(crate) struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// The secret of a request body, named by the path: what stands under `value`, or else the
    /// members of the body itself.
    ///
    /// Serves `control/common/names/secret-mismatch-refused`.
    ///
    /// # Errors
    /// When the body is not a JSON object, names another secret, or its value is no object.
    pub(crate) fn read(path_name: &str, body: &[u8]) -> Result<Self, Invalid> {
        name::check_name(path_name)?;
        let mut value = given::json(body)?;
        let read = match &mut value {
            Value::Object(members) => Self::named(path_name, members),
            _ => Err(Invalid::new("must be an object")),
        };
        wipe(&mut value);
        read
    }

    /// The secret of a body whose name, if it has one, must be the one of the path.
    fn named(path_name: &str, members: &mut Map<String, Value>) -> Result<Self, Invalid> {
        let body_name = match members.remove("name") {
            None | Some(Value::Null) => None,
            Some(Value::String(body_name)) => Some(body_name),
            Some(_) => return Err(Invalid::new("must be a string").under("name")),
        };
        name::check_same(Kind::Secret, path_name, body_name.as_deref())?;
        Self::from_members(members)
    }

    /// The secret of an object, which holds the value under `value` or is the value itself.
    ///
    /// # Errors
    /// When the value, its type or its token has the wrong type.
    pub(crate) fn from_members(members: &Map<String, Value>) -> Result<Self, Invalid> {
        let value = match members.get("value") {
            None | Some(Value::Null) => members,
            Some(Value::Object(value)) => value,
            Some(_) => return Err(Invalid::new("must be an object").under("value")),
        };
        for field in ["type", "token"] {
            if value.get(field).is_some_and(|field| !field.is_string()) {
                return Err(Invalid::new("must be a string").under(field).under("value"));
            }
        }
        match serde_json::to_vec(value) {
            Ok(text) => Ok(Self(Zeroizing::new(text))),
            Err(_) => Err(Invalid::new("cannot be written").under("value")),
        }
    }

    /// A secret whose value was stored: the JSON text of an object.
    pub(crate) fn opened(value: Zeroizing<Vec<u8>>) -> Self {
        Self(value)
    }

    /// The value.
    pub(crate) fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Overwrites the strings of a value.
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
    use super::*;

    #[test]
    fn bodies_and_their_values() {
        for (body, expected) in [
            (
                r#"{"value":{"token":"t","type":"token_auth"}}"#,
                Some(r#"{"token":"t","type":"token_auth"}"#),
            ),
            (r#"{"name":"s","value":{}}"#, Some("{}")),
            (r#"{"name":"","value":{}}"#, Some("{}")),
            (r#"{"type":"password"}"#, Some(r#"{"type":"password"}"#)),
            ("{}", Some("{}")),
            (r#"{"name":"other","value":{}}"#, None),
            (r#"{"name":1,"value":{}}"#, None),
            (r#"{"value":5}"#, None),
            (r#"{"value":{"type":5}}"#, None),
            (r#"{"value":{"token":[]}}"#, None),
            ("[]", None),
            ("null", None),
            ("{", None),
        ] {
            let secret = Secret::read("s", body.as_bytes());
            let text = secret.as_ref().ok().map(Secret::expose);
            assert_eq!(text, expected.map(str::as_bytes), "{body}");
            assert!(!format!("{secret:?}").contains("token_auth"));
        }
    }
}

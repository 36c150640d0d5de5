//! Parts of a token.

use crate::Value;
use crate::builtins::Failure;
use crate::builtins::json_words::explained;
use crate::builtins::pem::decode_url;
use crate::value::{Object, from_json, lossy};

/// Encoded parts of a token.
#[derive(Debug)]
pub(super) struct Token<'t> {
    pub(super) header: &'t str,
    pub(super) payload: &'t str,
    pub(super) signature: &'t str,
}

/// Header members that verification uses.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// `alg`, empty when absent.
    pub(super) algorithm: String,
    /// `kid`, empty when absent.
    pub(super) key_id: String,
    /// `cty`, empty when absent.
    pub(super) content: String,
    /// Whether `crit` names an unsupported member.
    pub(super) beyond_us: bool,
}

impl<'t> Token<'t> {
    /// Splits a token into its parts.
    pub(super) fn split(text: &'t str) -> Result<Self, Failure> {
        let mut parts = text.split('.');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(header), Some(payload), Some(signature), None) => Ok(Self {
                header,
                payload,
                signature,
            }),
            (_, None, ..) => Err(failure("encoded JWT had no period separators")),
            _ => {
                let found = text.split('.').count();
                let message = format!("encoded JWT must have 3 sections, found {found}");
                Err(Failure::Value(message))
            }
        }
    }

    /// Returns the signing input: header and payload as received.
    pub(super) fn signed(&self) -> String {
        format!("{}.{}", self.header, self.payload)
    }

    /// Decodes the header.
    pub(super) fn header(&self) -> Result<Object, Failure> {
        let text = decode_url(self.header)
            .map_err(|error| Failure::Value(format!("JWT header had invalid encoding: {error}")))?;
        let header =
            object(&text).map_err(|error| Failure::Value(format!("bad JWT header: {error}")))?;
        if header.contains_key("enc") {
            return Err(failure("JWT is a JWE object, which is not supported"));
        }
        Ok(header)
    }

    /// Decodes the payload to bytes.
    pub(super) fn payload(&self) -> Result<Vec<u8>, Failure> {
        decode_url(self.payload)
            .map_err(|error| Failure::Value(format!("JWT payload had invalid encoding: {error}")))
    }

    /// Decodes the signature to bytes.
    pub(super) fn signature(&self) -> Result<Vec<u8>, String> {
        decode_url(self.signature)
    }
}

impl Header {
    /// Reads the header members that verification uses.
    pub(super) fn read(members: &Object) -> Result<Self, Failure> {
        let text = |name: &str| match members.get(name) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.to_string()),
            Some(_) => Err(Failure::Value(format!("{name}: must be a string"))),
        };
        let algorithm = text("alg")?;
        let critical = match members.get("crit") {
            None => None,
            Some(Value::Array(names)) => Some(names),
            Some(_) => return Err(failure("crit: must be a list")),
        };
        if critical.is_some_and(|names| !names.iter().any(|name| name.as_str().is_some())) {
            return Err(failure("crit: must be a nonempty list"));
        }
        let content = text("cty")?;
        let key_id = text("kid")?;
        text("typ")?;
        let known = ["alg", "crit", "cty", "kid", "typ"];
        let beyond_us = critical.is_some_and(|names| {
            let mut names = names.iter().filter_map(Value::as_str);
            names.any(|name| members.contains_key(name) && !known.contains(&name))
        });
        Ok(Self {
            algorithm,
            key_id,
            content,
            beyond_us,
        })
    }
}

/// Parses JSON that must be an object.
pub(super) fn object(text: &[u8]) -> Result<Object, String> {
    match from_json(lossy(text).as_bytes()) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err("decoded JSON type was not an Object".to_owned()),
        Err(error) => {
            let error = explained(text, &error);
            Err(format!("invalid JSON: {error}"))
        }
    }
}

pub(super) fn failure(message: &str) -> Failure {
    Failure::Value(message.to_owned())
}

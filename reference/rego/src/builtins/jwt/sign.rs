//! `io.jwt.encode_sign` and `io.jwt.encode_sign_raw`.

use super::first_members;
use crate::Value;
use crate::builtins::keys::Algorithm;
use crate::builtins::keys::jwk::{self, Material};
use crate::builtins::operand::{answer, any, refuse, text};
use crate::builtins::pem::encode_url;
use crate::builtins::requests::json;
use crate::builtins::{Call, Failure};
use crate::value::from_json;

pub(super) fn encode_sign(_: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let [header, payload, key] = [1, 2, 3].map(|position| json(any(operands, position)));
    sign(&header, &payload, &key)
}

pub(super) fn encode_sign_raw(
    _call: &mut Call<'_>,
    operands: &[Value],
) -> Result<Option<Value>, Failure> {
    let key = text(operands, 3)?;
    sign(text(operands, 1)?, text(operands, 2)?, key)
}

/// Whether a header consists only of characters of numbers, in any order. Such a header counts as a
/// number, so the error is that it has no members.
fn is_loose_number(header: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    header.trim_ascii().chars().all(digits)
}

/// Signs the original header and payload.
fn sign(header: &str, payload: &str, key: &str) -> Result<Option<Value>, Failure> {
    let keys = jwk::read(key.as_bytes()).map_err(Failure::Value)?;
    let Some(key) = keys.first() else {
        return refuse("no keys found in JWK set");
    };
    let members = match from_json(header.as_bytes()) {
        Ok(members) => members,
        Err(_) if header.is_empty() => {
            return refuse(
                "missing or invalid 'alg' header: cannot parse JSON: cannot parse empty string; unparsed tail: \"\"",
            );
        }
        Err(_) if is_loose_number(header) => Value::Null,
        Err(error) => {
            return refuse(format!(
                "missing or invalid 'alg' header: cannot parse JSON: {error}"
            ));
        }
    };
    let (algorithm, kind) = first_members::of(header, &members);
    let name = match &algorithm {
        Some(Value::String(name)) => &**name,
        None => {
            return refuse("missing or invalid 'alg' header: jwsbb: header \"alg\" not found");
        }
        Some(other) => {
            let kind = match other {
                Value::Bool(value) => value.to_string(),
                other => other.kind().to_owned(),
            };
            return refuse(format!(
                "missing or invalid 'alg' header: value doesn't contain string; it contains {kind}"
            ));
        }
    };
    let Some(algorithm) = Algorithm::named(name) else {
        return refuse(format!("unknown JWS algorithm: {name}"));
    };
    let kind = kind.as_ref().and_then(Value::as_str);
    if kind.is_none_or(|kind| kind == "JWT") && from_json(payload.as_bytes()).is_err() {
        return refuse("type is JWT but payload is not JSON");
    }
    let signed = format!(
        "{}.{}",
        encode_url(header.as_bytes()),
        encode_url(payload.as_bytes())
    );
    let signature = match &key.material {
        Material::Private(key) => algorithm.sign(key, signed.as_bytes()),
        Material::Secret(secret) => algorithm.authenticate(secret, signed.as_bytes()),
        Material::Public(_) => None,
    };
    let Some(signature) = signature else {
        return refuse(format!("the key cannot sign with {name}"));
    };
    answer(format!("{signed}.{}", encode_url(&signature)))
}

//! `io.jwt.decode` and `io.jwt.decode_verify`.

use super::constraints::Constraints;
use super::token::{Header, Token, object};
use crate::Value;
use crate::builtins::encoding::hex;
use crate::builtins::operand::{self, answer, text};
use crate::builtins::{Call, Failure};
use crate::value::{Object, lossy};

pub(super) fn decode(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let mut current = text(operands, 1)?.to_string();
    // A nested token is a quarter shorter, so this ends soon.
    loop {
        let token = Token::split(&current)?;
        let header = token.header()?;
        let payload = token.payload()?;
        if header.get("cty").and_then(Value::as_str) == Some("JWT") {
            current = lossy(&payload).trim_matches(['"', '\'']).to_owned();
            continue;
        }
        let payload = object(&payload).map_err(Failure::Value)?;
        let signature = token.signature().map_err(|error| {
            Failure::Value(format!("JWT signature had invalid encoding: {error}"))
        })?;
        return answer(vec![
            Value::from(header),
            Value::from(payload),
            Value::from(hex(&signature)),
        ]);
    }
}

pub(super) fn decode_verify(
    call: &mut Call<'_>,
    operands: &[Value],
) -> Result<Option<Value>, Failure> {
    let constraints = Constraints::read(call, operand::object(operands, 2)?)?;
    let mut current = text(operands, 1)?.to_string();
    loop {
        let token = Token::split(&current)?;
        let members = token.header()?;
        let header = Header::read(&members)?;
        if !constraints.accept(&header) {
            return refused();
        }
        let signature = token.signature().map_err(Failure::Value)?;
        if !constraints.verify(&header, &token, &signature) {
            return refused();
        }
        let payload = token.payload()?;
        if header.content.eq_ignore_ascii_case("JWT") {
            current = lossy(&payload).into_owned();
            continue;
        }
        let claims = object(&payload).map_err(Failure::Value)?;
        if !constraints.check(&claims)? {
            return refused();
        }
        return answer(vec![
            Value::from(true),
            Value::from(members),
            Value::from(claims),
        ]);
    }
}

/// Returns the result for a refused token, which does not include the token's contents.
fn refused() -> Result<Option<Value>, Failure> {
    answer(vec![
        Value::from(false),
        Value::from(Object::new()),
        Value::from(Object::new()),
    ])
}

//! `io.jwt.verify_*`: whether a signature is right for one algorithm.

use super::token::{Header, Token};
use super::trusted;
use crate::Value;
use crate::builtins::keys::Algorithm;
use crate::builtins::keys::jwk::Material;
use crate::builtins::operand::{answer, bytes, text};
use crate::builtins::{Call, Failure};

/// With the public keys in the second operand. What the token's header says about its algorithm
/// only chooses among these keys.
pub(super) fn asymmetric(
    call: &mut Call<'_>,
    operands: &[Value],
    algorithm: Algorithm,
) -> Result<Option<Value>, Failure> {
    let token = Token::split(text(operands, 1)?)?;
    let keys = trusted::keys(call, text(operands, 2)?)?;
    let signature = token.signature().map_err(Failure::Value)?;
    let header = Header::read(&token.header()?)?;
    let signed = token.signed();
    let mut fitting = trusted::fitting(&keys, &header.key_id, &header.algorithm);
    answer(fitting.any(|key| match &key.material {
        Material::Public(key) => algorithm.verify(key, signed.as_bytes(), &signature),
        Material::Private(_) | Material::Secret(_) => false,
    }))
}

/// With the secret in the second operand.
pub(super) fn symmetric(
    operands: &[Value],
    algorithm: Algorithm,
) -> Result<Option<Value>, Failure> {
    let token = text(operands, 1)?;
    let secret = bytes(operands, 2)?;
    let token = Token::split(token)?;
    let code = token.signature().map_err(Failure::Value)?;
    let signed = token.signed();
    answer(algorithm.verify_secret(secret, signed.as_bytes(), &code))
}

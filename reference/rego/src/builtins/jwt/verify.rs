//! `io.jwt.verify_*`: verification of a signature with one algorithm.

use super::token::{Header, Token};
use super::trusted;
use crate::Value;
use crate::builtins::keys::Algorithm;
use crate::builtins::keys::jwk::Material;
use crate::builtins::operand::{answer, bytes, text};
use crate::builtins::{Call, Failure};

/// Verifies with the public keys in the second operand. The algorithm in the token's header only
/// selects among these keys.
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
    let mut candidates = trusted::candidate_keys(&keys, &header.key_id, &header.algorithm);
    answer(candidates.any(|key| match &key.material {
        Material::Public(key) => algorithm.verify(key, signed.as_bytes(), &signature),
        Material::Private(_) | Material::Secret(_) => false,
    }))
}

/// Verifies with the secret in the second operand.
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

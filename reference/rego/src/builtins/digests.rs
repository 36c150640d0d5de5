//! `crypto.md5`, `crypto.sha1`, `crypto.sha256` and `crypto.hmac.*`.

use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use subtle::ConstantTimeEq;

use super::encoding::hex;
use super::operand::{answer, bytes};
use super::{Call, Cost, Failure, Group};
use crate::Value;

pub(super) const BUILTINS: Group = &[
    ("crypto.hmac.equal", Cost::Linear, equal),
    ("crypto.hmac.md5", Cost::Linear, authenticate::<Hmac<Md5>>),
    ("crypto.hmac.sha1", Cost::Linear, authenticate::<Hmac<Sha1>>),
    (
        "crypto.hmac.sha256",
        Cost::Linear,
        authenticate::<Hmac<Sha256>>,
    ),
    (
        "crypto.hmac.sha512",
        Cost::Linear,
        authenticate::<Hmac<Sha512>>,
    ),
    ("crypto.md5", Cost::Linear, digest::<Md5>),
    ("crypto.sha1", Cost::Linear, digest::<Sha1>),
    ("crypto.sha256", Cost::Linear, digest::<Sha256>),
];

fn digest<D: Digest>(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    answer(hex(&D::digest(bytes(operands, 1)?)))
}

fn authenticate<M: Mac + KeyInit>(
    _call: &mut Call<'_>,
    operands: &[Value],
) -> Result<Option<Value>, Failure> {
    let message = bytes(operands, 1)?;
    let mac = <M as KeyInit>::new_from_slice(bytes(operands, 2)?);
    let mut mac = mac.map_err(|error| Failure::Value(error.to_string()))?;
    mac.update(message);
    answer(hex(&mac.finalize().into_bytes()))
}

fn equal(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let first = bytes(operands, 1)?;
    answer(bool::from(first.ct_eq(bytes(operands, 2)?)))
}

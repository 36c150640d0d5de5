//! `io.jwt.*`: JSON Web Tokens.

use super::keys::Algorithm;
use super::keys::hash::Hash;
use super::{Cost, Group};

mod constraints;
mod decode;
mod first_members;
mod sign;
pub(crate) mod signed;
mod token;
mod trusted;
mod verify;

pub(super) const BUILTINS: Group = &[
    ("io.jwt.decode", Cost::Linear, decode::decode),
    ("io.jwt.decode_verify", Cost::Library, decode::decode_verify),
    ("io.jwt.encode_sign", Cost::Library, sign::encode_sign),
    (
        "io.jwt.encode_sign_raw",
        Cost::Library,
        sign::encode_sign_raw,
    ),
    ("io.jwt.verify_eddsa", Cost::Library, |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Ed25519)
    }),
    ("io.jwt.verify_es256", Cost::Library, |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Curve(Hash::Sha256))
    }),
    ("io.jwt.verify_es384", Cost::Library, |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Curve(Hash::Sha384))
    }),
    ("io.jwt.verify_es512", Cost::Library, |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Curve(Hash::Sha512))
    }),
    ("io.jwt.verify_hs256", Cost::Library, |_, operands| {
        verify::symmetric(operands, Algorithm::Hmac(Hash::Sha256))
    }),
    ("io.jwt.verify_hs384", Cost::Library, |_, operands| {
        verify::symmetric(operands, Algorithm::Hmac(Hash::Sha384))
    }),
    ("io.jwt.verify_hs512", Cost::Library, |_, operands| {
        verify::symmetric(operands, Algorithm::Hmac(Hash::Sha512))
    }),
    ("io.jwt.verify_ps256", Cost::Library, |call, operands| {
        verify::asymmetric(call, operands, Algorithm::RsaPss(Hash::Sha256))
    }),
    ("io.jwt.verify_ps384", Cost::Library, |call, operands| {
        verify::asymmetric(call, operands, Algorithm::RsaPss(Hash::Sha384))
    }),
    ("io.jwt.verify_ps512", Cost::Library, |call, operands| {
        verify::asymmetric(call, operands, Algorithm::RsaPss(Hash::Sha512))
    }),
    ("io.jwt.verify_rs256", Cost::Library, |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Rsa(Hash::Sha256))
    }),
    ("io.jwt.verify_rs384", Cost::Library, |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Rsa(Hash::Sha384))
    }),
    ("io.jwt.verify_rs512", Cost::Library, |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Rsa(Hash::Sha512))
    }),
];

//! `io.jwt.*`: JSON Web Tokens.

use super::Group;
use super::keys::Algorithm;
use super::keys::algorithm::Hash;

mod constraints;
mod decode;
mod sign;
pub(crate) mod signed;
mod token;
mod trusted;
mod verify;

/// What is kept for later calls are the keys that a caller trusts.
pub(super) const KEYS: &str = "io.jwt";

pub(super) const BUILTINS: Group = &[
    ("io.jwt.decode", decode::decode),
    ("io.jwt.decode_verify", decode::decode_verify),
    ("io.jwt.encode_sign", sign::encode_sign),
    ("io.jwt.encode_sign_raw", sign::encode_sign_raw),
    ("io.jwt.verify_eddsa", |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Ed25519)
    }),
    ("io.jwt.verify_es256", |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Curve(Hash::Sha256))
    }),
    ("io.jwt.verify_es384", |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Curve(Hash::Sha384))
    }),
    ("io.jwt.verify_es512", |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Curve(Hash::Sha512))
    }),
    ("io.jwt.verify_hs256", |_, operands| {
        verify::symmetric(operands, Algorithm::Hmac(Hash::Sha256))
    }),
    ("io.jwt.verify_hs384", |_, operands| {
        verify::symmetric(operands, Algorithm::Hmac(Hash::Sha384))
    }),
    ("io.jwt.verify_hs512", |_, operands| {
        verify::symmetric(operands, Algorithm::Hmac(Hash::Sha512))
    }),
    ("io.jwt.verify_ps256", |call, operands| {
        verify::asymmetric(call, operands, Algorithm::RsaPss(Hash::Sha256))
    }),
    ("io.jwt.verify_ps384", |call, operands| {
        verify::asymmetric(call, operands, Algorithm::RsaPss(Hash::Sha384))
    }),
    ("io.jwt.verify_ps512", |call, operands| {
        verify::asymmetric(call, operands, Algorithm::RsaPss(Hash::Sha512))
    }),
    ("io.jwt.verify_rs256", |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Rsa(Hash::Sha256))
    }),
    ("io.jwt.verify_rs384", |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Rsa(Hash::Sha384))
    }),
    ("io.jwt.verify_rs512", |call, operands| {
        verify::asymmetric(call, operands, Algorithm::Rsa(Hash::Sha512))
    }),
];

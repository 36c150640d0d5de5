//! `crypto.x509.parse_certificates` and `crypto.x509.parse_and_verify_certificates`.

use super::certificate::Certificate;
use super::chain;
use super::options::Options;
use crate::Value;
use crate::builtins::keys::Public;
use crate::builtins::operand::{answer, characters, object, refuse};
use crate::builtins::pem::{decode, next_block};
use crate::builtins::{Call, Failure};
use crate::value::lossy;

/// Prefix of PEM input, which is not Base64.
pub(super) const BEGIN: &str = "-----BEGIN";

pub(super) fn parse(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    // Bytes that are not UTF-8 are not part of a certificate.
    let certificates = characters(operands, 1)?;
    let der = der(certificates.as_str()).map_err(Failure::Value)?;
    let Some(certificates) = Certificate::read_all(&der) else {
        return refuse("x509: malformed certificate");
    };
    answer(certificate_values(
        &certificates.iter().collect::<Vec<_>>(),
        true,
    ))
}

pub(super) fn parse_and_verify(
    _call: &mut Call<'_>,
    operands: &[Value],
) -> Result<Option<Value>, Failure> {
    let certificates = characters(operands, 1)?;
    verified(certificates.as_str(), || Ok(Options::default()), true)
}

pub(super) fn parse_and_verify_with_options(
    _call: &mut Call<'_>,
    operands: &[Value],
) -> Result<Option<Value>, Failure> {
    let certificates = characters(operands, 1)?;
    let options = object(operands, 2)?;
    verified(certificates.as_str(), || Options::read(options), false)
}

/// Returns whether there is a trusted chain, and the chain. Options are only validated if there are
/// certificates.
fn verified(
    text: &str,
    options: impl FnOnce() -> Result<Options, Failure>,
    with_uris: bool,
) -> Result<Option<Value>, Failure> {
    let untrusted = || answer(vec![Value::from(false), Value::from(Vec::new())]);
    let Ok(der) = der(text) else {
        return untrusted();
    };
    let Some(certificates) = Certificate::read_all(&der) else {
        return untrusted();
    };
    match chain::verify(&certificates, &options()?) {
        Some(chain) => answer(vec![
            Value::from(true),
            certificate_values(&chain, with_uris),
        ]),
        None => untrusted(),
    }
}

/// Parses concatenated DER certificates, in their order: each an object with the members that
/// `crypto.x509.parse_and_verify_certificates_with_options` returns. `None` if one is malformed.
pub fn certificates(der: &[u8]) -> Option<Value> {
    let certificates = Certificate::read_all(der)?;
    Some(certificate_values(
        &certificates.iter().collect::<Vec<_>>(),
        false,
    ))
}

fn certificate_values(certificates: &[&Certificate<'_>], with_uris: bool) -> Value {
    let values = certificates
        .iter()
        .map(|certificate| certificate.value(with_uris));
    Value::from(values.collect::<Vec<_>>())
}

/// Returns the DER of all certificates in PEM, or in Base64 of PEM or of DER.
fn der(text: &str) -> Result<Vec<u8>, String> {
    if text.starts_with(BEGIN) {
        return blocks(text);
    }
    let bytes = decode(text)?;
    match bytes.starts_with(BEGIN.as_bytes()) {
        true => blocks(&lossy(&bytes)),
        false => Ok(bytes),
    }
}

fn blocks(mut text: &str) -> Result<Vec<u8>, String> {
    let mut der = Vec::new();
    while let Some((block, rest)) = next_block(text) {
        if block.label != "CERTIFICATE" {
            return Err(format!(
                "PEM block type is '{}', expected CERTIFICATE",
                block.label
            ));
        }
        der.extend(block.bytes);
        text = rest;
    }
    Ok(der)
}

/// Parses the key of the certificate at the start of some DER; returns the rest too. `None` if the
/// certificate is malformed.
pub(in crate::builtins) fn public_key(der: &[u8]) -> Option<(Public, &[u8])> {
    let (certificate, rest) = Certificate::read(der)?;
    Some((certificate.into_key(), rest))
}

//! `crypto.x509.*` and `crypto.parse_private_keys`: certificates and keys.

use super::{BuiltinLimit, Cost, Group, Maximum};

mod any_value;
mod certificate;
mod chain;
mod constraint_syntax;
mod constraints;
mod extensions;
mod fields;
mod hostname;
mod name;
mod options;
mod private;
pub(crate) mod read;
mod request;
mod scalar_value;

pub(super) const BUILTINS: Group = &[
    (
        "crypto.parse_private_keys",
        Cost::Library,
        private::parse_private_keys,
    ),
    (
        "crypto.x509.parse_and_verify_certificates",
        Cost::Library,
        read::parse_and_verify,
    ),
    (
        "crypto.x509.parse_and_verify_certificates_with_options",
        Cost::Library,
        read::parse_and_verify_with_options,
    ),
    (
        "crypto.x509.parse_certificate_request",
        Cost::Library,
        request::parse,
    ),
    ("crypto.x509.parse_certificates", Cost::Library, read::parse),
    (
        "crypto.x509.parse_keypair",
        Cost::Library,
        private::parse_keypair,
    ),
    (
        "crypto.x509.parse_rsa_private_key",
        Cost::Library,
        private::parse_rsa_private_key,
    ),
];

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["crypto.x509."],
    subject: "signatures that are checked for one chain",
    most: Maximum::Count(chain::MAX_CHECKS),
}];

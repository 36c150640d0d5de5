//! Certificates and their object representation.

use num_bigint::BigInt;

use super::extensions::{Extensions, Names, extension_value, uri_value};
use super::fields::Fields;
use super::name;
use super::scalar_value::{bytes, identifier_value, list, time};
use crate::Value;
use crate::builtins::keys::public_key::{AlgorithmIdentifier, Numbers, PublicKey};
use crate::builtins::keys::reader::{Reader, SEQUENCE, dotted, identifier};
use crate::builtins::keys::{Public, identifiers};
use crate::value::Number;

/// Certificate with its parsed extensions.
#[derive(Debug)]
pub(super) struct Certificate<'d> {
    pub(super) fields: Fields<'d>,
    pub(super) extensions: Extensions,
    subject: Value,
    issuer: Value,
}

impl<'d> Certificate<'d> {
    /// Parses concatenated DER certificates.
    pub(super) fn read_all(mut der: &'d [u8]) -> Option<Vec<Self>> {
        let mut certificates = Vec::new();
        while !der.is_empty() {
            let (certificate, rest) = Self::read(der)?;
            certificates.push(certificate);
            der = rest;
        }
        Some(certificates)
    }

    /// Parses the certificate at the start of some DER; returns the rest too.
    pub(super) fn read(der: &'d [u8]) -> Option<(Self, &'d [u8])> {
        let (fields, rest) = Fields::read(der)?;
        let extensions = match fields.extensions {
            Some(der) => Extensions::read(der)?,
            None => Extensions::default(),
        };
        let subject = name::value(fields.subject)?;
        let issuer = name::value(fields.issuer)?;
        let certificate = Self {
            fields,
            extensions,
            subject,
            issuer,
        };
        Some((certificate, rest))
    }

    /// Returns the key that verifies signatures.
    pub(super) fn key(&self) -> &Public {
        &self.fields.key.key
    }

    pub(super) fn into_key(self) -> Public {
        self.fields.key.key
    }

    /// Converts the certificate to an object, with its URIs as strings if requested.
    pub(super) fn value(&self, with_uris: bool) -> Value {
        let fields = &self.fields;
        let number = BigInt::from_signed_bytes_be(fields.serial);
        let mut members = vec![
            ("Raw", bytes(fields.raw)),
            ("RawTBSCertificate", bytes(fields.signed)),
            ("RawSubject", bytes(fields.subject)),
            ("RawIssuer", bytes(fields.issuer)),
            ("SerialNumber", Value::from(Number::from(number))),
            ("Version", Value::from(fields.version)),
            ("Subject", self.subject.clone()),
            ("Issuer", self.issuer.clone()),
            ("NotBefore", time(fields.not_before)),
            ("NotAfter", time(fields.not_after)),
        ];
        members.extend(signed(
            &fields.key,
            &fields.signature_algorithm,
            &fields.signature,
        ));
        members.extend(self.extended());
        members.extend(named(&self.extensions.names));
        if with_uris {
            members.push(("URIStrings", texts(&self.extensions.names.uris)));
        }
        Value::object(members)
    }

    /// Returns the members derived from extensions.
    fn extended(&self) -> Vec<(&'static str, Value)> {
        let extensions = &self.extensions;
        let (signs, limit) = extensions.basic.unwrap_or((false, Some(0)));
        let absent = extensions.basic.is_none();
        let identifiers =
            |ids: &[Vec<u8>]| list(ids.iter().filter_map(|id| identifier_value(id)).collect());
        let text = |id: &[u8]| Value::from(dotted(&identifier(id).unwrap_or_default()));
        let written = extensions.written.iter().map(extension_value).collect();
        let unhandled = extensions
            .unhandled
            .iter()
            .map(|id| Value::from(id.iter().copied().map(Value::from).collect::<Vec<_>>()));
        let mappings = extensions.mappings.iter().map(|(issuer, subject)| {
            Value::object([
                ("IssuerDomainPolicy", text(issuer)),
                ("SubjectDomainPolicy", text(subject)),
            ])
        });
        let usages = extensions.usages.iter().copied().map(Value::from);
        let key_id = |id: &Option<Vec<u8>>| id.as_deref().map_or(Value::Null, bytes);
        let mut members = vec![
            ("KeyUsage", Value::from(u64::from(extensions.key_usage))),
            ("Extensions", list(written)),
            ("ExtraExtensions", Value::Null),
            ("UnhandledCriticalExtensions", list(unhandled.collect())),
            ("ExtKeyUsage", list(usages.collect())),
            ("UnknownExtKeyUsage", identifiers(&extensions.other_usages)),
            ("BasicConstraintsValid", Value::from(!absent)),
            ("IsCA", Value::from(signs)),
            ("MaxPathLen", Value::from(limit.unwrap_or(-1))),
            ("MaxPathLenZero", Value::from(!absent && limit == Some(0))),
            ("SubjectKeyId", key_id(&extensions.key_id)),
            ("AuthorityKeyId", key_id(&extensions.authority_key_id)),
            ("OCSPServer", texts(&extensions.responders)),
            ("IssuingCertificateURL", texts(&extensions.issuers)),
            ("CRLDistributionPoints", texts(&extensions.revocation)),
            ("PolicyIdentifiers", identifiers(&extensions.policies)),
            (
                "Policies",
                list(extensions.policies.iter().map(|id| text(id)).collect()),
            ),
            ("PolicyMappings", list(mappings.collect())),
            (
                "PermittedDNSDomainsCritical",
                Value::from(extensions.constraints_critical),
            ),
        ];
        let limits = [
            (
                "InhibitAnyPolicy",
                "InhibitAnyPolicyZero",
                extensions.inhibit_any,
            ),
            (
                "InhibitPolicyMapping",
                "InhibitPolicyMappingZero",
                extensions.inhibit_mapping,
            ),
            (
                "RequireExplicitPolicy",
                "RequireExplicitPolicyZero",
                extensions.explicit_policy,
            ),
        ];
        for (name, zero, limit) in limits {
            members.push((name, Value::from(limit.unwrap_or(0))));
            members.push((zero, Value::from(limit == Some(0))));
        }
        let (permitted, excluded) = (&extensions.permitted, &extensions.excluded);
        members.extend([
            ("PermittedDNSDomains", texts(&permitted.dns)),
            ("ExcludedDNSDomains", texts(&excluded.dns)),
            ("PermittedIPRanges", networks(permitted)),
            ("ExcludedIPRanges", networks(excluded)),
            ("PermittedEmailAddresses", texts(&permitted.emails)),
            ("ExcludedEmailAddresses", texts(&excluded.emails)),
            ("PermittedURIDomains", texts(&permitted.uris)),
            ("ExcludedURIDomains", texts(&excluded.uris)),
        ]);
        members
    }
}

/// Returns the members about the key and the signature.
pub(super) fn signed(
    key: &PublicKey<'_>,
    algorithm: &AlgorithmIdentifier<'_>,
    signature: &[u8],
) -> [(&'static str, Value); 5] {
    [
        ("RawSubjectPublicKeyInfo", bytes(key.raw)),
        ("PublicKeyAlgorithm", Value::from(key.kind())),
        ("PublicKey", key_value(&key.numbers)),
        (
            "SignatureAlgorithm",
            Value::from(algorithm_number(algorithm)),
        ),
        ("Signature", bytes(signature)),
    ]
}

/// Returns the members about the subject alternative names.
pub(super) fn named(names: &Names) -> [(&'static str, Value); 4] {
    let addresses = names.addresses.iter();
    let addresses = addresses.map(|address| Value::from(address.to_canonical().to_string()));
    [
        ("DNSNames", texts(&names.dns)),
        ("EmailAddresses", texts(&names.emails)),
        ("IPAddresses", list(addresses.collect())),
        (
            "URIs",
            list(names.uris.iter().map(|uri| uri_value(uri)).collect()),
        ),
    ]
}

fn key_value(numbers: &Numbers) -> Value {
    let number = |bytes: &[u8]| {
        Value::from(Number::from(BigInt::from_bytes_be(
            num_bigint::Sign::Plus,
            bytes,
        )))
    };
    match numbers {
        Numbers::Rsa { modulus, exponent } => {
            Value::object([("N", number(modulus)), ("E", number(exponent))])
        }
        Numbers::Curve { x, y } => Value::object([
            ("Curve", Value::object::<&str>([])),
            ("X", number(x)),
            ("Y", number(y)),
        ]),
        Numbers::Ed25519(key) => bytes(key),
        Numbers::Other => Value::Null,
    }
}

/// Returns the number of a signature algorithm in Go's `crypto/x509`; 0 if it is unknown.
fn algorithm_number(algorithm: &AlgorithmIdentifier<'_>) -> u64 {
    match algorithm.id.as_str() {
        "1.2.840.113549.1.1.4" => 2,
        "1.2.840.113549.1.1.5" | "1.3.14.3.2.29" => 3,
        "1.2.840.113549.1.1.11" => 4,
        "1.2.840.113549.1.1.12" => 5,
        "1.2.840.113549.1.1.13" => 6,
        "1.2.840.10040.4.3" => 7,
        "2.16.840.1.101.3.4.3.2" => 8,
        "1.2.840.10045.4.1" => 9,
        "1.2.840.10045.4.3.2" => 10,
        "1.2.840.10045.4.3.3" => 11,
        "1.2.840.10045.4.3.4" => 12,
        "1.2.840.113549.1.1.10" => pss_number(algorithm).unwrap_or(0),
        identifiers::ED25519 => 16,
        _ => 0,
    }
}

/// Returns the number of the signature algorithm RSA-PSS with the hash in its parameters.
pub(super) fn pss_number(algorithm: &AlgorithmIdentifier<'_>) -> Option<u64> {
    let mut parameters = Reader::new(algorithm.parameters).nested(SEQUENCE)?;
    let hash = parameters.nested(0xa0)?.read(SEQUENCE)?;
    match AlgorithmIdentifier::read(hash)?.id.as_str() {
        "2.16.840.1.101.3.4.2.1" => Some(13),
        "2.16.840.1.101.3.4.2.2" => Some(14),
        "2.16.840.1.101.3.4.2.3" => Some(15),
        _ => None,
    }
}

fn texts(texts: &[String]) -> Value {
    list(
        texts
            .iter()
            .map(|text| Value::from(text.as_str()))
            .collect(),
    )
}

fn networks(names: &Names) -> Value {
    let networks = names.networks.iter().map(|(address, mask)| {
        let address = super::extensions::address(address);
        let address = address.map_or(String::new(), |address| address.to_canonical().to_string());
        Value::object([("IP", Value::from(address)), ("Mask", bytes(mask))])
    });
    list(networks.collect())
}

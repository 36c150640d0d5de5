//! Certificates and their object representation.

use chrono::DateTime;
use num_bigint::BigInt;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::x509::{AlgorithmIdentifier, SubjectPublicKeyInfo, X509Version};

use super::extensions::{Extensions, Names, extension_value, uri_value};
use super::name;
use super::tlv::{self, dotted, identifier, identifier_value, list};
use crate::Value;
use crate::builtins::keys::{Public, der};
use crate::builtins::pem::encode;
use crate::value::Number;

/// Certificate with its parsed extensions.
#[derive(Debug)]
pub(super) struct Certificate<'d> {
    pub(super) parsed: X509Certificate<'d>,
    pub(super) raw: &'d [u8],
    pub(super) extensions: Extensions,
    pub(super) key: Option<Public>,
    subject: Value,
    issuer: Value,
}

impl<'d> Certificate<'d> {
    /// Parses concatenated DER certificates.
    pub(super) fn read_all(mut der: &'d [u8]) -> Option<Vec<Self>> {
        let mut certificates = Vec::new();
        while !der.is_empty() {
            let (rest, parsed) = X509Certificate::from_der(der).ok()?;
            let raw = der.get(..der.len() - rest.len())?;
            certificates.push(Self::of(parsed, raw)?);
            der = rest;
        }
        Some(certificates)
    }

    fn of(parsed: X509Certificate<'d>, raw: &'d [u8]) -> Option<Self> {
        // The signed part repeats the algorithm, so that nobody can exchange it.
        if parsed.tbs_certificate.signature != parsed.signature_algorithm {
            return None;
        }
        let is_negative = parsed
            .raw_serial()
            .first()
            .is_some_and(|byte| *byte >= 0x80);
        if parsed.version().0 > X509Version::V3.0 || is_negative {
            return None;
        }
        let extensions = extensions_of(parsed.tbs_certificate.as_ref())?;
        let extensions = match extensions {
            Some(der) => Extensions::read(der)?,
            None => Extensions::default(),
        };
        let key = der::public_of(parsed.public_key());
        let known = [der::RSA, der::ED25519];
        let kind = parsed.public_key().algorithm.algorithm.to_id_string();
        if key.is_none() && known.contains(&kind.as_str()) {
            return None;
        }
        let subject = name::value(parsed.subject().as_raw())?;
        let issuer = name::value(parsed.issuer().as_raw())?;
        Some(Self {
            parsed,
            raw,
            extensions,
            key,
            subject,
            issuer,
        })
    }

    /// Converts the certificate to an object, with its URIs as strings if requested.
    pub(super) fn value(&self, with_uris: bool) -> Value {
        let certificate = &self.parsed;
        let number = BigInt::from_signed_bytes_be(certificate.raw_serial());
        let version = u64::from(certificate.version().0) + 1;
        let mut members = vec![
            ("Raw", bytes(self.raw)),
            (
                "RawTBSCertificate",
                bytes(certificate.tbs_certificate.as_ref()),
            ),
            ("RawSubject", bytes(certificate.subject().as_raw())),
            ("RawIssuer", bytes(certificate.issuer().as_raw())),
            ("SerialNumber", Value::from(Number::from(number))),
            ("Version", Value::from(version)),
            ("Subject", self.subject.clone()),
            ("Issuer", self.issuer.clone()),
            (
                "NotBefore",
                time(certificate.validity().not_before.timestamp()),
            ),
            (
                "NotAfter",
                time(certificate.validity().not_after.timestamp()),
            ),
        ];
        members.extend(signed(
            certificate.public_key(),
            self.key.as_ref(),
            &certificate.signature_algorithm,
            &certificate.signature_value.data,
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

/// Returns the extensions in the signed part of a certificate, if any.
fn extensions_of(signed: &[u8]) -> Option<Option<&[u8]>> {
    let parts = tlv::sequence(signed)?;
    let extensions = parts.into_iter().find(|(tag, _)| *tag == 0xa3);
    Some(extensions.map(|(_, extensions)| extensions))
}

/// Returns the members about the key and the signature.
pub(super) fn signed(
    info: &SubjectPublicKeyInfo<'_>,
    key: Option<&Public>,
    algorithm: &AlgorithmIdentifier<'_>,
    signature: &[u8],
) -> [(&'static str, Value); 5] {
    let kind = match info.algorithm.algorithm.to_id_string().as_str() {
        der::RSA => 1_u64,
        "1.2.840.10040.4.1" => 2,
        der::CURVES => 3,
        der::ED25519 => 4,
        _ => 0,
    };
    [
        ("RawSubjectPublicKeyInfo", bytes(info.raw)),
        ("PublicKeyAlgorithm", Value::from(kind)),
        ("PublicKey", key_value(info, key)),
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

fn key_value(info: &SubjectPublicKeyInfo<'_>, key: Option<&Public>) -> Value {
    use rsa::traits::PublicKeyParts;
    let number = |bytes: &[u8]| {
        Value::from(Number::from(BigInt::from_bytes_be(
            num_bigint::Sign::Plus,
            bytes,
        )))
    };
    match key {
        Some(Public::Rsa(key)) => {
            Value::object([("N", number(&key.n_bytes())), ("E", number(&key.e_bytes()))])
        }
        Some(Public::Curve(key)) => {
            let (x, y) = key.coordinates();
            Value::object([
                ("Curve", Value::object::<&str>([])),
                ("X", number(&x)),
                ("Y", number(&y)),
            ])
        }
        Some(Public::Ed25519(_)) => bytes(&info.subject_public_key.data),
        Some(Public::Other) | None => Value::Null,
    }
}

/// Returns the number of a signature algorithm in Go's `crypto/x509`; 0 if it is unknown.
fn algorithm_number(algorithm: &AlgorithmIdentifier<'_>) -> u64 {
    match algorithm.algorithm.to_id_string().as_str() {
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
        der::ED25519 => 16,
        _ => 0,
    }
}

/// Returns the number of the signature algorithm RSA-PSS with the hash in its parameters.
pub(super) fn pss_number(algorithm: &AlgorithmIdentifier<'_>) -> Option<u64> {
    let parameters = tlv::all(algorithm.parameters.as_ref()?.data)?;
    let (_, hash) = parameters.into_iter().find(|(tag, _)| *tag == 0xa0)?;
    let hash = tlv::sequence(hash)?;
    match dotted(&identifier(hash.first()?.1)?).as_str() {
        "2.16.840.1.101.3.4.2.1" => Some(13),
        "2.16.840.1.101.3.4.2.2" => Some(14),
        "2.16.840.1.101.3.4.2.3" => Some(15),
        _ => None,
    }
}

/// Encodes bytes as a Base64 string.
pub(super) fn bytes(bytes: &[u8]) -> Value {
    Value::from(encode(bytes))
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

fn time(seconds: i64) -> Value {
    let time = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    Value::from(time.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

//! `crypto.x509.parse_certificate_request`.

use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer;

use super::certificate::{bytes, named, signed};
use super::extensions::{Extensions, extension_value};
use super::name;
use super::tlv::{self, Element, IDENTIFIER, OCTETS, SEQUENCE, list};
use crate::Value;
use crate::builtins::keys::der;
use crate::builtins::operand::{answer, refuse, text};
use crate::builtins::pem::{decode, next_block};
use crate::builtins::{Call, Failure};

/// OID of the extension request attribute.
const EXTENSIONS: [u64; 7] = [1, 2, 840, 113_549, 1, 9, 14];

pub(super) fn parse(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let text = text(operands, 1)?;
    let bytes = match text.starts_with("-----BEGIN CERTIFICATE REQUEST-----") {
        true => text.as_bytes().to_vec(),
        false => decode(text).map_err(Failure::Value)?,
    };
    let block = std::str::from_utf8(&bytes).ok().and_then(next_block);
    let der = match block {
        Some((block, _)) if block.label != "CERTIFICATE REQUEST" => {
            return refuse("invalid PEM-encoded certificate signing request");
        }
        Some((block, _)) => block.bytes,
        None => bytes,
    };
    match value(&der) {
        Some(value) => answer(value),
        None => refuse("asn1: structure error: the certificate request is malformed"),
    }
}

fn value(der: &[u8]) -> Option<Value> {
    let ([], request) = X509CertificationRequest::from_der(der).ok()? else {
        return None;
    };
    let info = &request.certification_request_info;
    let raw = tlv::only(der, SEQUENCE)?;
    let (_, behind) = tlv::first(raw)?;
    let raw_info = raw.get(..raw.len() - behind.len())?;
    let attributes = tlv::sequence(raw_info)?
        .into_iter()
        .find(|(tag, _)| *tag == 0xa0);
    let attributes = attributes.map(|(_, attributes)| tlv::all(attributes));
    let attributes = attributes.unwrap_or_default().unwrap_or_default();
    let extensions = extensions(&attributes)?;
    let key = der::public_of(&info.subject_pki);
    let mut members = vec![
        ("Raw", bytes(der)),
        ("RawTBSCertificateRequest", bytes(raw_info)),
        ("RawSubject", bytes(info.subject.as_raw())),
        ("Version", Value::from(u64::from(info.version.0))),
        ("Subject", name::value_in_request(info.subject.as_raw())?),
        (
            "Attributes",
            list(
                attributes
                    .iter()
                    .filter_map(|(_, one)| attribute(one))
                    .collect(),
            ),
        ),
        (
            "Extensions",
            list(extensions.written.iter().map(extension_value).collect()),
        ),
        ("ExtraExtensions", Value::Null),
    ];
    members.extend(signed(
        &info.subject_pki,
        key.as_ref(),
        &request.signature_algorithm,
        &request.signature_value.data,
    ));
    members.extend(named(&extensions.names));
    Some(Value::object(members))
}

/// Returns the extensions that the request contains.
fn extensions(attributes: &[Element<'_>]) -> Option<Extensions> {
    for (_, attribute) in attributes {
        let [(IDENTIFIER, id), (_, values)] = *tlv::all(attribute)? else {
            return None;
        };
        if tlv::identifier(id)? == EXTENSIONS {
            return Extensions::read(values);
        }
    }
    Some(Extensions::default())
}

/// Converts an attribute whose values are sequences of pairs; `None` for other attributes.
fn attribute(bytes: &[u8]) -> Option<Value> {
    let [(IDENTIFIER, id), (_, values)] = *tlv::all(bytes)? else {
        return None;
    };
    let mut shown = Vec::new();
    for (_, sequence) in tlv::all(values)? {
        let mut pairs = Vec::new();
        for (_, pair) in tlv::all(sequence)? {
            let parts = tlv::all(pair)?;
            let ((IDENTIFIER, id), (OCTETS, value)) = (*parts.first()?, *parts.last()?) else {
                return None;
            };
            pairs.push(Value::object([
                ("Type", tlv::identifier_value(id)?),
                ("Value", self::bytes(value)),
            ]));
        }
        shown.push(Value::from(pairs));
    }
    Some(Value::object([
        ("Type", tlv::identifier_value(id)?),
        ("Value", Value::from(shown)),
    ]))
}

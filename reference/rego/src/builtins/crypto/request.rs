//! `crypto.x509.parse_certificate_request`.

use super::any_value::AnyValue;
use super::certificate::{named, signed as signed_members};
use super::extensions::{Extensions, extension_value};
use super::name;
use super::scalar_value::{bytes, identifier_value, list};
use crate::Value;
use crate::builtins::keys::public_key::{AlgorithmIdentifier, PublicKey};
use crate::builtins::keys::reader::{INTEGER, Reader, SEQUENCE, SET, identifier};
use crate::builtins::operand::{answer, refuse, text};
use crate::builtins::pem::{decode, next_block};
use crate::builtins::{Call, Failure};

/// Tag of the attributes.
const ATTRIBUTES: u8 = 0xa0;

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
    let mut request = Reader::enter_sequence(der)?;
    let signed = request.raw(SEQUENCE)?;
    let algorithm = AlgorithmIdentifier::read(request.read(SEQUENCE)?)?;
    let signature = request.bit_string()?.right_aligned();

    let mut parts = Reader::new(signed).nested(SEQUENCE)?;
    let version = parts.small_integer(INTEGER)?;
    let subject = parts.raw(SEQUENCE)?;
    let key = PublicKey::read(parts.raw(SEQUENCE)?)?;
    let attributes = elements(parts.read(ATTRIBUTES)?)?;
    let extensions = extensions(&attributes)?;
    let mut members = vec![
        ("Raw", bytes(der)),
        ("RawTBSCertificateRequest", bytes(signed)),
        ("RawSubject", bytes(subject)),
        ("Version", Value::from(version)),
        ("Subject", name::value_in_request(subject)?),
        (
            "Attributes",
            list(
                attributes
                    .iter()
                    .filter_map(|reader| attribute(*reader))
                    .collect(),
            ),
        ),
        (
            "Extensions",
            list(extensions.written.iter().map(extension_value).collect()),
        ),
        ("ExtraExtensions", Value::Null),
    ];
    members.extend(signed_members(&key, &algorithm, &signature));
    members.extend(named(&extensions.names));
    Some(Value::object(members))
}

/// Splits elements, of which each may have any form.
fn elements(der: &[u8]) -> Option<Vec<Reader<'_>>> {
    let (mut rest, mut elements) = (Reader::new(der), Vec::new());
    while !rest.is_empty() {
        elements.push(rest);
        rest.any()?;
    }
    Some(elements)
}

/// Returns the extensions that the request contains. Malformed attributes are ignored.
fn extensions(attributes: &[Reader<'_>]) -> Option<Extensions> {
    for attribute in attributes {
        let Some((id, values)) = id_and_values(*attribute) else {
            continue;
        };
        if id == EXTENSIONS && !values.is_empty() {
            return Extensions::read_of_request(values);
        }
    }
    Some(Extensions::default())
}

fn id_and_values(mut attribute: Reader<'_>) -> Option<(Vec<u64>, &[u8])> {
    let mut parts = attribute.nested(SEQUENCE)?;
    let id = identifier(parts.identifier()?)?;
    let values = parts.read(SET)?;
    elements(values)?;
    Some((id, values))
}

/// Converts an attribute whose values are sequences of pairs; `None` for other attributes.
fn attribute(attribute: Reader<'_>) -> Option<Value> {
    let (id, values) = id_and_values(attribute)?;
    let (mut values, mut converted) = (Reader::new(values), Vec::new());
    while !values.is_empty() {
        let (mut sequence, mut pairs) = (values.nested(SEQUENCE)?, Vec::new());
        while !sequence.is_empty() {
            let mut pair = sequence.nested(SEQUENCE)?;
            let id = identifier_value(pair.identifier()?)?;
            let element = pair;
            let value = AnyValue::of(pair.any()?, element)?.into_value();
            pairs.push(Value::object([("Type", id), ("Value", value)]));
        }
        converted.push(Value::from(pairs));
    }
    let id = id.into_iter().map(Value::from);
    Some(Value::object([
        ("Type", Value::from(id.collect::<Vec<_>>())),
        ("Value", Value::from(converted)),
    ]))
}

//! `uuid.*`

use uuid::{Builder, Uuid, Variant};

use super::expected::CallResult;
use super::operand::{any, bytes};
use super::{Call, Cost, Group};
use crate::Value;

pub(super) const BUILTINS: Group = &[
    ("uuid.parse", Cost::Linear, parse),
    ("uuid.rfc4122", Cost::BuiltinContext, random),
];

/// Generates one UUID per operand and evaluation.
fn random(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let key = ("uuid.rfc4122", vec![any(operands, 1).clone()]);
    let generated = call.session.answers.entry(key).or_insert_with(|| {
        let uuid = Builder::from_random_bytes(rand::random()).into_uuid();
        Some(Value::from(uuid.to_string()))
    });
    Ok(generated.clone())
}

/// Parses 32 digits or the hyphenated form, the latter also after `urn:uuid:` or between any two
/// characters.
fn read(text: &str) -> Option<Uuid> {
    let canonical = match text.len() {
        32 | 36 => text,
        38 => text.get(1..37)?,
        45 => {
            let (scheme, rest) = text.split_at_checked(9)?;
            scheme.eq_ignore_ascii_case("urn:uuid:").then_some(rest)?
        }
        _ => return None,
    };
    Uuid::try_parse(canonical).ok()
}

/// Number of 100 ns intervals from the start of the Gregorian calendar to the Unix epoch.
const EPOCH: i64 = 122_192_928_000_000_000;

fn parse(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    // A string that is not UTF-8 is not a UUID.
    let text = str::from_utf8(bytes(operands, 1)?).ok();
    let Some(uuid) = text.and_then(read) else {
        return Ok(None);
    };
    let version = uuid.get_version_num();
    let variant = match uuid.get_variant() {
        Variant::RFC4122 => "RFC4122",
        Variant::Microsoft => "Microsoft",
        Variant::Future => "Future",
        _ => "Reserved",
    };
    let mut members = vec![
        ("version", Value::from(u64::try_from(version).unwrap_or(0))),
        ("variant", Value::from(variant)),
    ];
    if matches!(version, 1 | 2) {
        members.extend(timed(&uuid));
    }
    if version == 2 {
        let (id, _, _, [_, domain, ..]) = uuid.as_fields();
        let domain = match domain {
            0 => "Person".to_owned(),
            1 => "Group".to_owned(),
            2 => "Org".to_owned(),
            other => format!("Domain{other}"),
        };
        members.push(("id", Value::from(u64::from(id))));
        members.push(("domain", Value::from(domain)));
    }
    Ok(Some(Value::object(members)))
}

/// Returns the members of a time-based UUID.
fn timed(uuid: &Uuid) -> [(&'static str, Value); 4] {
    let (low, middle, high, [sequence_high, sequence_low, node @ ..]) = uuid.as_fields();
    let ticks = i64::from(high & 0xfff) << 48 | i64::from(middle) << 32 | i64::from(low);
    let nanoseconds = ticks.wrapping_sub(EPOCH).wrapping_mul(100);
    let [first, ..] = node;
    let multicast = match first & 0b11 {
        0b11 => "local:multicast",
        0b01 => "global:multicast",
        0b10 => "local:unicast",
        _ => "global:unicast",
    };
    let node = node.map(|byte| format!("{byte:02x}")).join("-");
    let sequence = u16::from_be_bytes([*sequence_high, *sequence_low]) & 0x3fff;
    [
        ("time", Value::from(nanoseconds)),
        ("nodeid", Value::from(node)),
        ("macvariables", Value::from(multicast)),
        ("clocksequence", Value::from(u64::from(sequence))),
    ]
}

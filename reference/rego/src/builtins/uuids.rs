//! `uuid.*`

use super::expected::Answer;
use super::operand::{any, text};
use super::{Call, Group};
use crate::Value;

pub(super) const BUILTINS: Group = &[("uuid.parse", parse), ("uuid.rfc4122", random)];

/// One for each operand in an evaluation.
fn random(call: &mut Call<'_>, operands: &[Value]) -> Answer {
    let key = ("uuid.rfc4122", vec![any(operands, 1).clone()]);
    let drawn = call.session.answers.entry(key).or_insert_with(|| {
        let bits: u128 = rand::random();
        // Version 4, and the variant of the standard.
        let bits = bits & !(0xf << 76) | (4 << 76);
        let bits = bits & !(0b11 << 62) | (0b10 << 62);
        Some(Value::from(written(bits)))
    });
    Ok(drawn.clone())
}

fn written(bits: u128) -> String {
    let digits = format!("{bits:032x}");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    let parts = [
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32),
    ];
    parts.join("-")
}

/// Reads the usual form, alone, behind `urn:uuid:` or in braces, and digits alone.
fn read(text: &str) -> Option<u128> {
    let hyphened = match text.len() {
        32 => return hex(text),
        36 => text,
        38 => text.get(1..37)?,
        45 => {
            let (scheme, rest) = text.split_at_checked(9)?;
            scheme.eq_ignore_ascii_case("urn:uuid:").then_some(rest)?
        }
        _ => return None,
    };
    let parts: Vec<&str> = hyphened.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    (lengths == [8, 4, 4, 4, 12])
        .then(|| hex(&parts.concat()))
        .flatten()
}

fn hex(digits: &str) -> Option<u128> {
    let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all.then(|| u128::from_str_radix(digits, 16).ok()).flatten()
}

/// So many intervals of 100 ns are between the beginning of the calendar and that of Unix time.
const EPOCH: i64 = 122_192_928_000_000_000;

fn parse(_call: &mut Call<'_>, operands: &[Value]) -> Answer {
    let Some(bits) = read(text(operands, 1)?) else {
        return Ok(None);
    };
    let field = |shift: u32, mask: u128| i64::try_from((bits >> shift) & mask).unwrap_or(0);
    let version = field(76, 0xf);
    let variant = match field(61, 0b111) {
        0..=3 => "Reserved",
        4 | 5 => "RFC4122",
        6 => "Microsoft",
        _ => "Future",
    };
    let mut members = vec![
        ("version", Value::from(version)),
        ("variant", Value::from(variant)),
    ];
    if matches!(version, 1 | 2) {
        let ticks = (field(64, 0xfff) << 48) | (field(80, 0xffff) << 32) | field(96, 0xffff_ffff);
        let nanoseconds = ticks.wrapping_sub(EPOCH).wrapping_mul(100);
        let node = (0..6)
            .rev()
            .map(|byte| format!("{:02x}", field(byte * 8, 0xff)));
        let multicast = match field(40, 0b11) {
            0b11 => "local:multicast",
            0b01 => "global:multicast",
            0b10 => "local:unicast",
            _ => "global:unicast",
        };
        members.extend([
            ("time", Value::from(nanoseconds)),
            ("nodeid", Value::from(node.collect::<Vec<_>>().join("-"))),
            ("macvariables", Value::from(multicast)),
            ("clocksequence", Value::from(field(48, 0x3fff))),
        ]);
    }
    if version == 2 {
        let domain = match field(48, 0xff) {
            0 => "Person".to_owned(),
            1 => "Group".to_owned(),
            2 => "Org".to_owned(),
            other => format!("Domain{other}"),
        };
        members.push(("id", Value::from(field(96, 0xffff_ffff))));
        members.push(("domain", Value::from(domain)));
    }
    Ok(Some(Value::object(members)))
}

//! Broken certificates, keys, tokens and documents: functions refuse them and never panic.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;

use crate::Value;
use crate::builtins::{Call, Session, function, pem};
use crate::meter::Meter;
use crate::syntax::Location;
use crate::value::from_json;

/// Corrupted variants of a string.
fn broken(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let step = (text.len() / 24).max(1);
    for at in (0..text.len())
        .step_by(step)
        .filter(|at| text.is_char_boundary(*at))
    {
        let (start, rest) = text.split_at(at);
        let tail = rest.get(1..).unwrap_or_default();
        all.push(start.to_owned());
        all.extend(["A", "/", "{", "\u{0}", "ä"].map(|other| format!("{start}{other}{tail}")));
    }
    if let Some((block, _)) = pem::next_block(text) {
        // The decoded bytes, one after the other.
        for at in 0..block.bytes.len() {
            let mut bytes = block.bytes.clone();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = byte.wrapping_add(0x81);
            }
            let (label, inner) = (&block.label, pem::encode(&bytes));
            all.push(format!(
                "-----BEGIN {label}-----\n{inner}\n-----END {label}-----\n"
            ));
        }
    }
    all
}

#[test]
fn broken_operands_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/builtins");
    let location = Location {
        file: "".into(),
        row: 1,
        col: 1,
        offset: 0,
        length: 0,
    };
    for (name, every) in [
        ("certificates.json", 19),
        ("jwt.json", 127),
        ("graphql.json", 83),
    ] {
        let table = std::fs::read(folder.join(name)).expect("a table");
        let table = from_json(&table).expect("a table is JSON");
        for entry in table
            .as_array()
            .expect("a table is an array")
            .iter()
            .step_by(every)
        {
            let operands = entry
                .get("operands")
                .and_then(Value::as_array)
                .expect("operands");
            let name = entry.get("call").and_then(Value::as_str).expect("a name");
            let (_, function) = function(name).expect(name);
            for (at, operand) in operands.iter().enumerate() {
                for text in operand.as_str().map(broken).unwrap_or_default() {
                    let mut session = Session::default();
                    let mut call = Call {
                        location: &location,
                        session: &mut session,
                        meter: &Meter::default(),
                        outside: Default::default(),
                    };
                    let mut changed = operands.to_vec();
                    changed.splice(at..=at, [Value::from(text)]);
                    // Other tests check the results.
                    function(&mut call, &changed).ok();
                }
            }
        }
    }
}

//! Operands that are semantic versions and UUIDs.

use rego_generate::Choices;

use super::{joined, literal, nearly};

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    Some(match name {
        "semver.compare" => vec![literal(version(choices)), literal(version(choices))],
        "semver.is_valid" => vec![literal(version(choices))],
        "uuid.parse" => vec![literal(uuid(choices))],
        _ => return None,
    })
}

fn version(choices: &mut Choices<'_>) -> String {
    let number = [
        "1",
        "0",
        "2",
        "10",
        "01",
        "9223372036854775807",
        "18446744073709551616",
        "-1",
        "+1",
        "1a",
    ];
    let usual = 4;
    let part = |choices: &mut Choices<'_>| {
        let end = if choices.rarely(8) {
            number.len()
        } else {
            usual
        };
        number.get(choices.below(end)).copied().unwrap_or_default()
    };
    let mut text = choices.of(&["", "", "", "", "v", "V", "="]).to_owned();
    let count = if choices.rarely(10) {
        choices.below(5)
    } else {
        3
    };
    let parts: Vec<&str> = (0..count).map(|_| part(choices)).collect();
    text.push_str(&parts.join("."));
    let names = [
        "alpha",
        "1",
        "beta",
        "rc",
        ".",
        "-",
        "01",
        "0",
        "A",
        "..",
        "10",
        "2",
        "99999999999999999999",
    ];
    if choices.rarely(2) {
        text.push('-');
        text.push_str(&joined(&names, 5, choices));
    }
    if choices.rarely(4) {
        text.push('+');
        text.push_str(&joined(&["build", "1", ".", "01", "-", "+"], 4, choices));
    }
    nearly(text, choices)
}

fn uuid(choices: &mut Choices<'_>) -> String {
    let digit = [
        "0", "1", "4", "7", "8", "a", "c", "F", "e", "9", "b", "2", "6",
    ];
    let odd = ["g", "-", " ", "\u{e9}"];
    let hex = |count: usize, choices: &mut Choices<'_>| -> String {
        (0..count)
            .map(|_| {
                if choices.rarely(200) {
                    choices.of(&odd)
                } else {
                    choices.of(&digit)
                }
            })
            .collect()
    };
    let version = choices.of(&["1", "2", "3", "4", "5", "6", "7", "8", "0", "f"]);
    let variant = choices.of(&["8", "9", "a", "b", "c", "d", "e", "f", "0", "7"]);
    let mark = if choices.rarely(6) { "" } else { "-" };
    let parts = [
        hex(8, choices),
        hex(4, choices),
        format!("{version}{}", hex(3, choices)),
        format!("{variant}{}", hex(3, choices)),
        hex(12, choices),
    ];
    let text = parts.join(mark);
    let (before, suffix) = choices.of(&[
        ("", ""),
        ("", ""),
        ("urn:uuid:", ""),
        ("{", "}"),
        ("URN:UUID:", ""),
        ("urn:UUID:", ""),
        ("(", ")"),
        ("x", "y"),
        ("{", ""),
    ]);
    nearly(format!("{before}{text}{suffix}"), choices)
}

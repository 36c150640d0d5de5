//! Operands that are format strings, and the values to format.

use rego_generate::Choices;
use serde_json::Value;

const TEXTS: [&str; 8] = ["", "a", " ", "|", "é", "%%", "[1]", "."];

const FLAGS: [&str; 6] = ["-", "+", "#", "0", " ", ""];

const INDEXES: [&str; 12] = [
    "[1]",
    "[2]",
    "[3]",
    "[0]",
    "[9]",
    "[x]",
    "[",
    "[]",
    "[-1]",
    "[1",
    "[1]2",
    "[10000011]",
];

const SIZES: [&str; 12] = [
    "*", "5", "12", "1", "2", "0", "20", "3", "[2]*", "[1]*", "100", "10000011",
];

const VERBS: [&str; 34] = [
    "v", "d", "s", "q", "x", "X", "b", "o", "O", "c", "U", "e", "E", "f", "F", "g", "G", "t", "T",
    "w", "i", "z", "é", "!", "%", "u", "", "v", "d", "s", "x", "g", "f", "q",
];

const OPERANDS: [&str; 44] = [
    "1",
    "0",
    "-1",
    "42",
    "\"a\"",
    "\"\"",
    "\"héllo\"",
    "\"a`b\\\"\\n\"",
    "1.5",
    "-0.25",
    "3.0",
    "0.1",
    "1e2",
    "1E3",
    "1e21",
    "1e20",
    "1e-7",
    "123456789.125",
    "100000000.5",
    "2.5",
    "1e308",
    "5e-324",
    "0.0",
    "-0.0",
    "65",
    "233",
    "128512",
    "1114112",
    "-65",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "123456789012345678901234567890",
    "-18446744073709551616",
    "true",
    "null",
    "[]",
    "[1, \"a\", null]",
    "{\"a\": [1.50]}",
    "{1, \"b\"}",
    "set()",
    "\"\\u0000\\u00a0\\u200b\u{1F600}\"",
    "55296",
    "5",
];

/// Generates a format string, in Rego syntax.
pub(super) fn format(choices: &mut Choices<'_>) -> String {
    let mut text = String::new();
    for _ in 0..1 + choices.below(4) {
        text.push_str(choices.of(&TEXTS));
        directive(&mut text, choices);
    }
    if choices.rarely(12) {
        text.push('%');
    }
    Value::from(text).to_string()
}

fn directive(text: &mut String, choices: &mut Choices<'_>) {
    text.push('%');
    for _ in 0..choices.of(&[0, 0, 1, 1, 2, 3]) {
        text.push_str(choices.of(&FLAGS));
    }
    if choices.rarely(8) {
        text.push_str(choices.of(&INDEXES));
    }
    if choices.rarely(3) {
        text.push_str(choices.of(&SIZES));
    }
    if choices.rarely(4) {
        text.push('.');
        if choices.rarely(8) {
            text.push_str(choices.of(&INDEXES));
        }
        if !choices.rarely(4) {
            text.push_str(choices.of(&SIZES));
        }
    }
    if choices.rarely(10) {
        text.push_str(choices.of(&INDEXES));
    }
    text.push_str(choices.of(&VERBS));
}

/// Generates the values for a format string, in Rego syntax.
pub(super) fn operands(choices: &mut Choices<'_>) -> String {
    let count = choices.of(&[1, 2, 3, 4, 5, 0]);
    let operands: Vec<_> = (0..count).map(|_| choices.of(&OPERANDS)).collect();
    format!("[{}]", operands.join(", "))
}

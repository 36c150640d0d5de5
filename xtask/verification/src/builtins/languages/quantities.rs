//! Operands that are numbers as strings, quantities with units, and limits of arithmetic.

use rego_generate::Choices;

use super::{digits, list, literal, nearly, set};

/// Limits of arithmetic, and numbers in several notations.
const NUMBERS: [&str; 56] = [
    "0",
    "1",
    "-1",
    "2",
    "-2",
    "3",
    "7",
    "10",
    "-10",
    "100",
    "255",
    "1.0",
    "-1.0",
    "1.50",
    "2.5",
    "-2.5",
    "0.5",
    "-0.5",
    "1.5",
    "3.5",
    "0.1",
    "0.2",
    "0.3",
    "1e2",
    "1e-2",
    "1E3",
    "1e+2",
    "-0.0",
    "0.0",
    "0e5",
    "1e20",
    "1e21",
    "1e22",
    "123e-1",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967295",
    "9007199254740991",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "0.30000000000000004",
    "1e308",
    "1e-308",
    "1e100",
    "3.141592653589793238462643383279",
    "1.7976931348623157e308",
    "0.000001",
    "0.0000001",
    "12345.678",
];

/// Functions with two numbers as operands.
const TWO: [&str; 14] = [
    "plus", "minus", "mul", "div", "rem", "bits.and", "bits.or", "bits.xor", "lt", "lte", "gt",
    "gte", "equal", "neq",
];
const ONE: [&str; 5] = ["abs", "ceil", "floor", "round", "bits.negate"];

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    let small = |choices: &mut Choices<'_>| {
        choices
            .of(&[
                "0", "1", "-1", "2", "5", "-5", "10", "1.0", "3", "1.5", "1e1", "-3", "7", "64",
                "100",
            ])
            .to_owned()
    };
    Some(match name {
        "units.parse" | "units.parse_bytes" => vec![literal(quantity(choices))],
        "to_number" => vec![literal(spelled(choices))],
        "format_int" => vec![
            number(choices),
            choices
                .of(&["2", "8", "10", "16", "3", "0", "16.0", "1e1"])
                .to_owned(),
        ],
        "bits.lsh" | "bits.rsh" => vec![
            number(choices),
            choices
                .of(&[
                    "0", "1", "2", "8", "31", "32", "63", "64", "65", "100", "1000", "-1", "1.0",
                    "1.5", "1e2",
                ])
                .to_owned(),
        ],
        "numbers.range" => vec![small(choices), small(choices)],
        "numbers.range_step" => vec![small(choices), small(choices), small(choices)],
        "sum" | "product" | "max" | "min" | "sort" | "count" => {
            let numbers = list(4, choices, &number);
            vec![if choices.rarely(2) {
                format!("[{numbers}]")
            } else {
                set(&numbers)
            }]
        }
        name if TWO.contains(&name) => vec![number(choices), number(choices)],
        name if ONE.contains(&name) => vec![number(choices)],
        _ => return None,
    })
}

fn number(choices: &mut Choices<'_>) -> String {
    if !choices.rarely(3) {
        return choices.of(&NUMBERS).to_owned();
    }
    let sign = choices.of(&["", "-"]);
    let first = choices.of(&["1", "2", "9", "5", "7"]);
    let rest = digits(20, choices);
    match choices.below(3) {
        0 => format!("{sign}{first}{rest}"),
        1 => format!("{sign}0.{rest}"),
        _ => format!(
            "{sign}{first}.{rest}{}",
            choices.of(&["", "", "e3", "e-3", "E+10"])
        ),
    }
}

/// Generates a number in one of its notations, without quotes.
fn spelled(choices: &mut Choices<'_>) -> String {
    let odd = [
        "0x10", "0b11", "0o17", "NaN", "inf", "Infinity", "1_0", "+1", ".5", "1.", "", "-", "01",
        "-01", "1e", "1e+", " 1", "1 ", "1,5", "0x1p-2", "\u{661}", "--1", "1e5000", "-inf", "00",
        "1e1.5", "-.5", "1E5", "-0",
    ];
    match choices.below(3) {
        0 => choices.of(&odd).to_owned(),
        _ => nearly(number(choices), choices),
    }
}

fn quantity(choices: &mut Choices<'_>) -> String {
    let units = [
        "", "K", "Ki", "k", "M", "Mi", "m", "mi", "G", "Gi", "T", "P", "E", "Ei", "B", "KB", "KiB",
        "kib", "e", "Pi", "KI", "x", "KK", "bytes", "i", "\u{b5}", "\u{212a}", "EB", "gb", "tib",
        "n", "u",
    ];
    let mut text = choices.of(&["", "", "", "-", "+", "\""]).to_owned();
    text.push_str(&digits(4, choices));
    if choices.rarely(3) {
        text.push('.');
        text.push_str(&digits(12, choices));
    }
    if choices.rarely(5) {
        text.push_str(choices.of(&[
            "e3", "E3", "e-3", "e+2", "e", "E", "e0", "e30", "e-30", "e3.5",
        ]));
    }
    text.push_str(choices.of(&units));
    nearly(text, choices)
}

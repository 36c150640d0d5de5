//! Operands of the declared types.

use rego_generate::Choices;
use serde_json::Value;

use super::declared::Type;
use super::{formats, strings, templates};

/// Maximum nesting depth of operands.
const DEPTH: usize = 3;

const NUMBERS: [&str; 32] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "10",
    "16",
    "-7",
    "63",
    "64",
    "100",
    "255",
    "256",
    "1.0",
    "1.5",
    "-0.5",
    "0.1",
    "1e2",
    "1e-2",
    "1E3",
    "2147483647",
    "-2147483649",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "123456789012345678901234567890",
    "0.30000000000000004",
    "1e18",
    "1752331993000000000",
];

/// Functions for which OPA creates values of any size that an operand requests.
const MAKES_AS_MUCH: [&str; 4] = [
    "bits.lsh",
    "numbers.range",
    "numbers.range_step",
    "rand.intn",
];

/// Number of small numbers at the beginning of [`NUMBERS`].
const SMALL: usize = 18;

/// Generates an operand of a function, in Rego syntax.
pub(super) fn operand(name: &str, kind: &Type, choices: &mut Choices<'_>) -> String {
    if choices.rarely(40) {
        return unlike(choices);
    }
    match (name, kind) {
        ("sprintf", Type::String) => return formats::format(choices),
        ("sprintf", _) => return formats::operands(choices),
        ("strings.render_template", Type::String) => return templates::template(choices),
        ("strings.render_template", _) => return templates::data(choices),
        _ => {}
    }
    if matches!(kind, Type::Number) && MAKES_AS_MUCH.contains(&name) {
        let small = NUMBERS.get(..SMALL).unwrap_or_default();
        return choices.of(small).to_owned();
    }
    of_type(
        kind,
        &mut |choices| strings::string(name, choices),
        DEPTH,
        choices,
    )
}

/// Generates a value of any type; the expression hides its type from the type checker.
fn unlike(choices: &mut Choices<'_>) -> String {
    let texts = [
        "null",
        "true",
        "0",
        "\"\"",
        "\"a\"",
        "[]",
        "[1]",
        "{}",
        "{\"a\": 1}",
        "1.5",
    ];
    let text = choices.of(&texts);
    format!("json.unmarshal({})", Value::from(text))
}

/// Generator for the strings of an operand.
type Strings<'s> = &'s mut dyn FnMut(&mut Choices<'_>) -> String;

fn of_type(kind: &Type, string: Strings<'_>, depth: usize, choices: &mut Choices<'_>) -> String {
    match kind {
        Type::Null => "null".to_owned(),
        Type::Boolean => choices.of(&["false", "true"]).to_owned(),
        Type::Number => choices.of(&NUMBERS).to_owned(),
        Type::String => string(choices),
        Type::Array { items, dynamic } => {
            let mut all: Vec<_> = items
                .iter()
                .map(|item| of_type(item, string, depth, choices))
                .collect();
            if let Some(item) = dynamic {
                let count = choices.below(4);
                all.extend(
                    (0..count).map(|_| of_type(item, string, depth.saturating_sub(1), choices)),
                );
            }
            format!("[{}]", all.join(", "))
        }
        Type::Set { of } => {
            let item = of.as_deref().unwrap_or(&Type::Number);
            let items: Vec<_> = (0..choices.below(4))
                .map(|_| of_type(item, string, depth.saturating_sub(1), choices))
                .collect();
            match items.is_empty() {
                true => "set()".to_owned(),
                false => format!("{{{}}}", items.join(", ")),
            }
        }
        Type::Object { members, dynamic } => {
            let mut all: Vec<_> = members
                .iter()
                .map(|member| {
                    let value = of_type(&member.value, string, depth.saturating_sub(1), choices);
                    format!("{}: {value}", Value::from(member.key.as_str()))
                })
                .collect();
            if let Some(of) = dynamic {
                for _ in 0..choices.below(4) {
                    let key = of_type(&of.key, string, 0, choices);
                    let value = of_type(&of.value, string, depth.saturating_sub(1), choices);
                    all.push(format!("{key}: {value}"));
                }
            }
            format!("{{{}}}", all.join(", "))
        }
        Type::Any { of } if of.is_empty() => any(string, depth, choices),
        Type::Any { of } => match of.get(choices.below(of.len())) {
            Some(kind) => of_type(kind, string, depth, choices),
            None => "null".to_owned(),
        },
    }
}

fn any(string: Strings<'_>, depth: usize, choices: &mut Choices<'_>) -> String {
    let any = || Box::new(Type::Any { of: Vec::new() });
    let kind = match choices.below(if depth == 0 { 6 } else { 10 }) {
        0 => Type::Null,
        1 => Type::Boolean,
        2 | 3 => Type::Number,
        4 | 5 => Type::String,
        6 => Type::Set { of: Some(any()) },
        7 | 8 => Type::Array {
            items: Vec::new(),
            dynamic: Some(any()),
        },
        _ => Type::Object {
            members: Vec::new(),
            dynamic: Some(Box::new(super::declared::Dynamic {
                key: Type::String,
                value: *any(),
            })),
        },
    };
    of_type(&kind, string, depth.saturating_sub(1), choices)
}

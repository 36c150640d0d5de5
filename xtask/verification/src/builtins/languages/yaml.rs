//! Operands that are YAML documents, and strings that YAML must quote.

use rego_generate::Choices;

use super::{joined, list, literal, nearly};

const SCALARS: [&str; 72] = [
    "a",
    "1",
    "0x1F",
    "0o17",
    "017",
    "0b11",
    "1_000",
    "1.5",
    "1e3",
    ".5",
    "-.5",
    "+1",
    ".inf",
    "-.Inf",
    ".nan",
    "~",
    "null",
    "Null",
    "NULL",
    "true",
    "True",
    "yes",
    "Yes",
    "on",
    "off",
    "n",
    "y",
    "NO",
    "2024-01-02",
    "2024-01-02T03:04:05Z",
    "12:30:45",
    "\"a\\n\"",
    "'it''s'",
    "\"\\x41\\u00e9\\U0001F600\"",
    "\"\\q\"",
    "'a",
    "|\n  a\n  b\n",
    ">\n  a\n  b\n\n  c\n",
    "|-\n  a\n",
    "|+\n  a\n\n",
    ">2\n    a\n",
    "&x a",
    "*x",
    "*y",
    "!!str 1",
    "!!int \"1\"",
    "!!float 1",
    "!!binary YQ==",
    "!foo a",
    "!!null x",
    "!!bool yes",
    "a # c",
    "a#c",
    "a: b",
    "- a",
    "? a",
    "%a",
    "@a",
    "`a",
    "\u{e9}",
    "\u{1F600}",
    "",
    "1e",
    "0.",
    "1.",
    "-",
    "--",
    "---",
    "...",
    "=",
    "<<",
    "0x",
];

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    Some(match name {
        "yaml.unmarshal" | "yaml.is_valid" => vec![literal(document(choices))],
        "yaml.marshal" => vec![value(choices)],
        _ => return None,
    })
}

fn document(choices: &mut Choices<'_>) -> String {
    let before = choices.of(&[
        "",
        "",
        "",
        "",
        "---\n",
        "# c\n",
        "%YAML 1.1\n---\n",
        "\u{feff}",
        "--- ",
        "\n",
    ]);
    let suffix = choices.of(&[
        "",
        "\n",
        "",
        "\n...\n",
        "\n---\nb: 1\n",
        "\n# c",
        "\t",
        "\n ",
    ]);
    let text = block(choices, 2, 0);
    nearly(format!("{before}{text}{suffix}"), choices)
}

fn block(choices: &mut Choices<'_>, depth: usize, indent: usize) -> String {
    let spaces = " ".repeat(indent);
    let nested = |choices: &mut Choices<'_>| match choices.below(3) {
        0 if depth > 0 => format!("\n{}", block(choices, depth - 1, indent + 2)),
        _ => format!(" {}", flow(choices, 2)),
    };
    match choices.below(4) {
        0 => {
            let items = (0..1 + choices.below(3)).map(|_| format!("{spaces}-{}", nested(choices)));
            items.collect::<Vec<_>>().join("\n")
        }
        1 | 2 => {
            let keys = [
                "a", "b", "\"a\"", "1", "true", "~", "? a\n", "a b", "<<", "'x'", "c", "[a]",
                "0x1", "1.0", "yes", "*x",
            ];
            let items = (0..1 + choices.below(3)).map(|_| {
                let end = if choices.rarely(3) { keys.len() } else { 2 };
                let key = keys.get(choices.below(end)).copied().unwrap_or_default();
                format!("{spaces}{key}:{}", nested(choices))
            });
            items.collect::<Vec<_>>().join("\n")
        }
        _ => format!("{spaces}{}", flow(choices, 2)),
    }
}

fn flow(choices: &mut Choices<'_>, depth: usize) -> String {
    match choices.below(if depth == 0 { 1 } else { 5 }) {
        1 => {
            let items: Vec<String> = (0..choices.below(4))
                .map(|_| flow(choices, depth - 1))
                .collect();
            format!("[{}]", items.join(", "))
        }
        2 => {
            let items: Vec<String> = (0..choices.below(3))
                .map(|_| {
                    format!(
                        "{}: {}",
                        choices.of(&["a", "b", "\"c\"", "1"]),
                        flow(choices, depth - 1)
                    )
                })
                .collect();
            format!("{{{}}}", items.join(", "))
        }
        _ => choices.of(&SCALARS).to_owned(),
    }
}

/// Generates a value with strings that YAML must quote or fold.
fn value(choices: &mut Choices<'_>) -> String {
    let string = |choices: &mut Choices<'_>| {
        let parts = [
            "a",
            " ",
            "\n",
            ":",
            "#",
            "\u{e9}",
            "\u{1F600}",
            "\u{a0}",
            "\u{2028}",
            "\u{85}",
            "\u{feff}",
            "\u{7}",
            "\t",
            "'",
            "\"",
            "\\",
            "-",
            ": ",
            " #",
            "\u{7f}",
            "word ",
            "12",
            "\u{d7ff}",
            "\r",
            "\u{fffd}",
            "{",
            "[",
            "&",
            "*",
            "!",
            "%",
            "@",
            "`",
            "?",
            ",",
            "|",
            ">",
            "=",
        ];
        literal(match choices.below(4) {
            0 => choices.of(&SCALARS).to_owned(),
            1 => "word and ".repeat(10 + choices.below(10)) + &joined(&parts, 3, choices),
            2 => "x".repeat(100 + choices.below(60)) + &joined(&parts, 2, choices),
            _ => joined(&parts, 5, choices),
        })
    };
    let plain_scalar = |choices: &mut Choices<'_>| {
        choices
            .of(&[
                "1",
                "1.5",
                "1e3",
                "1e21",
                "true",
                "null",
                "[]",
                "{}",
                "123456789012345678901234567890",
                "1.0",
                "0.1e-10",
                "set()",
            ])
            .to_owned()
    };
    let leaf = |choices: &mut Choices<'_>| {
        if choices.rarely(3) {
            plain_scalar(choices)
        } else {
            string(choices)
        }
    };
    let member = |choices: &mut Choices<'_>| {
        let key = if choices.rarely(6) {
            plain_scalar(choices)
        } else {
            string(choices)
        };
        format!("{key}: {}", leaf(choices))
    };
    match choices.below(5) {
        0 => format!("[{}]", list(3, choices, &leaf)),
        1 => format!("{{{}}}", list(2, choices, &member)),
        2 => format!(
            "{{\"a\": [{}], \"b\": {{{}}}}}",
            list(2, choices, &leaf),
            list(1, choices, &member)
        ),
        _ => leaf(choices),
    }
}

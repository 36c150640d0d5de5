//! Operands that are regular expressions and globs, and strings that may match them.

use rego_generate::Choices;

use super::{joined, list, literal, nearly};

const TEXT: [&str; 20] = [
    "a", "b", "c", "A", "ab", "1", "-", ".", "/", "\n", "\u{e9}", "_", " ", "[", "]", "{", ",",
    "}", "^", "$",
];

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    let text = |choices: &mut Choices<'_>| literal(joined(&TEXT, 6, choices));
    let count = |choices: &mut Choices<'_>| {
        choices
            .of(&["-1", "0", "1", "2", "-2", "100", "1.5", "1e1"])
            .to_owned()
    };
    Some(match name {
        "regex.is_valid" => vec![literal(pattern(choices))],
        "regex.match" => vec![literal(pattern(choices)), text(choices)],
        "regex.split" => vec![literal(pattern(choices)), text(choices)],
        "regex.find_n" | "regex.find_all_string_submatch_n" => {
            vec![literal(pattern(choices)), text(choices), count(choices)]
        }
        "regex.replace" => {
            let parts = [
                "$1", "${1}", "$0", "$$", "x", "$a", "${a}", "$", "${", "$1x", "\\1", "${1}0",
                "$2", "-",
            ];
            vec![
                text(choices),
                literal(pattern(choices)),
                literal(joined(&parts, 3, choices)),
            ]
        }
        "regex.template_match" => template(choices),
        "regex.globs_match" => vec![literal(simple(choices)), literal(simple(choices))],
        "glob.match" => {
            let separators = match choices.below(5) {
                0 => "null".to_owned(),
                1 | 2 => "[]".to_owned(),
                _ => {
                    let one = |choices: &mut Choices<'_>| {
                        literal(choices.of(&[".", "/", "-", "^", "]", "\\", "\u{e9}", "ab", ""]))
                    };
                    format!("[{}]", list(2, choices, &one))
                }
            };
            vec![literal(glob(choices, 2)), separators, text(choices)]
        }
        "glob.quote_meta" => vec![literal(glob(choices, 2))],
        _ => return None,
    })
}

const ATOMS: [&str; 50] = [
    "a",
    "b",
    "c",
    "A",
    ".",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\b",
    "\\B",
    "^",
    "$",
    "\\A",
    "\\z",
    "\\Z",
    "\\pL",
    "\\p{Lu}",
    "\\P{N}",
    "\\p{^L}",
    "\\p{Greek}",
    "\\pX",
    "\\p{Foo}",
    "\\x41",
    "\\x{e9}",
    "\\x{110000}",
    "\\x4",
    "\\141",
    "\\0",
    "\\1",
    "\\8",
    "\\.",
    "\\-",
    "\\_",
    "\\a",
    "\\e",
    "\\Q.*\\E",
    "\\Qa",
    "\\C",
    "\\K",
    "\\u0061",
    "\u{e9}",
    "\u{1F600}",
    "]",
    "}",
    "{",
    "\\/",
    "\n",
];
const MEMBERS: [&str; 28] = [
    "a",
    "b",
    "-",
    "a-c",
    "c-a",
    "^",
    "]",
    "\\]",
    "\\d",
    "\\W",
    "\\pL",
    "[:alpha:]",
    "[:^digit:]",
    "[:foo:]",
    "[",
    "&&",
    "--",
    "~~",
    "\\b",
    "\\x41",
    "\\-",
    "+--",
    "\u{e9}",
    "A-Z",
    "\\d-z",
    "a-\\d",
    ".",
    "\\Q",
];
const REPEATS: [&str; 24] = [
    "", "", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{0,1}", "{1,}", "{,2}", "{2,1}",
    "{1001}", "{1000}", "{a}", "{2", "**", "+*", "{2}{3}", "{0}",
];
const GROUPS: [&str; 18] = [
    "(", "(", "(?:", "(?i:", "(?s:", "(?m:", "(?U:", "(?-s:", "(?P<n>", "(?<m>", "(?P<n", "(?=",
    "(?!", "(?i-s:", "(?x:", "(?", "(?P=n>", "(?#",
];

pub(super) fn pattern(choices: &mut Choices<'_>) -> String {
    let mut text = choices
        .of(&[
            "", "", "", "", "(?i)", "(?m)", "(?s)", "(?U)", "^", "(?sm)", "(?z)",
        ])
        .to_owned();
    text.push_str(&alternatives(choices, 2));
    nearly(text, choices)
}

fn alternatives(choices: &mut Choices<'_>, depth: usize) -> String {
    let mut text = sequence(choices, depth);
    while choices.rarely(4) {
        text.push('|');
        text.push_str(&sequence(choices, depth));
    }
    text
}

fn sequence(choices: &mut Choices<'_>, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..choices.below(4) {
        match choices.below(6) {
            0 if depth > 0 => {
                text.push_str(choices.of(&GROUPS));
                text.push_str(&alternatives(choices, depth - 1));
                text.push_str(choices.of(&[")", ")", ")", ")", ")", ")", ")", ""]));
            }
            1 => {
                text.push_str(choices.of(&["[", "[", "[^", "[]", "[^]"]));
                text.push_str(&joined(&MEMBERS, 3, choices));
                text.push_str(choices.of(&["]", "]", "]", "]", "]", "]", ""]));
            }
            2 | 3 => text.push_str(choices.of(&["a", "b", "ab", ".", "c"])),
            _ => text.push_str(choices.of(&ATOMS)),
        }
        text.push_str(choices.of(&REPEATS));
    }
    text
}

fn template(choices: &mut Choices<'_>) -> Vec<String> {
    let marks = [
        ("{", "}"),
        ("{", "}"),
        ("<", ">"),
        ("[", "]"),
        ("|", "|"),
        ("{", "{"),
        ("", "}"),
        ("{{", "}"),
        ("\u{e9}", "}"),
    ];
    let (open, close) = choices.of(&marks);
    let mut text = String::new();
    for _ in 0..1 + choices.below(3) {
        text.push_str(&joined(&["a", "urn:", ".", "b", "+"], 2, choices));
        text.push_str(open);
        text.push_str(choices.of(&[
            "[a-c]+", "a*", ".*", "", "(a", "\\d{2}", "a{1}", "b|c", "(b)",
        ]));
        text.push_str(close);
    }
    let text = nearly(text, choices);
    let value = joined(&["a", "b", "c", "urn:", ".", "12", "ab"], 5, choices);
    vec![literal(text), literal(value), literal(open), literal(close)]
}

/// Generates a pattern in the small language of `regex.globs_match`.
fn simple(choices: &mut Choices<'_>) -> String {
    let parts = [
        "a", "b", "c", ".", "[a-c]", "[abc]", "[^a]", "\\.", "\\[", "[b-d]", "[", "]", "[]",
        "[a-]", "-", "\u{e9}", "[c-a]", "(", "\\",
    ];
    let usual = 12;
    let mut text = String::new();
    for _ in 0..choices.below(6) {
        let end = if choices.rarely(10) {
            parts.len()
        } else {
            usual
        };
        text.push_str(parts.get(choices.below(end)).copied().unwrap_or_default());
        text.push_str(choices.of(&["", "", "", "*", "+", "", "?", "**"]));
    }
    text
}

fn glob(choices: &mut Choices<'_>, depth: usize) -> String {
    let parts = [
        "a",
        "b",
        "*",
        "**",
        "?",
        ".",
        "/",
        "-",
        "[a-c]",
        "[!a]",
        "[abc]",
        "[!a-c]",
        "[^a]",
        "[a-zA-Z]",
        "[]",
        "[!]",
        "[a",
        "[c-a]",
        "[-a]",
        "[a-]",
        "\\*",
        "\\a",
        "\\",
        "]",
        "}",
        ",",
        "!",
        "***",
        "\u{e9}",
        "[\u{e9}]",
        "[a-\u{e9}]",
        "[\\]]",
        "[a\\-c]",
        "[*]",
        "[!!]",
        "[a,b]",
        "[ab-]",
        "{",
        "[[]",
        "[a!]",
        " ",
        "[?]",
        "[{]",
        "[aa]",
        "[a-a]",
    ];
    let usual = 12;
    let mut text = String::new();
    for _ in 0..choices.below(5) {
        if depth > 0 && choices.rarely(5) {
            let inner: Vec<String> = (0..1 + choices.below(3))
                .map(|_| glob(choices, depth - 1))
                .collect();
            text.push_str(&format!("{{{}}}", inner.join(",")));
            continue;
        }
        let end = if choices.rarely(4) {
            parts.len()
        } else {
            usual
        };
        text.push_str(parts.get(choices.below(end)).copied().unwrap_or_default());
    }
    text
}

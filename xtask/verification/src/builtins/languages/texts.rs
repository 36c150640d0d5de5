//! Operands that are strings over a small alphabet, so that one often contains the other.

use rego_generate::Choices;

use super::{joined, list, literal, set};

const LETTERS: [&str; 24] = [
    "a",
    "b",
    "ab",
    "a",
    "b",
    "",
    "aa",
    "\u{e9}",
    "\u{1F600}",
    "e\u{301}",
    "A",
    "\u{df}",
    "\u{130}",
    "\u{1fb3}",
    "\u{149}",
    "\u{3a3}",
    "\u{1c5}",
    " ",
    "\t",
    "\u{a0}",
    "\u{2003}",
    "\u{fb01}",
    "\u{85}",
    "\u{feff}",
];

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    let text = |choices: &mut Choices<'_>| literal(joined(&LETTERS, 6, choices));
    let part = |choices: &mut Choices<'_>| literal(joined(&LETTERS, 2, choices));
    let number = |choices: &mut Choices<'_>| {
        choices
            .of(&[
                "0",
                "1",
                "-1",
                "2",
                "3",
                "100",
                "-2",
                "1.0",
                "1.5",
                "9223372036854775807",
                "18446744073709551616",
            ])
            .to_owned()
    };
    let several = |choices: &mut Choices<'_>| {
        let parts = list(3, choices, &part);
        match choices.below(3) {
            0 => part(choices),
            1 => format!("[{parts}]"),
            _ => set(&parts),
        }
    };
    Some(match name {
        "upper" | "lower" | "strings.reverse" | "trim_space" => vec![text(choices)],
        "contains" | "startswith" | "endswith" | "indexof" | "indexof_n" | "split" | "trim"
        | "trim_left" | "trim_right" | "trim_prefix" | "trim_suffix" | "strings.count" => {
            vec![text(choices), part(choices)]
        }
        "replace" => vec![text(choices), part(choices), part(choices)],
        "strings.split_n" => vec![text(choices), part(choices), number(choices)],
        "substring" => vec![text(choices), number(choices), number(choices)],
        "strings.any_prefix_match" | "strings.any_suffix_match" => {
            vec![several(choices), several(choices)]
        }
        "strings.replace_n" => {
            let pair = |choices: &mut Choices<'_>| format!("{}: {}", part(choices), part(choices));
            let count = 1 + choices.below(3);
            let pairs = list(count, choices, &pair);
            vec![format!("{{{pairs}}}"), text(choices)]
        }
        "concat" => {
            let parts = list(4, choices, &part);
            vec![
                part(choices),
                if choices.rarely(2) {
                    format!("[{parts}]")
                } else {
                    set(&parts)
                },
            ]
        }
        _ => return None,
    })
}

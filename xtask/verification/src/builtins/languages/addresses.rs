//! Operands that are URIs, query strings or encoded bytes.

use rego_generate::Choices;

use super::{joined, list, literal, nearly, set};

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    let encoded =
        |alphabet: &[&str], choices: &mut Choices<'_>| literal(joined(alphabet, 9, choices));
    Some(match name {
        "uri.parse" | "uri.is_valid" => vec![literal(uri(choices))],
        "urlquery.decode" | "urlquery.decode_object" => vec![literal(query(choices))],
        "urlquery.encode_object" => {
            let value = |choices: &mut Choices<'_>| {
                let text = |choices: &mut Choices<'_>| literal(part(choices));
                let key = choices.of(&["a", "b", "", " ", "\u{e9}&"]);
                let value = match choices.below(3) {
                    0 => text(choices),
                    1 => format!("[{}]", list(2, choices, &text)),
                    _ => set(&list(2, choices, &text)),
                };
                format!("{}: {value}", literal(key))
            };
            vec![format!("{{{}}}", list(1, choices, &value))]
        }
        "base64.decode" | "base64.is_valid" => vec![encoded(
            &[
                "YQ", "YWI", "YWJj", "=", "==", "/", "+", "-", "_", "\n", "A", "8", "/w", "\r",
            ],
            choices,
        )],
        "base64url.decode" => vec![encoded(
            &[
                "YQ", "YWI", "YWJj", "=", "==", "/", "+", "-", "_", "\n", "A", "8", "_w",
            ],
            choices,
        )],
        "hex.decode" => vec![encoded(
            &["61", "ff", "FF", "a", "g", "0", "e9", "\u{e9}", " "],
            choices,
        )],
        _ => return None,
    })
}

/// Generates one part of a URI.
fn part(choices: &mut Choices<'_>) -> String {
    let parts = [
        "a", "b", "1", "/", ".", "%41", "%2f", "%zz", "%", " ", "+", "=", "\u{e9}", "~", "[", "]",
        "<", "\"", "\\", "^", "`", "{", "|", "\u{7f}", "\u{1}", "\t", "?", "#", "&", ";", ":", "@",
        "!", "$", "'", "(", "*", ",", "..", "//", "%C3%A9", "%ff",
    ];
    let usual = 10;
    let mut text = String::new();
    for _ in 0..choices.below(4) {
        let end = if choices.rarely(3) {
            parts.len()
        } else {
            usual
        };
        text.push_str(parts.get(choices.below(end)).copied().unwrap_or_default());
    }
    text
}

fn uri(choices: &mut Choices<'_>) -> String {
    let mut text = choices
        .of(&[
            "http:", "http:", "https:", "", "mailto:", "urn:", "a+b-c.1:", "1a:", ":", "HTTP:",
            "\u{e9}:", "file:", "h_t:", "*",
        ])
        .to_owned();
    if choices.rarely(2) || choices.rarely(2) {
        text.push_str("//");
        if choices.rarely(4) {
            text.push_str(choices.of(&[
                "u@",
                "u:p@",
                ":p@",
                "@",
                "u:p:q@",
                "u%40:p%20@",
                "\u{e9}@",
                "u:\u{1}@",
                "a b@",
                "<@",
                "u!$&'()*+,;=:p@",
            ]));
        }
        text.push_str(choices.of(&[
            "a.b",
            "localhost",
            "1.2.3.4",
            "[::1]",
            "[::1",
            "::1",
            "[fe80::1%25en0]",
            "[fe80::1%en0]",
            "",
            "a%20b",
            "a b",
            "\u{e9}",
            "%41",
            "[a]",
            "a]b",
            "A.B",
            "a_b",
            "a<b",
            "[::1]x",
            "%zz",
            "[v1.a]",
            "a%00b",
        ]));
        text.push_str(choices.of(&[
            "", "", "", ":80", ":", ":x", ":8:9", ":080", ":99999", ":-1",
        ]));
    }
    if choices.rarely(2) {
        text.push('/');
    }
    text.push_str(&part(choices));
    if choices.rarely(3) {
        text.push('?');
        text.push_str(&query(choices));
    }
    if choices.rarely(3) {
        text.push('#');
        text.push_str(&part(choices));
    }
    nearly(text, choices)
}

fn query(choices: &mut Choices<'_>) -> String {
    let parts = [
        "a", "b", "=", "&", "a=1", "&a=2", ";", "+", "%20", "%", "%4", "%zz", "%ff", "%C3%A9",
        "\u{e9}", " ", "%26", "%3d", "#", "?", "\u{0}",
    ];
    joined(&parts, 6, choices)
}

//! Operands that are JSON documents, JSON pointers, patches, key paths, and formatting options.

use rego_generate::Choices;

use super::{joined, list, literal, nearly, set};

const DOCUMENTS: [&str; 16] = [
    "{\"a\": {\"b\": 1, \"c\": [1, 2, 3]}, \"b\": [10, {\"a\": 2}]}",
    "{\"a\": {\"b\": {\"c\": 1}}}",
    "[1, [2, 3], {\"a\": 4}]",
    "{\"a\": {\"b\", \"c\"}, \"b\": {1, 2}}",
    "{\"a/b\": 1, \"m~n\": 2, \"\": {\"\": 3}, \"0\": 4}",
    "{1: {2: 3}, \"1\": {\"2\": 4}}",
    "{\"a\": {[\"b\"], \"b\"}, \"c\": null}",
    "{}",
    "[]",
    "set()",
    "{\"a\": [], \"b\": {}, \"c\": set()}",
    "{\"a\": [{\"b\": 1}, {\"b\": 2}], \"c\": false}",
    "{\"a\", \"b\", [\"a\", 1]}",
    "\"a\"",
    "1",
    "{[1, 2]: 3, null: 4, true: 5}",
];

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    let document = |choices: &mut Choices<'_>| choices.of(&DOCUMENTS).to_owned();
    Some(match name {
        "json.patch" => {
            let count = if choices.rarely(3) { 3 } else { 1 };
            vec![
                document(choices),
                format!("[{}]", list(count, choices, &operation)),
            ]
        }
        "json.filter" | "json.remove" => {
            let paths = list(3, choices, &path);
            let collection = choices.below(2);
            let paths = if collection == 0 {
                format!("[{paths}]")
            } else {
                set(&paths)
            };
            vec![document(choices), paths]
        }
        "object.get" => {
            let key = if choices.rarely(2) {
                keys(choices)
            } else {
                key(choices)
            };
            vec![document(choices), key, "\"none\"".to_owned()]
        }
        "object.filter" | "object.remove" => {
            let keys = list(3, choices, &key);
            let keys = match choices.below(3) {
                0 => format!("[{keys}]"),
                1 => set(&keys),
                _ => format!(
                    "{{{}}}",
                    list(2, choices, &|choices| format!("{}: 1", key(choices)))
                ),
            };
            vec![document(choices), keys]
        }
        "object.union" | "object.subset" => vec![document(choices), document(choices)],
        "object.union_n" => vec![format!("[{}]", list(3, choices, &document))],
        "json.marshal" | "object.keys" => vec![document(choices)],
        "json.marshal_with_options" => vec![document(choices), options(choices)],
        "json.unmarshal" | "json.is_valid" => vec![literal(json(choices, 3))],
        _ => return None,
    })
}

fn key(choices: &mut Choices<'_>) -> String {
    choices
        .of(&[
            "\"a\"", "\"b\"", "\"c\"", "0", "1", "2", "\"0\"", "\"1\"", "\"\"", "-1", "[\"b\"]",
            "true", "null", "\"a/b\"", "1.0", "[1, 2]",
        ])
        .to_owned()
}

fn keys(choices: &mut Choices<'_>) -> String {
    format!("[{}]", list(3, choices, &key))
}

/// Generates a JSON pointer.
fn pointer(choices: &mut Choices<'_>) -> String {
    let parts = [
        "/a", "/b", "/c", "/0", "/1", "/-", "/", "/a~1b", "/m~0n", "/~2", "/01", "/-1", "/1.0",
        "a", "b/", "//", "/1e0", "/3", "/+1",
    ];
    let usual = 6;
    let mut text = String::new();
    for _ in 0..choices.below(4) {
        let end = if choices.rarely(5) {
            parts.len()
        } else {
            usual
        };
        text.push_str(parts.get(choices.below(end)).copied().unwrap_or_default());
    }
    text
}

/// Generates a path, either as a JSON pointer or as an array of keys.
fn path(choices: &mut Choices<'_>) -> String {
    match choices.below(4) {
        0 => keys(choices),
        1 if choices.rarely(8) => choices.of(&["1", "null", "{}", "set()"]).to_owned(),
        _ => {
            let text = pointer(choices);
            literal(if choices.rarely(3) {
                text.trim_start_matches('/').to_owned()
            } else {
                text
            })
        }
    }
}

fn operation(choices: &mut Choices<'_>) -> String {
    let path = |choices: &mut Choices<'_>| {
        if choices.rarely(4) {
            keys(choices)
        } else {
            literal(pointer(choices))
        }
    };
    let name = choices.of(&[
        "add", "remove", "replace", "test", "move", "copy", "add", "replace", "Add", "",
    ]);
    let mut members = vec![
        format!("\"op\": {}", literal(name)),
        format!("\"path\": {}", path(choices)),
    ];
    if matches!(name, "add" | "replace" | "test") != choices.rarely(10) {
        members.push(format!(
            "\"value\": {}",
            choices.of(&[
                "1",
                "10",
                "{\"b\": 2}",
                "[1, 2, 3]",
                "null",
                "\"b\"",
                "{\"b\", \"c\"}",
                "{\"a\": 4}"
            ])
        ));
    }
    if matches!(name, "move" | "copy") != choices.rarely(10) {
        members.push(format!("\"from\": {}", path(choices)));
    }
    if choices.rarely(25) {
        members.remove(choices.below(2));
    }
    format!("{{{}}}", members.join(", "))
}

fn options(choices: &mut Choices<'_>) -> String {
    let member = |choices: &mut Choices<'_>| {
        let pretty = [
            "\"pretty\": true",
            "\"pretty\": false",
            "\"indent\": \"  \"",
            "\"indent\": \"\\t\"",
            "\"indent\": \"ab\"",
            "\"prefix\": \">\"",
            "\"prefix\": \"\"",
            "\"indent\": \"\"",
            "\"pretty\": 1",
            "\"x\": 1",
            "\"indent\": 1",
        ];
        choices.of(&pretty).to_owned()
    };
    // The names must differ; otherwise their values would conflict.
    let (one, other) = (member(choices), member(choices));
    if choices.rarely(2) || one.split(':').next() == other.split(':').next() {
        return format!("{{{one}}}");
    }
    format!("{{{one}, {other}}}")
}

fn json(choices: &mut Choices<'_>, depth: usize) -> String {
    let scalars = [
        "1",
        "0",
        "-1",
        "1.5",
        "1e3",
        "1E+2",
        "-0",
        "-0.0",
        "1.0",
        "100000000000000000000",
        "1e400",
        "1e-400",
        "0.10",
        "01",
        "+1",
        ".5",
        "1.",
        "--1",
        "1e",
        "true",
        "false",
        "null",
        "True",
        "nul",
        "\"a\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\x\"",
        "\"\\/\"",
        "\"\t\"",
        "\"\u{7f}\"",
        "\"a",
        "'a'",
        "\"\\u12\"",
        "\"\u{2028}\"",
        "",
        "NaN",
        "\"\\b\\f\\n\\r\\t\"",
        "9007199254740993",
        "\"\\udc00\\ud800\"",
        "123e-2",
        "1E400",
        "1.10e1",
    ];
    let space = choices.of(&["", "", "", " ", "\n", "\t", "\u{a0}", "\u{feff}", "// x\n"]);
    let text = match choices.below(if depth == 0 { 1 } else { 3 }) {
        1 => {
            let items: Vec<String> = (0..choices.below(4))
                .map(|_| json(choices, depth - 1))
                .collect();
            format!(
                "[{}{}]",
                items.join(","),
                choices.of(&["", "", "", "", ","])
            )
        }
        2 => {
            let names = ["\"a\"", "\"b\"", "\"\"", "\"a\"", "a", "1", "\"\\u0061\""];
            let items: Vec<String> = (0..choices.below(4))
                .map(|_| format!("{}:{}", choices.of(&names), json(choices, depth - 1)))
                .collect();
            format!("{{{}}}", items.join(","))
        }
        _ => choices.of(&scalars).to_owned(),
    };
    nearly(
        format!(
            "{space}{text}{}",
            joined(
                &[" ", "\n", "x", "1"],
                if choices.rarely(12) { 2 } else { 0 },
                choices
            )
        ),
        choices,
    )
}

//! Go templates and their data: the operands of `strings.render_template`.

use rego_generate::Choices;
use serde_json::Value;

/// Maximum nesting depth of actions and parentheses.
const DEPTH: usize = 3;

const TEXTS: [&str; 12] = [
    "",
    "x",
    " ",
    "\n",
    "a b",
    "}",
    "{",
    "<é>",
    " \t",
    "\n \n",
    "<no value>",
    "{ {",
];

const FIELDS: [&str; 24] = [
    ".a", ".n", ".l", ".m", ".u", ".t", ".e", ".a", ".n", ".l", ".m", ".t", ".m.k", ".nope",
    ".nope.x", "$.a", "$.l", ".a", ".n", ".m.z", ".m.k.x", ".l.x", ".n.x", ".u.x",
];

const CONSTANTS: [&str; 40] = [
    "1",
    "0",
    "\"a\"",
    "\"k\"",
    "true",
    "false",
    "nil",
    "2",
    "-1",
    "+3",
    "1.5",
    "1e3",
    "'a'",
    "'\\n'",
    "'é'",
    "0x1F",
    "0b11",
    "0o17",
    "017",
    "1_000",
    "1i",
    "1+2i",
    "0x1p4",
    "`raw`",
    "\"\\x41\\u00e9\\\"\"",
    "\"<&'>\"",
    "\"%v|%d\"",
    "\"%s\"",
    "9223372036854775808",
    "1e30",
    "08",
    "1a",
    "'ab'",
    "\"\\q\"",
    "-0x1e",
    "0x1_0",
    "1.",
    "99999999999999999999",
    "\"\"",
    "0i",
];

const FUNCTIONS: [&str; 19] = [
    "print", "printf", "println", "len", "index", "slice", "eq", "ne", "lt", "le", "gt", "ge",
    "and", "or", "not", "html", "js", "urlquery", "call",
];

const VARIABLES: [&str; 4] = ["$x", "$y", "$", "$i"];

const NAMES: [&str; 5] = ["\"x\"", "\"y\"", "`x`", "\"template\"", "\"nope\""];

/// Names of templates that an action can invoke. The name of the whole template is missing, because
/// its invocation would recurse forever.
const INVOKED: [&str; 4] = ["\"x\"", "\"y\"", "`x`", "\"nope\""];

const FORMATS: [&str; 16] = [
    "\"%v\"",
    "\"%d\"",
    "\"%s\"",
    "\"%q\"",
    "\"%x\"",
    "\"%T\"",
    "\"%5v|%-5d|\"",
    "\"%#v\"",
    "\"%+v\"",
    "\"%05d\"",
    "\"%t %v\"",
    "\"%c%U\"",
    "\"%.2f\"",
    "\"%[2]v %[1]v\"",
    "\"%*d\"",
    "\"%e %g\"",
];

/// Texts that make most templates invalid when they are inserted.
const BROKEN: [&str; 24] = [
    "{{end}}",
    "{{",
    "}}",
    "{{else}}",
    "(",
    ")",
    "|",
    "\"",
    "'",
    "`",
    "{{break}}",
    "{{nil}}",
    "$z",
    ",",
    ":=",
    "=",
    "{{/* c */}}",
    "{{- ",
    " -}}",
    "#",
    ".",
    "\\",
    "{{continue}}",
    "{{/*",
];

/// Generates a template, in Rego syntax.
pub(super) fn template(choices: &mut Choices<'_>) -> String {
    let mut text = nodes(DEPTH, choices);
    if choices.rarely(6) {
        let at = choices.below(text.chars().count() + 1);
        let (at, _) = text.char_indices().nth(at).unwrap_or((text.len(), ' '));
        match choices.below(3) {
            0 => text.insert_str(at, choices.of(&BROKEN)),
            1 if at < text.len() => {
                text.remove(at);
            }
            _ => text.truncate(at),
        }
    }
    Value::from(text).to_string()
}

/// Generates the data of a template, in Rego syntax.
pub(super) fn data(choices: &mut Choices<'_>) -> String {
    let mut members = Vec::new();
    for name in ["a", "n", "l", "m", "u", "t", "e"] {
        let usual = match name {
            "a" => choices
                .of(&["\"x\"", "\"<a b='&'>\"", "\"é\"", "\"\""])
                .to_owned(),
            "n" => choices
                .of(&["1", "0", "1.50", "-3", "1e3", "123456789012345678901"])
                .to_owned(),
            "l" => list(choices),
            "m" => object(choices),
            "u" => "null".to_owned(),
            "t" => choices.of(&["true", "false"]).to_owned(),
            _ => "\"\"".to_owned(),
        };
        match choices.below(16) {
            15 => {}
            14 => members.push(format!("\"{name}\": {}", value(choices))),
            _ => members.push(format!("\"{name}\": {usual}")),
        }
    }
    if choices.rarely(20) {
        let member = choices.of(&[
            "1: 2",
            "\"s\": {1, 2}",
            "\"s\": {\"a\"}",
            "\"s\": set()",
            "\"c\": \"\\u0001\"",
            "\"c\": \"\\u200b\"",
            "null: 1",
            "[1]: 1",
        ]);
        members.push(member.to_owned());
    }
    format!("{{{}}}", members.join(", "))
}

fn value(choices: &mut Choices<'_>) -> String {
    match choices.below(8) {
        0 => "null".to_owned(),
        1 => "false".to_owned(),
        2 => "2".to_owned(),
        3 => "\"k\"".to_owned(),
        4 => "[]".to_owned(),
        5 => "{}".to_owned(),
        6 => list(choices),
        _ => object(choices),
    }
}

fn list(choices: &mut Choices<'_>) -> String {
    let items = [
        "[]",
        "[1, \"b\", null, [2]]",
        "[\"a\", \"b\", \"c\"]",
        "[{\"k\": 1}, {\"k\": 2}]",
        "[3, 1, 2, 5, 4]",
        "[{\"k\": null}, true, false]",
    ];
    choices.of(&items).to_owned()
}

fn object(choices: &mut Choices<'_>) -> String {
    let items = [
        "{}",
        "{\"k\": \"v\", \"z\": {\"y\": 2}}",
        "{\"k\": {\"x\": \"deep\"}}",
        "{\"b\": [1], \"a\": null, \"k\": 1.5}",
    ];
    choices.of(&items).to_owned()
}

fn nodes(depth: usize, choices: &mut Choices<'_>) -> String {
    let count = choices.below(4);
    (0..count).map(|_| node(depth, choices)).collect()
}

/// Returns a template action around a content.
fn action(inside: &str, choices: &mut Choices<'_>) -> String {
    match choices.below(12) {
        8 => format!("{{{{ {inside} }}}}"),
        9 => format!("{{{{- {inside} }}}}"),
        10 => format!("{{{{ {inside} -}}}}"),
        11 => format!("{{{{-\n{inside}\n-}}}}"),
        _ => format!("{{{{{inside}}}}}"),
    }
}

fn node(depth: usize, choices: &mut Choices<'_>) -> String {
    if depth == 0 {
        return choices.of(&TEXTS).to_owned();
    }
    match choices.below(16) {
        0 | 1 => choices.of(&TEXTS).to_owned(),
        2..=6 => {
            let pipeline = pipeline(depth, choices);
            action(&pipeline, choices)
        }
        7 => {
            let sign = choices.of(&[":=", ":=", "="]);
            let variable = choices.of(&["$x", "$y"]);
            let pipeline = pipeline(depth, choices);
            action(&format!("{variable} {sign} {pipeline}"), choices)
        }
        8 | 9 => block("if", depth, choices),
        10 => block("with", depth, choices),
        11 | 12 => range(depth, choices),
        13 => {
            let name = choices.of(&NAMES);
            let body = nodes(depth - 1, choices);
            action(&format!("define {name}"), choices) + &body + "{{end}}"
        }
        14 => {
            let name = choices.of(&INVOKED);
            match choices.below(3) {
                0 => action(&format!("template {name}"), choices),
                1 => {
                    let pipeline = pipeline(depth, choices);
                    action(&format!("template {name} {pipeline}"), choices)
                }
                _ => {
                    let pipeline = pipeline(depth, choices);
                    let body = nodes(depth - 1, choices);
                    action(&format!("block {name} {pipeline}"), choices) + &body + "{{end}}"
                }
            }
        }
        _ => choices
            .of(&[
                "{{/* c */}}",
                "{{- /* c\n */ -}}",
                "{{break}}",
                "{{continue}}",
                "{{.}}",
            ])
            .to_owned(),
    }
}

/// Generates a block that begins with a keyword, and its end.
fn block(word: &str, depth: usize, choices: &mut Choices<'_>) -> String {
    let mut text = action(&format!("{word} {}", declared(depth, choices)), choices);
    text.push_str(&nodes(depth - 1, choices));
    if choices.rarely(4) {
        let again = choices.of(&["if", "with"]);
        text.push_str(&format!(
            "{{{{else {again} {}}}}}",
            declared(depth, choices)
        ));
        text.push_str(&nodes(depth - 1, choices));
    }
    if choices.rarely(2) {
        text.push_str("{{else}}");
        text.push_str(&nodes(depth - 1, choices));
    }
    text + "{{end}}"
}

fn declared(depth: usize, choices: &mut Choices<'_>) -> String {
    let pipeline = pipeline(depth, choices);
    match choices.below(6) {
        4 => format!("$x := {pipeline}"),
        5 => format!("$y = {pipeline}"),
        _ => pipeline,
    }
}

fn range(depth: usize, choices: &mut Choices<'_>) -> String {
    let variables = choices.of(&[
        "",
        "$x := ",
        "$i, $x := ",
        "$x = ",
        "$i, $x = ",
        "$i,$y:=",
        "$x, ",
    ]);
    let over = match choices.below(8) {
        0..=4 => choices
            .of(&[
                ".l", ".m", ".", ".a", ".u", ".n", "3", "(len .l)", "-1", "$x",
            ])
            .to_owned(),
        _ => pipeline(depth, choices),
    };
    let mut text = action(&format!("range {variables}{over}"), choices);
    text.push_str(&nodes(depth - 1, choices));
    if choices.rarely(3) {
        text.push_str(choices.of(&["{{break}}", "{{continue}}", "{{if .}}{{break}}{{end}}"]));
        text.push_str(&nodes(depth - 1, choices));
    }
    if choices.rarely(3) {
        text.push_str("{{else}}");
        text.push_str(&nodes(depth - 1, choices));
    }
    text + "{{end}}"
}

fn pipeline(depth: usize, choices: &mut Choices<'_>) -> String {
    let mut text = command(depth, choices);
    for _ in 0..choices.of(&[0, 0, 0, 1, 2]) {
        text.push_str(choices.of(&[" | ", "|", " |\n"]));
        text.push_str(&command(depth, choices));
    }
    text
}

fn command(depth: usize, choices: &mut Choices<'_>) -> String {
    match choices.below(8) {
        0..=2 => operand(depth, choices),
        3 => {
            let mut text = format!("printf {}", choices.of(&FORMATS));
            for _ in 0..choices.below(3) {
                text.push(' ');
                text.push_str(&operand(depth, choices));
            }
            text
        }
        4 if choices.rarely(3) => {
            format!("{} {}", operand(depth, choices), operand(depth, choices))
        }
        _ => {
            let mut text = choices.of(&FUNCTIONS).to_owned();
            for _ in 0..choices.of(&[1, 2, 2, 0, 3]) {
                text.push(' ');
                text.push_str(&operand(depth, choices));
            }
            text
        }
    }
}

fn operand(depth: usize, choices: &mut Choices<'_>) -> String {
    match choices.below(12) {
        0..=4 => choices.of(&FIELDS).to_owned(),
        5 => ".".to_owned(),
        6 => choices.of(&VARIABLES).to_owned(),
        7 => format!(
            "{}{}",
            choices.of(&VARIABLES),
            choices.of(&[".k", ".a", ".x.y"])
        ),
        8 if depth > 0 => {
            let fields = choices.of(&["", "", ".k", ".x.y"]);
            format!("({}){fields}", pipeline(depth - 1, choices))
        }
        9 => choices.of(&FUNCTIONS).to_owned(),
        _ => choices.of(&CONSTANTS).to_owned(),
    }
}

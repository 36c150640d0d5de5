//! Operands that are GraphQL queries and schemas.

use rego_generate::Choices;

use super::{list, literal, nearly};

const SCHEMAS: [&str; 8] = [
    "type Query { a: Int b(c: Int!): String d: D ds: [D!]! u: U } type D implements N { e: Int f(x: I, y: E = P, z: [Int]): E id: ID! } interface N { id: ID! } union U = D | G type G { e: String g: Boolean } enum E { P Q } input I { h: Int! = 1 i: [String!] } scalar S directive @r(n: Int) on FIELD type Mutation { m(i: I): D }",
    "type Query { a: Int }",
    "schema { query: Q } type Q { a: Q b: [[Int]] }",
    "type Query { a: Missing }",
    "type Query { a(b: Query): Int }",
    "interface N { id: ID } type Query implements N { a: Int }",
    "extend type Query { a: Int }",
    "type Query { a: Int } extend type Query { b: String } subscription: Int",
];

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    Some(match name {
        "graphql.parse" | "graphql.is_valid" | "graphql.parse_and_verify" => {
            let usual = SCHEMAS.first().copied().unwrap_or_default().to_owned();
            let schema = match choices.below(4) {
                0 => choices.of(&SCHEMAS).to_owned(),
                1 if choices.rarely(2) => schema(choices),
                _ => usual,
            };
            vec![literal(query(choices)), literal(schema)]
        }
        "graphql.parse_query" => vec![literal(query(choices))],
        "graphql.parse_schema" | "graphql.schema_is_valid" => vec![literal(schema(choices))],
        _ => return None,
    })
}

fn query(choices: &mut Choices<'_>) -> String {
    let head = choices.of(&[
        "",
        "",
        "query ",
        "query q",
        "query q($v: Int)",
        "query q($v: Int!, $w: [String] = [\"a\"])",
        "mutation ",
        "subscription ",
        "query q($v: Nope)",
        "query q($i: I = {h: 1})",
        "{ a } ",
    ]);
    let fragments = choices.of(&[
        "",
        "",
        "",
        " fragment F on D { e }",
        " fragment F on D { ...F }",
        " fragment F on Nope { a }",
        " query q { a }",
        " fragment F on Query { a }",
        " # end",
    ]);
    nearly(
        format!("{head}{}{fragments}", selection(choices, 3)),
        choices,
    )
}

fn selection(choices: &mut Choices<'_>, depth: usize) -> String {
    let fields: Vec<String> = (0..1 + choices.below(3))
        .map(|_| field(choices, depth))
        .collect();
    format!("{{ {} }}", fields.join(choices.of(&[" ", ", ", "\n"])))
}

fn field(choices: &mut Choices<'_>, depth: usize) -> String {
    if choices.rarely(8) {
        return choices
            .of(&[
                "...F",
                "... on D { e }",
                "... on Nope { e }",
                "... { a }",
                "... @skip(if: true) { a }",
                "...on",
                "... on U { __typename }",
            ])
            .to_owned();
    }
    let alias = choices.of(&["", "", "", "x: ", "a: "]);
    let name = choices.of(&[
        "a",
        "b",
        "d",
        "ds",
        "e",
        "f",
        "g",
        "id",
        "u",
        "__typename",
        "nope",
        "m",
        "__schema",
    ]);
    let value = [
        "1",
        "1.5",
        "\"s\"",
        "true",
        "null",
        "P",
        "NOPE",
        "[1, 2]",
        "{h: 1}",
        "{i: [\"a\"]}",
        "$v",
        "$w",
        "$i",
        "\"\"\"block\n  text\"\"\"",
        "-0",
        "1e5",
        "01",
        "\"\\u00e9\"",
        "\"\\q\"",
        "{}",
        "{h: 1, h: 2}",
        "123456789012",
    ];
    let argument = |choices: &mut Choices<'_>| {
        format!(
            "{}: {}",
            choices.of(&["c", "x", "y", "z", "n", "i", "if"]),
            choices.of(&value)
        )
    };
    let arguments = if choices.rarely(3) {
        format!("({})", list(2, choices, &argument))
    } else {
        String::new()
    };
    let directive = choices.of(&[
        "",
        "",
        "",
        "",
        "",
        "",
        " @include(if: true)",
        " @skip(if: $v)",
        " @r(n: 1)",
        " @nope",
        " @skip",
        " @r @r",
    ]);
    let wants = matches!(name, "d" | "ds" | "u" | "m") != choices.rarely(12);
    let inner = if wants && depth > 0 {
        format!(" {}", selection(choices, depth - 1))
    } else {
        String::new()
    };
    format!("{alias}{name}{arguments}{directive}{inner}")
}

fn schema(choices: &mut Choices<'_>) -> String {
    let parts = [
        "type Query { a: Int }",
        "type Q { a: [Int!]! b(c: Int = 1, d: E): Q }",
        "interface N { id: ID! }",
        "type D implements N { id: ID! }",
        "type D implements N & M { id: ID }",
        "union U = Q | D",
        "union U = | Q",
        "enum E { P Q }",
        "enum E { true }",
        "enum E { }",
        "input I { a: Int b: I }",
        "input I { a: I! }",
        "scalar S",
        "scalar S @specifiedBy(url: \"u\")",
        "directive @x(a: Int) on FIELD | OBJECT",
        "directive @x repeatable on FIELD_DEFINITION",
        "directive @skip on FIELD",
        "schema { query: Q mutation: D }",
        "schema { query: Nope }",
        "extend type Query { c: Int }",
        "extend enum E { R }",
        "extend schema { mutation: D }",
        "\"doc\" type X { \"d\" a: Int @deprecated(reason: \"r\") }",
        "\"\"\"\n  block\n   doc\n\"\"\" type Y { a: Int }",
        "type Query { a: Int a: Int }",
        "type __X { a: Int }",
        "type X @nope { a: Int }",
        "type X { __a: Int }",
        "query { a }",
        "type X",
        "input I { a: Q }",
        "type Z { a(b: Q): Int }",
        "extend union U = D",
        "extend input I { z: Int }",
        "# c",
        "extend scalar S @x",
        "extend interface N { x: Int }",
        "interface M implements N { id: ID! }",
    ];
    let mut text: Vec<&str> = Vec::new();
    if !choices.rarely(4) {
        text.push("type Query { a: Int }");
    }
    for _ in 0..choices.below(4) {
        text.push(
            parts
                .get(choices.below(parts.len()))
                .copied()
                .unwrap_or_default(),
        );
    }
    nearly(text.join(choices.of(&[" ", "\n"])), choices)
}

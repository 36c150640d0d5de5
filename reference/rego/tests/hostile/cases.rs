//! Calls whose operands are specific to their function.

use rego::Value;
use rego::value::from_json;

/// A call with a name for messages.
pub(crate) struct Case {
    pub(crate) description: &'static str,
    pub(crate) function: &'static str,
    pub(crate) operands: Vec<Value>,
}

fn json(text: &str) -> Value {
    from_json(text.as_bytes()).unwrap_or(Value::Null)
}

/// Generates schemas of which each refers to the next one twice.
fn doubling_schema(keyword: &str, levels: usize) -> Value {
    let level = |at: usize| {
        let next = at + 1;
        format!(
            r##""d{at}": {{"{keyword}": [{{"$ref": "#/definitions/d{next}"}}, {{"$ref": "#/definitions/d{next}"}}]}}"##
        )
    };
    let levels_text: Vec<_> = (0..levels).map(level).collect();
    json(&format!(
        r##"{{"$ref": "#/definitions/d0", "definitions": {{{}, "d{levels}": {{"type": "object"}}}}}}"##,
        levels_text.join(", ")
    ))
}

/// Generates templates of which each invokes the next one twice.
fn doubling_templates(count: usize) -> String {
    let template = |at: usize| {
        let call = format!(r#"{{{{template "t{}" .}}}}"#, at + 1);
        format!(r#"{{{{define "t{at}"}}}}{call}{call}{{{{end}}}}"#)
    };
    let all: String = (0..count).map(template).collect();
    format!(r#"{all}{{{{define "t{count}"}}}}x{{{{end}}}}{{{{template "t0" .}}}}"#)
}

/// Generates patches of which each doubles the document.
fn doubling_patches(rounds: usize) -> Value {
    let round = r#"{"op": "copy", "from": "", "path": "/c"}, {"op": "copy", "from": "/c", "path": "/a"}, {"op": "move", "from": "/c", "path": "/b"}"#;
    json(&format!("[{}]", vec![round; rounds].join(", ")))
}

/// Generates fragments of which each spreads the next one several times.
fn fragments(count: usize, spreads: usize) -> Value {
    let fragment = |at: usize| {
        let spread = format!("...f{} ", at + 1).repeat(spreads);
        format!("fragment f{at} on Query {{ {spread} }}\n")
    };
    let all: String = (0..count).map(fragment).collect();
    Value::from(format!(
        "{{ ...f0 }}\n{all}fragment f{count} on Query {{ a }}"
    ))
}

/// Generates fields with the same name whose selections have to be compared pairwise.
fn overlapping_fields(count: usize) -> Value {
    Value::from(format!("{{ {} }}", "a { b } ".repeat(count)))
}

fn keys(count: usize) -> Value {
    let key = r#"{"kty": "oct", "k": "AyM1"}"#;
    Value::from(format!(r#"{{"keys": [{}]}}"#, vec![key; count].join(", ")))
}

fn chain(nodes: usize) -> Value {
    let node = |at: usize| {
        (
            Value::from(format!("n{at}")),
            Value::from(vec![Value::from(format!("n{}", at + 1))]),
        )
    };
    Value::object((0..nodes).map(node))
}

fn texts(items: impl IntoIterator<Item = String>) -> Value {
    Value::from(items.into_iter().map(Value::from).collect::<Vec<_>>())
}

/// Returns the cases in the order of their functions.
pub(crate) fn cases() -> Vec<Case> {
    let case = |description, function, operands| Case {
        description,
        function,
        operands,
    };
    let text = |text: &str, times: usize| Value::from(text.repeat(times));
    let empty = || Value::object::<&str>([]);
    let schema = || Value::from("type Query { a: Query b: Int }");
    let any = |keyword| vec![empty(), doubling_schema(keyword, 40)];
    let wrong = || json(r#"{"type": "array", "items": {"type": "string"}}"#);
    vec![
        case(
            "PEM blocks without end",
            "crypto.parse_private_keys",
            vec![text("-----BEGIN RSA PRIVATE KEY-----\n", 20_000)],
        ),
        case(
            "PEM blocks",
            "crypto.x509.parse_certificates",
            vec![text(
                "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
                10_000,
            )],
        ),
        case(
            "a chain",
            "graph.reachable",
            vec![chain(20_000), texts(["n0".to_owned()])],
        ),
        case(
            "a chain",
            "graph.reachable_paths",
            vec![chain(20_000), texts(["n0".to_owned()])],
        ),
        case(
            "a chain of fragments",
            "graphql.is_valid",
            vec![fragments(2000, 1), schema()],
        ),
        case(
            "fragments that double",
            "graphql.is_valid",
            vec![fragments(60, 2), schema()],
        ),
        case(
            "equal fields",
            "graphql.is_valid",
            vec![overlapping_fields(2000), schema()],
        ),
        case(
            "a chain of fragments",
            "graphql.parse_and_verify",
            vec![fragments(2000, 1), schema()],
        ),
        case(
            "types",
            "graphql.schema_is_valid",
            vec![Value::from(
                (0..3000)
                    .map(|at| format!("type T{at} {{ a: T{} }}\n", at + 1))
                    .collect::<String>(),
            )],
        ),
        case(
            "many keys",
            "io.jwt.verify_hs256",
            vec![Value::from("eyJhbGciOiJIUzI1NiJ9.e30.AAAA"), keys(20_000)],
        ),
        case(
            "many keys",
            "io.jwt.decode_verify",
            vec![
                Value::from("eyJhbGciOiJIUzI1NiJ9.e30.AAAA"),
                Value::object([("cert", keys(20_000))]),
            ],
        ),
        case(
            "many keys",
            "io.jwt.verify_rs256",
            vec![Value::from("eyJhbGciOiJSUzI1NiJ9.e30.AAAA"), keys(20_000)],
        ),
        case("allOf", "json.match_schema", any("allOf")),
        case("oneOf", "json.match_schema", any("oneOf")),
        case(
            "anyOf",
            "json.match_schema",
            vec![
                Value::from(vec![Value::from(1)]),
                doubling_schema("anyOf", 40),
            ],
        ),
        case(
            "allOf",
            "json.verify_schema",
            vec![doubling_schema("allOf", 40)],
        ),
        case(
            "many errors",
            "json.match_schema",
            vec![json(&format!("[{}1]", "1,".repeat(40_000))), wrong()],
        ),
        case(
            "unique items",
            "json.match_schema",
            vec![
                json(&format!(
                    "[{}]",
                    (0..5000)
                        .map(|at| format!("[{at}]"))
                        .collect::<Vec<_>>()
                        .join(",")
                )),
                json(r#"{"uniqueItems": true}"#),
            ],
        ),
        case(
            "ambiguous pattern",
            "json.match_schema",
            vec![
                json(&format!(r#"{{"a": "{}b"}}"#, "a".repeat(20_000))),
                json(r#"{"properties": {"a": {"pattern": "((a{1,40}){1,40})c"}}}"#),
            ],
        ),
        case(
            "patches that double",
            "json.patch",
            vec![json(r#"{"a": 1, "b": 1}"#), doubling_patches(60)],
        ),
        case(
            "a removal from a long array, again and again",
            "json.patch",
            vec![
                json(&format!("[{}1]", "1,".repeat(20_000))),
                json(&format!(
                    "[{}]",
                    vec![r#"{"op": "add", "path": "/0", "value": 1}"#; 5000].join(",")
                )),
            ],
        ),
        case(
            "every address",
            "net.cidr_expand",
            vec![Value::from("::/0")],
        ),
        case(
            "each in each",
            "net.cidr_contains_matches",
            vec![
                texts((0..3000).map(|at| format!("10.{}.{}.0/24", at / 256, at % 256))),
                texts((0..3000).map(|at| format!("10.{}.{}.1", at / 256, at % 256))),
            ],
        ),
        case(
            "many numbers",
            "numbers.range",
            vec![Value::from(0), Value::from(1_000_000_000)],
        ),
        case(
            "empty groups",
            "regex.find_all_string_submatch_n",
            vec![
                Value::from(format!("{}a", "()".repeat(3000))),
                text("a", 40_000),
                Value::from(-1),
            ],
        ),
        case(
            "a match that is looked for to the end",
            "regex.find_n",
            vec![Value::from("a.*b|a"), text("a", 40_000), Value::from(-1)],
        ),
        case(
            "patterns with a common text",
            "regex.globs_match",
            vec![text("[a-z]*", 500), text("[a-y]*", 500)],
        ),
        case(
            "nested repetitions",
            "regex.match",
            vec![Value::from("((a{1,50}){1,50}){1,4}b"), text("a", 40_000)],
        ),
        case(
            "groups in the replacement",
            "regex.replace",
            vec![text("a", 40_000), Value::from("(a+)"), text("${1}", 10_000)],
        ),
        case(
            "deep module",
            "rego.parse_module",
            vec![
                Value::from("p.rego"),
                Value::from(format!(
                    "package p\nx := {}1{}",
                    "[".repeat(5000),
                    "]".repeat(5000)
                )),
            ],
        ),
        case(
            "many rules",
            "rego.parse_module",
            vec![
                Value::from("p.rego"),
                Value::from(format!("package p\n{}", "x if { y == 1 }\n".repeat(3000))),
            ],
        ),
        case(
            "loops in loops",
            "strings.render_template",
            vec![
                Value::from(
                    "{{range .}}{{range $}}{{range $}}{{range $}}x{{end}}{{end}}{{end}}{{end}}",
                ),
                json(&format!("[{}1]", "1,".repeat(1000))),
            ],
        ),
        case(
            "a template that calls itself",
            "strings.render_template",
            vec![
                Value::from(
                    r#"{{define "a"}}x{{template "a" .}}{{template "a" .}}{{end}}{{template "a" .}}"#,
                ),
                json("{}"),
            ],
        ),
        case(
            "templates that call each other twice",
            "strings.render_template",
            vec![Value::from(doubling_templates(60)), json("{}")],
        ),
        case(
            "ranges nested deeply",
            "strings.render_template",
            vec![
                Value::from(format!(
                    "{}x{}",
                    "{{range $.a}}".repeat(20_000),
                    "{{end}}".repeat(20_000)
                )),
                json(r#"{"a": [1, 2]}"#),
            ],
        ),
        case(
            "many replacements",
            "strings.replace_n",
            vec![
                Value::object(
                    (0..2000).map(|at| (Value::from(format!("a{at}")), Value::from("b"))),
                ),
                text("a1", 20_000),
            ],
        ),
        case(
            "longer and longer",
            "strings.replace_n",
            vec![Value::object([("a", text("a", 40_000))]), text("a", 40_000)],
        ),
        case(
            "sets of the same length",
            "trim",
            vec![text("ä", 20_000), text("ö", 20_000)],
        ),
        case(
            "a long layout",
            "time.format",
            vec![Value::from(vec![
                Value::from(1),
                Value::from("UTC"),
                text("2006-01-02 ", 4000),
            ])],
        ),
        case(
            "aliases",
            "yaml.unmarshal",
            vec![Value::from(
                (0..60)
                    .map(|at| format!("a{}: &a{} [*a{at}, *a{at}]\n", at + 1, at + 1))
                    .fold("a0: &a0 [1]\n".to_owned(), |all, line| all + &line),
            )],
        ),
        case("flow brackets", "yaml.unmarshal", vec![text("[{a: ", 5000)]),
    ]
}

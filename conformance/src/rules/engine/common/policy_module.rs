//! Policy module

use super::super::{module, policy};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("id-chosen-by-caller", || {
        let ids = ["{ns}", "{ns}.Second-One", "{ns}_third.rego", "{ns}.4"];
        scenario().each(ids.into_iter().zip(1..), |scenario, (id, number)| {
            let path = format!("/v1/policies/{id}");
            let module = module(&format!("{{ns}}.p{number}"), "answer := 42");
            scenario
                .when(put(&path).text("text/plain", module).expect(success()))
                .when(get(path).expect(at("/result/id")))
        })
    }),
    Rule::new("id-is-decoded", || {
        let path = "/v1/policies/{ns}%20%C3%A9ast%25";
        let named = [Check::Equals("/result/id".into(), json!("{ns} éast%"))];
        scenario()
            .given(put(path).text("text/plain", module("{ns}", "answer := 42")))
            .when(get(path).expect(at("/result/id")))
            .when(get("/v1/policies").expect(names("/result")))
            .when(delete(path).expect(success()))
            .when(get("/v1/policies").expect(names("/result")))
            .given(get(path).shows([Check::StatusFrom(400, 499)]))
            .given(put(path).text("text/plain", module("{ns}", "answer := 43")))
            .given(get(path).shows(named))
    }),
    Rule::new("id-with-plus", || {
        let answer = module("{ns}", "answer := 42");
        scenario()
            .given(put("/v1/policies/{ns}+a").text("text/plain", answer))
            .when(get("/v1/policies/{ns}%2Ba").expect(at("/result/id")))
            .when(get("/v1/policies").expect(names("/result")))
    }),
    Rule::new("id-is-string", || {
        read("answer := 42", [kind("/result/id", Kind::String)])
    }),
    Rule::new("id-unrelated-to-package", || {
        scenario()
            .given(
                put("/v1/policies/{ns}.shelf")
                    .text("text/plain", module("{ns}.deep.drawer", "answer := 42")),
            )
            .when(get("/v1/policies/{ns}.shelf").expect(at("/result/id")))
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("raw-is-source-text", || {
        scenario()
            .given(put("/v1/policies/{ns}").text("text/plain", ODDLY_WRITTEN))
            .when(get("/v1/policies/{ns}").expect(at("/result/raw")))
    }),
    Rule::new("ast-is-object", || {
        read("answer := 42", [kind("/result/ast", Kind::Object)])
    }),
    Rule::new("package-path-of-terms", || {
        let path = "/result/ast/package/path";
        let [of_type, of_value] = term(&format!("{path}/*"));
        let last = part(path, json!([{"type": "string", "value": "{ns}"}]));
        read(
            "answer := 42",
            [kind(path, Kind::Array), of_type, of_value, last],
        )
    }),
    Rule::new("rules-is-array", || {
        read(
            "first := 1\n\nsecond if input.a\n\nthird contains 3",
            [
                length("/result/ast/rules"),
                each("/result/ast/rules/*", Kind::Object),
            ],
        )
    }),
    Rule::new("rule-has-head", || {
        read(
            "first := 1\n\nsecond if input.a",
            [each("/result/ast/rules/*/head", Kind::Object)],
        )
    }),
    Rule::new("head-name-is-string", || {
        scenario().each(["answer := 42", "allow if input.a"], |scenario, rule| {
            scenario
                .given(policy(rule))
                .when(get("/v1/policies/{ns}").expect(at("/result/ast/rules/0/head/name")))
        })
    }),
    Rule::new("head-key-is-term", || {
        read(
            r#"names contains "alice""#,
            term("/result/ast/rules/0/head/key"),
        )
    }),
    Rule::new("rule-body-of-expressions", || {
        read(
            TWO_EXPRESSIONS,
            [
                length("/result/ast/rules/0/body"),
                each("/result/ast/rules/0/body/*", Kind::Object),
            ],
        )
    }),
    Rule::new("expression-index-is-integer", || {
        read(
            TWO_EXPRESSIONS,
            [0, 1].map(|index| at(format!("/result/ast/rules/0/body/{index}/index"))),
        )
    }),
    Rule::new("expression-terms-array", || {
        let terms = "/result/ast/rules/0/body/0/terms";
        let [of_type, of_value] = term(&format!("{terms}/*"));
        read(
            "allow if input.n > 17",
            [
                kind(terms, Kind::Array),
                of_type,
                of_value,
                part(
                    "/result/ast/rules/0/body",
                    json!([{"terms": [{"type": "number", "value": 17}]}]),
                ),
            ],
        )
    }),
    Rule::new("expression-terms-single", || {
        read("allow if input.a", term("/result/ast/rules/0/body/0/terms"))
    }),
    Rule::new("term-var", || {
        read(
            "names contains name if name = input.names[_]",
            [
                at("/result/ast/rules/0/head/key/type"),
                kind("/result/ast/rules/0/head/key/value", Kind::String),
            ],
        )
    }),
    Rule::new("term-string", || keys(["\"alice\"", "\"41\""])),
    Rule::new("term-ref", || {
        let reference = "/result/ast/rules/0/body/0/terms";
        let [of_type, of_value] = term(&format!("{reference}/value/*"));
        read(
            "allow if input.a",
            [
                at(format!("{reference}/type")),
                kind(format!("{reference}/value"), Kind::Array),
                of_type,
                of_value,
            ],
        )
    }),
    Rule::new("term-boolean", || keys(["true", "false"])),
    Rule::new("term-number", || keys(["42", "1.5"])),
    Rule::new("further-ast-members", || {
        read(
            "names contains name if {\n\tsome name in input.names\n\tnot name in {\"alice\", \"bob\"}\n}",
            [at("/result/ast")],
        )
    }),
];

/// A module whose formatting and comments are lost when it is printed from the parsed form.
const ODDLY_WRITTEN: &str =
    "# Whose answer?\npackage   {ns}\n\n\n\nimport rego.v1\nanswer   :=   42\t# é\n\n\n";

const TWO_EXPRESSIONS: &str = "allow if {\n\tinput.a\n\tinput.b\n}";

/// Writes a module with these rules, and reads it with these expectations.
fn read(rules: &str, expectations: impl IntoIterator<Item = Expectation>) -> Scenario {
    let reading = expectations
        .into_iter()
        .fold(get("/v1/policies/{ns}"), Step::expect);
    scenario().given(policy(rules)).when(reading)
}

/// Expects terms at the pointer.
fn term(pointer: &str) -> [Expectation; 2] {
    let values = [Kind::String, Kind::Boolean, Kind::Number, Kind::Array];
    [
        each(format!("{pointer}/type"), Kind::String),
        Expectation::Each(format!("{pointer}/value"), values.to_vec()),
    ]
}

/// Expects the terms of these constants, as the keys of partial set rules.
fn keys(constants: [&str; 2]) -> Scenario {
    scenario().each(constants, |scenario, constant| {
        scenario
            .given(policy(&format!("collected contains {constant}")))
            .when(get("/v1/policies/{ns}").expect(at("/result/ast/rules/0/head/key")))
    })
}

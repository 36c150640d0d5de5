//! Common request headers

use super::super::module;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("content-type-names-format", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/yaml", YAML)
                    .expect(status()),
            )
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/json", YAML)
                    .off_contract("the body is not what Content-Type says")
                    .expect(status()),
            )
    }),
    // The response is far shorter than the setup's threshold, but longer than any usual one.
    Rule::new("short-response-stays-plain", || {
        scenario()
            .setup("gzip-threshold")
            .given(
                put("/v1/data/{ns}").json(json!({"name": "short", "filler": "text ".repeat(4000)})),
            )
            .when(
                get("/v1/data/{ns}")
                    .header("Accept-Encoding", "gzip")
                    .expect(header("Content-Encoding"))
                    .expect(at("/result/name")),
            )
    }),
    Rule::new("gzip-request-body", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/yaml", YAML)
                    .gzip()
                    .expect(status()),
            )
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/json", r#"{"input": "#)
                    .gzip()
                    .off_contract("the encoded body is cut off")
                    .expect(status()),
            )
    }),
    Rule::new("unencoded-body-as-gzip-refused", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a")
                    .json(json!({"input": {"who": "alice"}}))
                    .header("Content-Encoding", "gzip")
                    .off_contract("the body is not encoded")
                    .expect(status()),
            )
    }),
    Rule::new("json-with-charset", || {
        let read = || get("/v1/data/{ns}").expect(at("/result"));
        scenario()
            .when(
                put("/v1/data/{ns}")
                    .text("application/json; charset=utf-8", r#"{"a": "é"}"#)
                    .expect(success()),
            )
            .when(read())
            .when(
                patch("/v1/data/{ns}")
                    .text(
                        "application/json-patch+json; charset=utf-8",
                        r#"[{"op": "add", "path": "/b", "value": 2}]"#,
                    )
                    .expect(success()),
            )
            .when(read())
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/json; charset=utf-8", r#"{"input": 1}"#)
                    .expect(at("/result")),
            )
    }),
    Rule::new("yaml-with-charset", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/yaml; charset=utf-8", YAML)
                    .expect(status())
                    .expect(at("/result")),
            )
    }),
    Rule::new("compile-with-charset", || {
        scenario().when(
            post("/v1/compile")
                .text(
                    "application/json; charset=utf-8",
                    r#"{"query": "input.a == 1", "unknowns": ["input"]}"#,
                )
                .expect(status()),
        )
    }),
    Rule::new("policy-text-with-charset", || {
        scenario()
            .when(
                put("/v1/policies/{ns}")
                    .text(
                        "text/plain; charset=utf-8",
                        module("{ns}", r#"answer := "é""#),
                    )
                    .expect(success()),
            )
            .when(get("/v1/policies/{ns}").expect(at("/result/raw")))
    }),
    Rule::new("policy-text-as-plain-text", || {
        scenario()
            .when(
                put("/v1/policies/{ns}")
                    .text("text/plain", module("{ns}", "answer := 42"))
                    .expect(success()),
            )
            .when(get("/v1/data/{ns}/answer").expect(at("/result")))
    }),
];

/// A body that is valid YAML and not valid JSON.
const YAML: &str = "input:\n  who: alice\n";

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
                    .keep(status()),
            )
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/json", YAML)
                    .off_contract("the body is not what Content-Type says")
                    .keep(status()),
            )
    }),
    // The setup's threshold is far above this answer, which any usual threshold would compress.
    Rule::new("short-response-stays-plain", || {
        scenario()
            .setup("gzip-threshold")
            .given(
                put("/v1/data/{ns}").json(json!({"name": "short", "filler": "text ".repeat(4000)})),
            )
            .when(
                get("/v1/data/{ns}")
                    .header("Accept-Encoding", "gzip")
                    .keep(header("Content-Encoding"))
                    .keep(at("/result/name")),
            )
    }),
    Rule::new("gzip-request-body", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/yaml", YAML)
                    .gzip()
                    .keep(status()),
            )
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/json", r#"{"input": "#)
                    .gzip()
                    .off_contract("the encoded body is cut off")
                    .keep(status()),
            )
    }),
    Rule::new("policy-text-as-plain-text", || {
        scenario()
            .when(
                put("/v1/policies/{ns}")
                    .text("text/plain", module("{ns}", "answer := 42"))
                    .keep(success()),
            )
            .when(get("/v1/data/{ns}/answer").keep(at("/result")))
    }),
];

/// A body that is valid YAML and not valid JSON.
const YAML: &str = "input:\n  who: alice\n";

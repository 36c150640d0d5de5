//! Built-in functions that returned wrong results.

use super::{decides, decides_if_read};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // Affects 0.30.0, which parses only modules of version 0 of the language. A query needs no
    // module.
    Rule::new("indexof-whole-text", || {
        let query = json!({"query": "found := indexof(\"abac\", \"ac\")"});
        scenario().when(
            post("/v1/query")
                .json(query)
                .expect(bindings("/result", &["found"])),
        )
    }),
    // The next two affect 1.22.0 and before: the call ends the connection without a response.
    Rule::new("whole-document-removed", || {
        answered("json.patch({\"a\": 1}, [{\"op\": \"remove\", \"path\": \"\"}])")
    }),
    Rule::new("issuer-of-another-type", || answered(ISSUER)),
    // Affects 1.22.0 and before, where the value cannot be serialized.
    Rule::new("texts-of-no-json-number", || answered("to_number(\".5\")")),
    // Affects 1.5.0.
    Rule::new("walk-paths", || {
        decides(
            "decision contains path if {\n\twalk(input, [path, value])\n\tis_number(value)\n}",
            json!({"a": {"b": {"c": [1, 2]}, "d": {"e": 3, "f": {"g": 4, "h": 5}}}}),
        )
    }),
    // Affects 1.10.0, where the call never ends, so no other scenario may use the server.
    Rule::new("split-by-nothing", || {
        decides("decision := split(input, \"\")", json!("abc")).fresh()
    }),
    // Affects 1.12.0.
    Rule::new("replace-at-start", || {
        decides(
            "decision := regex.replace(input, \"^/\", \"\")",
            json!("//a"),
        )
    }),
    // Affects 1.13.0.
    Rule::new("flatten-single-items", || {
        decides_if_read(
            "decision := array.flatten(input)",
            json!([1, 2, [3]]),
            "it needs the function `array.flatten`",
        )
    }),
];

/// Expects a response to a query for the value of a call, which may be undefined.
fn answered(call: &str) -> Scenario {
    let query = json!({"query": format!("found := {call}")});
    scenario().when(post("/v1/query").json(query).expect(status()))
}

/// Verification of a token whose issuer is a number, where a string is expected.
const ISSUER: &str = "io.jwt.decode_verify(io.jwt.encode_sign(\
    {\"alg\": \"HS256\", \"typ\": \"JWT\"}, {\"iss\": 5}, {\"kty\": \"oct\", \"k\": \"c2VjcmV0\"}\
    ), {\"secret\": \"secret\", \"iss\": \"5\"})";

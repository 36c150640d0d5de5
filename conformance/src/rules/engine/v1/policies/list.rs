//! GET /v1/policies

use crate::rules::engine::{module, policy};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("status", || {
        scenario()
            .given(policy("answer := 42"))
            .when(get("/v1/policies").expect(status()))
    }),
    Rule::new("result-is-array", || {
        scenario()
            .given(policy("answer := 42"))
            .when(get("/v1/policies").expect(kind("/result", Kind::Array)))
    }),
    Rule::new("items-are-modules", || {
        scenario()
            .given(policy("answer := 42"))
            .given(
                put("/v1/policies/{ns}.second")
                    .text("text/plain", module("{ns}.second", "answer := 43")),
            )
            .when(
                get("/v1/policies")
                    .expect(names("/result"))
                    .expect(each("/result/*/id", Kind::String))
                    .expect(each("/result/*/raw", Kind::String))
                    .expect(each("/result/*/ast", Kind::Object))
                    .expect(part("/result", json!([item("{ns}", "answer := 42")])))
                    .expect(part(
                        "/result",
                        json!([item("{ns}.second", "answer := 43")]),
                    )),
            )
    }),
];

/// The list's item for a module with these rules, stored under the name of its package: the source
/// and, of the parsed form, the last term of the package's path.
fn item(package: &str, rules: &str) -> Value {
    let last = match package.rsplit_once('.') {
        Some((_, last)) => last,
        None => package,
    };
    let path = json!([{"type": "string", "value": last}]);
    json!({"id": package, "raw": module(package, rules), "ast": {"package": {"path": path}}})
}

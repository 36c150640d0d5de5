//! PATCH /v1/data/{path}

use super::put::{EMPTY, each_empty_value, empty_values};
use crate::rules::engine::mock::loaded;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("answers-no-content", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .when(patching(json!([{"op": "add", "path": "/b", "value": 2}])).expect(status()))
            .when(patching(json!([])).expect(status()))
    }),
    Rule::new("add-creates-member", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({})))
            .when(
                patching(json!([
                    {"op": "add", "path": "/object", "value": {"b": 1}},
                    {"op": "add", "path": "/array", "value": [1, "two"]},
                    {"op": "add", "path": "/string", "value": "text"},
                    {"op": "add", "path": "/number", "value": 1.5},
                    {"op": "add", "path": "/boolean", "value": false},
                    {"op": "add", "path": "/null", "value": null},
                ]))
                .expect(success()),
            )
            .when(get("/v1/data/{ns}").expect(at("/result")))
            .when(
                patching(json!([{"op": "add", "path": "/object", "value": {"c": 2}}]))
                    .expect(success()),
            )
            .when(get("/v1/data/{ns}/object").expect(at("/result")))
            .each(each_empty_value(), |scenario, value| {
                let operation = json!([{"op": "add", "path": "/new", "value": value}]);
                scenario
                    .given(put("/v1/data/{ns}").json(json!({})))
                    .when(patching(operation).expect(success()))
                    .when(get("/v1/data/{ns}").expect(at("/result")))
            })
    }),
    Rule::new("add-inserts-into-array", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": ["first", "last"]})))
            .when(
                patching(json!([{"op": "add", "path": "/a/1", "value": "between"}]))
                    .expect(success()),
            )
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
            // At the start, then at the end: the array then has four elements.
            .each([0, 4], |scenario, position| {
                let path = format!("/a/{position}");
                let operation = json!([{"op": "add", "path": path, "value": {"at": position}}]);
                scenario
                    .when(patching(operation).expect(success()))
                    .when(get("/v1/data/{ns}/a").expect(at("/result")))
            })
    }),
    Rule::new("add-appends-to-array", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": ["first", "second"], "b": [[]]})))
            .when(
                patching(json!([{"op": "add", "path": "/a/-", "value": "third"}]))
                    .expect(success()),
            )
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
            .each(["only", "last"], |scenario, value| {
                let operation = json!([{"op": "add", "path": "/b/0/-", "value": value}]);
                scenario
                    .when(patching(operation).expect(success()))
                    .when(get("/v1/data/{ns}/b").expect(at("/result")))
            })
    }),
    Rule::new("remove-removes", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1, "b": 2})))
            .when(patching(json!([{"op": "remove", "path": "/a"}])).expect(success()))
            .when(get("/v1/data/{ns}").expect(at("/result")))
            .given(put("/v1/data/{ns}").json(empty_values()))
            .each(EMPTY, |scenario, name| {
                let path = format!("/{name}");
                scenario.when(patching(json!([{"op": "remove", "path": path}])).expect(success()))
            })
            .when(get("/v1/data/{ns}").expect(at("/result")))
            .given(put("/v1/data/{ns}").json(array()))
            // Elements in the middle, at the end and at the start, and the last one left.
            .each([1, 2, 0, 0], |scenario, position| {
                let path = format!("/array/{position}");
                scenario
                    .when(patching(json!([{"op": "remove", "path": path}])).expect(success()))
                    .when(get("/v1/data/{ns}").expect(at("/result")))
            })
    }),
    Rule::new("replace-replaces", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": {"former": 1}, "b": 2})))
            .when(
                patching(json!([{"op": "replace", "path": "/a", "value": {"present": 3}}]))
                    .expect(success()),
            )
            .when(get("/v1/data/{ns}").expect(at("/result")))
            .each(each_empty_value(), |scenario, value| {
                let operation = json!([{"op": "replace", "path": "/b", "value": value}]);
                scenario
                    .when(patching(operation).expect(success()))
                    .when(get("/v1/data/{ns}").expect(at("/result")))
            })
            .given(put("/v1/data/{ns}").json(array()))
            .each([1, 3, 0], |scenario, position| {
                let path = format!("/array/{position}");
                let operation = json!([{"op": "replace", "path": path, "value": {"at": position}}]);
                scenario
                    .when(patching(operation).expect(success()))
                    .when(get("/v1/data/{ns}").expect(at("/result")))
            })
    }),
    Rule::new("several-in-order", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .when(
                patching(json!([
                    {"op": "add", "path": "/b", "value": {}},
                    {"op": "add", "path": "/b/c", "value": 1},
                    {"op": "replace", "path": "/b/c", "value": 2},
                    {"op": "remove", "path": "/a"},
                ]))
                .expect(success()),
            )
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("all-or-nothing", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .when(
                patching(json!([
                    {"op": "add", "path": "/b", "value": 2},
                    {"op": "replace", "path": "/a", "value": 3},
                    {"op": "remove", "path": "/missing"},
                ]))
                .expect(error()),
            )
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("pointer-escapes", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({})))
            .when(
                patching(json!([
                    {"op": "add", "path": "/with~1slash", "value": 1},
                    {"op": "add", "path": "/with~0tilde", "value": 2},
                    {"op": "add", "path": "/with~01both", "value": 3},
                ]))
                .expect(success()),
            )
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("path-joins-operation-path", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": {"b": {}}})))
            // The pointer "" refers to the document of the URL itself.
            .each(
                [
                    ("a", r#"[{"op": "add", "path": "/b/c", "value": 1}]"#),
                    ("a/b", r#"[{"op": "add", "path": "/d", "value": 2}]"#),
                    (
                        "a/b/c",
                        r#"[{"op": "replace", "path": "", "value": {"e": 3}}]"#,
                    ),
                    ("a/b", r#"[{"op": "add", "path": "/c/e", "value": 4}]"#),
                    ("a/b/d", r#"[{"op": "remove", "path": ""}]"#),
                ],
                |scenario, (path, operations)| {
                    let patch = patch(format!("/v1/data/{{ns}}/{path}"));
                    scenario
                        .when(patch.text(JSON_PATCH, operations).expect(success()))
                        .when(get("/v1/data/{ns}").expect(at("/result")))
                },
            )
            // The path of the URL or of the operation goes through an array.
            .given(put("/v1/data/{ns}").json(json!({"a": [{"n": 1}, {"n": 2}, {"n": 3}]})))
            .each(
                [("a", "/2/n"), ("a/1", "/n")],
                |scenario, (outer, inner)| {
                    let operation = json!([{"op": "replace", "path": inner, "value": inner}]);
                    scenario
                        .when(
                            patch(format!("/v1/data/{{ns}}/{outer}"))
                                .text(JSON_PATCH, operation.to_string())
                                .expect(success()),
                        )
                        .when(get("/v1/data/{ns}").expect(at("/result")))
                },
            )
    }),
    Rule::new("parent-missing-answers-not-found", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .each(
                [
                    json!({"op": "add", "path": "/missing/b", "value": 1}),
                    json!({"op": "replace", "path": "/missing/b", "value": 1}),
                    json!({"op": "remove", "path": "/missing/b"}),
                ],
                |scenario, operation| scenario.when(patching(json!([operation])).expect(status())),
            )
    }),
    Rule::new("remove-missing-answers-not-found", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .when(patching(json!([{"op": "remove", "path": "/missing"}])).expect(status()))
    }),
    Rule::new("replace-missing-answers-not-found", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .when(
                patching(json!([{"op": "replace", "path": "/missing", "value": 1}]))
                    .expect(status()),
            )
    }),
    Rule::new("malformed-json-answers-bad-request", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .when(
                patch("/v1/data/{ns}")
                    .text(JSON_PATCH, r#"[{"op": "remove", "path": "#)
                    .off_contract("the body is cut off")
                    .expect(status()),
            )
    }),
    Rule::new("body-not-array-answers-bad-request", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .when(
                patching(json!({"op": "remove", "path": "/a"}))
                    .off_contract("one operation, not an array of them")
                    .expect(status()),
            )
    }),
    Rule::new("text-after-json-answers-bad-request", || {
        let scenario = scenario().given(put("/v1/data/{ns}").json(json!({"a": 1})));
        scenario.each(["[] x", "[] []", "[]]"], |scenario, text| {
            scenario.when(
                patch("/v1/data/{ns}")
                    .text(JSON_PATCH, text)
                    .off_contract("something follows the array of operations")
                    .expect(status()),
            )
        })
    }),
    Rule::new("body-null-answers-bad-request", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .when(
                patching(json!(null))
                    .off_contract("null, not an array of operations")
                    .expect(status()),
            )
    }),
    Rule::new("unknown-operation-answers-bad-request", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .when(
                patching(json!([{"op": "increment", "path": "/a", "value": 1}]))
                    .off_contract("JSON Patch has no such operation")
                    .expect(status()),
            )
    }),
    Rule::new("bundle-owned-data", || {
        loaded()
            .when(
                patch("/v1/data/rules")
                    .text(
                        JSON_PATCH,
                        r#"[{"op": "add", "path": "/{ns}", "value": 1}]"#,
                    )
                    .expect(status())
                    .expect(at("/code")),
            )
            .when(get("/v1/data/rules").expect(at("/result")))
    }),
    Rule::new("add-beyond-end-of-array", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": [1]})))
            .when(patching(json!([{"op": "add", "path": "/a/5", "value": 2}])).expect(status()))
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("move-copy-test", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .each(
                [
                    json!({"op": "test", "path": "/a", "value": 1}),
                    json!({"op": "copy", "from": "/a", "path": "/b"}),
                    json!({"op": "move", "from": "/a", "path": "/c"}),
                ],
                |scenario, operation| {
                    scenario.when(
                        patching(json!([operation]))
                            .off_contract("the document does not describe these fields of the body")
                            .expect(status()),
                    )
                },
            )
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
];

const JSON_PATCH: &str = "application/json-patch+json";

/// An object with an array of different elements.
fn array() -> Value {
    json!({"array": ["first", ["second"], {"third": 3}, null]})
}

/// A patch of the scenario's own document.
fn patching(operations: Value) -> Step {
    patch("/v1/data/{ns}").text(JSON_PATCH, operations.to_string())
}

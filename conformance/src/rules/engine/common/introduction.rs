//! Scope and paths

use crate::rules::engine::module;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("path-of-one-segment", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!("shallow")))
            .when(get("/v1/data/{ns}").expect(at("/result")))
            .given(put("/v1/data/{ns}").json(json!({})))
            .each([every_method("")], with_steps)
    }),
    Rule::new("path-of-several-segments", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": {"b": {"c": "deep"}}})))
            .when(get("/v1/data/{ns}/a/b/c").expect(at("/result")))
            .each(["/a", "/a/b/c"].map(every_method), with_steps)
    }),
    Rule::new("webhook-path-of-several-segments", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": {"b": {"c": "deep"}}})))
            .each(["/a/b/c", "/a/b", "/a"], |scenario, path| {
                scenario.when(
                    post(format!("/v0/data/{{ns}}{path}"))
                        .json(json!({"who": "alice"}))
                        .expect(body()),
                )
            })
    }),
    Rule::new("filter-path-of-several-segments", || {
        let rule = "include if input.fruits.colour == \"red\"";
        let table = Table::new(
            "fruits",
            json!({"a": {"colour": "red"}, "b": {"colour": "green"}}),
        );
        scenario()
            .given(put("/v1/policies/{ns}").text("text/plain", module("{ns}.a.b", rule)))
            .when(
                post("/v1/compile/{ns}/a/b/include")
                    .header("Accept", "application/vnd.engine.ucast.all+json")
                    .json(json!({"unknowns": ["input.fruits"]}))
                    .expect(rows(Rows::of(Language::Ucast, "/result/query", &table))),
            )
    }),
    Rule::new("path-of-no-segment", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!("shallow")))
            .each(["/v1/data", "/v1/data/"], |scenario, path| {
                scenario.when(
                    get(path)
                        .off_contract("the path has no segment")
                        .expect(status()),
                )
            })
    }),
];

/// Each method of the Data API for one document, from its creation to its removal. `end` is the
/// suffix of its path.
fn every_method(suffix: &str) -> [Step; 6] {
    let path = format!("/v1/data/{{ns}}{suffix}");
    let operations = r#"[{"op": "add", "path": "/added", "value": 2}]"#;
    [
        put(&path).json(json!({"put": 1})).expect(success()),
        patch(&path)
            .text("application/json-patch+json", operations)
            .expect(success()),
        get(&path).expect(at("/result")),
        post(&path)
            .json(json!({"input": {"who": "alice"}}))
            .expect(at("/result")),
        delete(&path).expect(success()),
        get(&path).expect(lacks("/result")),
    ]
}

fn with_steps(scenario: Scenario, steps: [Step; 6]) -> Scenario {
    scenario.each(steps, Scenario::when)
}

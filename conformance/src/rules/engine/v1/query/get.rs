//! GET /v1/query

use crate::scenario::resource_names::encode;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("result-is-array", || {
        scenario().when(
            get(query_path("x = 4711"))
                .expect(status())
                .expect(kind("/result", Kind::Array)),
        )
    }),
    Rule::new("items-bind-variables", || {
        scenario()
            .when(get(query_path(r#"x = "one""#)).expect(bindings("/result", &["x"])))
            .when(
                get(query_path("x = [11, 12, 13][_]; y = x + 100; x != 12"))
                    .expect(bindings("/result", &["x", "y"])),
            )
            .when(
                get(query_path(r#"x = [null, false, 0, ""][_]"#))
                    .expect(bindings("/result", &["x"])),
            )
    }),
    Rule::new("no-variables", || {
        scenario().when(
            get(query_path("1 = 1"))
                .expect(status())
                .expect(at("/result")),
        )
    }),
    Rule::new("query-is-url-encoded", || {
        scenario()
            .when(get(query_path(r#"x = "a&b=c+d%20é#/?""#)).expect(bindings("/result", &["x"])))
    }),
    Rule::new("no-answers", || {
        scenario()
            .when(get(query_path("x = 4711")).expect(at("/result/0/x")))
            .each(["x = 4711; x < 0", "1 = 2"], |scenario, text| {
                scenario.when(
                    get(query_path(text))
                        .expect(status())
                        .expect(either(no_answers())),
                )
            })
    }),
    Rule::new("malformed-query-is-400", || {
        scenario().each(NO_QUERIES, |scenario, text| {
            scenario.when(get(query_path(text)).expect(status()))
        })
    }),
    Rule::new("explain", || {
        scenario().when(
            get(format!("{}&explain=full", query_path("x = 4711")))
                .expect(bindings("/result", &["x"]))
                .expect(trace([any_event().holding(4711)])),
        )
    }),
    Rule::new("metrics", || {
        scenario().when(
            get(format!("{}&metrics=true", query_path("x = 4711")))
                .expect(bindings("/result", &["x"]))
                .expect(kind("/metrics", Kind::Object))
                .expect(kind("/metrics/timer_rego_query_eval_ns", Kind::Amount)),
        )
    }),
    Rule::new("without-query", || {
        scenario().when(
            get("/v1/query")
                .off_contract("`q` is left out")
                .expect(status())
                .expect(body()),
        )
    }),
];

/// Invalid queries: three do not parse, one has an unsafe variable, one calls an unknown function.
pub(super) const NO_QUERIES: [&str; 5] =
    ["x =", "}{", "x = \"open", "x > 1", "no_such_function(1)"];

/// Alternatives for the result of a query without answers.
pub(super) fn no_answers() -> [Alternative; 2] {
    [
        alternative("no result", [Check::Lacks("/result".into())]),
        alternative(
            "an empty array",
            [Check::Equals("/result".into(), json!([]))],
        ),
    ]
}

/// The path that evaluates a query, which may contain the scenario's name as `{ns}`.
pub(crate) fn query_path(query: &str) -> String {
    let encoded = encode(query).replace("%7Bns%7D", "{ns}");
    format!("/v1/query?q={encoded}")
}

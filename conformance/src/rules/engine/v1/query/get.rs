//! GET /v1/query

use crate::names::encode;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("result-is-array", || {
        scenario().when(
            get(asking("x = 4711"))
                .keep(status())
                .keep(kind("/result", Kind::Array)),
        )
    }),
    Rule::new("items-bind-variables", || {
        scenario()
            .when(get(asking(r#"x = "one""#)).keep(at("/result")))
            .when(get(asking("x = [11, 12, 13][_]; y = x + 100; x != 12")).keep(sorted("/result")))
    }),
    Rule::new("query-is-url-encoded", || {
        scenario().when(get(asking(r#"x = "a&b=c+d%20é#/?""#)).keep(at("/result")))
    }),
    Rule::new("malformed-query-is-400", || {
        scenario().each(["x =", "}{", "x = \"open"], |scenario, text| {
            scenario.when(get(asking(text)).keep(status()))
        })
    }),
    Rule::new("explain", || {
        scenario().when(
            get(format!("{}&explain=full", asking("x = 4711")))
                .keep(at("/result"))
                .keep(trace([any_event().holding(4711)])),
        )
    }),
    Rule::new("metrics", || {
        scenario().when(
            get(format!("{}&metrics=true", asking("x = 4711")))
                .keep(at("/result"))
                .keep(kind("/metrics", Kind::Object))
                .keep(kind("/metrics/timer_rego_query_eval_ns", Kind::Amount)),
        )
    }),
];

/// The path that asks a query.
pub(crate) fn asking(query: &str) -> String {
    format!("/v1/query?q={}", encode(query))
}

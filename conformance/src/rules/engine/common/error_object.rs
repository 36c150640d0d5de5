//! Error object

use super::super::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("code-is-string", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                put("/v1/data/{ns}/a/b")
                    .json(json!(2))
                    .expect(kind("/code", Kind::Text)),
            )
    }),
    Rule::new("message-is-string", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                put("/v1/data/{ns}/a/b")
                    .json(json!(2))
                    .expect(kind("/message", Kind::Text)),
            )
    }),
    Rule::new("errors-is-array", || {
        scenario()
            .when(unsafe_variable().expect(kind("/errors", Kind::Array)))
            .when(
                get("/v1/policies/{ns}")
                    .expect(error())
                    .expect(kind_among("/errors", &[Kind::Array, Kind::Absent])),
            )
    }),
    Rule::new("location-of-error", || {
        let located = kind_among("/location", &[Kind::Object, Kind::Absent]);
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                put("/v1/data/{ns}/a/b")
                    .json(json!(2))
                    .expect(error())
                    .expect(located.clone()),
            )
            .when(unsafe_variable().expect(error()).expect(located))
    }),
    Rule::new("item-code", || {
        scenario().when(two_mistakes().expect(each("/errors/*/code", Kind::Text)))
    }),
    Rule::new("item-message", || {
        scenario().when(two_mistakes().expect(each("/errors/*/message", Kind::Text)))
    }),
    Rule::new("item-location", || {
        scenario().when(
            unsafe_variable()
                .expect(kind("/errors/0", Kind::Object))
                .expect(kind_among(
                    "/errors/0/location",
                    &[Kind::Object, Kind::Absent],
                )),
        )
    }),
    Rule::new("location-file", || {
        let file = Check::Type(format!("{LOCATION}/file"), vec![Kind::String]);
        located(scenario(), "allow if missing > 1", "a file", file)
    }),
    // The same mistake on different lines.
    Rule::new("location-row", || {
        scenario().each([5, 8], |scenario, row| {
            let rules = format!("{}allow if missing > 1", "\n".repeat(row - 5));
            let line = Check::Equals(format!("{LOCATION}/row"), json!(row));
            located(scenario, &rules, "the row", line)
        })
    }),
    Rule::new("location-col", || {
        let column = Check::Type(format!("{LOCATION}/col"), vec![Kind::Positive]);
        located(scenario(), "allow if missing > 1", "a column", column)
    }),
];

const LOCATION: &str = "/errors/0/location";

/// A module that is rejected with a detailed error.
fn unsafe_variable() -> Step {
    policy("allow if missing > 1")
}

/// A module that is rejected for two reasons.
fn two_mistakes() -> Step {
    policy("allow if missing > 1\n\ndeny if absent > 1")
}

/// Expects an error for these rules, whose location, if any, passes the check.
fn located(scenario: Scenario, rules: &str, label: &'static str, check: Check) -> Scenario {
    let without = alternative("no location", [Check::Lacks(LOCATION.to_owned())]);
    scenario.when(
        policy(rules)
            .expect(kind("/errors/0", Kind::Object))
            .expect(either([without, alternative(label, [check])])),
    )
}

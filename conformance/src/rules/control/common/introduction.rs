//! Title and introduction

use super::{RESOURCES, keys_required};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("whole-surface-served", || {
        scenario()
            .each(RESOURCES, |scenario, resource| {
                scenario.given(resource.create())
            })
            .given(put("/v1/sources/{ns}/data/limits").json(json!({"max": 7})))
            .when(get("/health").expect(status()))
            .when(get("/v1/bundles/{ns}").expect(status()))
            .when(get("/v1/sources/{ns}").expect(status()))
            .when(get("/v1/sources/{ns}/data/limits").expect(status()))
            .when(get("/v1/stacks/{ns}").expect(status()))
            .when(get("/v1/secrets/{ns}").expect(status()))
    }),
    Rule::new("health-path", || {
        scenario()
            .given(keys_required())
            .when(get("/health").expect(status()))
    }),
    Rule::new("other-paths-start-with-version", || {
        scenario().each(RESOURCES, |scenario, resource| {
            scenario
                .given(resource.create())
                .when(resource.first_page().expect(status()))
                .when(
                    get(resource.list.trim_start_matches("/v1"))
                        .off_contract("the document lists no path without a version")
                        .expect(either([
                            alternative("no success", [Check::StatusFrom(300, 599)]),
                            alternative("no list", [Check::Lacks("/result".to_owned())]),
                        ])),
                )
        })
    }),
];

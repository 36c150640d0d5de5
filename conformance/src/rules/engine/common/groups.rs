//! Groups of the API

use super::super::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("evaluates-policies-over-data", || {
    scenario()
        .given(put("/v1/data/{ns}/ages").json(json!({"alice": 41, "bob": 17})))
        .given(policy(
            "next_age := data.{ns}.ages[input.who] + input.years",
        ))
        .each(
            [
                json!({"who": "alice", "years": 1}),
                json!({"who": "bob", "years": 1}),
                json!({"who": "bob", "years": 3}),
            ],
            |scenario, input| {
                scenario.when(
                    post("/v1/data/{ns}/next_age")
                        .json(json!({"input": input}))
                        .expect(at("/result")),
                )
            },
        )
})];

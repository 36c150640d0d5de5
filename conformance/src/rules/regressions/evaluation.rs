//! Decisions that were wrong, or missing.

use super::{decides, takes_and_decides};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // Affects 1.14.0.
    Rule::new("items-at-computed-places", || {
        let read = json!({"path": ["a", "open"], "method": "GET"});
        decides(AUTHORIZATION, read)
    }),
    // Affects 1.14.0 and 1.15.0 to 1.18.2, in which no other rule works either with this module.
    Rule::new("composite-members", || {
        let rules = "decision if input.owner in {{\"id\": 1}, {\"id\": 2}}";
        takes_and_decides(scenario().fresh(), rules, json!({"owner": {"id": 1}}))
    }),
    // Affects 1.20.0.
    Rule::new("zero-beside-fractions", || {
        decides(
            "decision := [input.zero < 0.7, 0.7 > input.zero, -0.7 < input.zero, input.zero == 0]",
            json!({"zero": 0.0}),
        )
    }),
    // Affects 1.21.0 to 1.22.0.
    Rule::new("members-known-from-input", || {
        decides(
            "decision contains \"set\" if input.who in {\"root\", input.owner}\n\n\
             decision contains \"array\" if input.who in [input.owner, \"root\"]",
            json!({"who": "ann", "owner": "ann"}),
        )
    }),
];

/// A policy whose rules read the same path in several ways.
const AUTHORIZATION: &str = r#"default decision := false

decision if input.path == ["health"]

decision if input.identity == "administrator"

decision if {
	input.path[count(input.path) - 1] == "open"
	input.method == "GET"
}"#;

//! Partial evaluation that loses conditions.

use crate::rules::engine::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // Affects 1.22.0, which leaves only the negation, although that is true for an input without
    // `x`.
    Rule::new("negated-calls-need-their-operand", || {
        let definedness = [r#"input["x"] is defined"#, r#"input["x"] == input["x"]"#];
        let queries = definedness.map(|is_defined| vec![is_defined, r#"not 1 == input["x"]"#]);
        residual_of_decision(NEGATED, residual_like("/result/queries", queries))
    }),
    // Affects 1.22.0, which reports that the rule is never true.
    Rule::new("else-with-computed-values", || {
        residual_of_decision(ELSE, conditions())
    }),
    // Affects 1.22.0, which reports that the rule is never true.
    Rule::new("keys-of-nested-objects", || {
        residual_of_decision(NESTED, conditions())
    }),
];

/// Expects this residual of the rule `decision`, with all of the input unknown.
fn residual_of_decision(rules: &str, expectation: Expectation) -> Scenario {
    let query = json!({"query": "data.{ns}.decision == true", "unknowns": ["input"]});
    scenario()
        .given(policy(rules))
        .when(post("/v1/compile").json(query).expect(expectation))
}

/// Expects some conditions under which the rule is true.
fn conditions() -> Expectation {
    kind("/result/queries/0", Kind::Array)
}

const NEGATED: &str = "decision if not refuses(input.x)

refuses(a) if a == 1";

const ELSE: &str = "decision if chosen.t == [\"a\", \"b\"][_]

chosen := x if {
	x := input.one
} else := x if {
	x := input.two
}";

const NESTED: &str = "decision if nested[input.y][1]

nested[a][b] := true if {
	some a in [1, 2]
	some b in [input.x]
}";

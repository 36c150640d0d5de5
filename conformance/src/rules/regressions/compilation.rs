//! Modules that were rejected, or compiled wrongly.

use super::takes_and_decides;
use crate::rules::engine::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // Affects 1.22.0 and before, where every decision with the number is an internal error.
    Rule::new("fractions-without-zero", || {
        let rules = "decision := .5";
        let read = policy(rules).or_not_run("it needs numbers that begin with a point");
        takes_and_decides(scenario().given(read), rules, json!("half"))
    }),
    // Affects 1.12.1.
    Rule::new("template-strings", || {
        let template = "decision := $\"{1 + 1}\"";
        let known = policy(template).or_not_run("it needs template strings");
        takes_and_decides(scenario().given(known), TEMPLATES, json!({"name": "ann"}))
    }),
    // Affects 1.20.1.
    Rule::new("braces-where-and-is-imported", || {
        let conjunction = "import future.keywords.and\n\ndecision := true";
        let known = policy(conjunction).or_not_run("it needs the keyword `and`");
        takes_and_decides(scenario().given(known), BRACES, json!([1, 2, 3]))
    }),
    // Affects 1.21.0.
    Rule::new("comprehensions-in-literals", || {
        let rules = "decision := {\"names\": [row.name | some row in input]}";
        takes_and_decides(scenario(), rules, json!([{"name": "ann"}, {"name": "bob"}]))
    }),
    // Affects 1.21.0 to 1.22.1.
    Rule::new("empty-collections", || {
        let rules =
            "decision := found if {\n\tgrants := {}\n\tfound := [grant | some grant in grants]\n}";
        takes_and_decides(scenario(), rules, json!({}))
    }),
];

const TEMPLATES: &str = r#"decision contains $"{line} \{for {input.name}}" if {
	some line in ["one", $"{1 + 1}"]
}"#;

const BRACES: &str = "import future.keywords.and

decision if {
	{
	x |
		some x in input
	} == {1, 2, 3}
}";

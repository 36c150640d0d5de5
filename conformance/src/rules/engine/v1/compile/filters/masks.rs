//! Policies that mask columns.

use crate::scenario::*;

/// Declares the columns unknown, and the rule of their masks.
pub(super) const ANNOTATION: &str = "# METADATA
# scope: document
# compile:
#   unknowns: [input.fruits]
#   mask_rule: data.{ns}.masks
";

/// Declares columns unknown, one by one.
pub(super) const COLUMNS: &str = "# METADATA
# scope: document
# compile:
#   unknowns: [input.fruits.owner, input.fruits.colour, input.fruits.price]
";

/// A rule on two of them.
pub(super) const CHEAP_AND_RED: &str = "cheap if {
	input.fruits.colour == \"red\"
	input.fruits.price < 20
}";

/// Hides the price.
pub(super) const MASKS: &str =
    r#"masks := {"fruits": {"price": {"replace": {"value": "hidden"}}}}"#;

/// Hides it in another way, by another rule.
pub(super) const OTHER_MASKS: &str =
    r#"others := {"fruits": {"price": {"replace": {"value": "other"}}}}"#;

/// Shows the user in its place.
pub(super) const MASKS_BY_INPUT: &str =
    r#"masks := {"fruits": {"price": {"replace": {"value": input.user}}}}"#;

/// The value of a mask rule.
pub(super) fn mask(value: &str) -> Value {
    json!({"fruits": {"price": {"replace": {"value": value}}}})
}

/// The options of a request that names the mask rule.
pub(super) fn masked_by(rule: &str) -> Value {
    json!({"unknowns": ["input.fruits"], "options": {"maskRule": rule}})
}

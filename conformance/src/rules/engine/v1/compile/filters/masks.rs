//! Policies that mask columns.

use super::tables::*;
use crate::rules::engine::policy;
use crate::scenario::*;

/// Annotation that declares the columns unknown and names the mask rule.
pub(super) const ANNOTATION: &str = "# METADATA
# scope: document
# compile:
#   unknowns: [input.fruits]
#   mask_rule: data.{ns}.masks
";

/// Annotation that declares the columns unknown, one by one.
pub(super) const COLUMNS: &str = "# METADATA
# scope: document
# compile:
#   unknowns: [input.fruits.owner, input.fruits.colour, input.fruits.price]
";

/// A rule on two columns.
pub(super) const CHEAP_AND_RED: &str = "cheap if {
	input.fruits.colour == \"red\"
	input.fruits.price < 20
}";

/// A mask rule that hides the price.
pub(super) const MASKS: &str =
    r#"masks := {"fruits": {"price": {"replace": {"value": "hidden"}}}}"#;

/// Another mask rule, which hides the price differently.
const OTHER_MASKS: &str = r#"others := {"fruits": {"price": {"replace": {"value": "other"}}}}"#;

/// A mask rule that replaces the price with the user.
const MASKS_BY_INPUT: &str =
    r#"masks := {"fruits": {"price": {"replace": {"value": input.user}}}}"#;

/// The value of a mask rule that replaces the price with this value.
fn mask(value: &str) -> Value {
    json!({"fruits": {"price": {"replace": {"value": value}}}})
}

/// The body of a request that names the mask rule.
pub(super) fn masked_by(rule: &str) -> Value {
    json!({"unknowns": ["input.fruits"], "options": {"maskRule": rule}})
}

/// Requests the filter of a rule and its masks for each target, and for several at once.
fn for_each_target(rule: &str, mask_rule: Option<&str>, input: Option<Value>) -> Vec<Step> {
    let dialects = [ALL, SQLSERVER, MYSQL, POSTGRESQL].map(|target| target.dialect);
    let single = UCAST.into_iter().chain(SQL);
    let single = single.map(|target| (target.accept, None));
    let all = single.chain([(MULTITARGET, Some(json!(dialects)))]);
    let request = |(accept, dialects): (&'static str, Option<Value>)| {
        let named = mask_rule.map(|rule| ("maskRule".to_owned(), json!(rule)));
        let chosen = dialects.map(|dialects| ("targetDialects".to_owned(), dialects));
        let options = Value::Object(named.into_iter().chain(chosen).collect());
        let mut body = vec![("unknowns".to_owned(), json!(["input.fruits"]))];
        body.extend(input.clone().map(|input| ("input".to_owned(), input)));
        body.push(("options".to_owned(), options));
        filter_request(rule, accept, Value::Object(body.into_iter().collect()))
    };
    all.map(request).collect()
}

/// Expects that the mask rule sees the input of the request.
pub(super) fn by_input() -> Scenario {
    scenario()
        .given(policy(&format!("{RED}\n\n{MASKS_BY_INPUT}")))
        .each(["alice", "bob"], |scenario, name| {
            let input = Some(json!({"user": name}));
            scenario.each(
                for_each_target("include", Some("data.{ns}.masks"), input),
                |scenario, step| scenario.when(step.expect(holds("/result", mask(name)))),
            )
        })
}

/// Expects the masks of the rule that the request names.
pub(super) fn named() -> Scenario {
    // The masks are the same for a rule with a condition on the rows and for one without.
    scenario()
        .given(policy(&format!("{RED}\n\neverything if 1 == 1\n\n{MASKS}")))
        .each(["include", "everything"], |scenario, rule| {
            scenario.each(
                for_each_target(rule, Some("data.{ns}.masks"), None),
                |scenario, step| scenario.when(step.expect(holds("/result", mask("hidden")))),
            )
        })
}

/// Expects the masks of the rule that the request names, although the annotation names another.
pub(super) fn named_overriding_annotation() -> Scenario {
    scenario()
        .given(policy(&format!(
            "{MASKS}\n\n{OTHER_MASKS}\n\n{ANNOTATION}{RED}"
        )))
        .each(
            for_each_target("include", Some("data.{ns}.others"), None),
            |scenario, step| {
                scenario.when(
                    step.expect(holds("/result", mask("other")))
                        .expect(without("hidden")),
                )
            },
        )
}

/// Expects the masks of the rule that the annotation names.
pub(super) fn annotated() -> Scenario {
    scenario()
        .given(policy(&format!("{MASKS}\n\n{ANNOTATION}{RED}")))
        .each(for_each_target("include", None, None), |scenario, step| {
            scenario.when(step.expect(holds("/result", mask("hidden"))))
        })
        .when(
            mapped(SQLITE, json!({"sqlite": {"fruits": {"colour": "shade"}}}))
                .expect(holds("/result", mask("hidden"))),
        )
}

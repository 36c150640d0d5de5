use std::sync::Arc;

use rstest::rstest;

use super::*;
use crate::faults::FileError;

/// Parses a variant with this YAML after its name and description.
fn variant(text: &str) -> Result<Variant, FileError> {
    let text = format!("- variant: v\n  does: It does.\n  allowed-by: Silence.\n{text}");
    let mut variants = Variant::parse("engine/v1/data/put", &text)?;
    Ok(variants.remove(0))
}

#[rstest]
#[case::no_effect("  on: PUT /x\n", "no effect")]
#[case::unknown_field("  on: PUT /x\n  answr: []\n", "unknown field `answr`")]
#[case::pattern(
    "  on: PUT /x\n  answer: [replace: {from: '(', to: x}]\n",
    "unclosed group"
)]
#[case::changes(
    "  on: PUT /x\n  delay: 1\n  changes: [{on: PUT /y, delay: 1}]\n",
    "`changes` cannot be combined"
)]
#[case::glob(
    "  on: PUT /x\n  delay: 1\n  stops: {'a[': Silence.}\n",
    "invalid glob"
)]
fn variants_that_make_no_sense_are_refused(#[case] text: &str, #[case] expected: &str) {
    let error = variant(text).map(|variant| variant.id).err();
    let error = error.map(|error| error.to_string()).unwrap_or_default();
    let file = "variants/engine/v1/data/put.yaml: \"v\": ";
    assert!(error.starts_with(file), "{error}");
    assert!(error.contains(expected), "{error} has no {expected}");
}

#[test]
fn variants_without_a_reason_or_recipient_are_refused() {
    for (text, expected) in [
        (
            "- {variant: v, does: It does., allowed-by: ' ', on: PUT /x, delay: 1}",
            "`does` or `allowed-by` is empty",
        ),
        (
            "- {variant: v, does: It does., on: PUT /x, delay: 1}",
            "missing field `allowed-by`",
        ),
    ] {
        let error = Variant::parse("engine/v1/data/put", text).map(|_| ()).err();
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(expected), "{error} has no {expected}");
    }
    let general = "- {variant: v, does: It does., allowed-by: Silence., on: PUT /x, delay: 1}";
    let error = Variant::parse("answers", general).map(|_| ()).err();
    assert!(error.is_some_and(|error| error.to_string().contains("names no recipient")));
}

/// Results of one variant, on which two rules failed and one did not run.
fn tolerance(known: &str) -> Tolerance {
    let variant = variant("  on: PUT /x\n  delay: 1\n  stops: {engine/quiet: Silence.}\n");
    let variant = variant.unwrap_or_else(|error| panic!("{error}"));
    let pair = |rule: &str| (rule.to_owned(), "step 1".to_owned());
    let row = Row {
        judged: 3,
        failed: vec![pair("engine/a"), pair("engine/b")],
        stopped: vec![pair("engine/c"), pair("engine/quiet")],
        ..Row::new(Arc::new(variant))
    };
    Tolerance::new(vec![row], 5, OverStrict::parse(known).expect("a list"))
}

#[test]
fn what_fails_or_does_not_run_is_found_unless_a_reason_is_known() {
    let known = "[[over-strict]]\nvariants = [\"engine/v1/data/put/v\"]\nrules = [\"engine/b\", \"engine/d\"]\nreason = \"Later.\"\n";
    let tolerance = tolerance(known);
    assert_eq!(
        tolerance.findings(),
        [
            "engine/v1/data/put/v: engine/a fails: step 1",
            "engine/v1/data/put/v: engine/c does not run: step 1",
        ]
    );
    assert_eq!(
        tolerance.known(),
        ["engine/b on engine/v1/data/put/v: Later."]
    );
    assert_eq!(
        tolerance.left_over(),
        ["engine/d on engine/v1/data/put/v passes, but is listed as over-strict (Later.)"]
    );
    assert_eq!((tolerance.tolerant(), tolerance.rules()), (3, 5));
    assert_eq!(tolerance.idle(), Vec::<&str>::new());
    assert_eq!(
        tolerance.to_string(),
        "variant               judged  failed\nengine/v1/data/put/v       3       2\n"
    );
}

#[test]
fn a_known_rule_needs_a_reason() {
    let text = "[[over-strict]]\nvariants = [\"v\"]\nrules = [\"r\"]\nreason = \" \"\n";
    let error = OverStrict::parse(text).map(|_| ()).err();
    let error = error.map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(
        error,
        "variants/known.toml: empty `reason` of the entry for r"
    );
}

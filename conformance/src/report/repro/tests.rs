//! Tests of the contents of reproducers. The tests of the program run the reproducers.

use rstest::rstest;
use serde_json::{Value, json};

use super::call::{Part, parts, segments};
use super::hurl::expectations;
use crate::visible::visible;

#[rstest]
#[case::empty("", vec![])]
#[case::text("a", vec![Part::Text("a")])]
#[case::variables(
    "a\u{e000}x\u{e001}\u{e000}y\u{e001}b",
    vec![
        Part::Text("a"),
        Part::Variable("x"),
        Part::Variable("y"),
        Part::Text("b"),
    ]
)]
#[case::encoded(
    "/a?c=%EE%80%80next%EE%80%81&d",
    vec![Part::Text("/a?c="), Part::Encoded("next"), Part::Text("&d")]
)]
#[case::open("\u{e000}open", vec![Part::Text("\u{e000}open")])]
fn texts_fall_into_parts(#[case] text: &str, #[case] expected: Vec<Part<'_>>) {
    assert_eq!(parts(text), expected);
}

#[rstest]
#[case::whole("", json!([]))]
#[case::index("/a/0", json!(["a", 0]))]
#[case::escaped("/a~1b/~01", json!(["a/b", "~1"]))]
fn pointers_fall_into_keys_and_indices(#[case] pointer: &str, #[case] expected: Value) {
    assert_eq!(json!(segments(pointer)), expected);
}

#[rstest]
#[case::value("/a", "1", &["jsonpath \"$['a']\" == 1"])]
#[case::absent("/a/0", "<absent>", &["jsonpath \"$['a'][0]\" not exists"])]
#[case::kind("/a", "<array>", &["jsonpath \"$['a']\" isCollection"])]
#[case::members(
    "",
    r#"{"a/b":[true,{"c":"x"}],"<ns>":1,"d":"<ns>"}"#,
    &[
        "jsonpath \"$['a/b']\" count == 2",
        "jsonpath \"$['a/b'][0]\" == true",
        "jsonpath \"$['a/b'][1]['c']\" == \"x\"",
    ]
)]
#[case::invisible(
    "/\u{202e}",
    r#""\u202e\u001b\"\\ \u0001""#,
    &[r#"jsonpath "$['\u{202e}']" == "\u{202e}\u{1b}\"\\ \u{1}""#]
)]
#[case::statuses("/a", "<400 or 500>", &[])]
#[case::number("/a", "<number from 0>", &[])]
fn what_was_expected_is_asked_as_far_as_hurl_can_say_it(
    #[case] pointer: &str,
    #[case] expected: &str,
    #[case] asserts: &[&str],
) {
    let found = expectations(pointer, expected);
    assert_eq!(found, asserts);
    assert_eq!(visible(&found.concat()), found.concat());
}

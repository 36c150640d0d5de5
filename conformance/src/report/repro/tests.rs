//! Tests of the contents of reproducers. The tests of the program run the reproducers.

use serde_json::json;

use super::call::{Part, parts, segments};
use super::hurl::expectations;
use crate::visible::visible;

#[test]
fn texts_fall_into_parts() {
    for (text, expected) in [
        ("", vec![]),
        ("a", vec![Part::Text("a")]),
        (
            "a\u{e000}x\u{e001}\u{e000}y\u{e001}b",
            vec![
                Part::Text("a"),
                Part::Variable("x"),
                Part::Variable("y"),
                Part::Text("b"),
            ],
        ),
        (
            "/a?c=%EE%80%80next%EE%80%81&d",
            vec![Part::Text("/a?c="), Part::Encoded("next"), Part::Text("&d")],
        ),
        ("\u{e000}open", vec![Part::Text("\u{e000}open")]),
    ] {
        assert_eq!(parts(text), expected, "{text:?}");
    }
}

#[test]
fn pointers_fall_into_keys_and_indices() {
    for (pointer, expected) in [
        ("", json!([])),
        ("/a/0", json!(["a", 0])),
        ("/a~1b/~01", json!(["a/b", "~1"])),
    ] {
        assert_eq!(json!(segments(pointer)), expected, "{pointer}");
    }
}

#[test]
fn what_was_expected_is_asked_as_far_as_hurl_can_say_it() {
    for (pointer, expected, asserts) in [
        ("/a", "1", &["jsonpath \"$['a']\" == 1"][..]),
        ("/a/0", "<absent>", &["jsonpath \"$['a'][0]\" not exists"]),
        ("/a", "<array>", &["jsonpath \"$['a']\" isCollection"]),
        (
            "",
            r#"{"a/b":[true,{"c":"x"}],"<ns>":1,"d":"<ns>"}"#,
            &[
                "jsonpath \"$['a/b']\" count == 2",
                "jsonpath \"$['a/b'][0]\" == true",
                "jsonpath \"$['a/b'][1]['c']\" == \"x\"",
            ],
        ),
        (
            "/\u{202e}",
            r#""\u202e\u001b\"\\ \u0001""#,
            &[r#"jsonpath "$['\u{202e}']" == "\u{202e}\u{1b}\"\\ \u{1}""#],
        ),
        ("/a", "<400 or 500>", &[]),
        ("/a", "<number from 0>", &[]),
    ] {
        let found = expectations(pointer, expected);
        assert_eq!(found, asserts, "{expected}");
        assert_eq!(visible(&found.concat()), found.concat());
    }
}

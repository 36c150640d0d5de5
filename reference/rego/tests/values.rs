//! Values: parsing from JSON and YAML, and serialization.

use rego::Value;
use rego::value::{MAX_DEPTH, from_json, from_json_prefix, from_yaml};
use rstest::rstest;

/// Formats a parsed value, or the error of parsing.
fn format_result<E: std::fmt::Display>(read: Result<Value, E>) -> String {
    match read {
        Ok(value) => value.to_string(),
        Err(failure) => failure.to_string(),
    }
}

#[track_caller]
fn check(answered: &str, expected: &str) {
    assert_eq!(answered, expected);
}

#[rstest]
#[case::null("null")]
#[case::boolean("true")]
#[case::empty("[false,[],{}]")]
#[case::trailing_zero("-0.10")]
#[case::exponent("1E+400")]
#[case::long_number("12345678901234567890123")]
#[case::strings(r#"{"a":{"b":["c"]},"é":"\u0001\"\\\n"}"#)]
fn json_is_written_as_it_was_read(#[case] text: &str) {
    check(&format_result(from_json(text.as_bytes())), text);
}

#[test]
fn json_is_written_in_one_way() {
    check(
        &format_result(from_json(br#" { "b" : 1 , "a" : [ 1 , 2 ] , "b" : 2 } "#)),
        r#"{"a":[1,2],"b":2}"#,
    );
    check(
        &format_result(from_json(br#""\u0041\/\ud83d\ude00\ud800""#)),
        "\"A/\u{1f600}\u{fffd}\"",
    );
}

#[rstest]
#[case::empty(b"", (1, 1), "expected a value, the text ends here")]
#[case::letter(b"[1,\n  x]", (2, 3), "expected a value")]
#[case::comma_at_the_end(b"{\"\xc3\xa9\": 1,}", (1, 9), "expected a member name")]
#[case::no_comma(b"[1 2]", (1, 4), "expected `,` or `]`")]
#[case::no_colon(b"{\"a\" 1}", (1, 6), "expected `:`")]
#[case::no_fraction(b"1.", (1, 3), "expected a digit")]
#[case::line_feed_in_a_string(b"\"a\nb\"", (1, 3), "control character in a string")]
#[case::open_string(b"\"a", (1, 3), "the string does not end")]
#[case::unknown_escape(b"\"\\x\"", (1, 3), "unknown escape")]
#[case::short_escape(b"\"\\u12\"", (1, 3), "expected four hexadecimal digits")]
#[case::not_utf8(b"[\"\xff\"]", (1, 3), "not UTF-8")]
#[case::two_values(b"1 2", (1, 3), "expected nothing after the value")]
fn what_is_no_json_is_refused_with_its_place(
    #[case] text: &[u8],
    #[case] place: (usize, usize),
    #[case] message: &str,
) {
    let (line, column) = place;
    let expected = format!("invalid JSON at line {line}, column {column}: {message}");
    check(&format_result(from_json(text)), &expected);
}

#[test]
fn the_first_value_of_a_text_can_be_read() {
    check(&format_result(from_json_prefix(b"1 2")), "1");
}

#[test]
fn nesting_of_json_has_a_limit() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    check(
        &format_result(from_json(nested(MAX_DEPTH).as_bytes())),
        &nested(MAX_DEPTH),
    );
    assert!(from_json(nested(MAX_DEPTH + 1).as_bytes()).is_err());
}

#[rstest]
#[case::empty("", "null")]
#[case::comment("# nothing", "null")]
#[case::members(
    "a: 1\nb: [x, 'y', 1.5, true, ~]",
    r#"{"a":1,"b":["x","y",1.5,true,null]}"#
)]
#[case::keys_that_are_no_strings("1: one\ntrue: yes", r#"{"1":"one","true":"yes"}"#)]
#[case::merge(
    "base: &b {x: 1, y: 2}\nc: {<<: *b, y: 3}",
    r#"{"base":{"x":1,"y":2},"c":{"x":1,"y":3}}"#
)]
#[case::merges_in_order("<<: [{x: 1}, {x: 2, y: 2}]", r#"{"x":1,"y":2}"#)]
#[case::first_document("a: |\n  text\n---\nsecond: 1", r#"{"a":"text\n"}"#)]
#[case::json(r#"{"json": [1, {"too": null}]}"#, r#"{"json":[1,{"too":null}]}"#)]
fn yaml_means_json(#[case] text: &str, #[case] meaning: &str) {
    check(&format_result(from_yaml(text.as_bytes())), meaning);
}

#[rstest]
#[case::infinity("a: .inf")]
#[case::list_as_a_key("[1, 2]: x")]
#[case::tag("a: !tag x")]
#[case::merge_of_a_number("<<: 1")]
#[case::open_list("a: [")]
#[case::text_after_an_object("{a: 1} x")]
#[case::control_character("\u{0}")]
fn what_is_no_json_in_yaml_is_refused(#[case] text: &str) {
    assert!(from_yaml(text.as_bytes()).is_err());
}

#[test]
fn keys_that_are_no_strings_are_named_by_their_text() {
    let list = Value::from(vec![Value::from(1)]);
    let inner = Value::object([(list, Value::Null), (Value::from("a"), Value::Null)]);
    let outer = Value::object([(inner, Value::Null), (Value::from(2), Value::Null)]);
    check(
        &outer.to_string(),
        r#"{"2":null,"{\"[1]\":null,\"a\":null}":null}"#,
    );
}

/// Returns a value of nested arrays, objects and sets, each of which contains the next one twice.
fn doubled(levels: usize) -> Value {
    let mut value = Value::from(1_u64);
    for level in 0..levels {
        value = match level % 3 {
            0 => Value::from(vec![value.clone(), value]),
            1 => Value::object([("a", value.clone()), ("b", value)]),
            _ => Value::object([
                (value.clone(), Value::Null),
                (Value::from(vec![value]), Value::Null),
            ]),
        };
    }
    value
}

#[test]
fn parts_that_are_shared_are_compared_once() {
    assert_eq!(doubled(120), doubled(120));
    assert!(doubled(120) < doubled(121) || doubled(121) < doubled(120));
    assert_ne!(doubled(119), doubled(120));
    let both = std::collections::BTreeSet::from([doubled(120), doubled(120), doubled(117)]);
    assert_eq!(both.len(), 2);
}

#[test]
fn what_takes_too_long_as_text_is_not_written() {
    let text = |value: Value, limit| {
        let text = value.to_json(false, limit);
        text.map_or_else(
            |failure| failure.to_string(),
            |text| String::from_utf8_lossy(&text).into_owned(),
        )
    };
    check(
        &text(doubled(120), 1_000),
        "the document takes more than 1000 bytes as JSON",
    );
    check(&text(doubled(2), 21), r#"{"a":[1,1],"b":[1,1]}"#);
    check(
        &text(doubled(2), 20),
        "the document takes more than 20 bytes as JSON",
    );
    let literal = rego::value::Literal(&doubled(120)).to_string();
    assert!(literal.len() < 100 << 20, "{} bytes", literal.len());
}

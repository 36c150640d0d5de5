//! Objects are serialized with each name once, for any conversion of a value to JSON.

#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicBool;

use rego::Value;
use rego::value::{JsonChunks, Object, Set, from_json};
use rstest::rstest;

/// Returns an object with keys that are serialized as JSON, and their positions as values.
fn object(keys: impl IntoIterator<Item = Value>) -> Value {
    let members = keys.into_iter().zip(1..);
    let members = members.map(|(key, place)| (key, Value::from(place)));
    Value::from(members.collect::<Object>())
}

#[track_caller]
fn check(value: &Value, expected: &str) {
    for pretty in [false, true] {
        let Ok(whole) = value.to_json(pretty, usize::MAX) else {
            panic!("{value} is not written");
        };
        if !pretty {
            assert_eq!(String::from_utf8_lossy(&whole), expected);
        }
        for size in [1, 64 << 10] {
            let pieces = JsonChunks::new(value.clone(), pretty).sized(size);
            assert_eq!(pieces.collect::<Vec<_>>().concat(), whole, "{size}");
        }
        let measured = value.measure(pretty, whole.len(), &AtomicBool::new(false));
        assert_eq!(measured.map(|it| it.length), Ok(whole.len()));
        let distinct = value.with_distinct_names();
        assert_eq!(measured.map(|it| it.hides), Ok(distinct.is_some()));
        let distinct = distinct.unwrap_or_else(|| value.clone());
        assert_eq!(distinct.to_json(pretty, usize::MAX), Ok(whole));
    }
    let Ok(other) = serde_json::to_string(value) else {
        panic!("{value} is not serialized");
    };
    assert_eq!(other, expected);
}

fn list(value: i32) -> Value {
    Value::from(vec![Value::from(value)])
}

fn set(value: i32) -> Value {
    Value::from(Set::from([Value::from(value)]))
}

#[rstest]
#[case::number_and_string(vec![Value::from(1), Value::from("1")], r#"{"1":2}"#)]
#[case::null_and_string(vec![Value::Null, Value::from("null")], r#"{"null":2}"#)]
#[case::string_and_lists(vec![Value::from("[1]"), list(1), set(1)], r#"{"[1]":3}"#)]
#[case::bytes_that_are_not_utf8(
    vec![Value::string(b"\xff"), Value::string(b"\xfe"), Value::from("\u{fffd}")],
    "{\"\u{fffd}\":1}"
)]
#[case::other_order_of_names(vec![Value::from(2), Value::from("1")], r#"{"2":1,"1":2}"#)]
#[case::same_order_of_names(vec![Value::from("1"), Value::from("2")], r#"{"1":1,"2":2}"#)]
fn the_last_of_one_name_is_written(#[case] keys: Vec<Value>, #[case] expected: &str) {
    let value = object(keys);
    check(&value, expected);
    let inside = Value::from(vec![Value::from(true), value.clone(), value.clone()]);
    check(&inside, &format!("[true,{expected},{expected}]"));
    let member = Value::object([("m", value)]);
    check(&member, &format!(r#"{{"m":{expected}}}"#));
}

/// Objects that are keys or members of sets are serialized in the same way.
#[test]
fn keys_and_members_of_sets_have_each_name_once() {
    let double = object([Value::from(1), Value::from("1")]);
    let single = object([Value::from(0), Value::from("1")]);
    check(&object([double.clone()]), r#"{"{\"1\":2}":1}"#);
    let set = Set::from([double, single]);
    check(&Value::from(set), r#"[{"0":1,"1":2},{"1":2}]"#);
}

#[test]
fn many_members_lose_only_what_has_no_name_of_its_own() {
    let keys = (0..5000).map(Value::from);
    let texts = (0..5000).map(|at| Value::from((2 * at).to_string()));
    let value = object(keys.chain(texts));
    let Some(distinct) = value.with_distinct_names() else {
        panic!("nothing was taken away");
    };
    let members = distinct.as_object().map(Object::len);
    assert_eq!(members, Some(7500));
    let Ok(text) = value.to_json(false, usize::MAX) else {
        panic!("not written");
    };
    let read = from_json(&text);
    assert_eq!(
        read.map(|read| read.to_json(false, 1 << 20).map(|text| text.len())),
        { Ok(Ok(text.len())) }
    );
}

/// The length limit applies to the names, too, so that a short result takes little time.
#[test]
fn long_names_are_refused_early() {
    let long = Value::from("x".repeat(1 << 20));
    let keys = (0..1000).map(|at| Value::from(vec![long.clone(), Value::from(at)]));
    let value = object(keys.chain([Value::from("a")]));
    assert!(value.to_json(false, 1 << 16).is_err());
    let measured = value.measure(false, 1 << 16, &AtomicBool::new(false));
    assert!(measured.is_err());
}

//! Long values are serialized as JSON in chunks, and measured without being serialized.

#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use rego::Value;
use rego::value::{JsonChunks, Number, Object, Set, ValueSize, from_json};

/// Values of all kinds: numbers in their notation, strings that are short, long and to be escaped,
/// sets, non-string keys, and parts that occur several times.
fn values() -> impl Strategy<Value = Value> {
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?(e-?[0-9]{1,3})?";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        number.prop_filter_map("a number", |text| Number::parse(&text).map(Value::from)),
        "[a-z\"\\\\\n\t\u{1}é😀]{0,12}".prop_map(Value::from),
        ("[a-z\"\u{1}é]{1,3}", 0..2000_usize).prop_map(|(text, times)| text.repeat(times).into()),
        (1..3000_usize).prop_map(|digits| {
            let number = Number::parse(&"7".repeat(digits));
            number.map_or(Value::Null, Value::from)
        }),
    ];
    leaf.prop_recursive(5, 200, 12, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..12);
        let pairs = proptest::collection::vec((inner.clone(), inner.clone()), 0..8);
        let named = proptest::collection::vec(("[a-z\"]{0,30}", inner.clone()), 0..12);
        prop_oneof![
            list.clone().prop_map(Value::from),
            list.prop_map(|members| Value::from(members.into_iter().collect::<Set>())),
            pairs.prop_map(|members| Value::from(members.into_iter().collect::<Object>())),
            named.prop_map(Value::object),
            (inner, 1..40_usize).prop_map(|(item, times)| Value::from(vec![item; times])),
        ]
    })
}

#[track_caller]
fn check(value: &Value, pretty: bool, size: usize) {
    let Ok(whole) = value.to_json(pretty, usize::MAX) else {
        panic!("{value} is not written");
    };
    let pieces: Vec<Vec<u8>> = JsonChunks::new(value.clone(), pretty).sized(size).collect();
    assert!(pieces.concat() == whole, "{pretty} {size}: {value}");
    // A short part, its name and the line breaks before them may still follow.
    let longest = pieces.iter().map(Vec::len).max().unwrap_or_default();
    assert!(longest <= size + (4 << 10), "{longest} of {size}: {value}");
    let never = AtomicBool::new(false);
    let measured = value.measure(pretty, whole.len(), &never);
    assert_eq!(measured.map(|it| it.length), Ok(whole.len()), "{value}");
    let short = value.measure(pretty, whole.len() - 1, &never);
    assert!(short.is_err(), "{value}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_make_the_whole_text(value in values(), pretty: bool, size in 1..6000_usize) {
        check(&value, pretty, size);
    }
}

#[test]
fn large_values_come_in_pieces() {
    let members = (0..20_000).map(|at| (format!("name {at}"), Value::from(vec![Value::from(at)])));
    let object = Value::object(members);
    let numbers = Value::from((0..100_000).map(Value::from).collect::<Vec<_>>());
    let set = Value::from(
        (0..30_000)
            .map(|at| Value::from(format!("m{at}")))
            .collect::<Set>(),
    );
    let keyed: Object = [
        (numbers.clone(), object.clone()),
        (set.clone(), Value::Null),
    ]
    .into_iter()
    .collect();
    let keyed = Value::from(Object::from_iter([(Value::from(keyed), Value::from(1))]));
    let deep = (0..600).fold(Value::from("x".repeat(5000)), |inner, _| {
        Value::from(vec![inner])
    });
    let text = Value::from("é\"\n".repeat(100_000));
    // The name of a key with long strings escapes them once more.
    let slashes = [(1, 500), (505, 505)].map(|(name, member)| {
        let text = |length| "\\".repeat(length);
        (text(name), Value::from(text(member)))
    });
    let named = Object::from_iter([(Value::object(slashes), Value::from(1))]);
    check(&Value::from(named), false, 1);
    let controls = Value::object([("\u{1}".repeat(1000), Value::Null)]);
    check(&controls, false, 1);
    for value in [object, numbers, set, keyed, deep, text] {
        for (pretty, size) in [(false, 60 << 10), (true, 8 << 10)] {
            check(&value, pretty, size);
        }
    }
}

/// A nested value whose serialization has 10^25 items is measured at once, without additional
/// memory for its shared parts.
#[test]
fn shared_parts_are_measured_once() {
    let endless = (0..25).fold(Value::from(1), |inner, _| Value::from(vec![inner; 10]));
    let never = AtomicBool::new(false);
    assert!(endless.measure(false, usize::MAX >> 1, &never).is_err());
    let Ok(stored) = from_json(format!("[{}1]", "1,".repeat(1 << 20)).as_bytes()) else {
        panic!("no document");
    };
    let envelope = Value::object([("result", stored.clone())]);
    let Ok(ValueSize { own, .. }) = envelope.measure(false, usize::MAX, &never) else {
        panic!("not measured");
    };
    assert!(own < 1 << 10, "{own}");
    drop(stored);
    let Ok(ValueSize { own, .. }) = envelope.measure(false, usize::MAX, &never) else {
        panic!("not measured");
    };
    assert!(own > 24 << 20, "{own}");
    let cancelled = AtomicBool::new(true);
    assert!(envelope.measure(false, usize::MAX, &cancelled).is_err());
}

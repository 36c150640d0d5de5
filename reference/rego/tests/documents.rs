//! Documents that are stored lazily equal the values of their sources, whether their items were
//! accessed or not.

#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use rego::Value;
use rego::value::{JsonChunks, document_from_json, from_json};

/// JSON sources, many of them long enough to be stored in chunks: with spaces, members in any order
/// and duplicate names, escapes, and strings and numbers of all lengths.
fn texts() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just(" true ".to_owned()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?([eE]-?[0-9]{1,3})?",
        "\"([a-z]|é|\\\\n|\\\\u00e9|\\\\u0001|\\\\ud800|\\\\\"){0,30}\"",
        (0..6000_usize).prop_map(|length| format!("\"{}\"", "x".repeat(length))),
        (0..4_000_usize).prop_map(|length| format!("[{}2]", "1, ".repeat(length))),
    ];
    leaf.prop_recursive(3, 60, 8, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..8);
        let members = proptest::collection::vec(("[a-c\u{e9}]{0,3}", inner.clone()), 0..8);
        prop_oneof![
            list.prop_map(|items| format!("[{}]", items.join(" ,"))),
            members.prop_map(object),
            (inner.clone(), 1..300_usize).prop_map(|(item, times)| {
                format!("[{}]", vec![item.as_str(); few(times, &item)].join(","))
            }),
            (inner, 1..300_usize, any::<u8>()).prop_map(|(item, times, step)| {
                let keys = (0..few(times, &item)).map(|at| (at * usize::from(step)) % 307);
                object(keys.map(|key| (format!("key {key}"), item.clone())))
            }),
        ]
    })
}

/// Maximum number of repetitions of a string, so that the result is at most about 100 KB.
fn few(times: usize, text: &str) -> usize {
    times.min(1 + 100_000 / text.len())
}

fn object(members: impl IntoIterator<Item = (String, String)>) -> String {
    let members = members.into_iter();
    let members: Vec<String> = members
        .map(|(name, value)| format!("\"{name}\" : {value}"))
        .collect();
    format!("{{{}}}", members.join(",\n"))
}

/// Parses a source both as a lazily stored document and as a value.
#[track_caller]
fn read(text: &str) -> (Value, Value) {
    match (
        document_from_json(text.as_bytes()),
        from_json(text.as_bytes()),
    ) {
        (Ok(document), Ok(value)) => (document, value),
        (document, value) => panic!("{document:?} {value:?}"),
    }
}

#[track_caller]
fn check(text: &str) {
    let (document, value) = read(text);
    let never = AtomicBool::new(false);
    for pretty in [false, true] {
        let Ok(whole) = value.to_json(pretty, usize::MAX) else {
            panic!("{text} is not written");
        };
        assert!(
            document.to_json(pretty, whole.len()).as_ref() == Ok(&whole),
            "{text}"
        );
        assert!(document.to_json(pretty, whole.len() - 1).is_err(), "{text}");
        for size in [100, 60 << 10] {
            let pieces: Vec<Vec<u8>> = JsonChunks::new(document.clone(), pretty)
                .sized(size)
                .collect();
            assert!(pieces.concat() == whole, "{pretty} {size}: {text}");
            let longest = pieces.iter().map(Vec::len).max().unwrap_or_default();
            assert!(longest <= size + (4 << 10), "{longest} of {size}: {text}");
        }
        let measured = document.measure(pretty, whole.len(), &never);
        assert_eq!(measured.map(|it| it.length), Ok(whole.len()), "{text}");
    }
    let copy = document.clone();
    check_reversed_access(&document, &value, text);
    check_reversed_access(&copy, &value, text);
    assert!(document == value, "{text}");
    let (mut document, value) = read(text);
    changed(&mut document, value, text);
}

/// Accesses all items of a document in reverse order, and compares them with those of the value.
#[track_caller]
fn check_reversed_access(document: &Value, value: &Value, text: &str) {
    if let (Some(items), Some(expected)) = (document.as_array(), value.as_array()) {
        assert_eq!(items.len(), expected.len(), "{text}");
        for at in (0..expected.len()).rev() {
            assert!(items.get(at) == expected.get(at), "{at}: {text}");
        }
    }
    if let (Some(members), Some(expected)) = (document.as_object(), value.as_object()) {
        assert_eq!(members.len(), expected.len(), "{text}");
        let names: Vec<_> = expected.keys().filter_map(Value::as_str).collect();
        for name in names.iter().rev() {
            assert!(members.get(name) == expected.get(name), "{name}: {text}");
        }
        assert!(members.get("nobody").is_none(), "{text}");
    }
}

/// Changes a document and the value of its source in the same way, and compares them.
#[track_caller]
fn changed(document: &mut Value, mut value: Value, text: &str) {
    let before = document.clone();
    let original = value.clone();
    for value in [&mut *document, &mut value] {
        match value {
            Value::Array(items) => {
                items.remove(items.len() / 2);
                items.push(Value::from("new"));
                items.insert(0, Value::from("first"));
            }
            Value::Object(members) => {
                let name = members.keys().nth(members.len() / 2).cloned();
                if let Some(name) = name {
                    members.remove_value(&name);
                }
                members.insert("key 55", Value::from("new"));
            }
            _ => {}
        }
    }
    assert!(
        document.to_json(false, usize::MAX) == value.to_json(false, usize::MAX),
        "{text}"
    );
    assert!(*document == value, "{text}");
    assert!(before == original, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn documents_are_the_values_of_their_texts(text in texts()) {
        check(&text);
    }

    /// Invalid JSON is refused with the same messages.
    #[test]
    fn errors_are_those_of_values(text in texts(), at: prop::sample::Index, byte: u8) {
        let mut text = text.into_bytes();
        let at = at.index(text.len());
        text.splice(at..at, [byte]);
        let read = (document_from_json(&text), from_json(&text));
        prop_assert!(read.0 == read.1);
        text.truncate(at);
        let read = (document_from_json(&text), from_json(&text));
        prop_assert!(read.0 == read.1);
    }
}

#[test]
fn long_documents_are_the_values_of_their_texts() {
    let users = |step: usize| {
        let user = |at: usize| {
            let user = format!(r#"{{"name":"User {at}","roles":["a", "b"], "level": {at}}}"#);
            (format!("user-{:05}", at * step % 1_501), user)
        };
        object((0..1_500).map(user))
    };
    // In order, out of order, and with a duplicate name after the preceding chunks are created.
    let again = users(1).replacen("user-01499", "user-00000", 1);
    let deep = (0..500).fold("7".repeat(5_000), |inner, _| format!("[{inner},1]"));
    let strings: Vec<String> = (0..200)
        .map(|at| format!("\"{}\"", "y".repeat(at * 97)))
        .collect();
    let strings = format!("[{}]", strings.join(","));
    for text in [users(1), users(7), again, deep, strings] {
        check(&text);
    }
}

/// A reader of one item parses only its chunk, and threads do not wait for each other.
#[test]
fn many_threads_look_at_once() {
    let items: Vec<String> = (0..20_000).map(|at| format!("{{\"at\":{at}}}")).collect();
    let (document, value) = read(&format!("[{}]", items.join(",")));
    std::thread::scope(|scope| {
        for first in 0..4 {
            let (document, value) = (&document, &value);
            scope.spawn(move || {
                for at in (first * 7..20_000).step_by(11) {
                    let (Some(items), Some(expected)) = (document.as_array(), value.as_array())
                    else {
                        panic!("no arrays");
                    };
                    assert!(items.get(at) == expected.get(at));
                }
                assert!(document.to_json(false, usize::MAX) == value.to_json(false, usize::MAX));
            });
        }
    });
}

/// The parser expects members in the order of the previous object: here every object of up to four
/// members, with duplicate names among them, follows every other.
#[test]
fn members_are_in_their_order_whatever_object_came_before() {
    let mut objects: Vec<Vec<&str>> = vec![Vec::new()];
    let mut longest = objects.clone();
    for _ in 0..4 {
        let longer = longest
            .iter()
            .flat_map(|names| ["a", "b", "c"].map(|name| [names.as_slice(), &[name]].concat()));
        longest = longer.collect();
        objects.extend(longest.iter().cloned());
    }
    let objects: Vec<String> = objects
        .iter()
        .map(|names| {
            let numbered = names.iter().enumerate();
            object(numbered.map(|(at, name)| ((*name).to_owned(), at.to_string())))
        })
        .collect();
    let pairs = objects
        .iter()
        .flat_map(|one| objects.iter().map(move |next| format!("{one},{next}")));
    let pairs: Vec<String> = pairs.collect();
    let (document, value) = read(&format!("[{}]", pairs.join(",")));
    assert!(document.to_json(false, usize::MAX) == value.to_json(false, usize::MAX));
    assert!(document == value);
}

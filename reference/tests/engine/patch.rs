//! PATCH /v1/data compared with an independent implementation of JSON Patch, RFC 6902.

use std::cell::Cell;
use std::ops::Range;

use http::header::HeaderMap;
use json_patch::Patch;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use reference::engine::Engine;
use rstest::rstest;
use serde_json::{Value, json};

use crate::exchange::request;

/// Path segments: members and array indices, some with escapes, and `-`, the position after the
/// last item.
const STEPS: [&str; 6] = ["a", "0", "1", "-", "x/y", "~1"];

/// Document after a patch; `None` if the patch is refused.
type Patched = Option<Value>;

fn ours(engine: &Engine, patch: &Value) -> Patched {
    let send = |method, body| request(method, "/v1/data", HeaderMap::new(), body);
    let reply = engine.respond(send("PATCH", patch.to_string().into_bytes()));
    let read = engine.respond(send("GET", Vec::new()));
    let documents: Value = serde_json::from_slice(&read.body.bytes()).unwrap_or_default();
    (reply.status == 204).then(|| documents["result"].clone())
}

fn theirs(document: &Value, patch: &Value) -> Patched {
    let patch: Patch = serde_json::from_value(patch.clone()).ok()?;
    let mut document = document.clone();
    json_patch::patch(&mut document, &patch).ok()?;
    Some(document)
}

fn engine(document: &Value) -> Engine {
    let engine = Engine::default();
    let body = document.to_string().into_bytes();
    let reply = engine.respond(request("PUT", "/v1/data", HeaderMap::new(), body));
    assert_eq!(reply.status, 204, "{document}");
    engine
}

fn any_document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (0..9).prop_map(Value::from)
    ];
    let member = || select(&STEPS[..]).prop_map(str::to_owned);
    leaf.prop_recursive(3, 32, 5, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(member(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Generates root documents, which are always objects; see [`the_api_differs_in_what_is_listed`].
fn any_root() -> impl Strategy<Value = Value> {
    any_document().prop_map(|inner| match inner {
        Value::Object(_) => inner,
        inner => json!({ "a": inner }),
    })
}

fn any_operation() -> impl Strategy<Value = Value> {
    // Short paths exist in a document more often than long ones.
    let steps = |count: Range<usize>| vec(select(&STEPS[..]), count);
    let path = prop_oneof![3 => steps(0..3), 1 => steps(3..5)];
    let op = select(&["add", "replace", "remove"][..]);
    (op, path, any_document(), any_root()).prop_map(|(op, path, inner, root)| {
        let value = if path.is_empty() { root } else { inner };
        let escape = |step: &&str| format!("/{}", step.replace('~', "~0").replace('/', "~1"));
        let path: String = path.iter().map(escape).collect();
        match op {
            "remove" => json!({ "op": op, "path": path }),
            _ => json!({ "op": op, "path": path, "value": value }),
        }
    })
}

#[test]
fn patches_mean_what_rfc_6902_says() {
    // A fixed seed generates the same cases in each run.
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let patches = vec(vec(any_operation(), 1..3).prop_map(Value::from), 1..12);
    let (applied, refused) = (Cell::new(0), Cell::new(0));
    let judged = TestRunner::new_with_rng(config, rng).run(&(any_root(), patches), |case| {
        let (mut document, patches) = case;
        let engine = engine(&document);
        for patch in patches {
            let expected = theirs(&document, &patch);
            prop_assert_eq!(
                &ours(&engine, &patch),
                &expected,
                "{} on {}",
                patch,
                document
            );
            // A refused patch has changed nothing.
            prop_assert_eq!(
                ours(&engine, &json!([])),
                Some(expected.clone().unwrap_or(document.clone()))
            );
            let count = if expected.is_some() {
                &applied
            } else {
                &refused
            };
            count.set(count.get() + 1);
            document = expected.unwrap_or(document);
        }
        Ok(())
    });
    assert!(judged.is_ok(), "{judged:?}");
    let counts = (applied.get(), refused.get());
    assert!(
        counts.0 > 200 && counts.1 > 200,
        "{counts:?} applied and refused"
    );
}

fn replace(path: &str) -> Value {
    json!({ "op": "replace", "path": path, "value": 2 })
}

#[rstest]
#[case::the_root_document_stays_an_object(json!({ "a": 1 }), replace(""), None, Some(json!(2)))]
#[case::slashes_around_a_path_do_not_count(
    json!({ "a": { "": 1 } }),
    replace("/a/"),
    Some(json!({ "a": 2 })),
    Some(json!({ "a": { "": 2 } }))
)]
#[case::nor_does_one_that_is_missing(
    json!({ "a": 1 }),
    replace("a"),
    Some(json!({ "a": 2 })),
    None
)]
#[case::steps_are_decoded_as_those_of_a_url_are(
    json!({ "a b": 1 }),
    replace("/a%20b"),
    Some(json!({ "a b": 2 })),
    None
)]
#[case::a_tilde_that_escapes_nothing_is_one(
    json!({ "a~2": 1 }),
    replace("/a~2"),
    Some(json!({ "a~2": 2 })),
    None
)]
#[case::an_index_is_any_spelling_of_an_integer(
    json!({ "a": [1] }),
    replace("/a/00"),
    Some(json!({ "a": [2] })),
    None
)]
#[case::a_value_that_is_missing_is_null(
    json!({ "a": 1 }),
    json!({ "op": "add", "path": "/a" }),
    Some(json!({ "a": null })),
    None
)]
#[case::copy_move_and_test_are_not_part_of_the_api(
    json!({ "a": 1 }),
    json!({ "op": "copy", "from": "/a", "path": "/b" }),
    None,
    Some(json!({ "a": 1, "b": 1 }))
)]
fn the_api_differs_in_what_is_listed(
    #[case] document: Value,
    #[case] operation: Value,
    #[case] here: Patched,
    #[case] there: Patched,
) {
    let patch = json!([operation]);
    assert_eq!(ours(&engine(&document), &patch), here, "here");
    assert_eq!(theirs(&document, &patch), there, "RFC 6902");
}

//! Active bundles: their documents, write protection for clients, and the change of revisions.

use std::sync::atomic::{AtomicBool, Ordering};

use reference::bundle::BundleError;
use reference::engine::Engine;
use rstest::rstest;

use super::archives::{Files, bundle};
use crate::exchange::{format_reply, request, run_script_on};

/// Bundle with a policy and data below `a`, in the first revision.
const FIRST: Files<'_> = &[
    (
        ".manifest",
        r#"{"roots": ["a"], "revision": "1", "metadata": {"by": "x"}}"#,
    ),
    ("a/data.json", r#"{"k": 1, "l": [1, 2]}"#),
    ("a/p.rego", "package a.p\n\nx := data.a.k\n\nf(y) := y\n"),
];

/// Second revision of the bundle.
const SECOND: Files<'_> = &[
    (".manifest", r#"{"roots": ["a", "b"], "revision": "2"}"#),
    ("b/data.json", "2"),
    ("a/q.rego", "package a.q\n\ny := data.b\n"),
];

/// Third revision of the bundle, with changed data only.
const AGAIN: Files<'_> = &[
    (".manifest", r#"{"roots": ["a"], "revision": "3"}"#),
    ("a/data.json", r#"{"k": 3}"#),
    ("a/p.rego", FIRST[2].1),
];

/// Activates bundles together in one change.
fn activate(engine: &Engine, bundles: &[(&str, Files<'_>)]) -> Result<(), BundleError> {
    let bundles = bundles.iter();
    let bundles = bundles.map(|(name, files)| ((*name).to_owned(), bundle(name, files)));
    engine.activate(bundles.collect())
}

/// Creates an engine with active bundles.
#[track_caller]
fn with(bundles: &[(&str, Files<'_>)]) -> Engine {
    let engine = Engine::default();
    if let Err(error) = activate(&engine, bundles) {
        panic!("{}", error.in_full());
    }
    engine
}

/// Formats the response to a request, on one line.
fn answer(engine: &Engine, method: &str, target: &str, body: &str) -> String {
    let request = request(method, target, Default::default(), body.into());
    let reply = engine.respond(request);
    let body = reply.body.bytes();
    format!(
        "{} {}",
        reply.status.as_u16(),
        String::from_utf8_lossy(&body)
    )
}

#[test]
fn clients_see_bundles() {
    let engine = with(&[
        ("one", FIRST),
        (
            "two",
            &[(
                ".manifest",
                r#"{"roots": ["z"], "rego_version": 1, "file_rego_versions": {"/*.rego": 0}}"#,
            )],
        ),
    ]);
    run_script_on(
        &engine,
        r#"
        GET /v1/data => 200 {"result":{"a":{"k":1,"l":[1,2],"p":{"x":1}}}}
        GET /v1/data/system/bundles/one => 200 {"result":{"etag":"","manifest":{"metadata":{"by":"x"},"revision":"1","roots":["a"]}}}
        GET /v1/data/system/bundles/two => 200 {"result":{"etag":"","manifest":{"file_rego_versions":{"/*.rego":0},"rego_version":1,"revision":"","roots":["z"]}}}
        "#,
    );
    for method in ["GET", "POST"] {
        let answer = answer(&engine, method, "/v1/data/none?provenance=true", "");
        let bundles = r#""bundles":{"one":{"revision":"1"},"two":{}}"#;
        assert!(answer.contains(bundles), "{answer}");
        assert!(!answer.contains(r#""revision":"1"},"version""#), "{answer}");
    }
    let listed = answer(&engine, "GET", "/v1/policies", "");
    assert!(listed.contains(r#""id":"one/a/p.rego""#), "{listed}");
    let without_bundles = answer(&Engine::default(), "GET", "/v1/data?provenance=true", "");
    assert!(
        !without_bundles.contains("bundles") && !without_bundles.contains("revision"),
        "{without_bundles}"
    );
    let active = engine.active_bundles();
    let active: Vec<_> = active
        .iter()
        .map(|(name, manifest)| (name, manifest.revision.as_str()))
        .collect();
    assert_eq!(active, [("one", "1"), ("two", "")]);
}

#[test]
fn writes_below_and_above_roots_are_refused() {
    let deep: Files<'_> = &[
        (".manifest", r#"{"roots": ["c/d e"]}"#),
        ("p.rego", "package c[\"d e\"]"),
    ];
    let engine = with(&[("one", FIRST), ("deep", deep)]);
    run_script_on(&engine, "PUT /v1/policies/mine package mine => 200 {}");
    for (method, target, body, expected) in [
        (
            "PUT",
            "/v1/data/a/x",
            "1",
            "path a/x is owned by bundle \\\"one\\\"",
        ),
        (
            "PUT",
            "/v1/data/a",
            "1",
            "path a is owned by bundle \\\"one\\\"",
        ),
        (
            "PUT",
            "/v1/data/c",
            "{}",
            "path c is owned by bundle \\\"deep\\\"",
        ),
        (
            "PUT",
            "/v1/data/c/d%20e/f",
            "{}",
            "path c/d%20e/f is owned by bundle \\\"deep\\\"",
        ),
        (
            "PUT",
            "/v1/data",
            "{}",
            "can't write to document root with bundle roots configured",
        ),
        ("DELETE", "/v1/data/a/k", "", "path a/k is owned"),
        ("DELETE", "/v1/data/a/none", "", "path a/none is owned"),
        (
            "PATCH",
            "/v1/data/a",
            r#"[{"op": "add", "path": "n", "value": 1}]"#,
            "path a/n is owned",
        ),
        (
            "PATCH",
            "/v1/data",
            r#"[{"op": "remove", "path": "a/k"}]"#,
            "path a/k is owned",
        ),
        (
            "PATCH",
            "/v1/data",
            r#"[{"op": "replace", "path": "", "value": {}}]"#,
            "can't write to document root",
        ),
        (
            "PATCH",
            "/v1/data",
            r#"[{"op": "add", "path": "free", "value": 1}, {"op": "add", "path": "a/n", "value": 1}]"#,
            "path a/n is owned",
        ),
        (
            "PUT",
            "/v1/policies/new",
            "package a.b.c",
            "path a/b/c is owned by bundle \\\"one\\\"",
        ),
        (
            "PUT",
            "/v1/policies/new",
            "package c",
            "path c is owned by bundle \\\"deep\\\"",
        ),
        (
            "PUT",
            "/v1/policies/mine",
            "package a",
            "path a is owned by bundle \\\"one\\\"",
        ),
        (
            "PUT",
            "/v1/policies/one/a/p.rego",
            "package elsewhere",
            "path a/p is owned",
        ),
        (
            "PUT",
            "/v1/policies/one/a/p.rego",
            FIRST[2].1,
            "path a/p is owned",
        ),
        (
            "DELETE",
            "/v1/policies/one/a/p.rego",
            "",
            "path a/p is owned",
        ),
    ] {
        let answer = answer(&engine, method, target, body);
        let right = answer.starts_with("400 ") && answer.contains("\"invalid_parameter\"");
        assert!(
            right && answer.contains(expected),
            "{method} {target} {body}: {answer}"
        );
    }
    run_script_on(
        &engine,
        r#"
        PUT /v1/data/ab/x 1 => 204
        PATCH /v1/data/a [] => 204
        PUT /v1/policies/mine package c.d => 200 {}
        DELETE /v1/data/ab => 204
        GET /v1/data => 200 {"result":{"a":{"k":1,"l":[1,2],"p":{"x":1}},"c":{"d":{},"d e":{}}}}
        "#,
    );
    let all = with(&[("all", &[])]);
    let answer = answer(&all, "PUT", "/v1/data/x", "1");
    assert!(
        answer.contains("all paths owned by bundle \\\"all\\\""),
        "{answer}"
    );
}

#[test]
fn a_bundle_takes_the_place_of_what_it_had_brought() {
    let engine = Engine::default();
    run_script_on(
        &engine,
        r#"
        PUT /v1/data {"a": {"old": 1}, "b": {"old": 1}, "free": 1} => 204
        PUT /v1/policies/mine package free.p => 200 {}
        PUT /v1/policies/theirs package a.old => 200 {}
        "#,
    );
    for (name, files, expected) in [
        (
            "one",
            FIRST,
            r#"{"a":{"k":1,"l":[1,2],"p":{"x":1}},"b":{"old":1},"free":1}"#,
        ),
        ("one", SECOND, r#"{"a":{"q":{"y":2}},"b":2,"free":1}"#),
        (
            "one",
            FIRST,
            r#"{"a":{"k":1,"l":[1,2],"p":{"x":1}},"free":1}"#,
        ),
        ("one", AGAIN, r#"{"a":{"k":3,"p":{"x":3}},"free":1}"#),
    ] {
        let activated = activate(&engine, &[(name, files)]);
        assert_eq!(
            activated.map_err(|error| error.in_full()),
            Ok(()),
            "{expected}"
        );
        // Clients have stored only the document `free`.
        let line = format!(r#"GET /v1/data => 200 {{"result":{expected}}}"#);
        run_script_on(&engine, &line);
    }
    assert_eq!(
        engine.deactivate(&["one".to_owned(), "none".to_owned()]),
        Ok(())
    );
    run_script_on(
        &engine,
        r#"
        GET /v1/data => 200 {"result":{"free":1}}
        GET /v1/data/system/bundles => 200 {"result":{}}
        GET /v1/policies/one/a/p.rego => 404 resource_not_found
        GET /v1/policies/theirs => 404 resource_not_found
        PUT /v1/data/a/x 1 => 204
        "#,
    );
    assert!(engine.active_bundles().is_empty());
}

/// The cases have the operations on the first revision, and the resulting data or the reason for a
/// refusal.
#[rstest]
#[case::upsert_and_remove(
    r#"[{"op": "upsert", "path": "/a/m/n", "value": 3}, {"op": "remove", "path": "a/l"}]"#,
    Ok(r#"{"k":1,"m":{"n":3},"p":{"x":1}}"#)
)]
#[case::replace(
    r#"[{"op": "replace", "path": "a/k", "value": 2}]"#,
    Ok(r#"{"k":2,"l":[1,2],"p":{"x":2}}"#)
)]
#[case::append(
    r#"[{"op": "upsert", "path": "/a/l/-", "value": 3}]"#,
    Ok(r#"{"k":1,"l":[1,2,3],"p":{"x":1}}"#)
)]
#[case::escapes(
    r#"[{"op": "upsert", "path": "/a/x~1y", "value": 3}, {"op": "remove", "path": "a/x%2Fy"}]"#,
    Ok(r#"{"k":1,"l":[1,2],"p":{"x":1}}"#)
)]
#[case::replace_the_root(
    r#"[{"op": "upsert", "path": "/a", "value": {"only": 1}}]"#,
    Ok(r#"{"only":1,"p":{}}"#)
)]
#[case::remove_the_root(r#"[{"op": "remove", "path": "a"}]"#, Ok(r#"{"p":{}}"#))]
#[case::replace_what_is_missing(
    r#"[{"op": "remove", "path": "a/k"}, {"op": "replace", "path": "a/none", "value": 2}]"#,
    Err("patch operation at `/a/none`: no document")
)]
#[case::remove_what_is_missing(r#"[{"op": "remove", "path": "a/none"}]"#, Err("no document at"))]
#[case::below_a_number(
    r#"[{"op": "upsert", "path": "a/k/l", "value": 1}]"#,
    Err("no document at `/a/k/l`")
)]
#[case::place_of_a_rule(
    r#"[{"op": "upsert", "path": "a/p/x", "value": 1}]"#,
    Err("conflicting rule for data path a/p/x")
)]
fn deltas_change_the_data_of_a_bundle(
    #[case] operations: &str,
    #[case] expected: Result<&str, &str>,
) {
    let engine = with(&[("one", FIRST)]);
    let patch = format!(r#"{{"data": {operations}}}"#);
    let delta = [
        (".manifest", r#"{"roots": ["a"], "revision": "3"}"#),
        ("patch.json", &patch),
    ];
    let activated = activate(&engine, &[("one", &delta)]);
    let (document, revision) = match (activated, expected) {
        (Ok(()), Ok(document)) => (document, "3"),
        (Err(error), Err(part)) if error.in_full().contains(part) => {
            (r#"{"k":1,"l":[1,2],"p":{"x":1}}"#, "1")
        }
        (activated, _) => panic!("{operations}: {activated:?}"),
    };
    let lines = format!(
        r#"GET /v1/data/a => 200 {{"result":{document}}}
        GET /v1/data/system/bundles/one/manifest/revision => 200 {{"result":"{revision}"}}"#
    );
    run_script_on(&engine, &lines);
}

/// Bundles that cannot be activated in addition to the first one, with the reason.
const REFUSED: &[(&[(&str, Files<'_>)], &str)] = &[
    (
        &[(
            "one",
            &[
                (".manifest", r#"{"roots": ["a"]}"#),
                ("a/p.rego", FIRST[2].1),
                ("a/p/data.json", r#"{"x": 1}"#),
            ],
        )],
        "conflicting rule for data path a/p/x",
    ),
    (
        &[(
            "one",
            &[
                (".manifest", r#"{"roots": ["a", "c"]}"#),
                ("a/p.rego", "package a.p\n\nx := data.a.k"),
            ],
        )],
        "rego_type_error: undefined function data.a.p.f",
    ),
    (
        &[("two", FIRST)],
        "the bundles `one` and `two` have overlapping roots: `a` and `a`",
    ),
    (
        &[("two", &[(".manifest", r#"{"roots": ["z", "a/b"]}"#)])],
        "the bundles `one` and `two` have overlapping roots: `a` and `a/b`",
    ),
    (
        &[("two", &[])],
        "the bundles `two` and `one` have overlapping roots: `` and `a`",
    ),
    (
        &[
            ("three", &[(".manifest", r#"{"roots": ["z"]}"#)]),
            ("two", &[(".manifest", r#"{"roots": ["z/y"]}"#)]),
        ],
        "the bundles `three` and `two`",
    ),
    (
        &[(
            "two",
            &[
                (".manifest", r#"{"roots": ["z"]}"#),
                ("p.rego", "package z\n\np := q"),
            ],
        )],
        "two/p.rego:3: rego_unsafe_var_error",
    ),
    (
        &[(
            "two",
            &[
                (".manifest", r#"{"roots": ["z"]}"#),
                ("p.rego", "package z\n\np := 1"),
                ("z/data.json", r#"{"p": 1}"#),
            ],
        )],
        "conflicting rule for data path z/p",
    ),
    (
        &[("one", &[(".manifest", r#"{"roots": ["y"]}"#)])],
        "mine:3: rego_type_error",
    ),
    (
        &[(
            "two",
            &[
                (".manifest", r#"{"roots": ["free/b"]}"#),
                ("free/b/data.json", "1"),
            ],
        )],
        "data of the bundle `two`: the document at `/free` cannot hold others",
    ),
    (
        &[(
            "two",
            &[
                (".manifest", r#"{"roots": ["mine/g"]}"#),
                ("mine/g/data.json", "1"),
            ],
        )],
        "conflicting rule for data path mine/g",
    ),
    (
        &[(
            "two",
            &[
                (".manifest", r#"{"roots": ["z"]}"#),
                ("x.rego", "package z"),
            ],
        )],
        "the id `two/x.rego` of a policy in the bundle is already used by another policy",
    ),
    (
        &[(
            "two",
            &[
                (".manifest", r#"{"roots": ["z"]}"#),
                ("patch.json", r#"{"data": [{"op": "remove", "path": "z"}]}"#),
            ],
        )],
        "the delta bundle `two` has no active bundle to change",
    ),
    (
        &[(
            "one",
            &[
                (".manifest", r#"{"roots": ["a", "z"]}"#),
                ("patch.json", r#"{"data": [{"op": "remove", "path": "z"}]}"#),
            ],
        )],
        "the delta bundle `one` has the roots [a z], the active bundle has [a]",
    ),
    (
        &[(
            "two",
            &[
                (".manifest", r#"{"roots": ["system"]}"#),
                ("data.json", r#"{"system": 1}"#),
            ],
        )],
        "the manifests cannot be shown at `/system/bundles`",
    ),
];

#[test]
fn what_cannot_be_activated_changes_nothing() {
    let engine = with(&[("one", FIRST)]);
    run_script_on(
        &engine,
        "PUT /v1/data/free 1 => 204
        PUT /v1/policies/two/x.rego package other => 200 {}",
    );
    let mine = "package mine\n\nf := data.a.p.f(1)\n\ng := 1";
    assert_eq!(
        answer(&engine, "PUT", "/v1/policies/mine", mine),
        "200 {}\n"
    );
    let before = ["/v1/data", "/v1/data/system", "/v1/policies"];
    let before = before.map(|target| (target, answer(&engine, "GET", target, "")));
    for (bundles, part) in REFUSED {
        let good: Files<'_> = &[
            (".manifest", r#"{"roots": ["good"]}"#),
            ("good/data.json", "1"),
        ];
        let bundles: Vec<_> = [&[("good", good)], *bundles].concat();
        let Err(error) = activate(&engine, &bundles) else {
            panic!("activated: {bundles:?}");
        };
        assert_eq!(error.code(), "bundle_error");
        assert!(
            error.in_full().contains(part),
            "`{part}` in: {}",
            error.in_full()
        );
        for (target, before) in &before {
            assert_eq!(answer(&engine, "GET", target, ""), *before, "{part}");
        }
    }
    let Err(error) = engine.deactivate(&["one".to_owned()]) else {
        panic!("a policy without its function");
    };
    let errors = error.errors();
    let diagnostic = errors.last();
    let code = diagnostic.and_then(|diagnostic| diagnostic.get("code")?.as_str());
    assert_eq!(code, Some("rego_type_error"));
    let file = diagnostic.and_then(|diagnostic| diagnostic.get("location")?.get("file")?.as_str());
    assert_eq!(file, Some("mine"));
}

#[test]
fn bundles_that_change_places_are_activated_together() {
    let roots = |name| format!(r#"{{"roots": ["{name}"]}}"#);
    let (x, y) = (roots("x"), roots("y"));
    let (x, y) = ([(".manifest", x.as_str())], [(".manifest", y.as_str())]);
    let engine = with(&[("one", &x), ("two", &y)]);
    assert_eq!(activate(&engine, &[("one", &y), ("two", &x)]), Ok(()));
    assert!(activate(&engine, &[("one", &x)]).is_err());
}

#[test]
fn readers_see_whole_bundles() {
    // The policy compares the two data files of a revision.
    let files = |revision: usize| {
        let policy = format!("package a.p\n\nagree if data.a.revision == {revision}\n");
        let data = format!(r#"{{"revision": {revision}}}"#);
        let manifest = r#"{"roots": ["a"]}"#;
        bundle(
            "one",
            &[
                (".manifest", manifest),
                ("a/data.json", &data),
                ("p.rego", &policy),
            ],
        )
    };
    let engine = Engine::default();
    assert_eq!(engine.activate(vec![("one".to_owned(), files(0))]), Ok(()));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = 0;
                    while !done.load(Ordering::Relaxed) || seen == 0 {
                        let agreed = answer(&engine, "GET", "/v1/data/a/p/agree", "");
                        assert_eq!(agreed, "200 {\"result\":true}\n");
                        seen += 1;
                    }
                })
            })
            .collect();
        for revision in 1..100 {
            let activated = engine.activate(vec![("one".to_owned(), files(revision))]);
            assert_eq!(activated, Ok(()));
        }
        done.store(true, Ordering::Relaxed);
        assert!(readers.into_iter().all(|reader| reader.join().is_ok()));
    });
}

#[test]
fn the_answer_of_a_whole_bundle_hides_the_manifests() {
    let engine = with(&[("all", &[("data.json", r#"{"x": 1}"#)])]);
    let reply = engine.respond(request("GET", "/v1/data", Default::default(), Vec::new()));
    assert_eq!(format_reply(&reply), r#"200 {"result":{"x":1}}"#);
}

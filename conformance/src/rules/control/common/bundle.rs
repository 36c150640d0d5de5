//! Bundle

use super::{BUNDLE, SECRET, SOURCE};
use crate::rules::control::definitions;
use crate::rules::control::distribution::{
    add_source, bundle, commit, decides, distributed, git, policy_with_name, requirements, source,
    stored as stored_files, undefined,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("name-identifies", || {
        accepted(json!({}), at("/result/name"))
    }),
    Rule::new("name-must-equal-path", || {
        scenario()
            .given(BUNDLE.define("-same", json!({"name": "{ns}-same"})))
            .when(
                BUNDLE
                    .define("", json!({"name": "{ns}-other"}))
                    .expect(error()),
            )
            .when(get("/v1/bundles/{ns}").expect(status()))
            .when(get("/v1/bundles/{ns}-other").expect(status()))
    }),
    Rule::new("labels-kept", || {
        stored(
            json!({"labels": {"env": "prod", "team": "payments"}}),
            |read| read.expect(at("/result/labels")),
        )
    }),
    Rule::new("labels-free-keys", || {
        let labels = json!({
            "Env": "upper case",
            "env": "lower case",
            "app.example.com/part-of": "v1.2_3",
            "with space": "a b",
            "größe": "héllo / \"wörld\"",
            "marked": "",
        });
        accepted(json!({"labels": labels}), at("/result/labels"))
    }),
    Rule::new("labels-string-values", || {
        scenario().given(BUNDLE.create()).each(
            [
                ("number", json!(1)),
                ("boolean", json!(true)),
                ("array", json!(["a"])),
                ("object", json!({"a": "b"})),
                ("null", json!(null)),
            ],
            |scenario, (form, value)| {
                let path = format!("/v1/bundles/{{ns}}-{form}");
                // A value may be stored as null, except null itself.
                let null = (!value.is_null()).then_some(Kind::Null);
                let kinds = [Kind::String, Kind::Absent]
                    .into_iter()
                    .chain(null)
                    .collect();
                scenario
                    .when(
                        put(&path)
                            .json(definitions::bundle(
                                &format!("-{form}"),
                                json!({"labels": {"env": value}}),
                            ))
                            .off_contract("the label is not a string"),
                    )
                    .when(get(&path).expect(either([
                        alternative("no such bundle", [Check::Status(404)]),
                        alternative(
                            "no label that is not a string",
                            [Check::Type("/result/labels/env".to_owned(), kinds)],
                        ),
                    ])))
            },
        )
    }),
    Rule::new("object-storage-kept", || {
        scenario()
            .given(SECRET.create())
            .given(BUNDLE.define("", json!({"object_storage": {"gcp": gcp()}})))
            .when(get("/v1/bundles/{ns}").expect(at("/result/object_storage")))
    }),
    Rule::new("object-storage-holds-one-kind", || {
        let filesystem = json!({"path": "{ns}.tar.gz"});
        scenario()
            .given(SECRET.create())
            .given(BUNDLE.define("", json!({"object_storage": {"filesystem": filesystem}})))
            .when(get("/v1/bundles/{ns}").expect(at("/result/object_storage")))
            .given(BUNDLE.define("", json!({"object_storage": {"gcp": gcp()}})))
            .when(get("/v1/bundles/{ns}").expect(at("/result/object_storage")))
    }),
    Rule::new("requirements-kept", || {
        scenario()
            .given(SOURCE.create_as("-app"))
            .given(SOURCE.create_as("-lib"))
            .given(BUNDLE.define(
                "",
                json!({"requirements": [
                    {"source": "{ns}-app"},
                    {"source": "{ns}-lib", "path": "data.lib", "prefix": "data.vendor.lib"},
                ]}),
            ))
            .when(
                get("/v1/bundles/{ns}")
                    .expect(length("/result/requirements"))
                    .expect(at("/result/requirements/0/source"))
                    .expect(unset("/result/requirements/0/path"))
                    .expect(unset("/result/requirements/0/prefix"))
                    .expect(at("/result/requirements/1/source"))
                    .expect(at("/result/requirements/1/path"))
                    .expect(at("/result/requirements/1/prefix")),
            )
    }),
    Rule::new("excluded-files-kept", || {
        stored(
            json!({"excluded_files": ["*_test.rego", "docs/*.md"]}),
            |read| read.expect(at("/result/excluded_files")),
        )
    }),
    Rule::new("built-from-requirements", || {
        let bundle_from =
            |suffixes| bundle("first", json!({"requirements": requirements(suffixes)}));
        ["one", "two", "three"]
            .into_iter()
            .fold(distributed(), add_source)
            .given(bundle_from(&["one", "two"]))
            .when(decides("one/name", json!("one")))
            .when(decides("two/name", json!("two")))
            .when(undefined("three"))
            .given(bundle_from(&["two", "three"]))
            .when(decides("three/name", json!("three")))
            .when(decides("two/name", json!("two")))
            .when(undefined("one"))
    }),
    Rule::new("excluded-files-left-out", || {
        let files = json!({
            "shop.rego": policy_with_name("shop", "kept"),
            "draft.rego": policy_with_name("draft", "left out"),
            "notes/data.json": {"text": "left out"},
        });
        distributed()
            .given(commit("shop", files))
            .given(source("shop", json!({"git": git("shop")})))
            .given(bundle(
                "first",
                json!({
                    "requirements": requirements(&["shop"]),
                    "excluded_files": ["draft.rego", "notes/*"],
                }),
            ))
            .when(decides("shop/name", json!("kept")))
            .when(undefined("draft"))
            .when(undefined("notes"))
            .when(
                stored_files("first")
                    .expect(status())
                    .expect(without("left out")),
            )
    }),
];

/// Expects that a bundle with this definition is accepted, and this fact of its GET response.
fn accepted(definition: Value, fact: Expectation) -> Scenario {
    scenario()
        .when(
            put("/v1/bundles/{ns}")
                .json(definitions::bundle("", definition))
                .expect(success()),
        )
        .when(get("/v1/bundles/{ns}").expect(fact))
}

/// Writes a bundle with this definition, and reads it back.
fn stored(definition: Value, read: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(put("/v1/bundles/{ns}").json(definitions::bundle("", definition)))
        .when(read(get("/v1/bundles/{ns}")))
}

/// A complete storage of the kind `gcp`; its credentials are a stored secret.
fn gcp() -> Value {
    json!({
        "project": "project-x",
        "bucket": "policies",
        "object": "bundles/{ns}.tar.gz",
        "credentials": "{ns}",
    })
}

//! Object storage kinds

use super::{BUNDLE, SECRET};
use crate::rules::control::definitions;
use crate::rules::control::distribution::{add_source, distributed, requirements, stored_in};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("aws-bucket", || read_back("aws", "bucket")),
    Rule::new("aws-key", || read_back("aws", "key")),
    Rule::new("aws-region", || read_back("aws", "region")),
    Rule::new("aws-credentials", || read_back("aws", "credentials")),
    Rule::new("aws-url", || read_back("aws", "url")),
    Rule::new("aws-url-optional", || {
        let mut storage = complete("aws");
        if let Some(fields) = storage.as_object_mut() {
            fields.remove("url");
        }
        scenario()
            .given(SECRET.create())
            .when(
                BUNDLE
                    .define("", json!({"object_storage": {"aws": storage}}))
                    .expect(status()),
            )
            .when(
                get("/v1/bundles/{ns}")
                    .expect(kind("/result/object_storage/aws", Kind::Object))
                    .expect(unset("/result/object_storage/aws/url")),
            )
    }),
    Rule::new("filesystem-path", || read_back("filesystem", "path")),
    Rule::new("gcp-project", || read_back("gcp", "project")),
    Rule::new("gcp-bucket", || read_back("gcp", "bucket")),
    Rule::new("gcp-object", || read_back("gcp", "object")),
    Rule::new("gcp-credentials", || read_back("gcp", "credentials")),
    Rule::new("azure-account-url", || read_back("azure", "account_url")),
    Rule::new("azure-container", || read_back("azure", "container")),
    Rule::new("azure-path", || read_back("azure", "path")),
    Rule::new("azure-credentials", || read_back("azure", "credentials")),
    Rule::new("all-fields-strings", || {
        let kinds = ["aws", "filesystem", "gcp", "azure"];
        let strings = scenario()
            .given(SECRET.create())
            .each(kinds, |scenario, kind| {
                let fields = json!({"object_storage": {kind: complete(kind)}});
                scenario.given(BUNDLE.define(&format!("-{kind}"), fields))
            });
        strings.each(
            [
                ("aws", "bucket"),
                ("aws", "key"),
                ("aws", "region"),
                ("aws", "credentials"),
                ("aws", "url"),
                ("filesystem", "path"),
                ("gcp", "project"),
                ("gcp", "bucket"),
                ("gcp", "object"),
                ("gcp", "credentials"),
                ("azure", "account_url"),
                ("azure", "container"),
                ("azure", "path"),
                ("azure", "credentials"),
            ],
            |scenario, (kind, field)| number_not_stored(scenario, kind, field),
        )
    }),
    Rule::new("unknown-or-several-kinds", || {
        scenario()
            .when(
                BUNDLE
                    .define("-unknown", json!({"object_storage": {"tape": {"label": "x"}}}))
                    .expect(status()),
            )
            .when(get("/v1/bundles/{ns}-unknown").expect(at("/result/object_storage")))
            .when(
                BUNDLE
                    .define(
                        "-several",
                        json!({"object_storage": {
                            "aws": {"bucket": "policies", "key": "app.tar.gz", "region": "eu-west-1"},
                            "filesystem": {"path": "{ns}.tar.gz"},
                        }}),
                    )
                    .off_contract("two storage kinds")
                    .expect(status()),
            )
            .when(get("/v1/bundles/{ns}-several").expect(at("/result/object_storage")))
    }),
    Rule::new("aws-names-the-place", || {
        let places = [
            ("shelves", "one", "package one", "package two"),
            ("boxes", "two", "package two", "package one"),
        ];
        let sources = ["one", "two"].into_iter().fold(distributed(), add_source);
        sources
            .each(places, |scenario, (bucket, name, ..)| {
                let suffix = format!("-{name}");
                scenario.given(BUNDLE.define(
                    &suffix,
                    json!({
                        "object_storage": stored_in(bucket, &format!("{name}/{name}")),
                        "requirements": requirements(&[name]),
                    }),
                ))
            })
            .each(places, |scenario, (bucket, name, own, other)| {
                let found = Check::StatusFrom(200, 299);
                scenario.when(
                    mock(get(format!("/opened/{bucket}/{name}/{name}.tar.gz")))
                        .until([found])
                        .expect(mentions(own))
                        .expect(without(other)),
                )
            })
    }),
];

/// A storage of this kind with every field of the document.
fn complete(kind: &str) -> Value {
    match kind {
        "aws" => json!({
            "bucket": "policies",
            "key": "bundles/{ns}.tar.gz",
            "region": "eu-west-1",
            "credentials": "{ns}",
            "url": "https://s3.example.com",
        }),
        "gcp" => json!({
            "project": "project-x",
            "bucket": "policies",
            "object": "bundles/{ns}.tar.gz",
            "credentials": "{ns}",
        }),
        "azure" => json!({
            "account_url": "https://account.blob.example.com",
            "container": "policies",
            "path": "bundles/{ns}.tar.gz",
            "credentials": "{ns}",
        }),
        _ => json!({"path": "{ns}.tar.gz"}),
    }
}

/// Writes a bundle with a complete storage of this kind, and reads one field back.
fn read_back(kind: &'static str, field: &'static str) -> Scenario {
    scenario()
        .given(SECRET.create())
        .given(BUNDLE.define("", json!({"object_storage": {kind: complete(kind)}})))
        .when(get("/v1/bundles/{ns}").expect(at(format!("/result/object_storage/{kind}/{field}"))))
}

/// Expects that a bundle whose storage has a number in this field is not stored unchanged.
fn number_not_stored(scenario: Scenario, kind: &str, field: &str) -> Scenario {
    let suffix = format!("-{kind}-{}", field.replace('_', "-"));
    let name = format!("{{ns}}{suffix}");
    let mut storage = complete(kind);
    if let Some(fields) = storage.as_object_mut() {
        // A separate location, so that only the number can cause a rejection.
        for place in ["key", "object", "path"] {
            if let Some(place) = fields.get_mut(place) {
                *place = json!(format!("bundles/{name}.tar.gz"));
            }
        }
        fields.insert(field.to_owned(), json!(1));
    }
    let path = format!("/v1/bundles/{name}");
    scenario
        .when(
            put(&path)
                .json(definitions::bundle(
                    &suffix,
                    json!({"object_storage": {kind: storage}}),
                ))
                .off_contract("the field is not a string"),
        )
        .when(get(&path).expect(either([
            alternative("no such bundle", [Check::Status(404)]),
            alternative(
                "no field that is not a string",
                [Check::Type(
                    format!("/result/object_storage/{kind}/{field}"),
                    vec![Kind::String, Kind::Null, Kind::Absent],
                )],
            ),
        ])))
}

//! Source

use super::SOURCE;
use crate::rules::control::definitions;
use crate::rules::control::distribution::{
    add_source, add_source_with, bundle, datasource_fields, decides, distributed, feed,
    requirements,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("name-in-single-read", || {
        scenario()
            .given(SOURCE.create())
            .when(get("/v1/sources/{ns}").expect(at("/result/name")))
    }),
    Rule::new("name-in-list", || {
        scenario()
            .given(SOURCE.create())
            .when(walk("/v1/sources").expect(names("/result")))
    }),
    Rule::new("git-kept", || {
        let git = definitions::git(json!({"path": "lib"}));
        stored(json!({"git": git}), |read| {
            read.expect(kind("/result/git", Kind::Object))
                .expect(at("/result/git/repo"))
                .expect(at("/result/git/reference"))
                .expect(at("/result/git/path"))
        })
    }),
    Rule::new("directory-kept", || {
        stored(json!({"directory": "policies"}), |read| {
            read.expect(at("/result/directory"))
        })
    }),
    Rule::new("paths-kept", || {
        stored(
            json!({"directory": "policies", "paths": ["app.rego", "lib/rules.rego"]}),
            |read| read.expect(at("/result/paths")),
        )
    }),
    Rule::new("datasources-kept", || {
        let datasource = json!({
            "name": "users",
            "path": "app/users",
            "type": "http",
            "config": {"url": "https://data.example.com/users", "headers": {}},
        });
        stored(json!({"datasources": [datasource]}), |read| {
            read.expect(length("/result/datasources"))
                .expect(at("/result/datasources/0/name"))
                .expect(at("/result/datasources/0/path"))
                .expect(at("/result/datasources/0/type"))
                .expect(at("/result/datasources/0/config/url"))
        })
    }),
    // The built-in sources are specific to a deployment; the target file may name one.
    Rule::new("builtin-kept", || {
        scenario()
            .given(SOURCE.create_as("-git"))
            .given(get("/v1/sources/{ns}-git"))
            .given(
                put("/v1/sources/{ns}")
                    .json(definitions::source(json!({"builtin": "{builtin}"})))
                    .or_not_run("it needs the name of a built-in source that the server takes"),
            )
            .when(get("/v1/sources/{ns}").expect(holds("/result/builtin", json!("{builtin}"))))
    }),
    Rule::new("requirements-kept", || {
        scenario()
            .given(SOURCE.create_as("-base"))
            .given(SOURCE.create_as("-lib"))
            .given(SOURCE.define(
                "",
                json!({"requirements": [
                    {"source": "{ns}-base"},
                    {"source": "{ns}-lib", "path": "data.lib", "prefix": "data.vendor.lib"},
                ]}),
            ))
            .when(
                get("/v1/sources/{ns}")
                    .expect(length("/result/requirements"))
                    .expect(at("/result/requirements/0/source"))
                    .expect(at("/result/requirements/1/source"))
                    .expect(at("/result/requirements/1/path"))
                    .expect(at("/result/requirements/1/prefix")),
            )
    }),
    Rule::new("required-fields", || {
        scenario().each(
            [
                ("-empty", json!({})),
                (
                    "-repository",
                    json!({"git": {"repo": "https://git.example/rules.git"}}),
                ),
            ],
            |scenario, (suffix, definition)| {
                let path = SOURCE.item(suffix);
                scenario
                    .when(put(&path).json(definition).expect(status()))
                    .when(get(path).expect(at("/result")))
            },
        )
    }),
    Rule::new("combined-origins", || {
        scenario()
            .when(
                SOURCE
                    .define("", json!({"directory": "policies", "builtin": "example"}))
                    .expect(status()),
            )
            .when(get("/v1/sources/{ns}").expect(at("/result")))
    }),
    Rule::new("depends-on-requirements", || {
        let two = json!({"requirements": requirements(&["one"])});
        let three = json!({"requirements": requirements(&["two"])});
        let one = add_source(distributed(), "one");
        add_source_with(add_source_with(one, "two", two), "three", three)
            .given(bundle(
                "first",
                json!({"requirements": requirements(&["three"])}),
            ))
            .when(decides("three/name", json!("three")))
            .when(decides("two/name", json!("two")))
            .when(decides("one/name", json!("one")))
    }),
    Rule::new("datasources-fetched-at-runtime", || {
        let roles = |text: &str| feed(json!({"text": text}));
        let shop = distributed().given(roles(r#"{"alice": "admin"}"#));
        add_source_with(shop, "shop", datasource_fields(json!({"path": "roles"})))
            .given(bundle(
                "first",
                json!({"requirements": requirements(&["shop"])}),
            ))
            .when(decides("roles", json!({"alice": "admin"})))
            .given(roles(r#"{"alice": "guest"}"#))
            .when(decides("roles", json!({"alice": "guest"})))
    }),
];

/// Writes a source with this definition, and reads it back.
fn stored(definition: Value, read: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(put("/v1/sources/{ns}").json(definitions::source(definition)))
        .when(read(get("/v1/sources/{ns}")))
}

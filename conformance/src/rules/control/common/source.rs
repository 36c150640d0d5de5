//! Source

use super::SOURCE;
use crate::rules::control::distribution::{
    bundle, decides, distributed, feed, fetched, named, named_with, requirements,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("name-in-single-read", || {
        scenario()
            .given(SOURCE.create())
            .when(get("/v1/sources/{ns}").keep(at("/result/name")))
    }),
    Rule::new("name-in-list", || {
        scenario()
            .given(SOURCE.create())
            .when(walk("/v1/sources").keep(names("/result")))
    }),
    Rule::new("git-kept", || {
        let git = json!({
            "repo": "https://git.example.com/policies.git",
            "reference": "refs/heads/main",
            "path": "lib",
        });
        stored(json!({"git": git}), |read| {
            read.keep(kind("/result/git", Kind::Object))
                .keep(at("/result/git/repo"))
                .keep(at("/result/git/reference"))
                .keep(at("/result/git/path"))
        })
    }),
    Rule::new("directory-kept", || {
        stored(json!({"directory": "policies"}), |read| {
            read.keep(at("/result/directory"))
        })
    }),
    Rule::new("paths-kept", || {
        stored(
            json!({"directory": "policies", "paths": ["app.rego", "lib/rules.rego"]}),
            |read| read.keep(at("/result/paths")),
        )
    }),
    Rule::new("datasources-kept", || {
        let datasource = json!({
            "name": "users",
            "path": "app/users",
            "type": "http",
            "config": {"url": "https://data.example.com/users"},
        });
        stored(SOURCE.with(json!({"datasources": [datasource]})), |read| {
            read.keep(length("/result/datasources"))
                .keep(at("/result/datasources/0/name"))
                .keep(at("/result/datasources/0/path"))
                .keep(at("/result/datasources/0/type"))
                .keep(at("/result/datasources/0/config/url"))
        })
    }),
    // A deployment may refuse a built-in source that it does not have; what it takes, it keeps.
    Rule::new("builtin-kept", || {
        scenario()
            .given(SOURCE.create_as("-git"))
            .given(get("/v1/sources/{ns}-git"))
            .when(put("/v1/sources/{ns}").json(json!({"builtin": "example"})))
            .when(get("/v1/sources/{ns}").keep(either([
                alternative("no such source", [Check::Status(404)]),
                alternative(
                    "builtin as written",
                    [Check::Equals(
                        "/result/builtin".to_owned(),
                        json!("example"),
                    )],
                ),
            ])))
    }),
    Rule::new("requirements-kept", || {
        scenario()
            .given(SOURCE.create_as("-base"))
            .given(SOURCE.create_as("-lib"))
            .given(
                put("/v1/sources/{ns}").json(SOURCE.with(json!({"requirements": [
                    {"source": "{ns}-base"},
                    {"source": "{ns}-lib", "path": "data.lib", "prefix": "data.vendor.lib"},
                ]}))),
            )
            .when(
                get("/v1/sources/{ns}")
                    .keep(length("/result/requirements"))
                    .keep(at("/result/requirements/0/source"))
                    .keep(at("/result/requirements/1/source"))
                    .keep(at("/result/requirements/1/path"))
                    .keep(at("/result/requirements/1/prefix")),
            )
    }),
    Rule::new("required-fields", || {
        scenario()
            .when(put("/v1/sources/{ns}").json(json!({})).keep(status()))
            .when(get("/v1/sources/{ns}").keep(at("/result")))
    }),
    Rule::new("combined-origins", || {
        scenario()
            .when(
                put("/v1/sources/{ns}")
                    .json(SOURCE.with(json!({"directory": "policies", "builtin": "example"})))
                    .keep(status()),
            )
            .when(get("/v1/sources/{ns}").keep(at("/result")))
    }),
    Rule::new("depends-on-requirements", || {
        let two = json!({"requirements": requirements(&["one"])});
        let three = json!({"requirements": requirements(&["two"])});
        let one = named(distributed(), "one");
        named_with(named_with(one, "two", two), "three", three)
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
        named_with(shop, "shop", fetched(json!({"path": "roles"})))
            .given(bundle(
                "first",
                json!({"requirements": requirements(&["shop"])}),
            ))
            .when(decides("roles", json!({"alice": "admin"})))
            .given(roles(r#"{"alice": "guest"}"#))
            .when(decides("roles", json!({"alice": "guest"})))
    }),
];

/// A source with this definition, read back.
fn stored(definition: Value, read: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(put("/v1/sources/{ns}").json(definition))
        .when(read(get("/v1/sources/{ns}")))
}

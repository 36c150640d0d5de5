//! Datasource

use super::{SECRET, SOURCE};
use crate::rules::control::distribution::{
    add_source_with, bundle, datasource_fields, decides, distributed, feed, requirements,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("name-kept", || read_back(at("/result/datasources/0/name"))),
    Rule::new("path-kept", || read_back(at("/result/datasources/0/path"))),
    Rule::new("type-http", || {
        scenario()
            .given(SECRET.create())
            .when(with_datasource().expect(success()))
            .when(get("/v1/sources/{ns}").expect(at("/result/datasources/0/type")))
    }),
    Rule::new("config-kept", || {
        read_back(kind("/result/datasources/0/config", Kind::Object))
    }),
    Rule::new("config-url", || {
        read_back(at("/result/datasources/0/config/url"))
    }),
    Rule::new("config-headers", || {
        read_back(at("/result/datasources/0/config/headers"))
    }),
    Rule::new("credentials-kept", || {
        read_back(at("/result/datasources/0/credentials"))
    }),
    Rule::new("transform-query-kept", || {
        read_back(at("/result/datasources/0/transform_query"))
    }),
    Rule::new("several-datasources", || {
        let config = json!({"url": "https://data.example.com/users", "headers": {}});
        scenario()
            .when(
                SOURCE
                    .define(
                        "",
                        json!({"datasources": [
                            {"name": "{ns}-teams", "path": "app/teams", "type": "http", "config": config},
                            {"name": "{ns}-users", "path": "app/users", "type": "http", "config": config},
                        ]}),
                    )
                    .expect(success()),
            )
            .when(
                get("/v1/sources/{ns}")
                    .expect(names("/result/datasources"))
                    .expect(at("/result/datasources/0/path"))
                    .expect(at("/result/datasources/1/path")),
            )
    }),
    Rule::new("other-types", || {
        scenario().each(["s3", "unheard-of"], |scenario, name| {
            let datasource = json!({"name": "d", "path": "app/d", "type": name});
            scenario
                .when(probe(name, datasource).expect(status()))
                .when(get(SOURCE.item(&format!("-{name}"))).expect(at("/result/datasources")))
        })
    }),
    Rule::new("config-of-other-types", || {
        let config = json!({"bucket": "data", "key": "users.json", "region": "eu-west-1"});
        let datasource = json!({"name": "d", "path": "app/d", "type": "s3", "config": config});
        scenario()
            .when(probe("s3", datasource).expect(status()))
            .when(get(SOURCE.item("-s3")).expect(at("/result/datasources")))
    }),
    Rule::new("fetched-data-placed-at-path", || {
        fetching(json!({"path": "team/roles"})).when(decides(
            "team/roles",
            json!({"alice": "admin", "bob": "guest"}),
        ))
    }),
    Rule::new("transform-query-applied", || {
        let query = "{\"admins\": [name | input[name] == \"admin\"]}";
        fetching(json!({"path": "team/roles", "transform_query": query})).when(
            engine(get("/v1/data/team/roles"))
                .until([Check::Type("/result".to_owned(), vec![Kind::Object])])
                .expect(at("/result")),
        )
    }),
];

/// A datasource with every field of the document; its credentials are a stored secret.
fn complete() -> Value {
    json!({
        "name": "users",
        "path": "app/users",
        "type": "http",
        "config": {
            "url": "https://data.example.com/users",
            "headers": {"Accept": "application/json", "X-Team": "payments"},
        },
        "credentials": "{ns}",
        "transform_query": "x := data.users.list",
    })
}

/// Writes a source with one complete datasource, and expects this fact of its GET response.
fn read_back(fact: Expectation) -> Scenario {
    scenario()
        .given(SECRET.create())
        .given(with_datasource())
        .when(get("/v1/sources/{ns}").expect(fact))
}

/// A PUT of a source with a datasource that has every field.
fn with_datasource() -> Step {
    SOURCE.define("", json!({"datasources": [complete()]}))
}

/// A PUT of a source with a datasource that the document does not describe.
fn probe(name: &str, datasource: Value) -> Step {
    SOURCE.define(&format!("-{name}"), json!({"datasources": [datasource]}))
}

/// Defines a bundle with the data that a datasource with these fields fetches.
fn fetching(fields: Value) -> Scenario {
    let shop = distributed().given(feed(
        json!({"text": r#"{"alice": "admin", "bob": "guest"}"#}),
    ));
    add_source_with(shop, "shop", datasource_fields(fields)).given(bundle(
        "first",
        json!({"requirements": requirements(&["shop"])}),
    ))
}

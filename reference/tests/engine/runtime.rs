//! `opa.runtime()` and `data.system.version`: information about the process and its configuration.

use reference::engine::Engine;

use crate::config::file;
use crate::exchange::{engine, run_script_on};

#[test]
fn policies_see_the_process_without_its_secrets() {
    let (folder, mut options) = file(
        "config.yaml",
        r"
services: {depot: {url: 'http://user:hidden@depot', headers: {X: hidden}, credentials: {bearer: {token: hidden}}}}
keys: {key: {algorithm: HS256, key: hidden}}
labels: {region: west}
",
    );
    options.authorization = "basic".to_owned();
    let policies = [
        ("authz.rego", "package system.authz\n\nallow := true\n"),
        (
            "p.rego",
            "package p\n\nregion := opa.runtime().config.labels.region\n\n\
             from if input.rows.x == opa.runtime().config.labels.region\n",
        ),
    ];
    for (name, text) in policies {
        let path = folder.path().join(name);
        assert!(std::fs::write(&path, text).is_ok(), "{name}");
        options.data.push(path.display().to_string());
    }
    let engine = engine(options);
    run_script_on(
        &engine,
        &r#"
        GET /v1/data/p/region => 200 {"result":"west"}
        POST /v1/query {"query":"x=opa.runtime().config"} => 200 {"result":[{"x":{"keys":{"key":{"algorithm":"HS256"}},"labels":{"region":"west"},"services":{"depot":{"headers":{"X":"***"},"url":"http://***@depot"}}}}]}
        POST /v1/query {"query":"x=object.remove(opa.runtime(),[\"config\",\"env\"])"} => 200 {"result":[{"x":{"authorization_enabled":true,"commit":"","skip_known_schema_check":false,"version":"VERSION"}}]}
        POST /v1/query {"query":"x=opa.runtime().env.CARGO_PKG_NAME"} => 200 {"result":[{"x":"opa-reference"}]}
        POST /v1/compile/p/from [Accept: application/vnd.opa.sql.postgresql+json] {"unknowns":["input.rows"]} => 200 {"result":{"query":"WHERE \"rows\".x = E'west'"}}
        "#
        .replace("VERSION", env!("CARGO_PKG_VERSION")),
    );
    run_script_on(
        &Engine::default(),
        r#"
        POST /v1/query {"query":"x=opa.runtime().config"} => 200 {"result":[{"x":{}}]}
        POST /v1/query {"query":"x=opa.runtime().authorization_enabled"} => 200 {"result":[{"x":false}]}
        "#,
    );
}

/// `data.system.version` can be changed and removed like other documents, but a reference to the
/// root document does not contain it.
#[test]
fn the_version_is_a_document() {
    let (_folder, mut options) = file("config.yaml", "{}");
    let version_document =
        r#"{"build_commit":"","build_hostname":"","build_timestamp":"","version":"VERSION"}"#;
    run_script_on(
        &engine(options.clone()),
        &r#"
        GET /v1/data/system/version => 200 {"result":SHOWN}
        GET /v1/data/system => 200 {"result":{"version":SHOWN}}
        POST /v0/data/system/version/version => 200 "VERSION"
        GET /v1/data => 200 {"result":{}}
        POST /v1/query {"query":"x=data"} => 200 {"result":[{"x":{}}]}
        POST /v1/query {"query":"x=data.system.version.version"} => 200 {"result":[{"x":"VERSION"}]}
        PUT /v1/data/a {"b":1} => 204
        GET /v1/data => 200 {"result":{"a":{"b":1}}}
        PUT /v1/data/system/a 1 => 204
        GET /v1/data/system => 200 {"result":{"a":1,"version":SHOWN}}
        PUT /v1/data/system {"b":1} => 204
        GET /v1/data/system => 200 {"result":{"b":1}}
        "#
        .replace("SHOWN", version_document)
        .replace("VERSION", env!("CARGO_PKG_VERSION")),
    );
    let (folder, _) = file("p.rego", "package system.version\n\nversion := 5\n");
    let policy = folder.path().join("p.rego");
    options.data.push(policy.display().to_string());
    run_script_on(
        &engine(options),
        r#"
        GET /v1/data/system => 200 {"result":{"version":{"version":5}}}
        PUT /v1/data/a 1 => 204
        "#,
    );
}

//! Steps of bundle distribution: they define resources, and wait for bundles and decisions.
//!
//! The fixture server is git server, datasource and object storage. The engine next to the control
//! plane loads the bundles `first` and `second`; `docs/guide/setups.md` describes the configuration
//! of both. Every scenario has its own servers, so packages and data need no unique names.

use super::definitions;
use crate::scenario::*;

/// A scenario with its own control plane.
pub(super) fn distributed() -> Scenario {
    scenario().setup("end-to-end").fresh()
}

/// Commits these files to the repository of this name.
pub(super) fn commit(repository: &str, files: Value) -> Step {
    mock(put(format!("/shelf/git/{repository}")).json(json!({"repository": files})))
}

/// A Git object that refers to this repository of the fixture server.
pub(super) fn git(repository: &str) -> Value {
    json!({
        "repo": format!("{{depot}}/git/{repository}"),
        "reference": "refs/heads/main",
    })
}

/// Defines a source whose name has this suffix, with these fields.
pub(super) fn source(suffix: &str, fields: Value) -> Step {
    put(format!("/v1/sources/{{ns}}-{suffix}")).json(definitions::source(fields))
}

/// Defines a source whose name has this suffix, with a policy in which `data.SUFFIX.name` is
/// SUFFIX.
pub(super) fn add_source(scenario: Scenario, suffix: &str) -> Scenario {
    add_source_with(scenario, suffix, json!({}))
}

/// [`add_source`] with more fields.
pub(super) fn add_source_with(scenario: Scenario, suffix: &str, mut fields: Value) -> Scenario {
    let file = format!("{suffix}.rego");
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("git".to_owned(), git(suffix));
    }
    scenario
        .given(commit(
            suffix,
            json!({file: policy_with_name(suffix, suffix)}),
        ))
        .given(source(suffix, fields))
}

/// A policy in which `data.PACKAGE.name` is this string.
pub(super) fn policy_with_name(package: &str, text: &str) -> String {
    format!("package {package}\n\nimport rego.v1\n\nname := \"{text}\"\n")
}

/// Writes a document of the source whose name has this suffix.
pub(super) fn data(suffix: &str, path: &str, document: Value) -> Step {
    put(format!("/v1/sources/{{ns}}-{suffix}/data/{path}")).json(document)
}

/// Sets the document that datasources fetch.
pub(super) fn feed(item: Value) -> Step {
    mock(put("/shelf/feed/roles.json").json(item))
}

/// The fields of a source with a datasource that has these fields.
pub(super) fn datasource_fields(mut fields: Value) -> Value {
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("name".to_owned(), json!("roles"));
        fields.insert("type".to_owned(), json!("http"));
        fields.insert(
            "config".to_owned(),
            json!({"url": "{depot}/feed/roles.json", "headers": {}}),
        );
    }
    json!({"datasources": [fields]})
}

/// Defines the bundle of this name with these fields, stored in the fixture server.
pub(super) fn bundle(name: &str, fields: Value) -> Step {
    let suffix = format!("-{name}");
    let stored = definitions::with(
        json!({"object_storage": stored_in("bundles", name)}),
        fields,
    );
    put(format!("/v1/bundles/{{ns}}{suffix}")).json(definitions::bundle(&suffix, stored))
}

/// A location in the fixture server.
pub(super) fn stored_in(bucket: &str, name: &str) -> Value {
    json!({"aws": {
        "bucket": bucket,
        "key": format!("{name}.tar.gz"),
        "region": "eu-north-1",
        "url": "{depot}",
    }})
}

/// Requirements on the sources of these suffixes.
pub(super) fn requirements(suffixes: &[&str]) -> Value {
    let sources = suffixes
        .iter()
        .map(|suffix| json!({"source": format!("{{ns}}-{suffix}")}));
    sources.collect()
}

/// Defines the stack `guard`, which requires the source `guard`, with these fields.
pub(super) fn stack(fields: Value) -> Step {
    let requiring = definitions::with(json!({"requirements": requirements(&["guard"])}), fields);
    put("/v1/stacks/{ns}-guard").json(definitions::stack(requiring))
}

/// Queries a document of the engine until it has this value, and records the value.
pub(super) fn decides(path: &str, document: Value) -> Step {
    engine(get(format!("/v1/data/{path}")))
        .until([Check::Equals("/result".to_owned(), document)])
        .expect(at("/result"))
}

/// Queries all documents of the engine.
pub(super) fn everything() -> Step {
    engine(get("/v1/query?q=everything%20%3D%20data"))
}

/// Queries a document of the engine until it is undefined.
pub(super) fn undefined(path: &str) -> Step {
    engine(get(format!("/v1/data/{path}")))
        .until([Check::Status(200), Check::Lacks("/result".to_owned())])
        .expect(lacks("/result"))
}

/// Reads the files of the stored bundle of this name.
pub(super) fn stored(name: &str) -> Step {
    mock(get(format!("/opened/bundles/{name}.tar.gz")))
}

/// Reads the files of the stored bundle of this name, once they contain this string.
pub(super) fn stored_containing(name: &str, text: &str) -> Step {
    stored(name).until([Check::Holds(String::new(), json!(text))])
}

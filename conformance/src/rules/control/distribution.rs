//! Bundles from their definition to decisions by them: what scenarios define, and what they wait
//! for.
//!
//! The fixture server is repository, data source and storage. The engine beside the control plane
//! loads the bundles `first` and `second`; how both are configured stands in `docs/guide/setups.md`. Every
//! scenario has servers of its own, so packages and data need no names of their own.

use super::definitions;
use crate::scenario::*;

/// A control plane of its own.
pub(super) fn distributed() -> Scenario {
    scenario().setup("end-to-end").fresh()
}

/// The repository of this name comes to hold these files.
pub(super) fn commit(repository: &str, files: Value) -> Step {
    mock(put(format!("/shelf/git/{repository}")).json(json!({"repository": files})))
}

/// The files of this repository.
pub(super) fn git(repository: &str) -> Value {
    json!({
        "repo": format!("{{depot}}/git/{repository}"),
        "reference": "refs/heads/main",
    })
}

/// The source of this end has these fields.
pub(super) fn source(end: &str, fields: Value) -> Step {
    put(format!("/v1/sources/{{ns}}-{end}")).json(definitions::source(fields))
}

/// There is a source of this end, with a policy that says so: `data.END.name` is END.
pub(super) fn named(scenario: Scenario, end: &str) -> Scenario {
    named_with(scenario, end, json!({}))
}

/// The same with more fields.
pub(super) fn named_with(scenario: Scenario, end: &str, mut fields: Value) -> Scenario {
    let file = format!("{end}.rego");
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("git".to_owned(), git(end));
    }
    scenario
        .given(commit(end, json!({file: says(end, end)})))
        .given(source(end, fields))
}

/// A policy: `data.PACKAGE.name` is this text.
pub(super) fn says(package: &str, text: &str) -> String {
    format!("package {package}\n\nimport rego.v1\n\nname := \"{text}\"\n")
}

/// The document of a source comes to be this.
pub(super) fn data(end: &str, path: &str, document: Value) -> Step {
    put(format!("/v1/sources/{{ns}}-{end}/data/{path}")).json(document)
}

/// What a datasource fetches comes to be this.
pub(super) fn feed(item: Value) -> Step {
    mock(put("/shelf/feed/roles.json").json(item))
}

/// The fields of a source with a datasource that has these fields.
pub(super) fn fetched(mut fields: Value) -> Value {
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

/// The bundle of this name has these fields, and its place in the fixture server.
pub(super) fn bundle(name: &str, fields: Value) -> Step {
    let end = format!("-{name}");
    let stored = definitions::with(
        json!({"object_storage": stored_in("bundles", name)}),
        fields,
    );
    put(format!("/v1/bundles/{{ns}}{end}")).json(definitions::bundle(&end, stored))
}

/// A place in the fixture server.
pub(super) fn stored_in(bucket: &str, name: &str) -> Value {
    json!({"aws": {
        "bucket": bucket,
        "key": format!("{name}.tar.gz"),
        "region": "eu-north-1",
        "url": "{depot}",
    }})
}

/// Requirements on the sources of these ends.
pub(super) fn requirements(ends: &[&str]) -> Value {
    let sources = ends
        .iter()
        .map(|end| json!({"source": format!("{{ns}}-{end}")}));
    sources.collect()
}

/// The stack `guard` has these fields, and requires the source `guard`.
pub(super) fn stack(fields: Value) -> Step {
    let requiring = definitions::with(json!({"requirements": requirements(&["guard"])}), fields);
    put("/v1/stacks/{ns}-guard").json(definitions::stack(requiring))
}

/// Asks the engine for a document until it is this, which is kept.
pub(super) fn decides(path: &str, document: Value) -> Step {
    engine(get(format!("/v1/data/{path}")))
        .until([Check::Equals("/result".to_owned(), document)])
        .expect(at("/result"))
}

/// Asks the engine for all its documents.
pub(super) fn everything() -> Step {
    engine(get("/v1/query?q=everything%20%3D%20data"))
}

/// Asks the engine for a document until there is none.
pub(super) fn undefined(path: &str) -> Step {
    engine(get(format!("/v1/data/{path}")))
        .until([Check::Status(200), Check::Lacks("/result".to_owned())])
        .expect(lacks("/result"))
}

/// The files of what is stored under this name.
pub(super) fn stored(name: &str) -> Step {
    mock(get(format!("/opened/bundles/{name}.tar.gz")))
}

/// The files of what is stored under this name, once they hold this.
pub(super) fn holding(name: &str, text: &str) -> Step {
    stored(name).until([Check::Holds(String::new(), json!(text))])
}

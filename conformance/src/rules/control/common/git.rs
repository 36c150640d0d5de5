//! Git object

use super::SECRET;
use crate::rules::control::definitions;
use crate::rules::control::distribution::{
    bundle, commit, decides, distributed, git, requirements, says, source, undefined,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("repo-https", || {
        taken(&["https://git.example.com/policies.git"])
    }),
    Rule::new("repo-http", || {
        taken(&["http://git.example.com/policies.git"])
    }),
    Rule::new("repo-ssh", || {
        taken(&[
            "ssh://git@git.example.com/policies.git",
            "git@git.example.com:org/policies.git",
        ])
    }),
    Rule::new("reference-kept", || kept(complete(), "reference")),
    Rule::new("commit-kept", || kept(complete(), "commit")),
    Rule::new("commit-optional", || optional("commit")),
    Rule::new("path-kept", || kept(complete(), "path")),
    Rule::new("path-optional", || optional("path")),
    Rule::new("included-files-kept", || kept(complete(), "included_files")),
    Rule::new("excluded-files-kept", || kept(complete(), "excluded_files")),
    Rule::new("credentials-kept", || {
        let git = definitions::with(complete(), json!({"credentials": "{ns}"}));
        scenario()
            .given(SECRET.create())
            .given(put("/v1/sources/{ns}").json(definitions::source(json!({"git": git}))))
            .when(get("/v1/sources/{ns}").expect(at("/result/git/credentials")))
    }),
    Rule::new("fields-select-the-files", || {
        let files = |pinned: &str| {
            json!({
                "inner/inner.rego": says("inner", "in the folder"),
                "kept.rego": says("kept", "included"),
                "other.rego": says("other", "not included"),
                "pinned.rego": says("pinned", pinned),
            })
        };
        // The document does not say which of the two lists takes precedence, so no file is on both.
        let pruned = json!({
            "left.rego": says("left", "not excluded"),
            "dropped.rego": says("dropped", "excluded"),
        });
        let excluding = json!({"excluded_files": ["dropped.rego"]});
        let excluding = definitions::with(git("pruned"), excluding);
        distributed()
            .given(commit("pruned", pruned))
            .given(source("excluding", json!({"git": excluding})))
            .given(commit("shop", files("first")).capture("first", "/commit"))
            .given(commit("shop", files("second")))
            .given(selecting("path", json!({"path": "inner"})))
            .given(selecting("files", json!({"included_files": ["kept.rego"]})))
            .given(selecting(
                "commit",
                json!({"commit": "{first}", "included_files": ["pinned.rego"]}),
            ))
            .given(bundle(
                "first",
                json!({"requirements": requirements(&["path", "files", "excluding", "commit"])}),
            ))
            .when(decides("inner/name", json!("in the folder")))
            .when(decides("kept/name", json!("included")))
            .when(decides("left/name", json!("not excluded")))
            .when(decides("pinned/name", json!("first")))
            .when(undefined("dropped"))
            .when(undefined("other"))
    }),
];

/// Defines a source that selects files of the repository `shop` by these fields.
fn selecting(end: &str, fields: Value) -> Step {
    source(end, json!({"git": definitions::with(git("shop"), fields)}))
}

/// Expects that sources with each of these repositories are accepted and read back.
fn taken(repositories: &[&str]) -> Scenario {
    let numbered = repositories.iter().zip(1..);
    scenario().each(numbered, |told, (repo, number)| {
        let path = format!("/v1/sources/{{ns}}-{number}");
        let definition =
            definitions::source(json!({"git": definitions::git(json!({"repo": repo}))}));
        told.when(put(&path).json(definition).expect(success()))
            .when(get(&path).expect(at("/result/git/repo")))
    })
}

/// Defines a source with this Git object, and reads one field back.
fn kept(git: Value, field: &str) -> Scenario {
    scenario()
        .given(put("/v1/sources/{ns}").json(definitions::source(json!({"git": git}))))
        .when(get("/v1/sources/{ns}").expect(at(format!("/result/git/{field}"))))
}

/// A Git object with every field that does not refer to another resource.
fn complete() -> Value {
    definitions::git(json!({
        "commit": "9fceb02d0ae598e95dc970b74767f19372d61af8",
        "path": "policies/app",
        "included_files": ["*.rego", "data/*.json"],
        "excluded_files": ["*_test.rego", "docs/*.md"],
    }))
}

/// Expects that a source whose Git object has no optional fields is accepted, and read without this
/// field.
fn optional(field: &str) -> Scenario {
    scenario()
        .when(
            put("/v1/sources/{ns}")
                .json(definitions::source(json!({})))
                .expect(status()),
        )
        .when(
            get("/v1/sources/{ns}")
                .expect(at("/result/git/repo"))
                .expect(unset(format!("/result/git/{field}"))),
        )
}

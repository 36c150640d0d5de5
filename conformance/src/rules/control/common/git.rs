//! Git object

use super::SECRET;
use crate::rules::control::definitions;
use crate::rules::control::distribution::{
    bundle, commit, decides, distributed, git, policy_with_name, requirements, source, undefined,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("repo-https", || {
        accepted(&["https://git.example.com/policies.git"])
    }),
    Rule::new("repo-http", || {
        accepted(&["http://git.example.com/policies.git"])
    }),
    Rule::new("repo-ssh", || {
        accepted(&[
            "ssh://git@git.example.com/policies.git",
            "git@git.example.com:org/policies.git",
        ])
    }),
    Rule::new("reference-kept", || read_back(complete(), "reference")),
    Rule::new("commit-kept", || read_back(complete(), "commit")),
    Rule::new("commit-optional", || optional("commit")),
    Rule::new("path-kept", || read_back(complete(), "path")),
    Rule::new("path-optional", || optional("path")),
    Rule::new("included-files-kept", || {
        read_back(complete(), "included_files")
    }),
    Rule::new("excluded-files-kept", || {
        read_back(complete(), "excluded_files")
    }),
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
                "inner/inner.rego": policy_with_name("inner", "in the folder"),
                "kept.rego": policy_with_name("kept", "included"),
                "other.rego": policy_with_name("other", "not included"),
                "pinned.rego": policy_with_name("pinned", pinned),
            })
        };
        // The document does not say which of the two lists takes precedence, so no file is on both.
        let pruned = json!({
            "left.rego": policy_with_name("left", "not excluded"),
            "dropped.rego": policy_with_name("dropped", "excluded"),
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
fn selecting(suffix: &str, fields: Value) -> Step {
    source(
        suffix,
        json!({"git": definitions::with(git("shop"), fields)}),
    )
}

/// Expects that sources with each of these repositories are accepted and read back.
fn accepted(repositories: &[&str]) -> Scenario {
    let numbered = repositories.iter().zip(1..);
    scenario().each(numbered, |scenario, (repo, number)| {
        let path = format!("/v1/sources/{{ns}}-{number}");
        let definition =
            definitions::source(json!({"git": definitions::git(json!({"repo": repo}))}));
        scenario
            .when(put(&path).json(definition).expect(success()))
            .when(get(&path).expect(at("/result/git/repo")))
    })
}

/// Defines a source with this Git object, and reads one field back.
fn read_back(git: Value, field: &str) -> Scenario {
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

//! Requirement

use super::{BUNDLE, Resource, SOURCE, STACK};
use crate::rules::control::distribution::{
    bundle, commit, distributed, git, policy_with_name, source,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("source-in-bundle", || source_read_back(BUNDLE)),
    Rule::new("source-in-source", || source_read_back(SOURCE)),
    Rule::new("source-in-stack", || source_read_back(STACK)),
    Rule::new("path-kept", || read_back_from_each_kind("path")),
    Rule::new("prefix-kept", || read_back_from_each_kind("prefix")),
    Rule::new("path-and-prefix-optional", || {
        library()
            .when(
                BUNDLE
                    .define("", json!({"requirements": [{"source": "{ns}"}]}))
                    .expect(status()),
            )
            .when(
                get("/v1/bundles/{ns}")
                    .expect(at("/result/requirements/0/source"))
                    .expect(unset("/result/requirements/0/path"))
                    .expect(unset("/result/requirements/0/prefix")),
            )
    }),
    Rule::new("git-commit-instead-of-source", || {
        scenario()
            .when(
                BUNDLE
                    .define("", json!({"requirements": [{"git": {"commit": "9fceb02d0ae598e95dc970b74767f19372d61af8"}}]}))
                    .expect(status()),
            )
            .when(
                get("/v1/bundles/{ns}")
                    .expect(at("/result/requirements/0/git/commit"))
                    .expect(unset("/result/requirements/0/source")),
            )
    }),
    Rule::new("meaning-of-path-and-prefix", || {
        let files = json!({
            "lib.rego": policy_with_name("lib.checks", "below the path"),
            "lib/limits/data.json": {"most": 7},
            "other.rego": policy_with_name("other", "beside it"),
        });
        let requirement =
            json!({"source": "{ns}-shop", "path": "data.lib", "prefix": "data.vendor"});
        distributed()
            .given(commit("shop", files))
            .given(source("shop", json!({"git": git("shop")})))
            .given(bundle("first", json!({"requirements": [requirement]})))
            .when(
                engine(get("/v1/data/vendor"))
                    .until([Check::Type("/result".to_owned(), vec![Kind::Object])])
                    .expect(at("/result")),
            )
            .when(engine(get("/v1/data/lib")).expect(at("/result")))
            .when(engine(get("/v1/data/other")).expect(at("/result")))
    }),
    Rule::new("source-and-git-together-or-neither", || {
        library()
            .when(
                BUNDLE
                    .define(
                        "-both",
                        json!({"requirements": [{"source": "{ns}", "git": {"commit": "9fceb02"}}]}),
                    )
                    .expect(status()),
            )
            .when(get("/v1/bundles/{ns}-both").expect(at("/result/requirements")))
            .when(
                BUNDLE
                    .define("-neither", json!({"requirements": [{"path": "data.lib"}]}))
                    .expect(status()),
            )
            .when(get("/v1/bundles/{ns}-neither").expect(at("/result/requirements")))
    }),
    Rule::new("git-commit-in-source-or-stack", || {
        let requirements = json!({"requirements": [{"git": {"commit": "9fceb02"}}]});
        scenario()
            .when(SOURCE.define("", requirements.clone()).expect(status()))
            .when(get("/v1/sources/{ns}").expect(at("/result/requirements")))
            .when(STACK.define("", requirements).expect(status()))
            .when(get("/v1/stacks/{ns}").expect(at("/result/requirements")))
    }),
];

/// A stored source that requirements can name.
fn library() -> Scenario {
    scenario().given(SOURCE.create())
}

/// Writes a requirement in a resource of this kind, and reads one field back.
fn read_back(scenario: Scenario, resource: Resource, requirement: Value, field: &str) -> Scenario {
    scenario
        .given(resource.define("-with", json!({"requirements": [requirement]})))
        .when(get(resource.item("-with")).expect(at(format!("/result/requirements/0/{field}"))))
}

/// Writes a requirement in a resource of this kind, and reads the field `source` back.
fn source_read_back(resource: Resource) -> Scenario {
    let fields = json!({"requirements": [{"source": "{ns}"}]});
    library()
        .when(resource.define("-with", fields).expect(success()))
        .when(get(resource.item("-with")).expect(at("/result/requirements/0/source")))
}

/// Writes a requirement in every kind of resource that has them, and reads one field back.
fn read_back_from_each_kind(field: &str) -> Scenario {
    let requirement = json!({"source": "{ns}", "path": "data.lib", "prefix": "data.vendor.lib"});
    library().each([BUNDLE, SOURCE, STACK], |scenario, resource| {
        read_back(scenario, resource, requirement.clone(), field)
    })
}

//! Requirement

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("source-in-bundle", || source_kept("bundles")),
    Rule::new("source-in-source", || source_kept("sources")),
    Rule::new("source-in-stack", || source_kept("stacks")),
    Rule::new("path-kept", || kept_everywhere("path")),
    Rule::new("prefix-kept", || kept_everywhere("prefix")),
    Rule::new("path-and-prefix-optional", || {
        library()
            .when(
                put("/v1/bundles/{ns}")
                    .json(json!({"requirements": [{"source": "{ns}"}]}))
                    .keep(status()),
            )
            .when(
                get("/v1/bundles/{ns}")
                    .keep(at("/result/requirements/0/source"))
                    .keep(unset("/result/requirements/0/path"))
                    .keep(unset("/result/requirements/0/prefix")),
            )
    }),
    Rule::new("git-commit-instead-of-source", || {
        scenario()
            .when(
                put("/v1/bundles/{ns}")
                    .json(json!({"requirements": [{"git": {"commit": "9fceb02d0ae598e95dc970b74767f19372d61af8"}}]}))
                    .keep(status()),
            )
            .when(
                get("/v1/bundles/{ns}")
                    .keep(at("/result/requirements/0/git/commit"))
                    .keep(unset("/result/requirements/0/source")),
            )
    }),
    Rule::new("source-and-git-together-or-neither", || {
        library()
            .when(
                put("/v1/bundles/{ns}-both")
                    .json(
                        json!({"requirements": [{"source": "{ns}", "git": {"commit": "9fceb02"}}]}),
                    )
                    .keep(status()),
            )
            .when(get("/v1/bundles/{ns}-both").keep(at("/result/requirements")))
            .when(
                put("/v1/bundles/{ns}-neither")
                    .json(json!({"requirements": [{"path": "data.lib"}]}))
                    .keep(status()),
            )
            .when(get("/v1/bundles/{ns}-neither").keep(at("/result/requirements")))
    }),
    Rule::new("git-commit-in-source-or-stack", || {
        let definition = json!({"requirements": [{"git": {"commit": "9fceb02"}}]});
        scenario()
            .when(
                put("/v1/sources/{ns}")
                    .json(definition.clone())
                    .keep(status()),
            )
            .when(get("/v1/sources/{ns}").keep(at("/result/requirements")))
            .when(put("/v1/stacks/{ns}").json(definition).keep(status()))
            .when(get("/v1/stacks/{ns}").keep(at("/result/requirements")))
    }),
];

/// A resource of this kind that holds one requirement, read back.
fn required_by(scenario: Scenario, kind: &str, requirement: Value) -> (Scenario, String) {
    let path = format!("/v1/{kind}/{{ns}}-{kind}");
    let mut definition = json!({"requirements": [requirement]});
    if let ("stacks", Some(fields)) = (kind, definition.as_object_mut()) {
        fields.insert("selector".to_owned(), json!({"env": ["prod"]}));
    }
    (scenario.given(put(&path).json(definition)), path)
}

/// A stored source that requirements can name.
fn library() -> Scenario {
    scenario().given(put("/v1/sources/{ns}").json(json!({})))
}

/// One field of a requirement, read back from every kind of resource that has requirements.
fn kept_everywhere(field: &str) -> Scenario {
    let requirement = json!({"source": "{ns}", "path": "data.lib", "prefix": "data.vendor.lib"});
    library().each(["bundles", "sources", "stacks"], |scenario, kind| {
        let (scenario, path) = required_by(scenario, kind, requirement.clone());
        scenario.when(get(path).keep(at(format!("/result/requirements/0/{field}"))))
    })
}

/// `source` of a requirement, read back from one kind of resource.
fn source_kept(kind: &str) -> Scenario {
    let (scenario, path) = required_by(library(), kind, json!({"source": "{ns}"}));
    scenario.when(get(path).keep(at("/result/requirements/0/source")))
}

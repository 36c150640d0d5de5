//! Resource bodies

use super::SOURCE;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bodies-are-objects", || {
        scenario()
            .when(
                put("/v1/bundles/{ns}")
                    .json(json!({}))
                    .keep(kind("", Kind::Object)),
            )
            .when(
                get("/v1/bundles/{ns}")
                    .keep(kind("", Kind::Object))
                    .keep(kind("/result", Kind::Object)),
            )
            .when(get("/v1/bundles").keep(kind("", Kind::Object)))
            .when(get("/v1/bundles/{ns}-absent").keep(kind("", Kind::Object)))
            .when(delete("/v1/bundles/{ns}").keep(kind("", Kind::Object)))
    }),
    Rule::new("field-names-exact", || {
        scenario()
            .given(SOURCE.create_as("-lib"))
            .given(put("/v1/bundles/{ns}").json(json!({
                "labels": {"env": "prod"},
                "object_storage": {"filesystem": {"path": "{ns}.tar.gz"}},
                "requirements": [{"source": "{ns}-lib", "path": "data.lib", "prefix": "data.vendor"}],
                "excluded_files": ["*.md"],
            })))
            .given(put("/v1/sources/{ns}").json(json!({
                "git": {
                    "repo": "https://git.example.com/policies.git",
                    "reference": "refs/heads/main",
                    "included_files": ["*.rego"],
                    "excluded_files": ["*_test.rego"],
                },
                "datasources": [{
                    "name": "users",
                    "path": "users",
                    "type": "http",
                    "config": {"url": "https://data.example.com/users"},
                    "transform_query": "data.users.list",
                }],
                "requirements": [{"source": "{ns}-lib"}],
            })))
            .given(put("/v1/stacks/{ns}").json(json!({
                "selector": {"env": ["prod"]},
                "exclude_selector": {"team": ["legacy"]},
                "requirements": [{"source": "{ns}-lib"}],
            })))
            .when(
                get("/v1/bundles/{ns}")
                    .keep(kind("/result/name", Kind::String))
                    .keep(kind("/result/labels", Kind::Object))
                    .keep(kind("/result/object_storage/filesystem/path", Kind::String))
                    .keep(kind("/result/requirements/0/source", Kind::String))
                    .keep(kind("/result/requirements/0/path", Kind::String))
                    .keep(kind("/result/requirements/0/prefix", Kind::String))
                    .keep(kind("/result/excluded_files", Kind::Array)),
            )
            .when(
                get("/v1/sources/{ns}")
                    .keep(kind("/result/name", Kind::String))
                    .keep(kind("/result/git/repo", Kind::String))
                    .keep(kind("/result/git/reference", Kind::String))
                    .keep(kind("/result/git/included_files", Kind::Array))
                    .keep(kind("/result/git/excluded_files", Kind::Array))
                    .keep(kind("/result/datasources/0/name", Kind::String))
                    .keep(kind("/result/datasources/0/path", Kind::String))
                    .keep(kind("/result/datasources/0/type", Kind::String))
                    .keep(kind("/result/datasources/0/config/url", Kind::String))
                    .keep(kind("/result/datasources/0/transform_query", Kind::String))
                    .keep(kind("/result/requirements/0/source", Kind::String)),
            )
            .when(
                get("/v1/stacks/{ns}")
                    .keep(kind("/result/name", Kind::String))
                    .keep(kind("/result/selector", Kind::Object))
                    .keep(kind("/result/exclude_selector", Kind::Object))
                    .keep(kind("/result/requirements/0/source", Kind::String)),
            )
    }),
    Rule::new("unknown-fields", || {
        scenario()
            .when(
                put("/v1/bundles/{ns}")
                    .json(json!({"colour": "red"}))
                    .keep(status()),
            )
            .when(
                get("/v1/bundles/{ns}")
                    .keep(status())
                    .keep(at("/result/colour")),
            )
    }),
];

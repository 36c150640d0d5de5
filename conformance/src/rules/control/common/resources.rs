//! Resource bodies

use super::{RESOURCES, SECRET, SOURCE};
use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bodies-are-objects", || {
        let is_object = |step: Step| step.expect(kind("", Kind::Object));
        scenario().each(RESOURCES, |scenario, resource| {
            let read = is_object(get(resource.item("")));
            let read = match resource.list == SECRET.list {
                true => read,
                false => read.expect(kind("/result", Kind::Object)),
            };
            scenario
                .when(is_object(resource.create()))
                .when(read)
                .when(is_object(get(resource.list)))
                .when(is_object(get(resource.item("-absent"))))
                .when(is_object(delete(resource.item(""))))
        })
    }),
    // A read of a secret shows only its name, whatever was stored.
    Rule::new("definitions-are-objects", || {
        let forms = [
            ("-array", json!(["{ns}"])),
            ("-string", json!("{ns}")),
            ("-number", json!(1)),
        ];
        scenario()
            .given(SOURCE.create_as("-whole"))
            .each(RESOURCES, |scenario, resource| {
                let form = match resource.list == SECRET.list {
                    true => Kind::String,
                    false => Kind::Object,
                };
                scenario.each(forms.clone(), |scenario, (suffix, body)| {
                    let expected_type = Check::Type("/result".to_owned(), vec![form]);
                    scenario
                        .when(
                            put(resource.item(suffix))
                                .json(body)
                                .off_contract("the body is not an object"),
                        )
                        .when(get(resource.item(suffix)).expect(either([
                            alternative("no such resource", [Check::Status(404)]),
                            alternative("nothing of the body", [expected_type]),
                        ])))
                })
            })
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
                "git": definitions::git(json!({})),
                "datasources": [{
                    "name": "users",
                    "path": "users",
                    "type": "http",
                    "config": {"url": "https://data.example.com/users", "headers": {}},
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
                    .expect(kind("/result/name", Kind::String))
                    .expect(kind("/result/labels", Kind::Object))
                    .expect(kind("/result/object_storage/filesystem/path", Kind::String))
                    .expect(kind("/result/requirements/0/source", Kind::String))
                    .expect(kind("/result/requirements/0/path", Kind::String))
                    .expect(kind("/result/requirements/0/prefix", Kind::String))
                    .expect(kind("/result/excluded_files", Kind::Array)),
            )
            .when(
                get("/v1/sources/{ns}")
                    .expect(kind("/result/name", Kind::String))
                    .expect(kind("/result/git/repo", Kind::String))
                    .expect(kind("/result/git/reference", Kind::String))
                    .expect(kind("/result/git/included_files", Kind::Array))
                    .expect(kind("/result/git/excluded_files", Kind::Array))
                    .expect(kind("/result/datasources/0/name", Kind::String))
                    .expect(kind("/result/datasources/0/path", Kind::String))
                    .expect(kind("/result/datasources/0/type", Kind::String))
                    .expect(kind("/result/datasources/0/config/url", Kind::String))
                    .expect(kind("/result/datasources/0/transform_query", Kind::String))
                    .expect(kind("/result/requirements/0/source", Kind::String)),
            )
            .when(
                get("/v1/stacks/{ns}")
                    .expect(kind("/result/name", Kind::String))
                    .expect(kind("/result/selector", Kind::Object))
                    .expect(kind("/result/exclude_selector", Kind::Object))
                    .expect(kind("/result/requirements/0/source", Kind::String)),
            )
    }),
    Rule::new("unknown-fields", || {
        scenario()
            .when(
                put("/v1/bundles/{ns}")
                    .json(definitions::bundle("", json!({"colour": "red"})))
                    .expect(status()),
            )
            .when(
                get("/v1/bundles/{ns}")
                    .expect(status())
                    .expect(at("/result/colour")),
            )
    }),
];

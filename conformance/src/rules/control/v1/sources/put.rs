//! PUT /v1/sources/{source}

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("takes-git-form", || {
        accepted(json!({"git": definitions::git(json!({}))}), |read| {
            read.expect(at("/result/git/repo"))
                .expect(at("/result/git/reference"))
        })
    }),
    Rule::new("takes-directory-form", || {
        accepted(json!({"directory": "policies"}), |read| {
            read.expect(at("/result/name"))
        })
    }),
];

/// Expects that a source of this form with requirements and datasources is accepted, and that a GET
/// returns both.
fn accepted(form: Value, read: fn(Step) -> Step) -> Scenario {
    let more = json!({
        "requirements": [{"source": "{ns}-lib"}],
        "datasources": [{
            "name": "users",
            "path": "app/users",
            "type": "http",
            "config": {"url": "https://data.example.com/users", "headers": {}},
        }],
    });
    scenario()
        .given(put("/v1/sources/{ns}-lib").json(definitions::source(json!({}))))
        .when(
            put("/v1/sources/{ns}")
                .json(definitions::source(definitions::with(more, form)))
                .expect(status())
                .expect(body()),
        )
        .when(
            read(get("/v1/sources/{ns}"))
                .expect(at("/result/requirements/0/source"))
                .expect(at("/result/datasources/0/path")),
        )
}

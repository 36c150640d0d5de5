//! PUT /v1/sources/{source}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("takes-git-form", || {
        let datasource = json!({
            "name": "users",
            "path": "app/users",
            "type": "http",
            "config": {"url": "https://data.example.com/users"},
        });
        scenario()
            .given(put("/v1/sources/{ns}-lib").json(json!({"git": {"repo": "https://git.example.com/policies.git", "reference": "refs/heads/main"}})))
            .when(
                put("/v1/sources/{ns}")
                    .json(json!({
                        "git": {
                            "repo": "https://git.example.com/policies.git",
                            "reference": "refs/heads/main",
                        },
                        "requirements": [{"source": "{ns}-lib"}],
                        "datasources": [datasource],
                    }))
                    .keep(status())
                    .keep(body()),
            )
            .when(
                get("/v1/sources/{ns}")
                    .keep(at("/result/git/repo"))
                    .keep(at("/result/git/reference"))
                    .keep(at("/result/requirements/0/source"))
                    .keep(at("/result/datasources/0/path")),
            )
    }),
    Rule::new("takes-directory-form", || {
        scenario()
            .when(
                put("/v1/sources/{ns}")
                    .json(json!({"directory": "policies"}))
                    .keep(status())
                    .keep(body()),
            )
            .when(get("/v1/sources/{ns}").keep(at("/result/name")))
    }),
];

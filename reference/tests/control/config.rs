//! Configuration: errors with their locations, and the definitions after a start.

use libtest_mimic::Failed;

use crate::environment::{Environment, TOKENS};
use crate::transcript::run_script;
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[
    ("config-refusals", refusals),
    ("config-declares", declares),
    ("config-folders-and-variables", folders_and_variables),
    ("keys-stop-working", keys_stop_working),
    ("another-encryption-key-is-refused", another_key),
];

/// Invalid configurations, each with parts of the expected error.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "tokenz: {}",
        &["refused.yaml:1:1:", "unknown field `tokenz`"],
    ),
    (
        "tokens:\n  a:\n    api_key: k\n    scopes: [{role: viewer}]\n    extra: 1\n",
        &["refused.yaml:5:5:", "unknown field `extra`"],
    ),
    (
        "bundles:\n  b:\n    labels: {}\n    label: {}\n",
        &["refused.yaml:4:5:", "unknown field `label`"],
    ),
    (
        "sources: {s: {git: {url: u}}}",
        &["refused.yaml:1:", "unknown field `url`"],
    ),
    (
        "stacks: {s: {selektor: {}}}",
        &["refused.yaml:1:", "unknown field `selektor`"],
    ),
    (
        "bundles: {b: {labels: {a: [1]}}}",
        &["refused.yaml:1:", "expected a string", "not sequence"],
    ),
    (
        "sources: {s: {directoty: d}}",
        &["refused.yaml:1:", "unknown field `directoty`"],
    ),
    (
        "service: {api_prefix: my/api}",
        &["refused.yaml:1:", "does not begin with a slash"],
    ),
    (
        "service: {api_prefix: /my/../api}",
        &["refused.yaml:1:", "expected a path such as /my/api"],
    ),
    (
        "database: {sql: {driver: sqlite, file: x}}",
        &["refused.yaml:1:", "unknown field `file`"],
    ),
    ("bundles: [", &["refused.yaml:"]),
    (
        "tokens:\n  a:\n    api_key: k\n    scopes: [{role: king}]\n",
        &["refused.yaml:4:", "unknown variant `king`", "stack_owner"],
    ),
    (
        "tokens: {a: {api_key: k, scopes: []}}",
        &["refused.yaml:1:", "exactly one scope"],
    ),
    (
        "tokens: {a: {api_key: k, scopes: [{role: viewer}, {role: owner}]}}",
        &["exactly one scope"],
    ),
    (
        "tokens: {a: {api_key: '', scopes: [{role: viewer}]}}",
        &["cannot be empty"],
    ),
    (
        "tokens: {a: {scopes: [{role: viewer}]}}",
        &["missing field `api_key`"],
    ),
    (
        "tokens: {'': {api_key: k, scopes: [{role: viewer}]}}",
        &["a name cannot be empty"],
    ),
    (
        "tokens: {a: {api_key: k, scopes: [{role: viewer}]}, b: {api_key: k, scopes: [{role: owner}]}}",
        &["refused.yaml: token `b`", "same key as token `a`"],
    ),
    (
        "tokens: {a: {api_key: '${NOT_SET_ANYWHERE}', scopes: [{role: viewer}]}}",
        &["`NOT_SET_ANYWHERE` is not set"],
    ),
    (
        "secrets: {k: {token: '${NOT_SET_ANYWHERE}'}}",
        &["refused.yaml:1:14:", "secrets.k:", "is not set"],
    ),
    (
        "secrets:\n  k: 5\n",
        &["refused.yaml:2:6:", "expected a mapping", ", not integer"],
    ),
    (
        "tokens:\n  a: {api_key: 'k\n",
        &["refused.yaml:3:1:", "quoted scalar"],
    ),
    (
        "tokens: {a: hush-hush}",
        &["tokens.a: expected a token, not string"],
    ),
    (
        "tokens: {a: {api_key: 'k ', scopes: [{role: viewer}]}}",
        &["refused.yaml:1:", "printable ASCII without space"],
    ),
    (
        "tokens: {a: {api_key: clé, scopes: [{role: viewer}]}}",
        &["printable ASCII"],
    ),
    (
        "bundles: {b: {}, c: {}, b: {}}",
        &["refused.yaml:1:10:", "bundles: `b` is declared twice"],
    ),
    (
        "bundles: {b: {name: c}}",
        &["refused.yaml: bundle `b`", "names the bundle `c`"],
    ),
    (
        "bundles: {b: {object_storage: {aws: {bucket: b}}}}",
        &["bundle `b`", "object_storage.aws.key: is required"],
    ),
    (
        "sources: {s: {git: {repo: 'https://h/x?private_token=t'}}}",
        &[
            "source `s`",
            "git.repo: an address of a repository has no query",
        ],
    ),
    (
        "stacks: {t: {selector: {a: ['[']}}}",
        &["stack `t`", "pattern `[`"],
    ),
    (
        "bundles: {b: {requirements: [{source: none}]}}",
        &["bundle `b` names source `none`, which does not exist"],
    ),
];

fn refusals(environment: Environment) -> Outcome {
    Box::pin(async move {
        for (config, parts) in REFUSED {
            let path = environment.file("refused.yaml", config)?;
            let message = match environment.open_with(&[path]).await {
                Ok(_) => return Err(format!("{config}\nwas accepted").into()),
                Err(refusal) => refusal.to_string(),
            };
            if let Some(part) = parts.iter().find(|part| !message.contains(*part)) {
                return Err(format!("{config}\nsays {message}, without {part}").into());
            }
        }
        let absent = environment.folder().join("absent.yaml");
        match environment.open_with(&[absent]).await {
            Ok(_) => Err("an absent file was accepted".into()),
            Err(_) => Ok(()),
        }
    })
}

fn declares(environment: Environment) -> Outcome {
    Box::pin(async move {
        let declared = "
            secrets: {k: {type: token_auth, token: t}}
            sources:
              a: {requirements: [{source: b}], git: {repo: r, credentials: k}}
              b: {requirements: [{source: a}]}
            bundles: {x: {labels: {from: config}, requirements: [{source: a}]}}
            stacks: {t: {selector: {env: [prod]}, requirements: [{source: b}]}}
        ";
        let control = environment.open(declared).await?;
        run_script(
            &control,
            r#"
            admin GET /v1/secrets => 200 {"result":["k"],"next_cursor":null}
            admin GET /v1/bundles/x => 200 {"result":{"name":"x","labels":{"from":"config"},"requirements":[{"source":"a"}]}}
            admin GET /v1/stacks/t => 200 {"result":{"name":"t","selector":{"env":["prod"]},"requirements":[{"source":"b"}]}}
            admin DELETE /v1/secrets/k => 409 conflict source `a` (git)
            admin DELETE /v1/sources/b => 409 conflict
            # Nobody but the administrator manages what the configuration declares.
            owner PUT /v1/bundles/x {} => 403 not_authorized
            owner GET /v1/bundles/x => 404 not_found
            viewer GET /v1/bundles/x => 200
            admin PUT /v1/bundles/x {"labels":{"from":"api"}} => 200 {}
            owner PUT /v1/bundles/mine {} => 200 {}
            "#,
        )
        .await?;
        drop(control);
        // The next start writes the declared definitions again; definitions of the API stay.
        let control = environment
            .open("bundles: {x: {labels: {from: config}}, mine: {}}")
            .await?;
        run_script(
            &control,
            r#"
            admin GET /v1/bundles/x => 200 {"result":{"name":"x","labels":{"from":"config"}}}
            owner GET /v1/bundles/mine => 200
            admin GET /v1/stacks/t => 200
            admin DELETE /v1/secrets/k => 409 conflict
            "#,
        )
        .await
    })
}

fn folders_and_variables(environment: Environment) -> Outcome {
    Box::pin(async move {
        environment.file("folder/10.yaml", TOKENS)?;
        environment.file(
            "folder/20.yml",
            "bundles: {a: {labels: {at: first}}, b: {}}",
        )?;
        environment.file(
            "folder/30.json",
            r#"{"bundles":{"a":{"labels":{"at":"last"}}}}"#,
        )?;
        environment.file("folder/empty.yaml", "\n")?;
        environment.file("folder/notes.txt", "not: [a configuration")?;
        let variable = "tokens: {path: {api_key: 'x${PATH}-key', scopes: [{role: viewer}]}}";
        let variable = environment.file("variable.yaml", variable)?;
        let folder = environment.folder().join("folder");
        let control = environment.open_with(&[folder, variable]).await?;
        let path = format!("x{}", std::env::var("PATH")?);
        let script = format!(
            r#"
            admin GET /v1/bundles => 200 {{"result":[{{"name":"a","labels":{{"at":"last"}}}},{{"name":"b"}}],"next_cursor":null}}
            {path} GET /v1/bundles/b => 200
            {path} PUT /v1/bundles/b {{}} => 403 not_authorized
            "#
        );
        run_script(&control, &script).await
    })
}

fn keys_stop_working(environment: Environment) -> Outcome {
    Box::pin(async move {
        let guest = "tokens: {guest: {api_key: guest-key, scopes: [{role: administrator}]}}";
        let control = environment.open(guest).await?;
        run_script(&control, "guest PUT /v1/bundles/b {} => 200 {}").await?;
        drop(control);
        let control = environment.open("").await?;
        run_script(&control, "guest GET /v1/bundles/b => 401").await?;
        run_script(&control, "admin GET /v1/bundles/b => 200").await
    })
}

fn another_key(environment: Environment) -> Outcome {
    Box::pin(async move {
        drop(environment.open("").await?);
        environment.file("key", "HxAREhMUFRYXGBkaGxwdHgABAgMEBQYHCAkKCwwNDg8=")?;
        let refused = environment.open("").await;
        match refused.map_err(|refusal: Failed| refusal.message().unwrap_or_default().to_owned()) {
            Err(message) if message.contains("encryption key") => Ok(()),
            Err(message) => Err(message.into()),
            Ok(_) => Err("another key was accepted".into()),
        }
    })
}

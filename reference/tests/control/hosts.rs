//! Hosts to which secrets are sent: only hosts that the secret allows, and not over plain http.

use serde_json::Value;

use crate::environment::Environment;
use crate::listener::Listener;
use crate::transcript::run_script;
use crate::workers::{open, status};
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[
    ("secrets-go-to-allowed-hosts", allowed_hosts),
    ("secrets-do-not-go-over-http", over_http),
];

/// `allowed_hosts` of a secret, with `ADDRESS` for the server, and true if the server is allowed.
const ALLOWED: &[(&str, &str, bool)] = &[
    ("all", "null", true),
    ("own", r#"["ADDRESS"]"#, true),
    ("host", r#"["a.example","127.0.0.1"]"#, true),
    ("glob", r#"["127.0.*"]"#, true),
    ("none", "[]", false),
    ("other", r#"["a.example"]"#, false),
    ("port", r#"["127.0.0.1:1"]"#, false),
];

/// Sources that are fetched with a secret: the name, the definition, and the members of the secret.
const FETCHED: &[(&str, &str, &str)] = &[
    (
        "http",
        r#"{"datasources":[{"name":"d","path":"d","type":"http","config":{"url":"http://ADDRESS/NAME"},"credentials":"SECRET"}]}"#,
        r#""type":"token_auth","token":"hush-hush""#,
    ),
    (
        "key",
        r#"{"datasources":[{"name":"d","path":"d","type":"http","config":{"url":"http://ADDRESS/NAME"},"credentials":"SECRET"}]}"#,
        r#""type":"api_key","key":"x-key","value":"hush-hush""#,
    ),
    (
        "oidc",
        r#"{"datasources":[{"name":"d","path":"d","type":"http","config":{"url":"http://ADDRESS/NAME"},"credentials":"SECRET"}]}"#,
        r#""type":"oidc_client_credentials","issuer":"http://ADDRESS/NAME","client_id":"c","client_secret":"hush-hush""#,
    ),
    (
        "s3",
        r#"{"datasources":[{"name":"d","path":"d","type":"s3","config":{"endpoint":"http://ADDRESS","bucket":"NAME","key":"x"},"credentials":"SECRET"}]}"#,
        r#""type":"aws_auth","access_key_id":"a","secret_access_key":"hush-hush""#,
    ),
    (
        "git",
        r#"{"git":{"repo":"http://ADDRESS/NAME","reference":"main","credentials":"SECRET"}}"#,
        r#""type":"basic_auth","username":"u","password":"hush-hush""#,
    ),
];

fn allowed_hosts(environment: Environment) -> Outcome {
    Box::pin(async move {
        let listener = Listener::start().await?;
        let further = ["--allow-host", "127.0.0.1", "--allow-secrets-over-http"];
        let control = open(&environment, &further).await?;
        let mut script = String::new();
        let mut cases = Vec::new();
        for (kind, source, value) in FETCHED {
            for (name, allowed, may) in ALLOWED {
                let name = format!("{kind}-{name}");
                let line = format!(
                    r#"
                    admin PUT /v1/secrets/NAME {{"value":{{{value}}},"allowed_hosts":{allowed}}} => 200
                    admin PUT /v1/sources/NAME {source} => 200
                    admin PUT /v1/bundles/NAME {{"object_storage":{{"filesystem":{{"path":"NAME.tgz"}}}},"requirements":[{{"source":"NAME"}}]}} => 200
                    "#
                );
                let line = line.replace("SECRET", &name).replace("NAME", &name);
                script.push_str(&line.replace("ADDRESS", &listener.address));
                cases.push((name, *may));
            }
        }
        run_script(&control, &script).await?;
        let workers = control.start_workers().await?;
        for (name, may) in &cases {
            // The server implements neither Git nor OpenID Connect; the test only checks if it gets
            // requests.
            let expected = match (*may, name.split('-').next()) {
                (true, Some("git")) => "SYNC_FAILED",
                (false, _) | (true, Some("oidc")) => "CONFIG_ERROR",
                (true, _) => "SUCCESS",
            };
            let status = status(&control, name, expected).await?;
            let is_contacted = !listener.requests_below(&format!("/{name}")).is_empty();
            let message = status.get("error_message").and_then(Value::as_str);
            let message = message.unwrap_or_default();
            let refused = message.contains("allowed_hosts") && message.contains(name.as_str());
            if is_contacted != *may || refused == *may || message.contains("hush") {
                return Err(format!("{name} asked {is_contacted}: {status}").into());
            }
        }
        workers.shutdown().await;
        Ok(())
    })
}

fn over_http(environment: Environment) -> Outcome {
    Box::pin(async move {
        let listener = Listener::start().await?;
        let address = listener.address.clone();
        // Declared definitions are checked only when they are built.
        let mut config = String::from("secrets:\n");
        for (kind, _, value) in FETCHED {
            let value = value.replace("ADDRESS", &address).replace("NAME", kind);
            config.push_str(&format!("  {kind}: {{\"value\": {{{value}}}}}\n"));
        }
        config.push_str("  azure: {\"type\":\"azure_auth\",\"account_name\":\"a\",\"account_key\":\"aHVzaA==\"}\nsources:\n");
        let filled = |text: &str, kind: &str| {
            let text = text.replace("SECRET", kind).replace("NAME", kind);
            text.replace("ADDRESS", &address)
        };
        for (kind, source, _) in FETCHED {
            config.push_str(&format!("  {kind}: {}\n", filled(source, kind)));
        }
        config.push_str("bundles:\n");
        for (kind, _, _) in FETCHED {
            config.push_str(&format!(
                "  {kind}: {{\"object_storage\":{{\"filesystem\":{{\"path\":\"{kind}\"}}}},\"requirements\":[{{\"source\":\"{kind}\"}}]}}\n"
            ));
        }
        let storages = [
            (
                "to-aws",
                r#"{"aws":{"bucket":"b","key":"to-aws","region":"r","url":"http://ADDRESS","credentials":"s3"}}"#,
                "object_storage.aws.url",
            ),
            (
                "to-azure",
                r#"{"azure":{"account_url":"http://ADDRESS/a","container":"c","path":"x","credentials":"azure"}}"#,
                "object_storage.azure.account_url",
            ),
        ];
        for (name, storage, _) in storages {
            let storage = filled(storage, name);
            config.push_str(&format!("  {name}: {{\"object_storage\":{storage}}}\n"));
        }
        let config = environment.file("declared.yaml", &config)?;
        let config = config.display().to_string();
        let further = ["--config", &config, "--allow-host", "127.0.0.1"];
        let control = open(&environment, &further).await?;
        let workers = control.start_workers().await?;
        let kinds = FETCHED.iter().map(|(kind, ..)| *kind);
        for name in kinds.chain(storages.iter().map(|(name, ..)| *name)) {
            let status = status(&control, name, "CONFIG_ERROR").await?;
            let message = status.get("error_message").and_then(Value::as_str);
            let reason = "is not sent over plain http";
            if !message.is_some_and(|message| message.contains(reason)) {
                return Err(format!("{name}: {status}").into());
            }
        }
        if !listener.requests_below("/").is_empty() {
            return Err("the server was asked".into());
        }
        // Definitions in requests are checked immediately.
        let mut script = String::new();
        for (kind, source, _) in FETCHED {
            let source = filled(source, kind);
            script.push_str(&format!(
                "admin PUT /v1/sources/{kind} {source} => 400 invalid_parameter credentials are not sent over plain http\n"
            ));
            let open = source.replace(&format!(",\"credentials\":\"{kind}\""), "");
            script.push_str(&format!(
                "admin PUT /v1/sources/open-{kind} {open} => 200\n"
            ));
        }
        for (name, storage, place) in storages {
            let storage = filled(storage, name);
            script.push_str(&format!(
                "admin PUT /v1/bundles/{name} {{\"object_storage\":{storage}}} => 400 invalid_parameter {place}\n"
            ));
        }
        run_script(&control, &script).await?;
        workers.shutdown().await;
        Ok(())
    })
}

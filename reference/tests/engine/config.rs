//! Configuration: its representation in the API, its effects, and invalid ones.

use std::path::PathBuf;

use reference::engine::{Engine, Options};
use rstest::rstest;
use serde_json::{Value, json};

use crate::exchange::{engine, request, run_script_on};

fn set(overrides: &[&str]) -> Options {
    Options {
        set: overrides.iter().map(|text| (*text).to_owned()).collect(),
        ..Options::default()
    }
}

/// Returns the error of a start with these options.
fn refused(options: &Options) -> String {
    match Engine::open(options) {
        Ok(_) => "accepted".to_owned(),
        Err(failure) => failure.to_string(),
    }
}

/// Returns options with a configuration file, and the folder that contains it.
pub(crate) fn file(name: &str, text: &str) -> (tempfile::TempDir, Options) {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("no folder for the configuration");
    };
    let path: PathBuf = folder.path().join(name);
    if let Err(failure) = std::fs::write(&path, text) {
        panic!("configuration cannot be written: {failure}");
    }
    let options = Options {
        config_file: Some(path),
        ..Options::default()
    };
    (folder, options)
}

/// Returns the configuration in the API, without the random id and the version.
fn displayed_config(engine: &Engine) -> Value {
    let reply = engine.respond(request(
        "GET",
        "/v1/config",
        http::HeaderMap::new(),
        Vec::new(),
    ));
    let mut answer: Value = serde_json::from_slice(&reply.body.bytes()).unwrap_or_default();
    let result = answer["result"].take();
    let (id, version) = (&result["labels"]["id"], &result["labels"]["version"]);
    assert!(id.is_string() && version.is_string(), "{result}");
    let mut result = result.clone();
    if let Some(labels) = result["labels"].as_object_mut() {
        labels.remove("id");
        labels.remove("version");
    }
    result
}

#[test]
fn secrets_are_not_shown() {
    let (_folder, options) = file(
        "config.yaml",
        r"
services:
  depot:
    url: https://user:hidden@depot.example/v1?sig=hidden
    headers: {X-Api-Key: hidden, X-Other: hidden}
    credentials: {bearer: {token: hidden}}
labels: {region: west, key: shown}
keys:
  key: {algorithm: HS256, key: hidden, private_key: hidden, scope: write}
decision_logs: {console: true}
status: {service: depot}
bundles: {rules: {service: depot, resource: rules.tar.gz?sig=hidden}}
default_decision: /checks/decision
",
    );
    assert_eq!(
        displayed_config(&engine(options)),
        json!({
            "services": {"depot": {
                "url": "https://***@depot.example/v1?***",
                "headers": {"X-Api-Key": "***", "X-Other": "***"},
            }},
            "labels": {"region": "west", "key": "shown"},
            "keys": {"key": {"algorithm": "HS256", "scope": "write"}},
            "decision_logs": {"console": true},
            "status": {"service": "depot"},
            "bundles": {"rules": {"service": "depot", "resource": "rules.tar.gz?***"}},
            "default_decision": "/checks/decision",
            "default_authorization_decision": "/system/authz/allow",
        })
    );
    let (_folder, options) = file(
        "config.json",
        r#"{"services": [{"name": "depot", "url": "http://depot", "headers": {"a": "hidden"}, "credentials": {"bearer": {"token": "hidden"}}}]}"#,
    );
    assert_eq!(
        displayed_config(&engine(options))["services"],
        json!([{"name": "depot", "url": "http://depot", "headers": {"a": "***"}}])
    );
}

#[test]
fn overrides_change_the_configuration() {
    let overrides = [
        r"labels.region=west,labels.a\.b=c\,d,labels.zero=007",
        "decision_logs.console=true,decision_logs.request_context.http.headers={X-A,X-B}",
        "decision_logs.request_context.http.headers[1]=X-C,services[0].name=s",
        "services[0].url=http://s,services[1].url=http://t,services[1].name=t",
        "server.decoding.max_length=10,decision_logs.console=false",
    ];
    let (_folder, mut options) = file(
        "config.yaml",
        "labels: {region: east, own: kept}\nservices: [{name: gone, url: http://gone}]\n",
    );
    options.set = overrides.map(str::to_owned).into();
    assert_eq!(
        displayed_config(&engine(options)),
        json!({
            "labels": {"region": "west", "a.b": "c,d", "zero": "007", "own": "kept"},
            "decision_logs": {
                "console": false,
                "request_context": {"http": {"headers": ["X-A", "X-C"]}},
            },
            "services": [
                {"name": "s", "url": "http://s"},
                {"name": "t", "url": "http://t"},
            ],
            "server": {"decoding": {"max_length": 10}},
            "default_decision": "/system/main",
            "default_authorization_decision": "/system/authz/allow",
        })
    );
}

#[test]
fn variables_and_files_are_put_in() {
    let (_folder, mut options) = file(
        "config.yaml",
        "labels: {set: '${CARGO_PKG_NAME}!', unset: '${NOBODY_SETS_THIS}', none: 'a${}b'}\n",
    );
    let (folder, _) = file("token", " west \r\n\n");
    options.set_file = vec![format!("labels.region={}/token", folder.path().display())];
    assert_eq!(
        displayed_config(&engine(options))["labels"],
        json!({
            "set": "opa-reference!",
            "unset": "${NOBODY_SETS_THIS}",
            "none": "ab",
            "region": "west",
        })
    );
}

#[test]
fn merge_keys_and_unknown_keys_are_taken() {
    let (_folder, options) = file(
        "config.yaml",
        "base: &base {a: x, b: y}\nlabels:\n  <<: *base\n  b: z\nservices:\n  s:\n    url: http://x\n    \
         credentials: {bearer: {token: t, more: 1}}\n",
    );
    assert_eq!(
        displayed_config(&engine(options))["labels"],
        json!({"a": "x", "b": "z"})
    );
    let (_folder, options) = file("config.yaml", "x: &x {a: [1]}\nlabels: {<<: *x}\n");
    let message = refused(&options);
    assert!(message.contains("invalid type: sequence"), "{message}");
}

#[test]
fn the_default_decision_is_answered_at_the_root() {
    for path in ["checks/main", "/checks/main"] {
        run_script_on(
            &engine(set(&[&format!("default_decision={path}")])),
            r#"
            POST / {} => 404 undefined_document
            PUT /v1/data/checks/main 7 => 204
            POST / {} => 200 7
            "#,
        );
    }
}

#[test]
fn decisions_have_ids_when_they_are_logged() {
    let decide = |engine: &Engine, method: &str| {
        let request = request(method, "/v1/data/none", http::HeaderMap::new(), Vec::new());
        let reply = engine.respond(request);
        let answer: Value = serde_json::from_slice(&reply.body.bytes()).unwrap_or_default();
        answer["decision_id"].as_str().map(str::to_owned)
    };
    let logging = engine(set(&["decision_logs.console=true"]));
    let (first, second) = (decide(&logging, "GET"), decide(&logging, "POST"));
    assert!(first.is_some() && second.is_some() && first != second);
    assert_eq!(decide(&Engine::default(), "GET"), None);
    run_script_on(&logging, "POST /v0/data/none {} => 404 undefined_document");
}

#[test]
fn bundles_that_cannot_activate_are_not_healthy() {
    for bundle in ["bundles.rules.resource=rules", "bundle.name=rules"] {
        let overrides = format!("services.depot.url=http://depot,{bundle},status.console=true");
        run_script_on(
            &engine(set(&[&overrides])),
            r#"
        GET /health => 200 {}
        GET /health?bundles=true => 500 {"error":"not all configured bundles have been activated"}
        GET /health?plugins => 500 {"error":"not all plugins in OK state"}
        GET /health?plugins&exclude-plugin=bundle => 500 {"error":"not all plugins in OK state"}
        GET /health?plugins&exclude-plugin=bundle&exclude-plugin=status => 200 {}
        "#,
        );
    }
}

#[test]
fn bodies_have_limits() {
    let limited = engine(set(&["server.decoding.max_length=10"]));
    assert_eq!(reference::http::Service::body_limit(&limited), 10);
}

#[rstest]
#[case::disk_storage(
    "c.yaml",
    "storage: {disk: {}}\n",
    "storage.disk: documents are kept in memory"
)]
#[case::text_as_a_length(
    "c.yaml",
    "server:\n  decoding:\n    max_length: x\n",
    "line 3 column 17"
)]
#[case::number_as_a_text(
    "c.json",
    "{\"labels\": {},\n \"default_decision\": 1}",
    "line 2 column 22"
)]
#[case::list_as_a_text("c.yaml", "labels: {a: [1]}\n", "expected a string")]
#[case::list("c.yaml", "- 1\n", "expected an object")]
#[case::unknown_credentials(
    "c.yaml",
    "services: {depot: {credentials: {digest: {}}}}\n",
    "unknown field `digest`"
)]
#[case::unknown_trigger(
    "c.yaml",
    "bundles: {rules: {trigger: never}}\n",
    "unknown variant `never`"
)]
#[case::negative_delay(
    "c.yaml",
    "bundles: {rules: {polling: {min_delay_seconds: -1}}}\n",
    "number of seconds"
)]
#[case::nameless_service("c.yaml", "services: [{url: http://x}]\n", "a service has no name")]
#[case::services_of_one_name(
    "c.yaml",
    "services: [{name: a, url: http://x}, {name: a, url: http://x}]\n",
    "two services are named `a`"
)]
#[case::unknown_plugin(
    "c.yaml",
    "plugins: {envoy: {}}\n",
    "plugins: there is no plugin `envoy`"
)]
#[case::unknown_log_plugin(
    "c.yaml",
    "decision_logs: {console: true, plugin: own}\n",
    "decision_logs: there is no plugin `own`"
)]
#[case::unknown_status_plugin(
    "c.yaml",
    "status: {plugin: own}\n",
    "status: there is no plugin `own`"
)]
#[case::negative_cache_size(
    "c.yaml",
    "caching: {inter_query_builtin_cache: {max_size_bytes: -1}}\n",
    "caching.inter_query_builtin_cache.max_size_bytes"
)]
#[case::threshold_above_all(
    "c.yaml",
    "caching: {inter_query_builtin_cache: {forced_eviction_threshold_percentage: 101}}\n",
    "must be 0 to 100"
)]
#[case::incomplete_named_cache(
    "c.yaml",
    "caching: {inter_query_builtin_value_cache: {named: {io_jwt: {}}}}\n",
    "`io_jwt`: `max_num_entries` or `disabled` is missing"
)]
#[case::empty_limit_of_bodies(
    "c.yaml",
    "server: {decoding: {max_length: 0}}\n",
    "must be greater than 0"
)]
#[case::other_compression_level(
    "c.yaml",
    "server: {encoding: {gzip: {compression_level: 5}}}\n",
    "must be 0, 1 or 9"
)]
fn what_cannot_be_used_is_refused_with_its_place(
    #[case] name: &str,
    #[case] text: &str,
    #[case] part: &str,
) {
    let (folder, options) = file(name, text);
    let message = refused(&options);
    let path = folder.path().join(name);
    assert!(message.contains(part), "`{part}` in: {message}");
    assert!(message.contains(&*path.to_string_lossy()), "{message}");
}

#[test]
fn overrides_that_cannot_be_used_are_refused() {
    for (overrides, part) in [
        ("labels", "--set `labels`: `labels` has no `=`"),
        ("storage.disk.directory=/x", "storage.disk: "),
        ("labels.x=1", "invalid type"),
        (
            "default_decision.x=1,default_decision=1",
            "expected a string",
        ),
        (".=1", "a key is empty"),
        ("labels=x,labels.y=z", "below a value that is not an object"),
        ("server.decoding.max_length=x", "expected usize"),
        ("server.decoding.max_length=-1", "expected usize"),
        (
            "services.s.headers.a=b",
            "services: `s`: `url` must be an HTTP address",
        ),
        ("services.s.url=ftp://x", "`url` must be an HTTP address"),
        (
            "services.s.url=http://x,services.s.credentials.bearer.scheme=x",
            "either `token` or `token_path`",
        ),
        (
            "services.s.url=http://x,services.s.credentials.bearer.token=x,services.s.credentials.client_tls.cert=x,services.s.credentials.client_tls.private_key=x",
            "more than one kind of credentials",
        ),
        (
            "services.s.url=http://x,services.s.credentials.oauth2.token_url=ftp://x,services.s.credentials.oauth2.client_id=x,services.s.credentials.oauth2.client_secret=x",
            "`token_url` must be an HTTP address",
        ),
        (
            "services.s.url=http://x,services.s.credentials.s3_signing.service=s3",
            "requires credentials, such as `environment_credentials`",
        ),
        (
            "bundles.r.resource=x",
            "bundles: `r`: no service is configured",
        ),
        (
            "services.s.url=http://x,bundles.r.service=t",
            "bundles: `r`: service `t` is not configured",
        ),
        (
            "services.s.url=http://x,bundles.r.polling.min_delay_seconds=1",
            "`max_delay_seconds` is missing",
        ),
        (
            "services.s.url=http://x,bundles.r.polling.max_delay_seconds=1",
            "`min_delay_seconds` is missing",
        ),
        (
            "services.s.url=http://x,bundles.r.polling.min_delay_seconds=2,bundles.r.polling.max_delay_seconds=1",
            "must not be below",
        ),
        (
            "services.s.url=http://x,bundles.r.signing.keyid=k",
            "key `k` is not configured",
        ),
        (
            "services.s.url=http://x,bundles.r.size_limit_bytes=0",
            "must be greater than 0",
        ),
        (
            "keys.k.key=x,keys.k.algorithm=none",
            "keys: `k`: algorithm `none` is not known",
        ),
        (
            "keys.k.algorithm=HS256",
            "`key` or `private_key` is missing",
        ),
        (
            "decision_logs.service=s",
            "decision_logs: service `s` is not configured",
        ),
        (
            "decision_logs.reporting.buffer_size_limit_events=5",
            "needs the buffer type `event`",
        ),
        (
            "decision_logs.reporting.buffer_size_limit_bytes=5,decision_logs.reporting.max_decisions_per_second=5",
            "either `buffer_size_limit_bytes` or `max_decisions_per_second`",
        ),
        (
            "decision_logs.reporting.buffer_type=disk,decision_logs.reporting.buffer_size_limit_bytes=5",
            "needs the buffer type `size`",
        ),
        (
            "decision_logs.reporting.buffer_type=disk,decision_logs.reporting.buffer_size_limit_events=5",
            "needs the buffer type `event`",
        ),
        (
            "decision_logs.reporting.buffer_type=disk,decision_logs.reporting.buffer_disk_size_limit_bytes=0",
            "`buffer_disk_size_limit_bytes` must be greater than 0",
        ),
        (
            "decision_logs.reporting.buffer_full=refuse",
            "`buffer_full` needs the buffer type `disk`",
        ),
        (
            "decision_logs.reporting.buffer_type=disk,decision_logs.reporting.buffer_sync=often",
            "unknown variant `often`",
        ),
        (
            "decision_logs.reporting.upload_size_limit_bytes=0",
            "must be greater than 0",
        ),
        ("labels[x=1", "invalid index `[x`"),
        ("labels[70000]=1", "invalid index `[70000]`"),
        ("[0]=1", "a key is empty"),
        (
            "labels.a=b,labels[0]=1",
            "`[0]` is below a value that is not a list",
        ),
        (
            "status.prometheus=true,status.prometheus_config.collectors.bundle_loading_duration_ns.buckets={3,1}",
            "status: prometheus_config.collectors.bundle_loading_duration_ns: `buckets` must grow",
        ),
        ("status.service=s", "status: service `s` is not configured"),
        ("discovery.service=s", "discovery: `resource` is missing"),
        (
            "services.s.url=http://x,services.t.url=http://x,discovery.resource=x",
            "discovery: `service` is missing, and more than one service is configured",
        ),
    ] {
        let message = refused(&set(&[overrides]));
        assert!(message.contains(part), "`{part}` in: {message}");
    }
    let missing = Options {
        config_file: Some(PathBuf::from("does-not-exist.yaml")),
        ..Options::default()
    };
    assert!(refused(&missing).contains("does-not-exist.yaml"));
}

#[rstest]
#[case::no_proof("oauth2", "C.client_id=x", "takes one of")]
#[case::two_proofs(
    "oauth2",
    "C.client_id=x,C.client_secret=x,C.client_assertion=x",
    "takes one of"
)]
#[case::assertion_without_a_client("oauth2", "C.client_assertion=x", "`client_id` is missing")]
#[case::jwt_bearer_without_a_key("oauth2", "C.grant_type=jwt_bearer", "takes a `signing_key`")]
#[case::unknown_grant("oauth2", "C.grant_type=password", "unknown variant `password`")]
#[case::unknown_key("oauth2", "C.signing_key=k", "key `k` is not configured")]
#[case::key_without_a_private_key(
    "oauth2",
    "C.signing_key=k,keys.k.key=x",
    "key `k` has no `private_key`"
)]
#[case::key_that_is_no_key(
    "oauth2",
    "C.signing_key=k,keys.k.private_key=hidden",
    "key `k`: the key is not in PEM"
)]
#[case::short_thumbprint(
    "oauth2",
    "C.client_id=x,C.client_secret=hidden,C.thumbprint=abc",
    "pairs of hexadecimal digits"
)]
#[case::thumbprint_of_other_letters(
    "oauth2",
    "C.client_id=x,C.client_secret=hidden,C.thumbprint=é",
    "pairs of hexadecimal digits"
)]
#[case::kms_without_a_key(
    "oauth2",
    "C.client_id=x,C.aws_kms.name=x",
    "configure a `signing_key`"
)]
#[case::sso_without_a_profile(
    "s3_signing",
    "C.sso_credentials.profile=x",
    "configure `profile_credentials`"
)]
#[case::role_without_a_region(
    "s3_signing",
    "C.metadata_credentials.iam_role=x",
    "requires `aws_region`"
)]
#[case::assumed_role_without_signing(
    "s3_signing",
    "C.assume_role_credentials.aws_region=x",
    "requires `aws_signing`"
)]
#[case::assumed_role_without_a_source(
    "s3_signing",
    "C.assume_role_credentials.aws_signing.service=x",
    "requires `aws_signing`"
)]
#[case::other_signature_version(
    "s3_signing",
    "C.profile_credentials.path=x,C.signature_version=4a",
    "the only `signature_version` is `4`"
)]
#[case::neither_audience_nor_scopes(
    "gcp_metadata",
    "C.endpoint=http://x",
    "either `audience` or `scopes`"
)]
#[case::audience_and_scopes(
    "gcp_metadata",
    "C.audience=x,C.scopes={y}",
    "either `audience` or `scopes`"
)]
#[case::unknown_kind("azure_managed", "C.client_id=x", "unknown field `azure_managed`")]
#[case::encrypted_key(
    "client_tls",
    "C.cert=x,C.private_key=y,C.private_key_passphrase=hidden",
    "`private_key` that is not encrypted"
)]
#[case::two_kinds(
    "azure_managed_identity",
    "C.client_id=x,services.s.credentials.bearer.token=hidden",
    "more than one kind of credentials"
)]
fn credentials_that_cannot_prove_anything_are_refused(
    #[case] kind: &str,
    #[case] overrides: &str,
    #[case] part: &str,
) {
    let credentials = format!("services.s.credentials.{kind}.");
    let overrides = overrides.replace("C.", &credentials);
    let url = match kind {
        "oauth2" => format!("services.s.url=http://x,{credentials}token_url=http://x"),
        _ => "services.s.url=http://x".to_owned(),
    };
    let message = refused(&set(&[&format!("{url},{overrides}")]));
    assert!(message.contains(part), "`{part}` in: {message}");
    assert!(!message.contains("hidden"), "{message}");
}

#[rstest]
#[case::empty("")]
#[case::empty_object("{}")]
#[case::comment("# nothing\n")]
#[case::null("null")]
fn empty_configurations_are_the_default(#[case] text: &str) {
    let (_folder, options) = file("c.yaml", text);
    assert_eq!(
        displayed_config(&engine(options)),
        displayed_config(&Engine::default())
    );
}

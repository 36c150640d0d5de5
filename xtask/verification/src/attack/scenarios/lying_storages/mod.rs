//! Object storages of three providers that lie.

mod liar;
mod lies;

use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

use self::liar::Liar;
use self::lies::Outcome;
use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::attack::tenancy::{self, User, built, eventually};
use crate::postgres::Postgres;
use crate::servers::{Failure, Peer, PeerScript};

/// Private keys in PEM: a key of another kind, and then the key for signatures to Google.
const KEYS: &str = include_str!("../../../../../../reference/control/src/builder/tests/app.pem");

/// First line of the key.
const KEY: &str = "-----BEGIN RSA PRIVATE KEY-----";

/// Strings that must not be disclosed: parts of the keys, and the prefix of tokens signed with one.
const SECRETS: &[&str] = &[
    "hush-of-aws",
    "hush-session",
    "aHVzaC1vZi1henVyZQ==",
    "eyJ0eXAi",
];

/// Maximum length of a bundle's status including its message, in characters.
const STATUS: usize = 3_000;

/// Providers of object storages.
const PROVIDERS: [&str; 3] = ["aws", "gcp", "azure"];

/// Bundle whose stored object the storage lies about.
struct Case {
    /// Name of the bundle and of its object.
    name: String,
    path: String,
    outcome: Outcome,
}

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let redirected_requests = Arc::new(Mutex::new(Vec::new()));
    let recorder = Arc::clone(&redirected_requests);
    let elsewhere = Peer::start(0, move |request| {
        let headers = format!("{} {:?}", request.first, request.headers);
        recorder
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(headers);
        async { PeerScript::status(200) }
    });
    let elsewhere = elsewhere.await?;
    let liar = Liar::new(format!("http://{}", elsewhere.address));
    let peer = liar.listen(0).await?;
    let port = peer.address.port();
    // This database accepts fewer characters than others.
    let postgres = Postgres::start().map_err(|error| error.to_string())?;
    let url = postgres.url();
    let arguments = [
        "--database",
        &url,
        "--allow-host",
        "127.0.0.1",
        "--allow-secrets-over-http",
        "--log-level",
        "info",
    ];
    let mut plane = tenancy::plane(harness, &arguments).await?;
    let admin = plane.person("admin");
    let cases = define(admin, &format!("http://{}", peer.address)).await?;
    let all = |count: u64| {
        let is_outdated =
            |case: &&Case| liar.storage.data(&case.path) != Some(json!({"stock": count}));
        cases
            .iter()
            .filter(is_outdated)
            .map(|case| case.name.as_str())
            .collect::<Vec<_>>()
    };
    let first = eventually("every object", || all(0).is_empty()).await;
    findings.succeed(&format!("first: {:?}", all(0)), first);
    let bystander = HealthMonitor::start(plane.process.address, health_monitor::control()).await;
    for (case, lie) in cases.iter().zip(lies::all()?.iter().cycle()) {
        liar.lie(&case.path, lie.1.clone());
    }
    admin.put("/v1/sources/stock/data/stock", json!(1)).await?;
    admin.bundle("beside", "beside.tgz", json!(1)).await?;
    let other_bundle = eventually("a bundle beside", || built(harness, "beside.tgz").is_some());
    findings.succeed("beside", other_bundle.await);
    for case in &cases {
        let outcome = outcome(admin, &liar, case).await;
        findings.succeed(&case.name, outcome);
    }
    findings.watch_in_company(bystander.stop().await?);
    findings.check_memory(&plane.process, 512)?;
    liar.repent();
    peer.end().await;
    let _peer = liar.listen(port).await?;
    let is_seen = |name: &&str| !name.ends_with("forged");
    let result = eventually("what was not believed", || !all(1).iter().any(is_seen));
    findings.succeed(&format!("afterwards: {:?}", all(1)), result.await);
    admin.put("/v1/sources/stock/data/stock", json!(2)).await?;
    let result = eventually("every object", || all(2).is_empty()).await;
    findings.succeed(&format!("the next change: {:?}", all(2)), result);
    for case in &cases {
        let succeeds = admin
            .until_status(&case.name, |status| status.contains("SUCCESS"))
            .await
            .map(drop);
        findings.succeed(&format!("{}: afterwards", case.name), succeeds);
    }
    let redirected_requests = redirected_requests
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    findings.check(
        format!("another host was sent {redirected_requests:?}"),
        redirected_requests.is_empty(),
    );
    let log = plane.process.output();
    let leaked = SECRETS.iter().find(|secret| log.contains(**secret));
    findings.check(format!("the log has {leaked:?}"), leaked.is_none());
    findings.end(&mut plane.process).await?;
    Ok(findings)
}

/// Creates a bundle for each lie and provider, all from one source.
async fn define(admin: User, url: &str) -> Result<Vec<Case>, Failure> {
    let key = KEYS
        .find(KEY)
        .and_then(|at| KEYS.get(at..))
        .unwrap_or_default();
    let account = json!({
        "gcs_base_url": url, "client_email": "e", "private_key_id": "i", "private_key": key,
    });
    for (provider, value) in PROVIDERS.into_iter().zip([
        json!({
            "type": "aws_auth", "access_key_id": "AKEY", "secret_access_key": "hush-of-aws",
            "session_token": "hush-session-token",
        }),
        json!({"type": "gcp_auth", "credentials": account}),
        json!({
            "type": "azure_auth", "account_name": "account", "account_key": "aHVzaC1vZi1henVyZQ==",
        }),
    ]) {
        admin
            .put(&format!("/v1/secrets/{provider}"), json!({"value": value}))
            .await?;
    }
    admin.put("/v1/sources/stock", json!({})).await?;
    admin.put("/v1/sources/stock/data/stock", json!(0)).await?;
    let mut cases = Vec::new();
    for provider in PROVIDERS {
        for (lie, _, outcome) in lies::all()? {
            let name = format!("{provider}{lie}");
            let (storage, path) = destination(provider, &name, url);
            let body = json!({"object_storage": storage, "requirements": [{"source": "stock"}]});
            admin.put(&format!("/v1/bundles/{name}"), body).await?;
            cases.push(Case {
                name,
                path,
                outcome,
            });
        }
    }
    Ok(cases)
}

/// Returns the storage definition of an object, and its path in the storage.
fn destination(provider: &str, name: &str, url: &str) -> (Value, String) {
    let provider_config = match provider {
        "aws" => json!({"bucket": "bucket", "key": name, "region": "r", "url": url}),
        "gcp" => json!({"project": "p", "bucket": "bucket", "object": name}),
        _ => json!({
            "account_url": format!("{url}/account"), "container": "bucket", "path": name,
        }),
    };
    let mut storage = json!({provider: provider_config});
    if let Some(members) = storage.get_mut(provider).and_then(Value::as_object_mut) {
        members.insert("credentials".to_owned(), json!(provider));
    }
    let account = if provider == "azure" { "/account" } else { "" };
    (storage, format!("{account}/bucket/{name}"))
}

/// Waits for the expected outcome of a lie.
async fn outcome(admin: User, liar: &Liar, case: &Case) -> Result<(), String> {
    let bytes = || liar.storage.object(&case.path).map(|object| object.bytes);
    match case.outcome {
        Outcome::Failure => {
            let failed = |status: &str| !status.contains("SUCCESS");
            let status = admin.until_status(&case.name, failed).await?;
            let has_reason = status.contains("\"error_message\":\"")
                && !status.contains("\"error_message\":\"\"");
            // `\u` starts an escaped character that could control a terminal.
            let leaks_secret = SECRETS
                .iter()
                .chain(&["\\u"])
                .any(|secret| status.contains(secret));
            // The storage repeats credentials, which must be masked.
            let hidden = !case.name.ends_with("echoes") || status.contains("***");
            match has_reason && hidden && status.chars().count() <= STATUS && !leaks_secret {
                true => Ok(()),
                false => Err(status),
            }
        }
        Outcome::Held => {
            let expected = Some(json!({"stock": 1}));
            eventually("the object", || liar.storage.data(&case.path) == expected).await
        }
        Outcome::Believed => {
            let forged = || bytes().is_some_and(|bytes| bytes.iter().all(|byte| *byte == b'X'));
            eventually("the forgery", forged).await?;
            admin
                .until_status(&case.name, |status| status.contains("SUCCESS"))
                .await
                .map(drop)
        }
        Outcome::Open => Ok(()),
    }
}

//! Secrets that a tenant tries to send to its own host.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::tenancy::{self, User, built, eventually, in_file};
use crate::servers::{Failure, Peer, PeerScript};

/// Observation time in which no secret may be sent; many build intervals long.
const WATCHED: Duration = Duration::from_secs(4);

/// Secret of the administrator.
const SECRET: &str = "S3CR3T-of-the-administrator";

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let mut plane = tenancy::plane(harness, &["--allow-host", "127.0.0.1"]).await?;
    let (admin, first) = (plane.person("admin"), plane.person("first"));
    secrets(&mut findings, admin, first).await?;
    findings.end(&mut plane.process).await?;
    // Allows secrets over plain HTTP, so that only the other limits apply.
    let open = ["--allow-secrets-over-http", "--allow-host", "127.0.0.1"];
    let arguments = [&open[..], &["--database", "sqlite:open.db"]].concat();
    let mut plane = tenancy::plane(harness, &arguments).await?;
    let (admin, first) = (plane.person("admin"), plane.person("first"));
    limited(harness, &mut findings, admin, first).await?;
    findings.end(&mut plane.process).await?;
    Ok(findings)
}

/// Path and headers of each request that the attacker's host received.
type ReceivedRequests = Arc<Mutex<Vec<(String, String)>>>;

/// Starts a host of the attacker that records its requests.
async fn listen(received: &ReceivedRequests) -> Result<Peer, Failure> {
    let recorder = Arc::clone(received);
    let host = Peer::start(0, move |request| {
        let path = request
            .first
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        let headers = format!("{:?}", request.headers);
        recorder
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((path, headers));
        async {
            PeerScript::Answer(
                200,
                "Content-Type: application/json\r\n".to_owned(),
                b"{}".to_vec(),
            )
        }
    });
    Ok(host.await?)
}

/// Returns the definition of a source fetched over HTTP, optionally with a secret.
fn fetched(url: &str, secret: Option<&str>) -> Value {
    json!({"datasources": [{"name": "d", "path": "d", "type": "http",
        "config": {"url": url}, "credentials": secret}]})
}

/// Checks that secrets are sent to no unintended host.
async fn secrets(findings: &mut Findings, admin: User, first: User) -> Result<(), Failure> {
    let received = ReceivedRequests::default();
    let host = listen(&received).await?;
    let url = format!("http://{}/data", host.address);
    let named = |secret: &str| fetched(&url, Some(secret));
    let values = [
        json!({"type": "token_auth", "token": SECRET}),
        json!({"type": "basic_auth", "username": "u", "password": SECRET}),
        json!({"type": "basic_auth", "username": "u", "password": SECRET, "headers": [SECRET]}),
    ];
    for (number, value) in values.into_iter().enumerate() {
        let secret = json!({"value": value});
        admin.put("/v1/secrets/private", secret.clone()).await?;
        let (status, _) = first
            .send("PUT", "/v1/sources/taker", &named("private"))
            .await?;
        findings.check(
            format!("the secret of another: {status}"),
            matches!(status, 400 | 422),
        );
        let git = json!({"git": {"repo": format!("{url}.git"), "credentials": "private"}});
        let (status, _) = first.send("PUT", "/v1/sources/git-taker", &git).await?;
        findings.check(
            format!("the secret of another for git: {status}"),
            matches!(status, 400 | 422),
        );
        let body = in_file("taken.tgz", &json!([{"source": "taker"}]));
        first.send("PUT", "/v1/bundles/taken", &body).await?;
        // A tenant's own secret is not sent over plain HTTP either.
        let own = format!("own-{number}");
        first.put(&format!("/v1/secrets/{own}"), secret).await?;
        let source = format!("own-source-{number}");
        first
            .send("PUT", &format!("/v1/sources/{source}"), &named(&own))
            .await?;
        let body = in_file(&format!("{source}.tgz"), &json!([{"source": source}]));
        first
            .send("PUT", &format!("/v1/bundles/{source}"), &body)
            .await?;
    }
    sleep(WATCHED).await;
    let received = received.lock().unwrap_or_else(PoisonError::into_inner);
    // The second string is the password in Base64 after `u:`.
    let disclosed = received
        .iter()
        .find(|(_, headers)| headers.contains(SECRET) || headers.contains("dTpTM0NSM1Q"));
    findings.check(
        format!("a secret went over plain http: {disclosed:?}"),
        disclosed.is_none(),
    );
    Ok(())
}

/// Checks that secrets are sent only to hosts that they allow, never along redirects, and only for
/// users who may use them; and that no definition reaches a host that the operator does not allow.
async fn limited(
    harness: &Harness,
    findings: &mut Findings,
    admin: User,
    first: User,
) -> Result<(), Failure> {
    let received = ReceivedRequests::default();
    let host = listen(&received).await?;
    let elsewhere = format!("http://{}/redirected", host.address);
    let door = Peer::start(0, move |_| {
        let location = format!("Location: {elsewhere}\r\n");
        async move { PeerScript::Answer(302, location, Vec::new()) }
    })
    .await?;
    let secret = json!({"value": {"type": "api_key", "key": "X-Key", "value": SECRET}});
    let mut allowed_secret = secret.clone();
    if let Some(members) = allowed_secret.as_object_mut() {
        members.insert("allowed_hosts".to_owned(), json!(["elsewhere.example"]));
    }
    let at = |path: &str| format!("http://{}/{path}", host.address);
    let doors = format!("http://{}/", door.address);
    let other_name = at("unnamed").replace("127.0.0.1", "localhost");
    admin.put("/v1/secrets/foreign", secret.clone()).await?;
    first.put("/v1/secrets/kept", allowed_secret).await?;
    first.put("/v1/secrets/own", secret.clone()).await?;
    for (source, url, name) in [
        ("own", &at("own"), Some("own")),
        ("kept", &at("kept"), Some("kept")),
        ("foreign", &at("foreign"), Some("foreign")),
        ("early", &at("early"), Some("early")),
        ("redirected", &doors, Some("own")),
        ("unnamed", &other_name, None),
    ] {
        // The write may be rejected.
        let path = format!("/v1/sources/{source}");
        first.send("PUT", &path, &fetched(url, name)).await?;
        let body = in_file(&format!("{source}.tgz"), &json!([{"source": source}]));
        let path = format!("/v1/bundles/{source}");
        first.send("PUT", &path, &body).await?;
    }
    // A secret's creator may differ from the user who referred to its name before.
    admin.put("/v1/secrets/early", secret).await?;
    let sent = eventually("the secret's own use", || {
        built(harness, "own.tgz").is_some()
    });
    findings.succeed("own", sent.await);
    sleep(WATCHED).await;
    let received = received.lock().unwrap_or_else(PoisonError::into_inner);
    let sent = |(path, headers): &(String, String)| path == "/own" && headers.contains(SECRET);
    findings.check(
        "a secret is not sent where it may be",
        received.iter().any(sent),
    );
    for (path, headers) in received.iter().filter(|(path, _)| path != "/own") {
        let is_disclosed = headers.contains(SECRET);
        findings.check(format!("a secret went to {path}"), !is_disclosed);
        let hosts = path == "/unnamed";
        findings.check(
            format!("a host that nobody allows was asked {path}"),
            !hosts,
        );
    }
    Ok(())
}

//! Connections of the engine to its services.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;

use crate::certificates;
use crate::environment::{Done, Environment, quick, until};
use crate::mock_services::{Fixture, MockServices, bundle};

fn config(service: Value) -> Value {
    json!({
        "services": [service],
        "bundles": {"rules": {"resource": "/rules", "polling": quick()}},
        "status": {"console": true},
    })
}

#[tokio::test]
async fn requests_carry_what_proves_who_asks() -> Done {
    let mut environment = Environment::new().await?;
    let token = environment.folder.path().join("token");
    std::fs::write(&token, "from-file\n")?;
    let url = format!("{}/base/", environment.url());
    for (credentials, expected) in [
        (json!({"bearer": {"token": "secret"}}), "Bearer secret"),
        (
            json!({"bearer": {"token": "dTpw", "scheme": "Basic"}}),
            "Basic dTpw",
        ),
        (json!({"bearer": {"token_path": token}}), "Bearer from-file"),
    ] {
        let headers = json!({"x-own": expected});
        let service =
            json!({"name": "s", "url": url, "headers": headers, "credentials": credentials});
        environment.engine(config(service)).await?;
        let seen = until(expected, || {
            let seen = environment.mock.seen("/base/rules");
            let mut seen = seen.into_iter();
            seen.find(|seen| seen.header("authorization") == Some(expected))
        })
        .await?;
        assert_eq!(seen.header("x-own"), Some(expected));
        environment.stop().await;
    }
    Ok(())
}

#[tokio::test]
async fn another_host_learns_no_secret() -> Done {
    let mut environment = Environment::new().await?;
    let other = MockServices::start().await?;
    let archive = bundle(&[
        (".manifest", r#"{"roots": ["a"]}"#),
        ("data.json", r#"{"a": 1}"#),
    ])?;
    other.put("/there", Fixture::of(archive, "1"));
    let location = format!("http://{}/there", other.address);
    environment.mock.put(
        "/rules",
        Fixture {
            headers: vec![("location", location)],
            ..Fixture::status(307)
        },
    );
    let credentials = json!({"bearer": {"token": "secret"}});
    let headers = json!({"x-own": "secret"});
    let service = json!({"name": "s", "url": environment.url(), "headers": headers, "credentials": credentials});
    environment.engine(config(service)).await?;
    environment.wait_for_data("a", json!(1)).await?;
    let seen = other.seen("/there");
    assert!(!seen.is_empty());
    for seen in seen {
        assert_eq!(
            (seen.header("authorization"), seen.header("x-own")),
            (None, None)
        );
    }
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_fetched_is_reported() -> Done {
    let mut environment = Environment::new().await?;
    let circle = Fixture {
        headers: vec![("location", "/rules".to_owned())],
        ..Fixture::status(302)
    };
    let packed = Fixture {
        headers: vec![("content-encoding", "gzip".to_owned())],
        ..Fixture::of(b"not gzip".to_vec(), "1")
    };
    for (fixture, part) in [
        (circle, "too many redirects"),
        (packed, "request failed"),
        (Fixture::status(403), "server replied with Forbidden"),
    ] {
        environment.mock.put("/rules", fixture);
        let service = json!({"name": "s", "url": environment.url()});
        environment.engine(config(service)).await?;
        environment
            .wait_for("/v1/status", |_, answer| {
                let message = &answer["result"]["bundles"]["rules"]["message"];
                message
                    .as_str()
                    .is_some_and(|message| message.contains(part))
            })
            .await?;
        environment.stop().await;
    }
    // First the server accepts connections without a response, then it refuses them.
    let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", silent.local_addr()?);
    let service = json!({"name": "s", "url": url, "response_header_timeout_seconds": 0.05});
    environment.engine(config(service)).await?;
    let message = |part: &'static str| {
        move |_, answer: &Value| {
            let message = &answer["result"]["bundles"]["rules"]["message"];
            let message = message.as_str().unwrap_or_default();
            message.contains("request failed") && message.contains(part)
        }
    };
    environment
        .wait_for("/v1/status", message("no answer in time"))
        .await?;
    drop(silent);
    environment
        .wait_for("/v1/status", message("refused"))
        .await?;
    Ok(())
}

/// HTTPS server, which may require a client certificate.
struct Secure(Environment);

impl Secure {
    /// Starts the server; `demands` requires a client certificate.
    async fn start(demands: bool) -> Done<Self> {
        let mut environment = Environment::new().await?;
        let config = certificates::server(environment.folder.path(), demands)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        environment.mock = MockServices::start_with(Some(acceptor)).await?;
        let archive = bundle(&[
            (".manifest", r#"{"roots": ["a"]}"#),
            ("data.json", r#"{"a": 1}"#),
        ])?;
        environment.mock.put("/rules", Fixture::of(archive, "1"));
        Ok(Self(environment))
    }

    fn file(&self, name: &str) -> String {
        let file = self.0.folder.path().join(name);
        file.to_string_lossy().into_owned()
    }

    fn url(&self) -> String {
        format!("https://localhost:{}", self.0.mock.address.port())
    }

    /// Starts an engine with further options of the service; returns true if it loads the bundle.
    async fn gets(&mut self, more: Value) -> Done<bool> {
        let mut service = json!({"name": "s", "url": self.url()});
        if let (Some(members), Value::Object(more)) = (service.as_object_mut(), more) {
            members.extend(more);
        }
        self.0.engine(config(service)).await?;
        let answer = self
            .0
            .wait_for("/v1/status", |_, answer| {
                let status = &answer["result"]["bundles"]["rules"];
                status["type"] == "snapshot" || status["code"].is_string()
            })
            .await?;
        self.0.stop().await;
        Ok(answer["result"]["bundles"]["rules"]["code"].is_null())
    }
}

#[tokio::test]
async fn certificates_are_checked_and_shown() -> Done {
    let mut open = Secure::start(false).await?;
    let trusted = json!({"ca_cert": open.file("server.pem")});
    let other = json!({"ca_cert": open.file("client.pem")});
    assert!(open.gets(json!({"tls": trusted})).await?);
    assert!(!open.gets(json!({"tls": other})).await?);
    assert!(!open.gets(json!({})).await?);
    assert!(open.gets(json!({"allow_insecure_tls": true})).await?);

    let mut closed = Secure::start(true).await?;
    let trusted = json!({"ca_cert": closed.file("server.pem")});
    assert!(!closed.gets(json!({"tls": trusted})).await?);
    let client_tls = |cert, key| json!({"client_tls": {"cert": cert, "private_key": key}});
    let credentials = client_tls(closed.file("client.pem"), closed.file("client.key"));
    assert!(
        closed
            .gets(json!({"tls": trusted, "credentials": credentials}))
            .await?
    );
    let mut alone = credentials;
    alone["client_tls"]["ca_cert"] = trusted["ca_cert"].clone();
    assert!(closed.gets(json!({"credentials": alone})).await?);
    alone["client_tls"]["ca_cert"] = json!(closed.file("client.pem"));
    assert!(!closed.gets(json!({"credentials": alone})).await?);
    Ok(())
}

#[tokio::test]
async fn certificates_that_change_are_shown() -> Done {
    let mut closed = Secure::start(true).await?;
    let [cert, key, other] =
        ["client.pem", "client.key", "server.pem"].map(|name| closed.file(name));
    let (good_cert, good_key) = (std::fs::read(&cert)?, std::fs::read(&key)?);
    let stranger = rcgen::generate_simple_self_signed(["client".to_owned()])?;
    std::fs::write(&cert, stranger.cert.pem())?;
    std::fs::write(&key, stranger.signing_key.serialize_pem())?;
    let client_tls = json!({
        "cert": cert, "private_key": key, "ca_cert": other, "cert_reread_interval_seconds": 0.01,
    });
    let credentials = json!({"client_tls": client_tls});
    let service = json!({"name": "s", "url": closed.url(), "credentials": credentials});
    closed.0.engine(config(service)).await?;
    let refused = |_, answer: &Value| answer["result"]["bundles"]["rules"]["code"].is_string();
    closed.0.wait_for("/v1/status", refused).await?;
    // A new certificate without its key is not used.
    std::fs::write(&cert, good_cert)?;
    closed.0.wait_for("/v1/status", refused).await?;
    std::fs::write(&key, good_key)?;
    closed.0.wait_for_data("a", json!(1)).await
}

#[tokio::test]
async fn tokens_are_fetched_once() -> Done {
    let mut secure = Secure::start(false).await?;
    let answer = json!({"access_token": "given", "token_type": "Bearer", "expires_in": 3600});
    let answer = Fixture {
        body: answer.to_string().into_bytes(),
        ..Fixture::default()
    };
    secure.0.mock.put("/token", answer);
    let oauth2 = json!({
        "token_url": format!("{}/token", secure.url()),
        "client_id": "me",
        "client_secret": "a secret",
        "scopes": ["read", "write"],
        "additional_headers": {"x-more": "header"},
        "additional_parameters": {"more": "a b"},
    });
    let service = json!({
        "name": "s",
        "url": secure.url(),
        "tls": {"ca_cert": secure.file("server.pem")},
        "credentials": {"oauth2": oauth2},
    });
    secure.0.engine(config(service)).await?;
    secure.0.wait_for_data("a", json!(1)).await?;
    let mock = &secure.0.mock;
    let enough = || Some(mock.seen("/rules")).filter(|seen| seen.len() > 3);
    for seen in until("four requests", enough).await? {
        assert_eq!(seen.header("authorization"), Some("Bearer given"));
    }
    let token_requests = mock.seen("/token");
    assert_eq!(token_requests.len(), 1);
    let form = "grant_type=client_credentials&more=a+b&scope=read+write";
    assert_eq!(token_requests[0].text, form);
    assert_eq!(
        token_requests[0].header("authorization"),
        Some("Basic bWU6YSBzZWNyZXQ=")
    );
    assert_eq!(token_requests[0].header("x-more"), Some("header"));
    Ok(())
}

#[tokio::test]
async fn requests_are_signed_with_the_key_of_a_profile() -> Done {
    let mut environment = Environment::new().await?;
    let file = environment.folder.path().join("credentials");
    let path = &file;
    let profile = |name: &str| json!({"path": path, "profile": name, "aws_region": "east"});
    let text = "[default]\naws_access_key_id=no\n\n[own]\naws_access_key_id = access\n\
                aws_secret_access_key = secret\naws_session_token = session\n";
    std::fs::write(&file, text)?;
    let config = |name: &str| {
        let credentials = json!({"s3_signing": {"profile_credentials": profile(name)}});
        let service = json!({"name": "s", "url": environment.url(), "credentials": credentials});
        config(service)
    };
    let (own, incomplete) = (config("own"), config("default"));
    environment.engine(own).await?;
    let seen = || environment.mock.seen("/rules").into_iter().next();
    let seen = until("a request", seen).await?;
    let signature = seen.header("authorization").unwrap_or_default();
    assert!(
        signature.starts_with("AWS4-HMAC-SHA256 Credential=access/"),
        "{signature}"
    );
    assert!(signature.contains("/east/s3/aws4_request"), "{signature}");
    assert_eq!(seen.header("x-amz-security-token"), Some("session"));
    environment.stop().await;

    environment.engine(incomplete).await?;
    let failed = |_, answer: &Value| {
        let message = answer["result"]["bundles"]["rules"]["message"].as_str();
        message.is_some_and(|message| message.contains("no `aws_secret_access_key` in profile"))
    };
    environment.wait_for("/v1/status", failed).await?;
    Ok(())
}

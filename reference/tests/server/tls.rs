//! TLS, with certificates that change while the server runs.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedKey, DnType, IsCa, KeyPair};
use reference::{Running, start};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use crate::wire::{GET, all, connect, engine, send};

/// Generates a server certificate for `localhost`.
fn certificate() -> CertifiedKey<KeyPair> {
    match rcgen::generate_simple_self_signed(["localhost".to_owned()]) {
        Ok(certificate) => certificate,
        Err(failure) => panic!("no certificate: {failure}"),
    }
}

/// Generates a client certificate that is also a CA, as `openssl req -x509` does.
fn client_certificate() -> CertifiedKey<KeyPair> {
    let generated = KeyPair::generate().and_then(|signing_key| {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "ann, the first");
        params
            .distinguished_name
            .push(DnType::OrganizationName, "example");
        let cert = params.self_signed(&signing_key)?;
        Ok(CertifiedKey { cert, signing_key })
    });
    match generated {
        Ok(certificate) => certificate,
        Err(failure) => panic!("no certificate: {failure}"),
    }
}

fn store(folder: &Path, certificate: &CertifiedKey<KeyPair>) {
    let written = fs::write(
        folder.join("key.pem"),
        certificate.signing_key.serialize_pem(),
    )
    .and_then(|()| fs::write(folder.join("cert.pem"), certificate.cert.pem()));
    if let Err(failure) = written {
        panic!("cannot write the certificate: {failure}");
    }
}

/// Sends a request over TLS; the client trusts only the given certificate.
async fn send_request(
    running: &Running,
    trusted: &CertificateDer<'static>,
) -> Result<String, std::io::Error> {
    send_request_as(running, trusted, None).await
}

/// Sends a request over TLS with a client certificate.
async fn send_request_as(
    running: &Running,
    trusted: &CertificateDer<'static>,
    client: Option<&CertifiedKey<KeyPair>>,
) -> Result<String, std::io::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).map_err(std::io::Error::other)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(std::io::Error::other)?
        .with_root_certificates(roots);
    let config = match client {
        None => config.with_no_client_auth(),
        Some(client) => {
            let key = PrivateKeyDer::try_from(client.signing_key.serialize_der());
            let key = key.map_err(std::io::Error::other)?;
            let chain = vec![client.cert.der().clone()];
            let config = config.with_client_auth_cert(chain, key);
            config.map_err(std::io::Error::other)?
        }
    };
    let name = ServerName::try_from("localhost").map_err(std::io::Error::other)?;
    let stream = connect(running).await;
    let connector = TlsConnector::from(Arc::new(config));
    let mut stream = connector.connect(name, stream).await?;
    send(&mut stream, GET).await;
    Ok(all(&mut stream).await)
}

fn folder() -> tempfile::TempDir {
    match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(failure) => panic!("no folder: {failure}"),
    }
}

async fn tls_engine(folder: &Path, more: &[&str]) -> Running {
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let flags = [
        "--tls-cert-file",
        &cert.to_string_lossy(),
        "--tls-private-key-file",
        &key.to_string_lossy(),
        "--tls-cert-refresh-period",
        "0s",
    ];
    engine(&[&flags[..], more].concat()).await
}

#[tokio::test]
async fn a_changed_certificate_is_used() {
    let folder = folder();
    let (old, new) = (certificate(), certificate());
    store(folder.path(), &old);
    let running = tls_engine(folder.path(), &[]).await;
    let answer = send_request(&running, old.cert.der())
        .await
        .unwrap_or_default();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(send_request(&running, new.cert.der()).await.is_err());
    // A certificate without its key, or an invalid one, is not used; the old one stays in effect.
    for text in [new.cert.pem(), "nonsense".to_owned()] {
        assert!(fs::write(folder.path().join("cert.pem"), text).is_ok());
        let answer = send_request(&running, old.cert.der())
            .await
            .unwrap_or_default();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    store(folder.path(), &new);
    let answer = send_request(&running, new.cert.der())
        .await
        .unwrap_or_default();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(send_request(&running, old.cert.der()).await.is_err());
    running.shutdown().await;
}

#[tokio::test]
async fn clients_that_speak_no_tls_are_let_go() {
    let folder = folder();
    store(folder.path(), &certificate());
    let running = tls_engine(folder.path(), &["--header-timeout", "500ms"]).await;
    for text in [GET, ""] {
        let mut stream = connect(&running).await;
        send(&mut stream, text).await;
        let answer = all(&mut stream).await;
        assert!(!answer.contains("HTTP"), "{answer}");
    }
    running.shutdown().await;
}

#[tokio::test]
async fn clients_show_a_certificate_when_that_is_demanded() {
    let folder = folder();
    let (server, client, signer) = (certificate(), certificate(), client_certificate());
    store(folder.path(), &server);
    let known = folder.path().join("clients.pem");
    assert!(fs::write(&known, client.cert.pem() + &signer.cert.pem()).is_ok());
    let known = known.to_string_lossy();
    let ca = ["--tls-ca-cert-file", &*known];
    for (scheme, presented, served) in [
        ("off", None, true),
        ("token", None, true),
        ("tls", None, false),
        ("tls", Some(&client), true),
        ("tls", Some(&signer), true),
        ("tls", Some(&server), false),
    ] {
        let flags = [&ca[..], &["--authentication", scheme]].concat();
        let running = tls_engine(folder.path(), &flags).await;
        let answer = send_request_as(&running, server.cert.der(), presented).await;
        let answer = answer.unwrap_or_default();
        assert_eq!(
            answer.starts_with("HTTP/1.1 200"),
            served,
            "{scheme}: {answer}"
        );
        running.shutdown().await;
    }
    let flags = ["engine", "--authentication", "tls"].map(str::to_owned);
    assert!(start(flags).await.is_err());
}

/// Authorization policy that returns the identity and the common names of the certificates.
const WHO: &str = r#"package system.authz

allow := {"allowed": false, "reason": sprintf("%v of %v", [
    object.get(input, "identity", "nobody"),
    [c.Subject.CommonName | some c in object.get(input, "client_certificates", [])],
])}
"#;

#[tokio::test]
async fn policies_see_the_certificate_of_the_client() {
    let folder = folder();
    let (server, client) = (certificate(), client_certificate());
    store(folder.path(), &server);
    let [known, policy] = ["clients.pem", "authz.rego"].map(|name| folder.path().join(name));
    let written = fs::write(&known, client.cert.pem()).and_then(|()| fs::write(&policy, WHO));
    assert!(written.is_ok());
    let flags = [
        "--tls-ca-cert-file",
        &*known.to_string_lossy(),
        "--authorization",
        "basic",
    ];
    for (scheme, expected) in [
        (
            "tls",
            r#"CN=ann\\, the first,O=example of [\"ann, the first\"]"#,
        ),
        ("off", "nobody of []"),
    ] {
        let policy = policy.to_string_lossy();
        let flags = [&flags[..], &["--authentication", scheme, &*policy]].concat();
        let running = tls_engine(folder.path(), &flags).await;
        let answer = send_request_as(&running, server.cert.der(), Some(&client)).await;
        let answer = answer.unwrap_or_default();
        assert!(answer.contains(expected), "{scheme}: {answer}");
        running.shutdown().await;
    }
}

#[tokio::test]
async fn unusable_certificates_are_refused_at_start() {
    let folder = folder();
    let (one, other) = (certificate(), certificate());
    for (cert, key, part) in [
        (
            "nonsense".to_owned(),
            one.signing_key.serialize_pem(),
            "cert.pem",
        ),
        (one.cert.pem(), "nonsense".to_owned(), "key.pem"),
        (one.cert.pem(), other.signing_key.serialize_pem(), "key.pem"),
    ] {
        let (cert_file, key_file) = (
            folder.path().join("cert.pem"),
            folder.path().join("key.pem"),
        );
        assert!(fs::write(&cert_file, cert).is_ok() && fs::write(&key_file, key).is_ok());
        let (cert_file, key_file) = (cert_file.display(), key_file.display());
        let args = format!(
            "engine --addr 127.0.0.1:0 --tls-cert-file {cert_file} --tls-private-key-file {key_file}"
        );
        let message = match start(args.split(' ').map(str::to_owned)).await {
            Ok(_) => panic!("started with an unusable certificate"),
            Err(failure) => failure.to_string(),
        };
        assert!(message.contains(part), "{message}");
    }
}

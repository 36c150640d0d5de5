//! Servers with certificates that require client certificates.

use std::error::Error;
use std::sync::Arc;

use rcgen::{CertifiedKey, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use super::TestFolders;
use super::remotes::server_with;
use super::repositories::repository;

/// Configures a server with a certificate, which accepts only the client with another one.
fn config(
    server: &CertifiedKey<KeyPair>,
    client: &CertifiedKey<KeyPair>,
) -> Result<ServerConfig, Box<dyn Error>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(client.cert.der().clone())?;
    let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(clients.build()?);
    let key = PrivateKeyDer::try_from(server.signing_key.serialize_der())?;
    Ok(config.with_single_cert(vec![server.cert.der().clone()], key)?)
}

#[tokio::test]
async fn certificates_are_checked_and_shown() -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let served = fixture.folder.path().join("served");
    repository(&served.join("repo"))?;
    let generate = || rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]);
    let (server, client, other) = (generate()?, generate()?, generate()?);
    let serving = server_with(&served, Some(config(&server, &client)?)).await?;
    let address = serving.address();
    let [trusted, cert, untrusted] = [&server, &client, &other].map(|pair| pair.cert.pem());
    let [key, untrusted_key] = [&client, &other].map(|pair| pair.signing_key.serialize_pem());
    let refused = "SYNC SYNC_FAILED: source `a`: ";
    for (root_ca, tls_cert, tls_key, expected) in [
        (&trusted, &cert, &key, "/data.json {"),
        (&untrusted, &cert, &key, refused),
        (&trusted, &untrusted, &untrusted_key, refused),
        (&trusted, &String::new(), &String::new(), refused),
        (&String::new(), &cert, &key, refused),
        (
            &trusted,
            &cert,
            &String::new(),
            "SYNC CONFIG_ERROR: source `a`: tls_cert: invalid tls_cert and tls_key: expected a certificate",
        ),
        (
            &"none".to_owned(),
            &cert,
            &key,
            "SYNC CONFIG_ERROR: source `a`: tls_cert: root_ca holds no certificates",
        ),
    ] {
        let secret = serde_json::json!({
            "type": "tls_cert", "root_ca": root_ca, "tls_cert": tls_cert, "tls_key": tls_key,
        });
        for source in [
            format!(
                "git: {{repo: 'https://{address}/open/repo/.git', reference: main, \
                 included_files: ['*.json'], credentials: s}}"
            ),
            format!(
                "datasources: [{{path: d, type: http, credentials: s, \
                 config: {{url: 'https://{address}/document'}}}}]"
            ),
        ] {
            let job = format!(
                "{{bundle: {{requirements: [{{source: a}}]}}, secrets: {{s: {secret}}}, \
                 sources: {{a: {{{source}}}}}}}"
            );
            let found = fixture.listing(&job).await?;
            let found = found.replace("datasource ``: ", "");
            assert!(found.starts_with(expected), "{source} {expected}: {found}");
        }
    }
    Ok(())
}

//! Certificates of servers and of clients.

use std::error::Error;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rcgen::{CertifiedKey, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use super::{Done, answer, member, sent};
use crate::host::tls::config_with_verifier;

const NAME: &str = "example.test";

fn certificate() -> Result<CertifiedKey<KeyPair>, rcgen::Error> {
    rcgen::generate_simple_self_signed([NAME.to_owned()])
}

/// Starts a server with a certificate. If `is_strict`, the server requires client certificates of
/// the same authority.
fn server(own: &CertifiedKey<KeyPair>, is_strict: bool) -> Result<String, Box<dyn Error>> {
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = if is_strict {
        let mut roots = RootCertStore::empty();
        roots.add(own.cert.der().clone())?;
        let roots = Arc::new(roots);
        WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider)).build()?
    } else {
        WebPkiClientVerifier::no_client_auth()
    };
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![own.cert.der().clone()], key)?;
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if let Ok(connection) = ServerConnection::new(Arc::clone(&config)) {
                answer(StreamOwned::new(connection, stream), "", b"");
            }
        }
    });
    Ok(format!("https://{address}"))
}

/// Returns the status code of the response to a request with these members, 0 without a response.
fn code(host: &str, members: &str) -> Result<String, String> {
    let request = format!(r#"{{"method":"get","url":"HOST/","raise_error":false{members}}}"#);
    let found = sent(host, &request)?;
    Ok(member(&found, "status_code"))
}

/// Escapes a string of several lines for JSON.
fn written(text: &str) -> String {
    text.replace('\r', "").replace('\n', "\\n")
}

#[test]
fn certificates_are_verified() -> Done {
    let own = certificate()?;
    let host = server(&own, false)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, own.cert.pem())?;
    for (members, expected) in [
        ("", "0"),
        (r#","tls_insecure_skip_verify":true"#, "200"),
        (r#","tls_ca_cert":"PEM""#, "0"),
        (
            r#","tls_ca_cert":"PEM","tls_server_name":"example.test""#,
            "200",
        ),
        (
            r#","tls_ca_cert_file":"PATH","tls_server_name":"example.test""#,
            "200",
        ),
        (
            r#","tls_ca_cert":"PEM","headers":{"host":"example.test"}"#,
            "200",
        ),
        (r#","tls_server_name":"example.test""#, "0"),
        (r#","tls_ca_cert_env_variable":"NO_SUCH_VARIABLE""#, "0"),
    ] {
        let members = members.replace("PEM", &written(&own.cert.pem()));
        let members = members.replace("PATH", &path.to_string_lossy());
        assert_eq!(code(&host, &members)?, expected, "{members}");
    }
    Ok(())
}

#[test]
fn a_system_without_certificates_trusts_nobody() -> Done {
    let host = server(&certificate()?, false)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = config_with_verifier(None, provider).map_err(|error| format!("{error:?}"))?;
    let mut client = ClientConnection::new(Arc::new(config), NAME.try_into()?)?;
    let mut stream = TcpStream::connect(host.trim_start_matches("https://"))?;
    while client.is_handshaking() {
        let Err(failure) = client.complete_io(&mut stream) else {
            continue;
        };
        assert!(failure.to_string().contains("UnknownIssuer"), "{failure}");
        return Ok(());
    }
    Err("the certificate is taken".into())
}

#[test]
fn own_certificates_are_shown_to_the_server() -> Done {
    let (own, other) = (certificate()?, certificate()?);
    let host = server(&own, true)?;
    for (client_certificate, expected) in [(None, "0"), (Some(&other), "0"), (Some(&own), "200")] {
        let mut members = r#","tls_insecure_skip_verify":true"#.to_owned();
        if let Some(client_certificate) = client_certificate {
            let [chain, key] = [
                client_certificate.cert.pem(),
                client_certificate.signing_key.serialize_pem(),
            ];
            let (chain, key) = (written(&chain), written(&key));
            members += &format!(r#","tls_client_cert":"{chain}","tls_client_key":"{key}""#);
        }
        assert_eq!(code(&host, &members)?, expected, "{members}");
    }
    Ok(())
}

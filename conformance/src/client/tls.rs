//! TLS: whose certificates count.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::BuilderVerifierExt as _;

use super::{Connection, ConnectionError};

/// The TLS side of a connection: whose certificates count.
pub(super) fn config(connection: &Connection) -> Result<rustls::ClientConfig, ConnectionError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectionError::Tls(error.to_string()))?;
    if connection.insecure {
        return Ok(builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth());
    }
    let Some(pem) = &connection.cacert else {
        return Ok(builder
            .with_platform_verifier()
            .map_err(|error| ConnectionError::Tls(error.to_string()))?
            .with_no_client_auth());
    };
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate =
            certificate.map_err(|error| ConnectionError::Certificates(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| ConnectionError::Certificates(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(ConnectionError::Certificates("none found".to_owned()));
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Accepts any server certificate: the user asked for it.
#[derive(Debug)]
struct AnyCertificate(Arc<rustls::crypto::CryptoProvider>);

impl rustls::client::danger::ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &rustls::pki_types::ServerName<'_>,
        _ocsp_response: &[u8],
        _now: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::client::{Base, Client, Outgoing};

    /// A TLS server that answers every connection once, and its certificate in PEM.
    async fn serve() -> (u16, String) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])
            .expect("a certificate");
        let pem = made.cert.pem();
        let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("a server");
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let listener = tokio::net::TcpListener::bind("localhost:0")
            .await
            .expect("a port");
        let port = listener.local_addr().expect("an address").port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    let _ = stream.read(&mut [0; 4096]).await;
                    let answer =
                        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
                    let _ = stream.write_all(answer).await;
                    let _ = stream.shutdown().await;
                }
            }
        });
        (port, pem)
    }

    #[tokio::test]
    async fn certificates_count_in_both_tiers() {
        let (port, pem) = serve().await;
        let base = Base::parse(&format!("https://localhost:{port}")).expect("an address");
        let other = serve().await.1;
        for (cacert, insecure, trusted) in [
            (Some(pem), false, true),
            (Some(other), false, false),
            (None, false, false),
            (None, true, true),
        ] {
            let client = Client::new(&Connection {
                cacert: cacert.clone().map(String::into_bytes),
                insecure,
                ..Connection::default()
            })
            .expect("a client");
            // The second path is one that only the raw tier sends.
            for path in ["/a", "/../a"] {
                let request = Outgoing {
                    method: "GET",
                    path: path.to_owned(),
                    ..Outgoing::default()
                };
                let answer = client.send(&base, &request).await;
                let text = answer.as_ref().map(|answer| answer.text().into_owned());
                let case = format!("{path} {insecure} {cacert:?}: {text:?}");
                assert_eq!(text.is_ok_and(|text| text == "hi"), trusted, "{case}");
            }
        }
    }

    #[test]
    fn what_is_no_certificate_is_refused() {
        for pem in [
            "",
            "x",
            "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
        ] {
            let connection = Connection {
                cacert: Some(pem.as_bytes().to_vec()),
                ..Connection::default()
            };
            let refused = config(&connection);
            assert!(
                matches!(refused, Err(ConnectionError::Certificates(_))),
                "{pem}: {refused:?}"
            );
        }
    }
}

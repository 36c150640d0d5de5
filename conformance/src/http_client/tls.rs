//! Trust in the TLS certificates of servers.

use std::sync::Arc;

use rustls::CertificateError;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerified;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::BuilderVerifierExt as _;

use super::{Connection, ConnectionError};

/// Creates the TLS configuration of a connection, with the trusted certificates.
pub(super) fn config(connection: &Connection) -> Result<rustls::ClientConfig, ConnectionError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectionError::Tls(error.to_string()))?;
    if connection.insecure {
        return Ok(builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Verifier {
                trust: Trust::Any,
                provider,
            }))
            .with_no_client_auth());
    }
    let Some(pem) = &connection.cacert else {
        return Ok(builder
            .with_platform_verifier()
            .map_err(|error| ConnectionError::Tls(error.to_string()))?
            .with_no_client_auth());
    };
    let (mut roots, mut certificates) = (rustls::RootCertStore::empty(), Vec::new());
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate =
            certificate.map_err(|error| ConnectionError::Certificates(error.to_string()))?;
        roots
            .add(certificate.clone())
            .map_err(|error| ConnectionError::Certificates(error.to_string()))?;
        certificates.push(certificate);
    }
    if roots.is_empty() {
        return Err(ConnectionError::Certificates("none found".to_owned()));
    }
    let roots = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(&provider))
        .build()
        .map_err(|error| ConnectionError::Tls(error.to_string()))?;
    Ok(builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier {
            trust: Trust::Given(roots, certificates),
            provider,
        }))
        .with_no_client_auth())
}

/// Trusted server certificates.
#[derive(Debug)]
enum Trust {
    /// Any certificate, as the user requested.
    Any,
    /// Certificates signed by the given authorities, and the given certificates themselves.
    Given(Arc<WebPkiServerVerifier>, Vec<CertificateDer<'static>>),
}

#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<rustls::crypto::CryptoProvider>,
}

impl rustls::client::danger::ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &rustls::pki_types::ServerName<'_>,
        ocsp_response: &[u8],
        now: rustls::pki_types::UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Trust::Given(roots, certificates) = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified =
            roots.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // A self-signed certificate is usually marked as an authority. At this point its dates
            // have been checked, its name has not.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_)))
                if certificates.contains(end_entity) =>
            {
                let certificate = rustls::server::ParsedCertificate::try_from(end_entity)?;
                rustls::client::verify_server_name(&certificate, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
pub(super) mod tests {
    use rstest::rstest;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    use super::*;
    use crate::http_client::wire::Outgoing;
    use crate::http_client::{Base, Client};

    /// Starts a TLS server that responds to every connection once; returns its port, and its
    /// self-signed certificate in PEM.
    pub(crate) async fn serve(name: &str, is_ca: IsCa) -> (u16, String) {
        let mut certificate = CertificateParams::new([name.to_owned()]).expect("a name");
        certificate.is_ca = is_ca;
        let key = KeyPair::generate().expect("a key");
        let certificate = certificate.self_signed(&key).expect("a certificate");
        let pem = certificate.pem();
        let key = rustls::pki_types::PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
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
        let authority = || IsCa::Ca(BasicConstraints::Unconstrained);
        let (by_name, pem) = serve("localhost", IsCa::NoCa).await;
        let (own_authority, own_pem) = serve("localhost", authority()).await;
        let (misnamed, misnamed_pem) = serve("example.org", authority()).await;
        for (port, cacert, insecure, trusted) in [
            (by_name, Some(&pem), false, true),
            (by_name, Some(&own_pem), false, false),
            (by_name, None, false, false),
            (by_name, None, true, true),
            (own_authority, Some(&own_pem), false, true),
            (own_authority, Some(&pem), false, false),
            (misnamed, Some(&misnamed_pem), false, false),
        ] {
            let base = Base::parse(&format!("https://localhost:{port}")).expect("an address");
            let client = Client::new(&Connection {
                cacert: cacert.map(|pem| pem.as_bytes().to_vec()),
                insecure,
                ..Connection::patient()
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
                let case = format!("{path} {port} {insecure} {cacert:?}: {text:?}");
                assert_eq!(text.is_ok_and(|text| text == "hi"), trusted, "{case}");
            }
        }
    }

    #[rstest]
    #[case::empty("")]
    #[case::no_pem("x")]
    #[case::no_base64("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n")]
    fn what_is_no_certificate_is_refused(#[case] pem: &str) {
        let connection = Connection {
            cacert: Some(pem.as_bytes().to_vec()),
            ..Connection::default()
        };
        let refused = config(&connection);
        assert!(
            matches!(refused, Err(ConnectionError::Certificates(_))),
            "{refused:?}"
        );
    }
}

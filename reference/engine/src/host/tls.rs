//! TLS options of the requests of policies.

use std::sync::Arc;

use rego::host::{HostError, Identity, Tls, Trust};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WantsClientCert, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme,
    WantsVerifier,
};
use rustls_platform_verifier::Verifier;

fn wrong(reason: impl ToString) -> HostError {
    HostError::Refused(reason.to_string())
}

/// TLS configuration of connections without special options.
pub(super) fn default_config() -> Result<ClientConfig, HostError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    config_with_verifier(Verifier::new(Arc::clone(&provider)).ok(), provider)
}

/// TLS configuration of connections without special options. `system` verifies certificates by the
/// CA certificates of the system; without it, only plain connections are possible.
pub(super) fn config_with_verifier(
    system: Option<Verifier>,
    provider: Arc<CryptoProvider>,
) -> Result<ClientConfig, HostError> {
    let builder = builder(provider)?;
    let builder = match system {
        Some(verifier) => trusting(builder, Arc::new(verifier)),
        None => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(builder.with_no_client_auth())
}

type Builder<S> = ConfigBuilder<ClientConfig, S>;

fn builder(provider: Arc<CryptoProvider>) -> Result<Builder<WantsVerifier>, HostError> {
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(wrong)
}

fn trusting(
    builder: Builder<WantsVerifier>,
    verifier: Arc<dyn ServerCertVerifier>,
) -> Builder<WantsClientCert> {
    builder
        .dangerous()
        .with_custom_certificate_verifier(verifier)
}

/// TLS configuration with the special options of a request.
pub(super) fn special(tls: Tls) -> Result<ClientConfig, HostError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = verifier(tls.trust, &provider)?;
    let builder = trusting(builder(provider)?, verifier);
    let Some(Identity { chain, key }) = tls.identity else {
        return Ok(builder.with_no_client_auth());
    };
    let key = PrivateKeyDer::try_from(key).map_err(wrong)?;
    let chain = certificates(chain).collect();
    builder.with_client_auth_cert(chain, key).map_err(wrong)
}

fn verifier(
    trust: Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, HostError> {
    let provider = Arc::clone(provider);
    Ok(match trust {
        Trust::Any => Arc::new(AcceptAny(provider)),
        Trust::Authorities(authorities) => {
            let mut roots = RootCertStore::empty();
            for authority in certificates(authorities) {
                roots.add(authority).map_err(wrong)?;
            }
            let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
            verifier.build().map_err(wrong)?
        }
        Trust::System(authorities) => {
            let verifier = Verifier::new_with_extra_roots(certificates(authorities), provider);
            Arc::new(verifier.map_err(wrong)?)
        }
    })
}

fn certificates(all: Vec<Vec<u8>>) -> impl Iterator<Item = CertificateDer<'static>> {
    all.into_iter().map(CertificateDer::from)
}

/// Verifier that accepts any certificate, for requests that ask for this.
#[derive(Debug)]
struct AcceptAny(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _chain: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

//! Verification of client certificates.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

/// Creates a verifier that accepts trusted client certificates, and those signed by a trusted one.
///
/// # Errors
/// When a trusted certificate cannot be used to verify signatures.
pub(super) fn verifier(
    trusted: Vec<CertificateDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, Box<dyn std::error::Error>> {
    let mut roots = RootCertStore::empty();
    for certificate in &trusted {
        roots.add(certificate.clone())?;
    }
    let signed = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()?;
    Ok(Arc::new(Trusted { trusted, signed }))
}

/// Accepts trusted certificates, and certificates signed by a trusted one. The library alone
/// rejects client certificates that may sign others, such as self-signed ones.
#[derive(Debug)]
struct Trusted {
    trusted: Vec<CertificateDer<'static>>,
    signed: Arc<dyn ClientCertVerifier>,
}

impl ClientCertVerifier for Trusted {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.signed.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.signed.verify_client_cert(own, others, now);
        match verified.is_err() && self.trusted.contains(own) && identifies_clients(own, now) {
            true => Ok(ClientCertVerified::assertion()),
            false => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

/// Whether a certificate is valid now, and may be used for client authentication.
fn identifies_clients(certificate: &CertificateDer<'_>, now: UnixTime) -> bool {
    let Ok((_, parsed)) = X509Certificate::from_der(certificate) else {
        return false;
    };
    let Ok(now) = i64::try_from(now.as_secs()) else {
        return false;
    };
    let validity = parsed.validity();
    let in_force = validity.not_before.timestamp() <= now && now <= validity.not_after.timestamp();
    in_force
        && match parsed.extended_key_usage() {
            Ok(usage) => usage.is_none_or(|usage| usage.value.any || usage.value.client_auth),
            Err(_) => false,
        }
}

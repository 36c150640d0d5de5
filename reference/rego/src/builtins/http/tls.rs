//! What a connection demands of the server's certificate, and shows of its own.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;

use super::options::{Options, Sources};
use super::trouble::Trouble;

impl Options {
    /// Whether the connection is other than the usual ones.
    pub(super) fn has_tls(&self) -> bool {
        self.insecure
            || self.system_certificates
            || self.server_name.is_some()
            || self.authorities.is_given()
            || (self.certificate.is_given() && self.key.is_given())
    }
}

impl Sources {
    fn is_given(&self) -> bool {
        self.text.is_some() || self.file.is_some() || self.variable.is_some()
    }
}

fn wrong(message: impl ToString) -> Trouble {
    Trouble::Value(message.to_string())
}

fn read(path: &str) -> Result<String, Trouble> {
    std::fs::read_to_string(path)
        .map_err(|_| wrong(format!("open {path}: no such file or directory")))
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// The configuration of connections that demand nothing special.
pub(super) fn usual() -> Result<ClientConfig, Trouble> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    // A system without certificates can still make connections without TLS.
    let verifier = Verifier::new(Arc::clone(&provider)).map(|verifier| Arc::new(verifier) as _);
    let verifier = verifier.unwrap_or_else(|_| Arc::new(Distrust) as Arc<dyn ServerCertVerifier>);
    Ok(builder(provider, verifier)?.with_no_client_auth())
}

type Builder = rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>;

fn builder(
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
) -> Result<Builder, Trouble> {
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(wrong)?;
    Ok(builder
        .dangerous()
        .with_custom_certificate_verifier(verifier))
}

/// The configuration that a request asks for.
pub(super) fn special(options: &Options) -> Result<ClientConfig, Trouble> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let identity = identity(options)?;
    let authorities = authorities(options)?;
    let verifier: Arc<dyn ServerCertVerifier> = if options.insecure {
        Arc::new(Anyone(Arc::clone(&provider)))
    } else if options.authorities.is_given() && !options.system_certificates {
        let mut roots = RootCertStore::empty();
        for authority in authorities {
            roots.add(authority).map_err(wrong)?;
        }
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        verifier.build().map_err(wrong)?
    } else {
        let verifier = Verifier::new_with_extra_roots(authorities, Arc::clone(&provider));
        Arc::new(verifier.map_err(wrong)?)
    };
    let builder = builder(provider, verifier)?;
    match identity {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(wrong),
        None => Ok(builder.with_no_client_auth()),
    }
}

fn certificates(pem: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .filter_map(Result::ok)
        .collect()
}

fn authorities(options: &Options) -> Result<Vec<CertificateDer<'static>>, Trouble> {
    let sources = &options.authorities;
    let mut all = Vec::new();
    let mut add = |pem: &str, message: &str| {
        let found = certificates(pem);
        match found.is_empty() {
            true => Err(wrong(message)),
            false => {
                all.extend(found);
                Ok(())
            }
        }
    };
    let could_not = "could not append certificates";
    if let Some(pem) = sources.text.as_deref().filter(|pem| !pem.is_empty()) {
        add(pem, could_not)?;
    }
    if let Some(path) = &sources.file {
        let message = format!("could not append CA certificates from \"{path}\"");
        add(&read(path)?, &message)?;
    }
    if let Some(name) = &sources.variable {
        let message = format!("could not add CA certificates from envvar \"{name}\": {could_not}");
        add(&variable(name), &message)?;
    }
    Ok(all)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The certificate and key to show, the last one that is given.
fn identity(options: &Options) -> Result<Option<Identity>, Trouble> {
    let (certificate, key) = (&options.certificate, &options.key);
    let mut pair = None;
    if let (Some(certificate), Some(key)) = (&certificate.text, &key.text) {
        pair = Some((certificate.clone(), key.clone()));
    }
    if let (Some(certificate), Some(key)) = (&certificate.file, &key.file) {
        pair = Some((read(certificate)?, read(key)?));
    }
    if let (Some(certificate), Some(key)) = (&certificate.variable, &key.variable) {
        pair = Some((variable(certificate), variable(key)));
    }
    let Some((certificate, key)) = pair else {
        return Ok(None);
    };
    let chain = certificates(&certificate);
    if chain.is_empty() {
        return Err(wrong(
            "tls: failed to find any PEM data in certificate input",
        ));
    }
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
    let key = key.map_err(|_| wrong("tls: failed to find any PEM data in key input"))?;
    Ok(Some((chain, key)))
}

/// Takes any certificate, as the request asks.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
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

/// Takes no certificate, as there is nothing to trust.
#[derive(Debug)]
struct Distrust;

impl ServerCertVerifier for Distrust {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _chain: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Err(rustls::CertificateError::UnknownIssuer.into())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::CertificateError::UnknownIssuer.into())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::CertificateError::UnknownIssuer.into())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519, SignatureScheme::RSA_PSS_SHA256]
    }
}

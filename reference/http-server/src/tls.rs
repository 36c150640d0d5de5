//! TLS with certificates that are reloaded when their files change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedCipherSuite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::{info, warn};

use super::client_certificates;
use super::options::ServeOptions;
use super::socket::Transport;
use crate::StartError;

/// TLS acceptor.
pub(super) struct Tls(TlsAcceptor);

impl Tls {
    /// Creates the configured acceptor, if TLS is enabled.
    pub(super) fn open(options: &ServeOptions) -> Result<Option<Self>, StartError> {
        let (Some(cert), Some(key)) = (&options.tls_cert_file, &options.tls_private_key_file)
        else {
            return Ok(None);
        };
        let provider = Arc::new(provider(&options.tls_cipher_suites)?);
        if matches!(&*options.min_tls_version, "1.0" | "1.1") {
            info!("TLS 1.2 is the oldest supported version");
        }
        let files = Files {
            cert: cert.clone(),
            key: key.clone(),
        };
        let stamp = files.stamp();
        let certificate = Certificate {
            current: ArcSwap::from_pointee(files.read(&provider)?),
            seen: Mutex::new(Loaded {
                at: Instant::now(),
                stamp,
            }),
            period: options.tls_cert_refresh_period,
            provider: Arc::clone(&provider),
            files,
        };
        let versions = if options.min_tls_version == "1.3" {
            &[&TLS13][..]
        } else {
            &[&TLS13, &TLS12]
        };
        let clients = match &options.tls_ca_cert_file {
            Some(file) => client_certificates::verifier(certificates(file)?, &provider)
                .map_err(|source| refused(file, &source))?,
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(|source| StartError::new(format!("TLS: {source}")))?
            .with_client_cert_verifier(clients)
            .with_cert_resolver(Arc::new(certificate));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Some(Self(TlsAcceptor::from(Arc::new(config)))))
    }

    /// Performs the handshake.
    pub(super) async fn accept(&self, stream: Transport) -> std::io::Result<TlsStream<Transport>> {
        self.0.accept(stream).await
    }
}

/// Cipher suites that Open Policy Agent supports, but which are too weak to be supported here.
const NOT_SPOKEN: [&str; 16] = [
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
];

/// Cryptography provider, for TLS 1.2 restricted to these cipher suites, if any are named.
/// Unsupported ones are ignored.
fn provider(names: &[String]) -> Result<CryptoProvider, StartError> {
    let mut provider = ring::default_provider();
    if names.is_empty() {
        return Ok(provider);
    }
    let refused = |reason: String| StartError::new(format!("--tls-cipher-suites: {reason}"));
    let is_old = |suite: &SupportedCipherSuite| suite.version() == &TLS12;
    let name_of = |suite: &SupportedCipherSuite| suite.suite().as_str();
    for name in names {
        let known = provider
            .cipher_suites
            .iter()
            .find(|suite| name_of(suite) == Some(name));
        match known {
            Some(suite) if is_old(suite) => {}
            // IANA names; the library has different ones.
            _ if name.starts_with("TLS_AES_") || name == "TLS_CHACHA20_POLY1305_SHA256" => {
                return Err(refused(format!(
                    "`{name}` is a TLS 1.3 cipher suite; those cannot be selected"
                )));
            }
            _ if NOT_SPOKEN.contains(&name.as_str()) => {
                warn!(name, "unsupported cipher suite");
            }
            _ => return Err(refused(format!("there is no cipher suite `{name}`"))),
        }
    }
    let named = |suite: &SupportedCipherSuite| {
        name_of(suite).is_some_and(|suite| names.iter().any(|name| name == suite))
    };
    provider
        .cipher_suites
        .retain(|suite| !is_old(suite) || named(suite));
    match provider.cipher_suites.iter().any(is_old) {
        true => Ok(provider),
        false => Err(refused(
            "none of these cipher suites is supported".to_owned(),
        )),
    }
}

/// Certificates in a file, at least one.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, StartError> {
    let all: Vec<_> = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect)
        .map_err(|source| refused(file, &source))?;
    if all.is_empty() {
        return Err(refused(file, &"no certificate in it"));
    }
    Ok(all)
}

fn refused(file: &Path, error: &dyn std::fmt::Display) -> StartError {
    StartError::new(format!("TLS file `{}`: {error}", file.display()))
}

/// Current certificate, and the stamps of its files when it was read.
#[derive(Debug)]
struct Certificate {
    current: ArcSwap<CertifiedKey>,
    seen: Mutex<Loaded>,
    period: Duration,
    provider: Arc<CryptoProvider>,
    files: Files,
}

#[derive(Debug)]
struct Loaded {
    at: Instant,
    stamp: Stamp,
}

/// Modification times and lengths of the certificate and key files.
type Stamp = [Option<(SystemTime, u64)>; 2];

impl Certificate {
    /// Rereads the files if they changed. If they are invalid, the old certificate stays, and the
    /// files are read again later, because the two files are rarely replaced at once.
    fn refresh(&self) {
        // If the lock is taken, the present certificate is used.
        let Ok(mut seen) = self.seen.try_lock() else {
            return;
        };
        if seen.at.elapsed() < self.period {
            return;
        }
        seen.at = Instant::now();
        let stamp = self.files.stamp();
        if stamp == seen.stamp {
            return;
        }
        match self.files.read(&self.provider) {
            Ok(certificate) => {
                self.current.store(Arc::new(certificate));
                seen.stamp = stamp;
                info!("the TLS certificate changed");
            }
            Err(failure) => warn!(%failure, "the changed TLS certificate is not used"),
        }
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.refresh();
        Some(self.current.load_full())
    }
}

#[derive(Debug)]
struct Files {
    cert: PathBuf,
    key: PathBuf,
}

impl Files {
    fn stamp(&self) -> Stamp {
        [&self.cert, &self.key].map(|file| {
            let metadata = file.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        })
    }

    fn read(&self, provider: &CryptoProvider) -> Result<CertifiedKey, StartError> {
        let chain = certificates(&self.cert)?;
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|source| refused(&self.key, &source))?;
        CertifiedKey::from_der(chain, key, provider).map_err(|source| refused(&self.key, &source))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{NOT_SPOKEN, provider};

    const SPOKEN: &str = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,\
        TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,\
        TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,\
        TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256";

    #[rstest]
    #[case::default("", Ok(6))]
    #[case::all_that_are_spoken(SPOKEN, Ok(6))]
    #[case::one_that_is_spoken(
        &format!("{},TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", NOT_SPOKEN.join(",")),
        Ok(1)
    )]
    #[case::none_that_is_spoken(
        &NOT_SPOKEN.join(","),
        Err("none of these cipher suites is supported")
    )]
    #[case::suite_of_tls_1_3("TLS_AES_128_GCM_SHA256", Err("is a TLS 1.3 cipher suite"))]
    #[case::unknown("TLS_ECDHE_RSA_WITH_NOTHING", Err("there is no cipher suite"))]
    fn cipher_suites_of_tls_1_2_are_those_that_are_named(
        #[case] names: &str,
        #[case] expected: Result<usize, &str>,
    ) {
        let requested = names.split(',').filter(|name| !name.is_empty());
        let requested: Vec<String> = requested.map(str::to_owned).collect();
        match (provider(&requested), expected) {
            (Ok(provider), Ok(count)) => {
                let suites = provider.cipher_suites.iter();
                let old = suites.filter(|suite| suite.version() == &super::TLS12);
                assert_eq!(old.count(), count);
                assert!(provider.cipher_suites.len() > count);
            }
            (Err(failure), Err(reason)) => {
                assert!(failure.to_string().contains(reason), "{failure}");
            }
            (provided, _) => assert_eq!(provided.is_ok(), expected.is_ok(), "{names}"),
        }
    }
}

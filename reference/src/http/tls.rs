//! TLS, with a certificate that is read again when its files change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::{info, warn};

use super::options::ServeOptions;
use crate::StartError;

/// Accepts TLS on a connection.
pub(super) struct Tls(TlsAcceptor);

impl Tls {
    /// The TLS that the options ask for, if any.
    pub(super) fn open(options: &ServeOptions) -> Result<Option<Self>, StartError> {
        let (Some(cert), Some(key)) = (&options.tls_cert_file, &options.tls_private_key_file)
        else {
            return Ok(None);
        };
        let provider = Arc::new(ring::default_provider());
        let files = Files {
            cert: cert.clone(),
            key: key.clone(),
        };
        let stamp = files.stamp();
        let certificate = Certificate {
            current: ArcSwap::from_pointee(files.read(&provider)?),
            seen: Mutex::new(Seen {
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
            Some(file) => clients(file, &provider)?,
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

    /// Carries out the handshake.
    pub(super) async fn accept(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        self.0.accept(stream).await
    }
}

/// What checks that clients show a certificate signed by one of those in the file.
fn clients(
    file: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, StartError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots
            .add(certificate)
            .map_err(|source| refused(file, &source))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|source| refused(file, &source))
}

/// The certificates in a file, of which there is at least one.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, StartError> {
    let all: Vec<_> = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect)
        .map_err(|source| refused(file, &source))?;
    if all.is_empty() {
        return Err(refused(file, &"no certificate in it"));
    }
    Ok(all)
}

fn refused(file: &Path, why: &dyn std::fmt::Display) -> StartError {
    StartError::new(format!("TLS file `{}`: {why}", file.display()))
}

/// The certificate in use, and what its files looked like when it was read.
#[derive(Debug)]
struct Certificate {
    current: ArcSwap<CertifiedKey>,
    seen: Mutex<Seen>,
    period: Duration,
    provider: Arc<CryptoProvider>,
    files: Files,
}

#[derive(Debug)]
struct Seen {
    at: Instant,
    stamp: Stamp,
}

/// What tells that a file changed, for the certificate and its key.
type Stamp = [Option<(SystemTime, u64)>; 2];

impl Certificate {
    /// Reads the files again if they changed. A certificate that cannot be used leaves the old
    /// one in force and is tried again, because the two files are rarely replaced at once.
    fn refresh(&self) {
        // Whoever finds the lock taken uses the certificate that is there.
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

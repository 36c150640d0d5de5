//! Trusted CA certificates.

use std::path::PathBuf;

use serde::Deserialize;

/// Trusted authorities for a service's certificate.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct Tls {
    /// File with CA certificates; if absent, the CA certificates of the system are trusted.
    pub(crate) ca_cert: Option<PathBuf>,
    /// Whether the CA certificates of the system are trusted in addition to those of the file.
    #[serde(default)]
    pub(crate) system_ca_required: bool,
}

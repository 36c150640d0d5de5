//! Trusted CA certificates.

use std::path::PathBuf;

use serde::Deserialize;

/// Whose certificates a service may show.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(in crate::engine) struct Tls {
    /// A file with the certificates of authorities; those of the system if it is not given.
    pub(in crate::engine) ca_cert: Option<PathBuf>,
    /// Whether the authorities of the system will do beside those of the file.
    #[serde(default)]
    pub(in crate::engine) system_ca_required: bool,
}

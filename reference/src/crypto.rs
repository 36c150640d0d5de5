//! Cryptography provider of TLS.

use std::sync::Once;

/// Has the libraries that make TLS connections use `ring`, unless the process has chosen another
/// implementation before. Clients are made after this was called.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        drop(rustls::crypto::ring::default_provider().install_default());
    });
}

//! Cryptography provider of TLS.

use std::sync::Once;

/// Makes the TLS libraries use `ring`, unless the process has already chosen another provider. Must
/// be called before clients are created.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        drop(rustls::crypto::ring::default_provider().install_default());
    });
}

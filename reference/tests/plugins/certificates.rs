//! TLS certificates of a server and of its client, generated for each test.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::environment::Done;

/// Returns the TLS configuration of a server at `localhost`, which requires a client certificate if
/// `demands` is true. Writes `server.pem`, `client.pem` and `client.key` to the folder.
pub(crate) fn server(folder: &Path, demands: bool) -> Done<ServerConfig> {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let client = rcgen::generate_simple_self_signed(["client".to_owned()])?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(client.cert.der().clone())?;
    let verifier = match demands {
        true => WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
            .build()?,
        false => WebPkiClientVerifier::no_client_auth(),
    };
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der())?;
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![own.cert.der().clone()], key)?;
    for (name, text) in [
        ("server.pem", own.cert.pem()),
        ("client.pem", client.cert.pem()),
        ("client.key", client.signing_key.serialize_pem()),
    ] {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(config)
}

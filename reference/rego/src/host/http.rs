//! HTTP requests of built-in functions, and the responses to them.

use std::fmt::{self, Debug};
use std::time::Duration;

use ::http::{HeaderMap, Method};
use url::Url;

/// A request that is sent unchanged.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// Absolute URL with the scheme `http` or `https`, or any other that the host supports.
    pub url: Url,
    /// Headers. If absent, `Host` is that of the URL.
    pub headers: HeaderMap,
    /// The body; none is sent if absent.
    pub body: Option<Vec<u8>>,
    /// Maximum duration until the response is complete; unlimited if absent.
    pub timeout: Option<Duration>,
    /// Maximum number of bytes of the response body.
    pub max_body: usize,
    /// Path of the Unix domain socket that the server listens on, if it uses one.
    pub socket: Option<String>,
    /// TLS options; the defaults if absent.
    pub tls: Option<Tls>,
    /// Name that the certificate of the server is for, with or without a port, if it is not that of
    /// the URL.
    pub server_name: Option<String>,
}

/// TLS options of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// Trusted certificates.
    pub trust: Trust,
    /// Client certificate, if any.
    pub identity: Option<Identity>,
}

/// Trusted server certificates. Certificates of authorities are X.509 in DER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// All certificates.
    Any,
    /// Certificates of these authorities only.
    Authorities(Vec<Vec<u8>>),
    /// Certificates of the system's authorities, and of these.
    System(Vec<Vec<u8>>),
}

/// Certificate and private key.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate and its chain, in DER.
    pub chain: Vec<Vec<u8>>,
    /// The private key in DER: PKCS #8, PKCS #1 or SEC 1.
    pub key: Vec<u8>,
}

impl Debug for Identity {
    /// Formats the identity without its key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("chain", &self.chain.len())
            .finish_non_exhaustive()
    }
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// Status code.
    pub code: u16,
    /// Reason phrase.
    pub reason: String,
    /// Headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The unprocessed body.
    pub body: Vec<u8>,
}

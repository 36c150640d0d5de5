//! HTTP requests of built-in functions, and the responses to them.

use std::fmt::{self, Debug};
use std::time::Duration;

use ::http::{HeaderMap, Method};
use url::Url;

/// A request, which the host sends unchanged.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// Method of the request.
    pub method: Method,
    /// Absolute URL with the scheme `http` or `https`, or any other that the host supports.
    pub url: Url,
    /// Headers of the request. Without a `Host` header, the host sends that of the URL.
    pub headers: HeaderMap,
    /// Body of the request; none is sent if absent.
    pub body: Option<Vec<u8>>,
    /// Maximum duration until the response is complete; unlimited if absent.
    pub timeout: Option<Duration>,
    /// Maximum number of bytes of the response body.
    pub max_body: usize,
    /// Path of the Unix domain socket that the server listens on, if it uses one.
    pub socket: Option<String>,
    /// TLS options; the defaults if absent.
    pub tls: Option<Tls>,
    /// Name that the server's certificate must be for, with or without a port; that of the URL if
    /// absent.
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
    /// All certificates are trusted.
    Any,
    /// Only certificates that these authorities have issued are trusted.
    Authorities(Vec<Vec<u8>>),
    /// Certificates that the system's authorities or these authorities have issued are trusted.
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
    /// Body of the response, as received.
    pub body: Vec<u8>,
}

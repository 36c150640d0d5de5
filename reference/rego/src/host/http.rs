//! HTTP requests of built-in functions, and the responses to them.

use std::fmt::{self, Debug};
use std::time::Duration;

use ::http::{HeaderMap, Method};
use url::Url;

/// A request that is to be sent as it stands.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// The absolute URL, of the scheme `http` or `https`, or any that the host knows.
    pub url: Url,
    /// The headers. `Host` is the one of the URL if absent.
    pub headers: HeaderMap,
    /// The body; none is sent if absent.
    pub body: Option<Vec<u8>>,
    /// How long it may take until the response is complete; for ever if absent.
    pub timeout: Option<Duration>,
    /// How many bytes the body of the response may have.
    pub max_body: usize,
    /// The path of the socket in the file system that the server listens on, if it is one.
    pub socket: Option<String>,
    /// What the connection demands; what is usual, if absent.
    pub tls: Option<Tls>,
    /// The name that the certificate of the server is for, with or without a port, if it is not
    /// that of the URL.
    pub server_name: Option<String>,
}

/// What a connection demands of the certificate of the server, and shows of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// Which certificates it takes.
    pub trust: Trust,
    /// The certificate that it shows, if any.
    pub identity: Option<Identity>,
}

/// Which certificates a connection takes. Those of authorities are X.509 in DER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Any.
    Any,
    /// Those of these authorities alone.
    Authorities(Vec<Vec<u8>>),
    /// Those of the system's authorities, and of these.
    System(Vec<Vec<u8>>),
}

/// A certificate and its key.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate and those above it, in DER.
    pub chain: Vec<Vec<u8>>,
    /// The private key in DER: PKCS #8, PKCS #1 or SEC 1.
    pub key: Vec<u8>,
}

impl Debug for Identity {
    /// Shows nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("chain", &self.chain.len())
            .finish_non_exhaustive()
    }
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub code: u16,
    /// What follows the code.
    pub reason: String,
    /// With names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: Vec<u8>,
}

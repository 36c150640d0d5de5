//! Host environment of built-in functions: servers, names, files, environment variables.
//!
//! The crate accesses none of it by itself. The caller passes a [`Host`] to the evaluation, or
//! none; operations that the host does not implement are refused.

use std::fmt::{self, Debug};
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use ::url::Url;
use http::{HeaderMap, Method};

use crate::Value;
use crate::meter::Ended;

/// Checks whether the evaluation should continue. Callers that wait call it often.
pub type Cancellation<'w> = &'w dyn Fn() -> Result<(), Ended>;

/// Interval of cancellation checks during a pause.
const GLANCE: Duration = Duration::from_millis(20);

/// Environment of built-in functions.
///
/// Methods that are not implemented refuse, as for a policy that lacks the permission. The hosts
/// that an evaluation may reach are checked before a method is called, and again for each
/// redirection.
pub trait Host: Debug + Send + Sync {
    /// Sends one request and waits for the whole response. Redirections are not followed, and
    /// requests are not repeated.
    ///
    /// # Errors
    /// If there is no response.
    fn send(
        &self,
        request: HttpRequest,
        wanted: Cancellation<'_>,
    ) -> Result<HttpResponse, HostError> {
        let _ = (request, wanted);
        Err(HostError::Disallowed)
    }

    /// Returns the addresses of a host name.
    ///
    /// # Errors
    /// If there are none.
    fn addresses(&self, name: &str, wanted: Cancellation<'_>) -> Result<Vec<IpAddr>, HostError> {
        let _ = (name, wanted);
        Err(HostError::Disallowed)
    }

    /// Returns the content of a text file.
    ///
    /// # Errors
    /// If it cannot be read.
    fn file(&self, path: &str) -> io::Result<String> {
        let _ = path;
        Err(io::ErrorKind::PermissionDenied.into())
    }

    /// Returns an environment variable.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Returns the result of `opa.runtime`, except secrets in its `config`; `None` if it is empty.
    fn runtime(&self) -> Option<Value> {
        None
    }

    /// Waits for a duration.
    ///
    /// # Errors
    /// If the evaluation has to end.
    fn pause(&self, time: Duration, wanted: Cancellation<'_>) -> Result<(), Ended> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            wanted()?;
            std::thread::sleep(GLANCE.min(time));
        }
        Ok(())
    }
}

/// Host of evaluations without one: it refuses everything.
#[derive(Debug)]
pub(crate) struct NoHost;

impl Host for NoHost {}

/// Reason why a host operation failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostError {
    /// The evaluation has to end.
    Ended(Ended),
    /// Policies must not access this.
    Disallowed,
    /// The request cannot be sent, for this reason.
    Refused(String),
    /// There was no response within the timeout of the request.
    TimedOut,
    /// The name has no addresses.
    NoSuchHost,
    /// The server does not accept connections.
    ConnectionRefused,
    /// The response is longer than permitted.
    TooLong,
    /// Another error in the communication.
    Broken(String),
}

impl From<Ended> for HostError {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

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

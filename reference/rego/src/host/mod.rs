//! Host environment of built-in functions: servers, host names, files, environment variables.
//!
//! The crate itself accesses no such resource. The caller may pass a [`Host`] to the evaluation;
//! operations that the host does not implement are refused.

use std::fmt::Debug;
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

#[cfg(feature = "http")]
mod http;

#[cfg(feature = "http")]
pub use http::{HttpRequest, HttpResponse, Identity, Tls, Trust};

use crate::Value;
use crate::meter::AbortReason;

/// Callback that fails if the evaluation must not continue. Code that waits calls it often.
pub type Cancellation<'w> = &'w dyn Fn() -> Result<(), AbortReason>;

/// Interval of cancellation checks during a pause.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Environment of built-in functions.
///
/// Methods that are not implemented refuse the operation, as if the policy lacked the permission.
/// Whether the evaluation may reach a network host is checked before a method is called, and again
/// for each redirection.
pub trait Host: Debug + Send + Sync {
    /// Sends one request and waits for the whole response. Redirections are not followed, and
    /// requests are not repeated.
    ///
    /// # Errors
    /// If there is no response.
    #[cfg(feature = "http")]
    fn send(
        &self,
        request: HttpRequest,
        check_cancelled: Cancellation<'_>,
    ) -> Result<HttpResponse, HostError> {
        let _ = (request, check_cancelled);
        Err(HostError::Disallowed)
    }

    /// Returns the addresses of a host name.
    ///
    /// # Errors
    /// If the name has no addresses.
    fn addresses(
        &self,
        name: &str,
        check_cancelled: Cancellation<'_>,
    ) -> Result<Vec<IpAddr>, HostError> {
        let _ = (name, check_cancelled);
        Err(HostError::Disallowed)
    }

    /// Returns the content of a text file.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn file(&self, path: &str) -> io::Result<String> {
        let _ = path;
        Err(io::ErrorKind::PermissionDenied.into())
    }

    /// Returns an environment variable.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Returns the result of `opa.runtime`, without secrets in its `config`; `None` if it is empty.
    fn runtime(&self) -> Option<Value> {
        None
    }

    /// Waits for a duration.
    ///
    /// # Errors
    /// If the evaluation has to end.
    fn pause(&self, time: Duration, check_cancelled: Cancellation<'_>) -> Result<(), AbortReason> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            check_cancelled()?;
            std::thread::sleep(POLL_INTERVAL.min(time));
        }
        Ok(())
    }
}

/// Host of evaluations that have no other host: it refuses every operation.
#[derive(Debug)]
pub(crate) struct NoHost;

impl Host for NoHost {}

/// Reason why a host operation failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostError {
    /// The evaluation has to end.
    AbortReason(AbortReason),
    /// Policies must not access the resource.
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

impl From<AbortReason> for HostError {
    fn from(ended: AbortReason) -> Self {
        Self::AbortReason(ended)
    }
}

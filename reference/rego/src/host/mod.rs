//! What built-in functions need of the world: servers, names, files, the environment.
//!
//! The crate reaches nothing of it by itself. Whoever evaluates gives the evaluation a [`Host`],
//! or none; what the host does not do is refused.

use std::fmt::Debug;
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

#[cfg(feature = "http")]
mod http;

#[cfg(feature = "http")]
pub use http::{HttpRequest, HttpResponse, Identity, Tls, Trust};

use crate::Value;
use crate::meter::Ended;

/// Says whether the evaluation still wants what it waits for. Whoever waits asks this often.
pub type Cancellation<'w> = &'w dyn Fn() -> Result<(), Ended>;

/// How often a pause looks whether it is still wanted.
const GLANCE: Duration = Duration::from_millis(20);

/// The world as built-in functions see it.
///
/// A method that an implementation leaves out refuses, as for a policy that may not do this. Which
/// hosts an evaluation may reach is checked before a method is called, and again for each
/// redirection.
pub trait Host: Debug + Send + Sync {
    /// Sends one request and waits for the whole response. Redirections are not followed, nor is
    /// anything sent again.
    ///
    /// # Errors
    /// When there is no response.
    #[cfg(feature = "http")]
    fn send(
        &self,
        request: HttpRequest,
        wanted: Cancellation<'_>,
    ) -> Result<HttpResponse, HostError> {
        let _ = (request, wanted);
        Err(HostError::Disallowed)
    }

    /// The addresses of a name.
    ///
    /// # Errors
    /// When there are none.
    fn addresses(&self, name: &str, wanted: Cancellation<'_>) -> Result<Vec<IpAddr>, HostError> {
        let _ = (name, wanted);
        Err(HostError::Disallowed)
    }

    /// The text of a file.
    ///
    /// # Errors
    /// When it cannot be read.
    fn file(&self, path: &str) -> io::Result<String> {
        let _ = path;
        Err(io::ErrorKind::PermissionDenied.into())
    }

    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// What `opa.runtime` answers, but for the secrets in its `config`; an empty object if absent.
    fn runtime(&self) -> Option<Value> {
        None
    }

    /// Lets some time pass.
    ///
    /// # Errors
    /// When the evaluation has to end.
    fn pause(&self, time: Duration, wanted: Cancellation<'_>) -> Result<(), Ended> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            wanted()?;
            std::thread::sleep(GLANCE.min(time));
        }
        Ok(())
    }
}

/// The host of evaluations that have none: it refuses everything.
#[derive(Debug)]
pub(crate) struct NoHost;

impl Host for NoHost {}

/// Why a host does not give what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostError {
    /// The evaluation has to end.
    Ended(Ended),
    /// Policies may not reach this.
    Disallowed,
    /// The request is not one that can be sent, for this reason.
    Refused(String),
    /// There was no response within the time of the request.
    TimedOut,
    /// The name has no addresses.
    NoSuchHost,
    /// Nobody takes connections there.
    ConnectionRefused,
    /// The response is longer than it may be.
    TooLong,
    /// Something else went wrong on the way.
    Broken(String),
}

impl From<Ended> for HostError {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

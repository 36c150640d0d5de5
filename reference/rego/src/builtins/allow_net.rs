//! The `allow_net` check.

use super::{Failure, Session};

/// Fails unless the evaluation may connect to the host.
pub(super) fn check(session: &Session, host: &str) -> Result<(), Failure> {
    let allowed = session.allowed_hosts.as_deref();
    if allowed.is_none_or(|hosts| hosts.iter().any(|allowed| allowed == host)) {
        return Ok(());
    }
    Err(disallowed(host))
}

/// Failure for a host that the evaluation may not connect to.
pub(super) fn disallowed(host: &str) -> Failure {
    Failure::Value(format!("disallowed host: {host}"))
}

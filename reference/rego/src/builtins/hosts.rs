//! Which hosts functions may reach.

use super::{Failure, Session};

/// Fails unless the evaluation may reach the host.
pub(super) fn check(session: &Session, host: &str) -> Result<(), Failure> {
    let allowed = session.allowed_hosts.as_deref();
    if allowed.is_none_or(|hosts| hosts.iter().any(|allowed| allowed == host)) {
        return Ok(());
    }
    Err(Failure::Value(format!("disallowed host: {host}")))
}

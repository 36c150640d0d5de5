//! Redirects.

use super::attempt::address;
use super::error::RequestError;
use super::options::{Options, check_host};
use crate::builtins::Session;
use crate::builtins::url::quote;

/// Changes the options of a request so that the next attempt follows a redirect.
pub(super) fn redirect(
    session: &Session,
    options: &mut Options,
    target: &str,
    code: u16,
) -> Result<(), RequestError> {
    let from = address(options)?;
    let to = from.join(target).map_err(|_| {
        options.network_error(format!("failed to parse Location header {}", quote(target)))
    })?;
    check_host(session, to.as_str())?;
    if matches!(code, 301..=303) && options.method != "HEAD" {
        options.method = "GET".to_owned();
        options.body.clear();
    }
    // Credentials are for the first host only.
    let secret = ["authorization", "cookie", "www-authenticate"];
    let same = from.host() == to.host();
    options.headers.retain(|(name, _)| {
        let name = name.to_ascii_lowercase();
        name != "host" && name != "referer" && (same || !secret.contains(&name.as_str()))
    });
    if from.scheme() == to.scheme() || to.scheme() == "https" {
        options
            .headers
            .push(("Referer".to_owned(), from.to_string()));
    }
    to.as_str().clone_into(&mut options.url);
    Ok(())
}

//! Authorization of guarded resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;

/// Whether a request has the token: as a bearer token, or as the user name or the password of basic
/// authentication.
pub(super) fn has_token(request: &HeaderMap, token: &str) -> bool {
    let authorization = request.get(AUTHORIZATION);
    let authorization =
        authorization.and_then(|authorization| authorization.to_str().ok()?.split_once(' '));
    let Some((scheme, credentials)) = authorization else {
        return false;
    };
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => credentials.trim() == token,
        "basic" => STANDARD
            .decode(credentials.trim())
            .ok()
            .and_then(|decoded| String::from_utf8(decoded).ok())
            .is_some_and(|pair| pair.split(':').any(|part| part == token)),
        _ => false,
    }
}

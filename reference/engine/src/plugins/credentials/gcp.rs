//! Google Cloud metadata tokens.

use std::time::{Duration, Instant, SystemTime};

use rego::value::from_json;
use rego::{Value, jwt};
use reqwest::Method;

use super::token::{Token, lifetime};
use super::token_request::{request_builder, send};
use crate::config::{GcpMetadata, GcpToken};

/// Default address of the metadata server.
const ENDPOINT: &str = "http://metadata.google.internal";

/// Default paths of access and identity tokens on the server.
const ACCESS: &str = "/computeMetadata/v1/instance/service-accounts/default/token";
const IDENTITY: &str = "/computeMetadata/v1/instance/service-accounts/default/identity";

/// Timeout of requests to the metadata server.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Name of the metadata server in error messages.
const SERVER: &str = "the metadata server";

/// Requests a token from the metadata server.
///
/// # Errors
/// When the server returns no token.
pub(super) async fn fetch(metadata: &GcpMetadata) -> Result<Token, String> {
    let requested_at = Instant::now();
    let set = |configured: &Option<String>, default: &str| {
        let configured = configured
            .as_deref()
            .filter(|configured| !configured.is_empty());
        configured.unwrap_or(default).to_owned()
    };
    let endpoint = set(&metadata.endpoint, ENDPOINT);
    let none = || format!("{SERVER} gave no token");
    match metadata.token()? {
        GcpToken::Identity(audience) => {
            let path = set(&metadata.identity_token_path, IDENTITY);
            let answer = get(format!("{endpoint}{path}?audience={audience}")).await?;
            let token = std::str::from_utf8(&answer).map_err(|_| none())?.trim();
            let left = left(token).unwrap_or_default();
            Ok(Token::new(token, requested_at, left))
        }
        GcpToken::Access(scopes) => {
            let path = set(&metadata.access_token_path, ACCESS);
            let answer = get(format!("{endpoint}{path}?scopes={}", scopes.join(","))).await?;
            let answer = from_json(&answer).map_err(|_| none())?;
            let token = answer.get("access_token").and_then(Value::as_str);
            let lifetime = lifetime(&answer).unwrap_or_default();
            Ok(Token::new(token.ok_or_else(none)?, requested_at, lifetime))
        }
    }
}

async fn get(url: String) -> Result<Vec<u8>, String> {
    let request = request_builder(Method::GET, &url)?;
    let request = request.header("metadata-flavor", "Google");
    send(SERVER, request, TIMEOUT).await
}

/// Remaining lifetime of an identity token, if it has an expiry.
fn left(token: &str) -> Option<Duration> {
    let (_, claims) = jwt::unverified(token).ok()?;
    let Value::Number(end) = claims.get("exp")? else {
        return None;
    };
    let end = Duration::from_secs(u64::try_from(end.as_i64()?).ok()?);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    end.checked_sub(now.ok()?)
}

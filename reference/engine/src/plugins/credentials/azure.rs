//! Azure managed identity tokens.

use std::time::{Duration, Instant};

use rego::Value;
use rego::value::from_json;
use reqwest::Method;

use super::token::{Token, lifetime};
use super::token_request::{form, request_builder, send};
use super::{sensitive, variable};
use crate::config::AzureIdentity;

/// Default endpoint for tokens of machines.
const ENDPOINT: &str = "http://169.254.169.254/metadata/identity/oauth2/token";

/// Default resource that tokens are for.
const RESOURCE: &str = "https://storage.azure.com/";

/// API versions for machines and for applications.
const MACHINE_VERSION: &str = "2018-02-01";
const APPLICATION_VERSION: &str = "2019-08-01";

/// Timeout of requests to the identity endpoint.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Name of the identity endpoint in error messages.
const SERVER: &str = "the identity endpoint";

/// Requests a token from the identity endpoint.
///
/// # Errors
/// When the environment is incomplete, or no token is returned.
pub(super) async fn fetch(identity: &AzureIdentity) -> Result<Token, String> {
    let requested_at = Instant::now();
    let in_environment =
        variable("IDENTITY_ENDPOINT").filter(|_| set(&identity.endpoint).is_none());
    let of_application = identity.use_app_service_msi || in_environment.is_some();
    let endpoint = set(&identity.endpoint).or(in_environment.as_deref());
    let version = match of_application {
        true => APPLICATION_VERSION,
        false => MACHINE_VERSION,
    };
    let pairs = [
        ("api-version", set(&identity.api_version).or(Some(version))),
        ("client_id", set(&identity.client_id)),
        ("mi_res_id", set(&identity.mi_res_id)),
        ("object_id", set(&identity.object_id)),
        ("resource", set(&identity.resource).or(Some(RESOURCE))),
    ];
    let pairs = pairs.into_iter();
    let query = form(pairs.filter_map(|(name, value)| Some((name, value?))));
    let url = format!("{}?{query}", endpoint.unwrap_or(ENDPOINT));
    let request = request_builder(Method::GET, &url)?;
    let request = match of_application {
        true => {
            let proof = variable("IDENTITY_HEADER");
            let proof = proof.ok_or("no IDENTITY_HEADER set in environment")?;
            request.header("x-identity-header", sensitive(&proof)?)
        }
        false => request.header("metadata", "true"),
    };
    let answer = send(SERVER, request, TIMEOUT).await?;
    let none = || format!("{SERVER} gave no token");
    let answer = from_json(&answer).map_err(|_| none())?;
    let token = answer.get("access_token").and_then(Value::as_str);
    let lifetime = lifetime(&answer).unwrap_or_default();
    Ok(Token::new(token.ok_or_else(none)?, requested_at, lifetime))
}

fn set(value: &Option<String>) -> Option<&str> {
    value.as_deref().filter(|value| !value.is_empty())
}

//! Temporary AWS credentials of the Security Token Service.

use std::path::Path;

use reqwest::{Method, RequestBuilder};
use serde::Deserialize;

use super::{Key, TIMEOUT, own, region, sign};
use crate::config::{AwsAssumedRole, AwsWebIdentity};
use crate::plugins::credentials::token_request::{form, request_builder, send};
use crate::plugins::credentials::{text, variable};

/// Default domain of AWS.
const DOMAIN: &str = "amazonaws.com";

/// Version of the token service's API.
const VERSION: &str = "2011-06-15";

/// Default session name.
const SESSION: &str = "open-policy-agent";

/// Environment variable with the endpoint of the service, for networks without access to AWS.
const ENDPOINT: &str = "AWS_ENDPOINT_URL_STS";

/// Name of the token service in error messages.
const SERVICE: &str = "the token service";

/// Response of the token service to either of the two requests.
#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "AssumeRoleResult", alias = "AssumeRoleWithWebIdentityResult")]
    result: Outcome,
}

#[derive(Deserialize)]
struct Outcome {
    #[serde(rename = "Credentials")]
    credentials: StsCredentials,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StsCredentials {
    access_key_id: Option<String>,
    secret_access_key: Option<String>,
    session_token: Option<String>,
    expiration: Option<String>,
}

/// Requests the key of a role, for a web identity token. The environment takes precedence over the
/// configuration; for a key that only assumes another role (`within`) the configuration does.
///
/// # Errors
/// When environment and configuration lack a value, or the service returns no key.
pub(super) async fn identified(identity: &AwsWebIdentity, within: bool) -> Result<Key, String> {
    let region = region(identity.aws_region.as_ref())?;
    let setting = |setting: &Option<String>, name: &str| match (within, variable(name)) {
        (false, Some(value)) => Ok(value),
        _ => chosen(setting.as_ref(), name),
    };
    let role = setting(&identity.iam_role_arn, "AWS_ROLE_ARN")?;
    let file = &identity.web_identity_token_file;
    let file = setting(file, "AWS_WEB_IDENTITY_TOKEN_FILE")?;
    let token = text(Path::new(&file)).await?;
    let body = form([
        ("Action", "AssumeRoleWithWebIdentity"),
        ("RoleArn", &role),
        ("RoleSessionName", session(identity.session_name.as_ref())),
        ("Version", VERSION),
        ("WebIdentityToken", &token),
    ]);
    let request = request(&region, identity.aws_domain.as_ref(), body)?;
    temporary(request, region).await
}

/// Requests the key of a role that another key may assume.
///
/// # Errors
/// When there is no other key, or the service returns no key.
pub(super) async fn assumed(role: &AwsAssumedRole) -> Result<Key, String> {
    let region = region(role.aws_region.as_ref())?;
    let arn = chosen(role.iam_role_arn.as_ref(), "AWS_ROLE_ARN")?;
    let other = role
        .other()
        .ok_or("no access key is configured for assuming the role")?;
    let other = own(other, true).await?;
    let body = form([
        ("Action", "AssumeRole"),
        ("RoleArn", &arn),
        ("RoleSessionName", session(role.session_name.as_ref())),
        ("Version", VERSION),
    ]);
    let request = request(&region, role.aws_domain.as_ref(), body)?;
    let (client, request) = request.build_split();
    let mut request = request.map_err(|_| format!("the request to {SERVICE} is invalid"))?;
    sign(&mut request, "sts", &other)?;
    temporary(RequestBuilder::from_parts(client, request), region).await
}

fn session(name: Option<&String>) -> &str {
    let name = name.filter(|name| !name.is_empty());
    name.map_or(SESSION, String::as_str)
}

/// Value from the configuration, or else from the environment variable `name`.
fn chosen(configured: Option<&String>, name: &str) -> Result<String, String> {
    let configured = configured
        .filter(|configured| !configured.is_empty())
        .cloned();
    let chosen = configured.or_else(|| variable(name));
    chosen.ok_or_else(|| format!("no {name} set in environment or configuration"))
}

/// URL of the token service in a region.
fn address(region: &str, domain: Option<&String>) -> String {
    let configured = domain.filter(|domain| !domain.is_empty()).cloned();
    let domain = configured.or_else(|| variable("AWS_DOMAIN"));
    let domain = domain.unwrap_or_else(|| DOMAIN.to_owned());
    let (region, domain) = (region.to_lowercase(), domain.to_lowercase());
    variable(ENDPOINT).unwrap_or_else(|| format!("https://sts.{region}.{domain}/"))
}

/// Builds a request to the token service in a region.
fn request(region: &str, domain: Option<&String>, body: String) -> Result<RequestBuilder, String> {
    let request = request_builder(Method::POST, &address(region, domain))?;
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    Ok(request.body(body))
}

/// Sends the request, and parses the key in the response.
async fn temporary(request: RequestBuilder, region: String) -> Result<Key, String> {
    let answer = send(SERVICE, request, TIMEOUT).await?;
    let answer: Result<Answer, _> = quick_xml::de::from_reader(answer.as_slice());
    let answer = answer.map_err(|_| format!("{SERVICE} gave no key"))?;
    let credentials = &answer.result.credentials;
    let parts = [
        &credentials.access_key_id,
        &credentials.secret_access_key,
        &credentials.session_token,
        &credentials.expiration,
    ];
    Key::temporary(SERVICE, region, parts.map(Option::as_deref))
}

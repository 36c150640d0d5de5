//! AWS credentials of the instance or container.

use std::path::Path;

use http::HeaderValue;
use rego::Value;
use rego::value::from_json;
use reqwest::RequestBuilder;

use super::{Key, TIMEOUT, region};
use crate::config::AwsMetadata;
use crate::plugins::credentials::token_request::{request_builder, send};
use crate::plugins::credentials::{sensitive, text, variable};

/// Base URL of the metadata service of EC2 machines.
const MACHINE: &str = "http://169.254.169.254/latest";

/// Base URL of the metadata service of ECS containers.
const CONTAINER: &str = "http://169.254.170.2";

/// Environment variables of a container with the path and the URL of its access key.
const RELATIVE: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
const FULL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";

/// Lifetime of a session with the metadata service of a machine, in seconds.
const SESSION: &str = "60";

/// Name of the metadata service in error messages.
const SERVICE: &str = "the metadata service";

/// Requests a key from the metadata service.
///
/// # Errors
/// When the service is unavailable, or returns no key.
pub(super) async fn key(metadata: &AwsMetadata) -> Result<Key, String> {
    let region = region(metadata.aws_region.as_ref())?;
    let role = metadata.iam_role.as_deref().filter(|role| !role.is_empty());
    let (relative, full) = (variable(RELATIVE), variable(FULL));
    let in_container = relative.is_some() || full.is_some();
    let url = match (role, relative, &full) {
        (Some(role), ..) => format!("{MACHINE}/meta-data/iam/security-credentials/{role}"),
        (None, Some(path), _) => format!("{CONTAINER}{path}"),
        (None, None, Some(url)) => url.clone(),
        (None, None, None) => {
            return Err(format!(
                "neither `iam_role` is configured nor {RELATIVE} or {FULL} set in environment"
            ));
        }
    };
    let mut request = request_builder(reqwest::Method::GET, &url)?;
    if full.is_some() {
        request = request.header("authorization", sensitive(&container_token().await?)?);
    }
    if !in_container {
        request = request.header("x-aws-ec2-metadata-token", session().await?);
    }
    read(&answer(request).await?, role.is_some(), region)
}

/// Reads the token that authorizes the container at the metadata service.
async fn container_token() -> Result<String, String> {
    match variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(file) => Ok(text(Path::new(&file)).await?.trim().to_owned()),
        None => variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").ok_or_else(|| {
            format!("{FULL} needs AWS_CONTAINER_AUTHORIZATION_TOKEN in the environment")
        }),
    }
}

/// Requests a session token from the metadata service of a machine.
async fn session() -> Result<HeaderValue, String> {
    let request = request_builder(reqwest::Method::PUT, &format!("{MACHINE}/api/token"))?;
    let request = request
        .header("x-aws-ec2-metadata-token-ttl-seconds", SESSION)
        .header("content-length", "0");
    let token = answer(request).await?;
    sensitive(std::str::from_utf8(&token).unwrap_or_default().trim())
}

async fn answer(request: RequestBuilder) -> Result<Vec<u8>, String> {
    send(SERVICE, request, TIMEOUT).await
}

/// Parses a key from a response, which has a member `Code` only for the role of a machine.
fn read(answer: &[u8], of_role: bool, region: String) -> Result<Key, String> {
    let answer = from_json(answer).map_err(|_| format!("{SERVICE} gave no key"))?;
    let part = |name| answer.get(name).and_then(Value::as_str);
    if of_role && part("Code") != Some("Success") {
        return Err(format!("{SERVICE} reported a failure"));
    }
    let names = ["AccessKeyId", "SecretAccessKey", "Token", "Expiration"];
    Key::temporary(SERVICE, region, names.map(part))
}

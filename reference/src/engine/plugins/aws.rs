//! Signatures of AWS, version 4.

use std::path::PathBuf;
use std::time::SystemTime;

use http::header::HeaderName;
use rego::aws::{Signer, UnsignedRequest};

use super::credentials::sensitive;
use crate::engine::config::{AwsProfile, AwsSigning};

/// The AWS service that checks signatures unless the configuration says otherwise.
const SERVICE: &str = "s3";

/// The profile unless the configuration or the environment says otherwise.
const PROFILE: &str = "default";

/// What signs.
struct Key {
    access: String,
    secret: String,
    region: String,
    /// What proves that a temporary key is in use.
    token: Option<String>,
}

/// Signs a request.
///
/// # Errors
/// When there is no key, or the request cannot be signed.
pub(super) async fn sign(
    request: &mut reqwest::Request,
    signing: &AwsSigning,
) -> Result<(), String> {
    let key = key(signing).await?;
    let body = request.body().and_then(reqwest::Body::as_bytes);
    // Texts are signed; what is compressed goes without a signature of its content.
    let body = std::str::from_utf8(body.unwrap_or_default());
    let headers = request.headers().iter();
    let headers = headers.filter(|(name, _)| name.as_str().starts_with("x-amz-"));
    let headers: Vec<(String, String)> = headers
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    let signer = Signer {
        service: signing.service.as_deref().unwrap_or(SERVICE),
        access_key: &key.access,
        secret_key: &key.secret,
        region: &key.region,
        token: key.token.as_deref(),
        unsigned_payload: body.is_err(),
    };
    let unsigned = UnsignedRequest {
        method: request.method().as_str(),
        url: request.url().as_str(),
        headers: &headers,
        body: body.unwrap_or_default(),
    };
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = i64::try_from(since.map_err(|why| why.to_string())?.as_secs());
    let signed = signer.sign_request(&unsigned, now.map_err(|why| why.to_string())?)?;
    for (name, value) in &signed {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|why| why.to_string())?;
        request.headers_mut().insert(name, sensitive(value)?);
    }
    Ok(())
}

/// The key in the environment, or else in a file.
async fn key(signing: &AwsSigning) -> Result<Key, String> {
    let found = match signing.in_environment() {
        true => from_environment(),
        false => Err("there is no key".to_owned()),
    };
    match (found, &signing.profile) {
        (Err(_), Some(profile)) => from_file(profile).await,
        (found, _) => found,
    }
}

fn from_environment() -> Result<Key, String> {
    let required =
        |name: &str| variable(name).ok_or_else(|| format!("no {name} set in environment"));
    let token = variable("AWS_SECURITY_TOKEN").or_else(|| variable("AWS_SESSION_TOKEN"));
    Ok(Key {
        access: required("AWS_ACCESS_KEY_ID")?,
        secret: required("AWS_SECRET_ACCESS_KEY")?,
        region: required("AWS_REGION")?,
        token,
    })
}

async fn from_file(profile: &AwsProfile) -> Result<Key, String> {
    let path = profile.path.clone().or_else(|| {
        let named = variable("AWS_SHARED_CREDENTIALS_FILE").map(PathBuf::from);
        named.or_else(|| Some(std::env::home_dir()?.join(".aws/credentials")))
    });
    let path = path.ok_or("there is no home directory for the credentials of AWS")?;
    let text = tokio::fs::read_to_string(&path).await;
    let wrong = |why: &str| format!("file `{}`: {why}", path.display());
    let text = text.map_err(|why| wrong(&why.to_string()))?;
    let name = profile.profile.clone().or_else(|| variable("AWS_PROFILE"));
    let name = name.as_deref().unwrap_or(PROFILE);
    let setting = |key: &str| setting(&text, name, key);
    let required =
        |key: &str| setting(key).ok_or_else(|| wrong(&format!("no `{key}` in profile `{name}`")));
    let region = profile
        .aws_region
        .clone()
        .or_else(|| variable("AWS_REGION"));
    Ok(Key {
        access: required("aws_access_key_id")?,
        secret: required("aws_secret_access_key")?,
        region: region.ok_or("no AWS_REGION set in environment or configuration")?,
        token: setting("aws_session_token"),
    })
}

/// The value of a key in a section of a file, if it is there and not empty.
fn setting(text: &str, section: &str, key: &str) -> Option<String> {
    let mut inside = false;
    let mut value = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            inside = name
                .strip_suffix(']')
                .is_some_and(|name| name.trim() == section);
        } else if inside
            && let Some((name, given)) = line.split_once('=')
            && name.trim() == key
        {
            value = Some(given.trim().to_owned());
        }
    }
    value.filter(|value| !value.is_empty())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::setting;

    #[test]
    fn settings_are_those_of_their_section() {
        let text = "key = outside\n[default]\nkey=one\n# key = no\n; key = no\n\n[ other ]\n \
                    key = a=b \nempty =\n[last\nkey = broken\n";
        for (section, key, expected) in [
            ("default", "key", Some("one")),
            ("other", "key", Some("a=b")),
            ("other", "empty", None),
            ("other", "none", None),
            ("last", "key", None),
            ("", "key", None),
        ] {
            let found = setting(text, section, key);
            assert_eq!(found.as_deref(), expected, "{section} {key}");
        }
    }
}

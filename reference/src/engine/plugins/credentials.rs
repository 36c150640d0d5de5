//! What proves to a service who asks.

use std::time::{Duration, Instant, SystemTime};

use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rego::value::{Number, Object, from_json};
use rego::{Evaluation, Policy, Query, QueryOptions, Value};
use tokio::sync::Mutex;

use super::service::cause;
use crate::engine::config::{self, Bearer, OAuth2};

/// A token is not used in the last seconds of its life.
const LEEWAY: Duration = Duration::from_secs(10);

/// How long a token lives whose giver does not say.
const LIFETIME: u64 = 60;

/// How long an authorization server may take, and the most bytes of its answer.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_TOKEN: usize = 1 << 20;

/// What forms show as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Signs with the built-in function that policies use for it.
const SIGN: &str = "signed := providers.aws.sign_req(input.request, input.config, input.time)";

/// What is added to requests.
#[derive(Debug)]
pub(super) enum Credentials {
    /// Nothing; a certificate is shown by the connection.
    None,
    Bearer(Bearer),
    OAuth2 {
        client: OAuth2,
        http: reqwest::Client,
        token: Mutex<Option<Token>>,
    },
    /// A signature for this AWS service.
    Aws(String),
}

/// A token until it ends.
pub(super) struct Token {
    text: String,
    end: Instant,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").finish_non_exhaustive()
    }
}

impl Credentials {
    /// The credentials that the configuration gives; tokens are fetched with `http`.
    pub(super) fn new(given: &config::Credentials, http: reqwest::Client) -> Self {
        if let Some(bearer) = &given.bearer {
            return Self::Bearer(bearer.clone());
        }
        if let Some(client) = &given.oauth2 {
            return Self::OAuth2 {
                client: client.clone(),
                http,
                token: Mutex::default(),
            };
        }
        match &given.s3_signing {
            Some(signing) => Self::Aws(signing.service.clone().unwrap_or_else(|| "s3".to_owned())),
            None => Self::None,
        }
    }

    /// Adds them to a request.
    ///
    /// # Errors
    /// When a file or an environment variable is missing, or no token is given.
    pub(super) async fn add(&self, request: &mut reqwest::Request) -> Result<(), String> {
        let proof = match self {
            Self::None => return Ok(()),
            Self::Aws(service) => return sign(request, service),
            Self::Bearer(bearer) => {
                let scheme = bearer.scheme.as_deref().unwrap_or("Bearer");
                format!("{scheme} {}", bearer_token(bearer).await?)
            }
            Self::OAuth2 {
                client,
                http,
                token,
            } => {
                let mut token = token.lock().await;
                if token
                    .as_ref()
                    .is_none_or(|token| token.end <= Instant::now())
                {
                    *token = Some(fetch(client, http).await?);
                }
                let text = token.as_ref().map(|token| token.text.as_str());
                format!("Bearer {}", text.unwrap_or_default())
            }
        };
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, sensitive(&proof)?);
        Ok(())
    }
}

fn sensitive(text: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| "the credentials cannot be sent in a header".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

async fn bearer_token(bearer: &Bearer) -> Result<String, String> {
    match (&bearer.token, &bearer.token_path) {
        (Some(token), _) => Ok(token.0.clone()),
        (None, Some(path)) => {
            let text = tokio::fs::read_to_string(path).await;
            let text = text.map_err(|why| format!("file `{}`: {why}", path.display()))?;
            Ok(text.trim().to_owned())
        }
        (None, None) => Err("there is no token".to_owned()),
    }
}

/// Asks the authorization server for a token.
async fn fetch(client: &OAuth2, http: &reqwest::Client) -> Result<Token, String> {
    let asked = Instant::now();
    let scopes = client.scopes.join(" ");
    let mut form = vec![("grant_type", "client_credentials")];
    if !scopes.is_empty() {
        form.push(("scope", &scopes));
    }
    let more = client.additional_parameters.iter();
    form.extend(more.map(|(name, value)| (name.as_str(), value.0.as_str())));
    let encoded = |text: &str| utf8_percent_encode(text, PLAIN).to_string();
    let pairs = form.iter();
    let pairs = pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    let body = pairs.collect::<Vec<_>>().join("&");
    let mut request = http
        .post(&client.token_url)
        .timeout(TOKEN_TIMEOUT)
        .header("content-type", "application/x-www-form-urlencoded")
        .basic_auth(
            encoded(&client.client_id),
            Some(encoded(&client.client_secret.0)),
        )
        .body(body);
    for (name, value) in &client.additional_headers {
        request = request.header(name, sensitive(&value.0)?);
    }
    let mut response = request.send().await.map_err(|why| cause(&why))?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("the authorization server replied with {status}"));
    }
    let mut text = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|why| cause(&why))? {
        if text.len().saturating_add(piece.len()) > MAX_TOKEN {
            return Err("the answer of the authorization server is too long".to_owned());
        }
        text.extend_from_slice(&piece);
    }
    let wrong = || "the authorization server gave no token".to_owned();
    let answer = from_json(&text).map_err(|_| wrong())?;
    let token = answer.get("access_token").and_then(Value::as_str);
    let lifetime = match answer.get("expires_in") {
        Some(Value::Number(seconds)) => seconds.as_i64().and_then(|given| given.try_into().ok()),
        _ => None,
    };
    let lifetime = Duration::from_secs(lifetime.unwrap_or(LIFETIME));
    let end = asked.checked_add(lifetime.saturating_sub(LEEWAY));
    Ok(Token {
        text: token.ok_or_else(wrong)?.to_owned(),
        end: end.unwrap_or(asked),
    })
}

/// Signs a request with the key in the environment.
fn sign(request: &mut reqwest::Request, service: &str) -> Result<(), String> {
    let variable = |names: &[&str]| {
        let found = names.iter().find_map(|name| std::env::var(name).ok());
        found.filter(|value| !value.is_empty())
    };
    let required =
        |name: &str| variable(&[name]).ok_or_else(|| format!("no {name} set in environment"));
    let mut config = Object::new();
    config.insert("aws_service", Value::from(service));
    config.insert(
        "aws_access_key",
        Value::from(required("AWS_ACCESS_KEY_ID")?),
    );
    config.insert(
        "aws_secret_access_key",
        Value::from(required("AWS_SECRET_ACCESS_KEY")?),
    );
    config.insert("aws_region", Value::from(required("AWS_REGION")?));
    if let Some(token) = variable(&["AWS_SECURITY_TOKEN", "AWS_SESSION_TOKEN"]) {
        config.insert("aws_session_token", Value::from(token));
    }
    let body = request.body().and_then(reqwest::Body::as_bytes);
    // The function signs texts; what is compressed goes without a signature of its content.
    let body = std::str::from_utf8(body.unwrap_or_default());
    config.insert("disable_payload_signing", Value::from(body.is_err()));
    let headers = request.headers().iter();
    let headers = headers.filter_map(|(name, value)| {
        let kept = name.as_str().starts_with("x-amz-");
        kept.then(|| Some((name.as_str(), Value::from(value.to_str().ok()?))))?
    });
    let signed = Value::object([
        ("method", Value::from(request.method().as_str())),
        ("url", Value::from(request.url().as_str())),
        ("raw_body", Value::from(body.unwrap_or_default())),
        ("headers", Value::object(headers)),
    ]);
    let headers = signature(signed, Value::from(config))?;
    for (name, value) in headers.iter() {
        let (Some(name), Some(value)) = (name.as_str(), value.as_str()) else {
            continue;
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|why| why.to_string())?;
        request.headers_mut().insert(name, sensitive(value)?);
    }
    Ok(())
}

/// The headers of a signed request.
fn signature(request: Value, config: Value) -> Result<Object, String> {
    let query = Query::parse(&Policy::default(), SIGN, &QueryOptions::default())
        .map_err(|errors| errors.to_string())?;
    let documents = Value::from(Object::new());
    let mut evaluation = Evaluation::new(&documents);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = since.map_err(|why| why.to_string())?.as_nanos().to_string();
    evaluation.strict = true;
    evaluation.input = Some(Value::object([
        ("request", request),
        ("config", config),
        (
            "time",
            Number::parse(&now).map_or(Value::Null, Value::Number),
        ),
    ]));
    let answers = query
        .evaluate(&mut evaluation)
        .map_err(|why| why.to_string())?;
    let signed = answers.first().map(|answer| answer.to_value());
    let headers = signed
        .as_ref()
        .and_then(|signed| signed.get("signed")?.get("headers"));
    let headers = headers.and_then(Value::as_object).cloned();
    headers.ok_or_else(|| "the request cannot be signed".to_owned())
}

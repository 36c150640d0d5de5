//! OAuth2 tokens.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use rego::value::from_json;
use rego::{Value, jwt};
use serde_json::json;

use super::sensitive;
use super::token::{Token, lifetime};
use super::token_request::{form, send};
use crate::config::{Assertion, Grant, Key, OAuth2};
use crate::random_id;

/// Default lifetime of a token.
const LIFETIME: Duration = Duration::from_secs(60);

/// Timeout of requests to the authorization server.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Lifetime of an assertion, in seconds.
const ASSERTION_LIFETIME: u64 = 600;

const JWT_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const JWT_GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// Name of the authorization server in error messages.
const SERVER: &str = "the authorization server";

/// Requests a token from the authorization server.
pub(super) async fn fetch(client: &OAuth2, http: &reqwest::Client) -> Result<Token, String> {
    let requested_at = Instant::now();
    let grant = client.grant()?;
    let fields = form_fields(client, &grant).await?;
    let fields = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let mut request = http
        .post(&client.token_url)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form(fields));
    if let Grant::Secret { id, secret } = &grant {
        // Not percent-encoded as in RFC 6749, because servers expect what other clients send.
        request = request.basic_auth(id, Some(&secret.0));
    }
    for (name, value) in &client.additional_headers {
        request = request.header(name, sensitive(&value.0)?);
    }
    let answer = send(SERVER, request, TIMEOUT).await?;
    token(&answer, requested_at)
}

/// Form parameters of the token request. Additional parameters may only override the scopes.
async fn form_fields(
    client: &OAuth2,
    grant: &Grant<'_>,
) -> Result<BTreeMap<String, String>, String> {
    let mut form = BTreeMap::new();
    let mut add_field = |name: &str, value: &str| {
        form.insert(name.to_owned(), value.to_owned());
    };
    let scopes = client.scopes.join(" ");
    if !scopes.is_empty() {
        add_field("scope", &scopes);
    }
    for (name, value) in &client.additional_parameters {
        add_field(name, &value.0);
    }
    let (id, kind, assertion) = match grant {
        Grant::Bearer { key } => {
            add_field("grant_type", JWT_GRANT);
            add_field("assertion", &signed(client, key)?);
            return Ok(form);
        }
        Grant::Secret { .. } => {
            add_field("grant_type", "client_credentials");
            return Ok(form);
        }
        Grant::SignedClient { id, key } => (*id, JWT_ASSERTION, signed(client, key)?),
        Grant::Client {
            id,
            kind,
            assertion,
        } => {
            let assertion = match assertion {
                Assertion::Given(assertion) => assertion.0.clone(),
                Assertion::File(path) => super::text(path).await?.trim().to_owned(),
            };
            (Some(*id), *kind, assertion)
        }
    };
    add_field("grant_type", "client_credentials");
    add_field("client_assertion_type", kind);
    add_field("client_assertion", &assertion);
    if let Some(id) = id {
        add_field("client_id", id);
    }
    Ok(form)
}

/// Creates an assertion signed by a key.
fn signed(client: &OAuth2, key: &Key) -> Result<String, String> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = since.map_err(|error| error.to_string())?.as_secs();
    let mut claims = serde_json::Map::new();
    let mut claim = |name: &str, value| claims.insert(name.to_owned(), value);
    claim("iat", json!(now));
    claim("exp", json!(now.saturating_add(ASSERTION_LIFETIME)));
    for (name, value) in &client.additional_claims.0 {
        claim(name, value.clone());
    }
    if !client.scopes.is_empty() {
        claim("scope", json!(client.scopes.join(" ")));
    }
    if client.include_jti_claim {
        claim("jti", json!(random_id::random()));
    }
    let mut header = serde_json::Map::new();
    let mut parameter = |name: &str, value| header.insert(name.to_owned(), value);
    parameter("alg", json!(key.algorithm()));
    parameter("typ", json!("JWT"));
    if let Some(digest) = client.thumbprint()? {
        // With padding, because servers expect what other clients send.
        parameter("x5t", json!(URL_SAFE.encode(digest)));
    }
    let header = serde_json::Value::Object(header).to_string();
    let claims = serde_json::Value::Object(claims).to_string();
    let private = key.private_key().ok_or("there is no `private_key`")?;
    jwt::sign(&header, &claims, key.algorithm(), private)
}

/// Parses the token in a response.
fn token(answer: &[u8], requested_at: Instant) -> Result<Token, String> {
    let wrong = |what: &str| format!("{SERVER} gave {what}");
    let answer = from_json(answer).map_err(|_| wrong("no token"))?;
    let text = |name| answer.get(name).and_then(Value::as_str);
    let token = text("access_token").ok_or_else(|| wrong("no token"))?;
    if !text("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("bearer")) {
        return Err(wrong("a token that is not a bearer token"));
    }
    let lifetime = lifetime(&answer).unwrap_or(LIFETIME);
    Ok(Token::new(token, requested_at, lifetime))
}

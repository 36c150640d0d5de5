//! GitHub App tokens.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::header::ACCEPT;
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::credentials::GithubApp;
use super::{BuildError, http};
use crate::allowed_hosts::AllowedHosts;
use crate::secret_allowlist::SecretAllowlist;

/// Tolerated clock difference to the server.
const LEEWAY: Duration = Duration::from_secs(60);

/// Validity of a request for a token.
const TOKEN_LIFETIME: Duration = Duration::from_secs(120);

/// Time for which a token is reused across builds, as GitHub limits the number of tokens per hour.
/// Tokens are valid for an hour.
const TOKEN_REUSE: Duration = Duration::from_secs(600);

/// Cached tokens and their times of issue, by the digest of the request parameters.
type Tokens = HashMap<[u8; 32], (Zeroizing<String>, Instant)>;

static TOKENS: LazyLock<Mutex<Tokens>> = LazyLock::new(Mutex::default);

/// Response with a token.
#[derive(Deserialize)]
struct TokenResponse {
    token: String,
}

/// Returns a token for the repositories of an app's installation.
///
/// # Errors
/// When the repository does not use https, the key is not an RSA key, the host of the API is not
/// allowed, or it returns no token.
pub(super) async fn token(
    repo: &gix::Url,
    app: &GithubApp,
    guard: &SecretAllowlist,
    hosts: &AllowedHosts,
) -> Result<String, BuildError> {
    let api = api(repo)?;
    let url = http::address(&api, "the address of the GitHub App's tokens", hosts)?;
    guard.check_url(&url).map_err(BuildError::config)?;
    cached_or_new_token(&api, app, hosts).await
}

/// Returns a cached token, or else requests a new one.
async fn cached_or_new_token(
    api: &str,
    app: &GithubApp,
    hosts: &AllowedHosts,
) -> Result<String, BuildError> {
    let (app_id, installation) = (app.integration_id, app.installation_id);
    let key = Sha256::new()
        .chain_update(format!("{api}\n{app_id}\n{installation}\n"))
        .chain_update(&app.private_key);
    let key: [u8; 32] = key.finalize().into();
    if let Some(token) = cached_token(&key) {
        return Ok(token);
    }
    let token = request_token(api, app, hosts).await?;
    let mut tokens = TOKENS.lock().unwrap_or_else(PoisonError::into_inner);
    tokens.insert(key, (Zeroizing::new(token.clone()), Instant::now()));
    Ok(token)
}

/// Returns a cached token that is recent enough.
fn cached_token(key: &[u8; 32]) -> Option<String> {
    let mut tokens = TOKENS.lock().unwrap_or_else(PoisonError::into_inner);
    tokens.retain(|_, (_, issued)| issued.elapsed() < TOKEN_REUSE);
    tokens.get(key).map(|(token, _)| token.to_string())
}

/// Returns the base URL of the API for a repository: GitHub's own, or that of a GitHub Enterprise
/// Server.
fn api(repo: &gix::Url) -> Result<String, BuildError> {
    match (&repo.scheme, repo.host(), repo.port) {
        (gix::url::Scheme::Https, Some("github.com"), None) => {
            Ok("https://api.github.com".to_owned())
        }
        (gix::url::Scheme::Https, Some(host), None) => Ok(format!("https://{host}/api/v3")),
        (gix::url::Scheme::Https, Some(host), Some(port)) => {
            Ok(format!("https://{host}:{port}/api/v3"))
        }
        _ => Err(BuildError::config(
            "credentials of type github_app_auth need https",
        )),
    }
}

async fn request_token(
    api: &str,
    app: &GithubApp,
    hosts: &AllowedHosts,
) -> Result<String, BuildError> {
    let installation = app.installation_id;
    let url = format!("{api}/app/installations/{installation}/access_tokens");
    let url = http::address(&url, "the address of the GitHub App's tokens", hosts)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let request = http::client(None)?
        .post(url)
        .bearer_auth(sign_token(app, now.map_err(BuildError::sync)?)?)
        .header(ACCEPT, "application/vnd.github+json");
    Ok(http::send_for_json::<TokenResponse>(request).await?.token)
}

/// Creates a JSON Web Token that authenticates the app, signed with RS256.
fn sign_token(app: &GithubApp, now: Duration) -> Result<String, BuildError> {
    let refused =
        || BuildError::config("github_app_auth: invalid private_key: expected an RSA key in PEM");
    let key = PrivateKeyDer::from_pem_slice(app.private_key.as_bytes()).map_err(|_| refused())?;
    let key = any_supported_type(&key).map_err(|_| refused())?;
    let signer = key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]);
    let claims = json!({
        "iat": now.saturating_sub(LEEWAY).as_secs(),
        "exp": (now + TOKEN_LIFETIME).as_secs(),
        "iss": app.integration_id.to_string(),
    });
    let header = json!({"alg": "RS256", "typ": "JWT"});
    let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let text = format!("{header}.{claims}");
    let signature = signer.ok_or_else(refused)?.sign(text.as_bytes());
    let signature = signature.map_err(|_| refused())?;
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use rego::Value;
    use rstest::rstest;
    use test_server::{TestServer, always, respond, text};

    use super::*;

    /// Public key and its private key, in PEM.
    const KEYS: &str = include_str!("../tests/app.pem");

    #[rstest]
    #[case::github("https://github.com/a/b.git", Some("https://api.github.com"))]
    #[case::own_host("https://git.example/a/b", Some("https://git.example/api/v3"))]
    #[case::own_host_with_port(
        "https://git.example:8443/a",
        Some("https://git.example:8443/api/v3")
    )]
    #[case::plain_http("http://github.com/a/b", None)]
    #[case::ssh("ssh://git@github.com/a/b", None)]
    fn the_api_is_beside_the_repository(
        #[case] repo: &str,
        #[case] expected: Option<&str>,
    ) -> Result<(), Box<dyn Error>> {
        let repo = gix::url::parse(repo)?;
        assert_eq!(api(&repo).ok().as_deref(), expected);
        Ok(())
    }

    #[rstest]
    #[case::token("127.0.0.1", KEYS, r#"{"token":"T","expires_at":"?"}"#, Ok("T"))]
    #[case::no_token("127.0.0.1", KEYS, "{}", Err("is not the JSON object it should be"))]
    #[case::no_key(
        "127.0.0.1",
        "none",
        "",
        Err("invalid private_key: expected an RSA key in PEM")
    )]
    #[case::another_host("elsewhere.example", KEYS, "", Err("is not among the allowed hosts"))]
    #[tokio::test]
    async fn tokens_are_had_for_a_signature(
        #[case] hosts: &str,
        #[case] key: &str,
        #[case] answer: &'static str,
        #[case] expected: Result<&str, &str>,
    ) -> Result<(), Box<dyn Error>> {
        http_server::tls_provider::install();
        let server = TestServer::start(always(respond(201, &[], answer))).await?;
        let api = server.url();
        let app = GithubApp {
            integration_id: 12,
            installation_id: 34,
            private_key: key.to_owned(),
        };
        let hosts = AllowedHosts::read(&[hosts.to_owned()])?;
        let token = cached_or_new_token(&api, &app, &hosts).await;
        match (&token, expected) {
            (Ok(token), Ok(expected)) => assert_eq!(token, expected),
            (Err(failure), Err(expected)) => {
                let message = format!("{failure:?}");
                assert!(message.contains(expected), "{message}");
                return Ok(());
            }
            other => return Err(format!("{other:?}").into()),
        }
        assert_eq!(
            cached_or_new_token(&api, &app, &hosts).await,
            Ok("T".to_owned())
        );
        let requests = server.requests();
        let [request] = requests.as_slice() else {
            return Err(format!("{requests:?}").into());
        };
        let head = text(request);
        let request_line = "POST /app/installations/34/access_tokens HTTP/1.1\r\n";
        assert!(head.starts_with(request_line), "{head}");
        let token = head.split("authorization: Bearer ").nth(1);
        let token = token.and_then(|rest| rest.lines().next());
        let token = token.ok_or("no token")?;
        rego::jwt::verify(token, "RS256", KEYS)?;
        let (_, claims) = rego::jwt::unverified(token)?;
        assert_eq!(claims.get("iss").and_then(Value::as_str), Some("12"));
        Ok(())
    }
}

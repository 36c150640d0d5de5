//! OCI registry client for bundles.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use reqwest::Url;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::service::{AuthHeader, Client, ServiceError, ServiceResponse};

/// Media types of supported manifests.
const MANIFESTS: HeaderValue = HeaderValue::from_static(
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
     application/vnd.docker.distribution.manifest.v2+json, \
     application/vnd.docker.distribution.manifest.list.v2+json, */*",
);

/// Media type of the layer that is the bundle.
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Maximum bytes of a manifest or a token response; registries need not accept longer manifests.
const MAX_DOCUMENT: usize = 4 << 20;

/// Maximum number of manifests read for one bundle, and their maximum nesting.
const MAX_MANIFESTS: usize = 64;
const MAX_DEPTH: usize = 4;

/// Prefix of digests of the only supported algorithm.
const SHA256: &str = "sha256:";

/// Downloads the bundle of an image, `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@DIGEST`, whose host
/// is that of the service. Returns the archive and its digest; `None` if that is still `used`.
///
/// # Errors
/// When the image is missing or contains no bundle, or the content does not match its digest.
pub(super) async fn pull(
    client: &Client,
    image: &str,
    used: Option<&str>,
    limit: usize,
) -> Result<Option<(Bytes, String)>, ServiceError> {
    let image = Image::parse(image).ok_or_else(|| {
        let reason = format!("invalid image `{image}`: expected `HOST/REPOSITORY:TAG`");
        ServiceError::Failed(reason)
    })?;
    let mut repository = Repository {
        client,
        name: image.repository,
        token: None,
    };
    let digest = repository.bundle(image.reference).await?;
    let version = digest.trim_start_matches(SHA256);
    if used == Some(version) {
        return Ok(None);
    }
    let none = HeaderMap::new();
    let archive = repository.get("blobs", &digest, &none, limit).await?;
    Ok(Some((archive, version.to_owned())))
}

/// Reference to an image in a registry.
#[derive(Debug, PartialEq, Eq)]
struct Image<'t> {
    repository: &'t str,
    /// Tag or digest.
    reference: &'t str,
}

impl<'t> Image<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let (_, path) = text.split_once('/')?;
        let (repository, reference) = match path.split_once('@') {
            // A digest takes precedence over a tag before it.
            Some((path, digest)) => (path.split(':').next()?, digest),
            None => path.split_once(':')?,
        };
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let is_part =
            |part: &str| part.starts_with(char::is_alphanumeric) && part.chars().all(is_allowed);
        let is_tag = reference.len() <= 128
            && reference.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && reference.chars().all(is_allowed);
        let is_sound = repository.split('/').all(is_part) && (is_tag || is_digest(reference));
        is_sound.then_some(Self {
            repository,
            reference,
        })
    }
}

/// Whether a string is a digest of the supported algorithm.
fn is_digest(text: &str) -> bool {
    let digits = text.strip_prefix(SHA256);
    let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}

/// Manifest: the layers of an image, or the images of an index.
#[derive(Debug, Deserialize)]
struct Manifest {
    layers: Option<Vec<Descriptor>>,
    manifests: Option<Vec<Descriptor>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: Option<String>,
    digest: String,
    platform: Option<Platform>,
}

#[derive(Debug, Deserialize)]
struct Platform {
    os: Option<String>,
}

impl Descriptor {
    /// Returns the digest, if its algorithm is supported.
    fn checkable(self) -> Result<String, ServiceError> {
        match is_digest(&self.digest) {
            true => Ok(self.digest),
            false => Err(ServiceError::failed("a digest is not SHA-256")),
        }
    }

    /// Whether the descriptor is that of an attestation instead of an image.
    fn is_attestation(&self) -> bool {
        let os = self
            .platform
            .as_ref()
            .and_then(|platform| platform.os.as_deref());
        os == Some("unknown")
    }
}

/// Token response of a registry's authorization server.
#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

/// A repository of a registry, for one download.
struct Repository<'r> {
    client: &'r Client,
    name: &'r str,
    /// Bearer token that the registry requires, if any.
    token: Option<HeaderValue>,
}

impl Repository<'_> {
    /// Digest of the layer that is the bundle: the first in the image, or in the first image of an
    /// index that has one.
    async fn bundle(&mut self, reference: &str) -> Result<String, ServiceError> {
        let mut open = vec![(reference.to_owned(), 0)];
        let (mut seen, mut failed) = (BTreeSet::new(), None);
        while let Some((reference, depth)) = open.pop() {
            if seen.len() == MAX_MANIFESTS || !seen.insert(reference.clone()) {
                continue;
            }
            let manifest = match self.manifest(&reference).await {
                Ok(manifest) => manifest,
                Err(error) => {
                    failed = failed.or(Some(error));
                    continue;
                }
            };
            let mut layers = manifest.layers.into_iter().flatten();
            if let Some(layer) = layers.find(|layer| layer.media_type.as_deref() == Some(LAYER)) {
                return layer.checkable();
            }
            let images = manifest.manifests.into_iter().flatten().rev();
            for image in images.filter(|image| depth < MAX_DEPTH && !image.is_attestation()) {
                match image.checkable() {
                    Ok(digest) => open.push((digest, depth + 1)),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
        }
        let none = || ServiceError::Failed(format!("the image has no layer of type `{LAYER}`"));
        Err(failed.unwrap_or_else(none))
    }

    async fn manifest(&mut self, reference: &str) -> Result<Manifest, ServiceError> {
        let accept = HeaderMap::from_iter([(ACCEPT, MANIFESTS)]);
        let manifest = self.get("manifests", reference, &accept, MAX_DOCUMENT);
        serde_json::from_slice(&manifest.await?)
            .map_err(|error| ServiceError::Failed(format!("the manifest cannot be read: {error}")))
    }

    /// Downloads the content of a digest or a tag. The content of a digest is verified.
    async fn get(
        &mut self,
        kind: &str,
        reference: &str,
        headers: &HeaderMap,
        limit: usize,
    ) -> Result<Bytes, ServiceError> {
        let path = format!("/v2/{}/{kind}/{reference}", self.name);
        let url = self.client.at_host(&path)?;
        let mut answer = self.send(&url, headers, limit).await?;
        if answer.status == StatusCode::UNAUTHORIZED
            && self.token.is_none()
            && let Some(token_url) = token_address(&url, &answer.headers)
        {
            self.token = Some(self.fetch_token(token_url).await?);
            answer = self.send(&url, headers, limit).await?;
        }
        if answer.status != StatusCode::OK {
            return Err(ServiceError::Status(answer.status));
        }
        if is_digest(reference) && digest(&answer.body) != reference {
            return Err(ServiceError::failed(
                "the content does not match its digest",
            ));
        }
        Ok(answer.body)
    }

    async fn send(
        &self,
        url: &Url,
        headers: &HeaderMap,
        limit: usize,
    ) -> Result<ServiceResponse, ServiceError> {
        let proof = self
            .token
            .as_ref()
            .map_or(AuthHeader::Service, AuthHeader::Token);
        let answer = self
            .client
            .get_at(url.clone(), headers, proof, Duration::ZERO, limit);
        answer.await
    }

    /// Requests a token with the credentials of the service, or anonymously.
    async fn fetch_token(&self, url: Url) -> Result<HeaderValue, ServiceError> {
        let none = HeaderMap::new();
        let answer = self.client.get_at(
            url,
            &none,
            AuthHeader::Credentials,
            Duration::ZERO,
            MAX_DOCUMENT,
        );
        let answer = answer.await?;
        if answer.status != StatusCode::OK {
            return Err(ServiceError::Status(answer.status));
        }
        let wrong = || ServiceError::failed("the registry's authorization server gave no token");
        let token: Token = serde_json::from_slice(&answer.body).map_err(|_| wrong())?;
        let token = token.token.or(token.access_token).ok_or_else(wrong)?;
        let token = HeaderValue::from_str(&format!("Bearer {token}"));
        let mut token = token.map_err(|_| wrong())?;
        token.set_sensitive(true);
        Ok(token)
    }
}

/// URL of the token request that a registry's challenge demands. HTTPS is never downgraded to HTTP.
fn token_address(url: &Url, headers: &HeaderMap) -> Option<Url> {
    let challenges = headers.get_all(WWW_AUTHENTICATE).into_iter();
    let challenges = challenges.filter_map(|candidate| candidate.to_str().ok());
    let mut challenges =
        challenges.filter_map(|candidate| http_auth::parse_challenges(candidate).ok());
    let challenge = challenges.find_map(|candidate| {
        let mut candidate = candidate.into_iter();
        candidate.find(|challenge| challenge.scheme.eq_ignore_ascii_case("bearer"))
    })?;
    let parameter = |name: &str| {
        let mut candidate = challenge.params.iter();
        let (_, value) = candidate.find(|(candidate, _)| candidate.eq_ignore_ascii_case(name))?;
        Some(value.to_unescaped())
    };
    let mut token_url = Url::parse(&parameter("realm")?).ok()?;
    if token_url.scheme() != "https" && !(token_url.scheme() == "http" && url.scheme() == "http") {
        return None;
    }
    for name in ["service", "scope"] {
        if let Some(value) = parameter(name) {
            token_url.query_pairs_mut().append_pair(name, &value);
        }
    }
    Some(token_url)
}

/// Digest of some bytes, in the format of registries.
fn digest(bytes: &[u8]) -> String {
    SHA256.to_owned() + &hex::encode(Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ZEROS: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

    #[rstest]
    #[case::tag("h/a:1", Some(("a", "1")))]
    #[case::port_and_tag("h:5000/a/b_c:v1.2-x", Some(("a/b_c", "v1.2-x")))]
    #[case::digest(&format!("h/a@{ZEROS}"), Some(("a", ZEROS)))]
    #[case::tag_and_digest(&format!("h/a:1@{ZEROS}"), Some(("a", ZEROS)))]
    #[case::short_digest("h/a@sha256:00", None)]
    #[case::other_digest("h/a@md5:00", None)]
    #[case::neither("h/a", None)]
    #[case::empty_tag("h/a:", None)]
    #[case::parent_folder("h/../a:1", None)]
    #[case::empty_folder("h/a//b:1", None)]
    #[case::query("h/a?b:1", None)]
    #[case::slash_in_the_tag("h/a:1/2", None)]
    #[case::no_repository("h/:1", None)]
    #[case::no_registry("a:1", None)]
    #[case::empty("", None)]
    fn images_have_a_repository_and_a_tag_or_digest(
        #[case] text: &str,
        #[case] expected: Option<(&str, &str)>,
    ) {
        let image = Image::parse(text);
        let found = image.map(|image| (image.repository, image.reference));
        assert_eq!(found, expected);
    }

    const FULL: &str = r#"Basic realm="x", bearer Realm="http://auth/t?a=b",service="r s",scope="repository:a:pull,push""#;

    #[rstest]
    #[case::all_parameters(
        "http",
        FULL,
        Some("http://auth/t?a=b&service=r+s&scope=repository%3Aa%3Apull%2Cpush")
    )]
    #[case::address_without_tls("https", FULL, None)]
    #[case::other_scheme("http", r#"Basic realm="http://auth/""#, None)]
    #[case::no_realm("http", r#"Bearer service="x""#, None)]
    #[case::file("http", r#"Bearer realm="file:///etc/passwd""#, None)]
    #[case::relative("http", r#"Bearer realm="auth""#, None)]
    #[case::no_value("http", "Bearer realm", None)]
    #[case::empty("http", "", None)]
    fn tokens_are_asked_for_where_a_registry_says(
        #[case] scheme: &str,
        #[case] challenge: &'static str,
        #[case] address: Option<&str>,
    ) {
        let over = |scheme: &str, challenge: &'static str| {
            let url = Url::parse(&format!("{scheme}://registry/v2/")).ok()?;
            let value = HeaderValue::from_static(challenge);
            let headers = HeaderMap::from_iter([(WWW_AUTHENTICATE, value)]);
            token_address(&url, &headers).map(String::from)
        };
        assert_eq!(over(scheme, challenge).as_deref(), address);
    }
}

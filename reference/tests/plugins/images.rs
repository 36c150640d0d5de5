//! Bundles as OCI images in a registry.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use test_server::{Request, Response, TestServer, empty, header, respond};

use crate::environment::{Done, Environment, quick, until};
use crate::mock_services::bundle;

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";

/// Contents of a registry, by path below `/v2/team/rules/`.
type Contents = BTreeMap<String, Vec<u8>>;

/// OCI registry, which may require a token.
struct Registry {
    contents: Arc<Mutex<Contents>>,
    server: TestServer,
}

impl Registry {
    /// Starts a registry. It requires `token` if given, and redirects requests for blobs to the
    /// host `blobs` if given.
    async fn start(token: Option<&'static str>, blobs: Option<String>) -> Done<Self> {
        let contents = Arc::new(Mutex::new(Contents::new()));
        let shared = Arc::clone(&contents);
        let answer = move |request: Request| {
            let contents = shared.lock().unwrap_or_else(PoisonError::into_inner);
            std::future::ready(answer(&request, &contents, token, blobs.as_deref()))
        };
        Ok(Self {
            contents,
            server: TestServer::start(answer).await?,
        })
    }

    /// Stores content under its digest, and returns the digest.
    fn store(&self, kind: &str, bytes: &[u8]) -> String {
        let digits = Sha256::digest(bytes).into_iter();
        let digits: String = digits.map(|byte| format!("{byte:02x}")).collect();
        let digest = format!("sha256:{digits}");
        self.put(&format!("{kind}/{digest}"), bytes);
        digest
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.insert(path.to_owned(), bytes.to_vec());
    }

    /// Stores an image under a tag; its bundle sets `data.a` to a value.
    fn tag(&self, tag: &str, value: &Value) -> Done {
        let digest = self.store("blobs", &archive(value)?);
        let manifest = image(&[
            ("application/vnd.oci.image.config.v1+json", "sha256:0"),
            (LAYER, &digest),
        ]);
        self.put(&format!("manifests/{tag}"), manifest.to_string().as_bytes());
        Ok(())
    }

    /// Returns the received requests with a part in their path.
    fn seen(&self, part: &str) -> Vec<Request> {
        let requests = self.server.requests().into_iter();
        requests
            .filter(|request| request.uri().path().contains(part))
            .collect()
    }
}

fn answer(
    request: &Request,
    contents: &Contents,
    token: Option<&str>,
    blobs: Option<&str>,
) -> Response {
    let path = request.uri().path();
    if path == "/token" {
        let token_response = json!({"token": token, "expires_in": 60}).to_string();
        return respond(200, &[], token_response);
    }
    if token.is_some_and(|token| header(request, "authorization") != format!("Bearer {token}")) {
        let realm = format!("http://{}/token", header(request, "host"));
        let challenge =
            format!(r#"Bearer realm="{realm}",service="s",scope="repository:team/rules:pull""#);
        return respond(401, &[("www-authenticate", &challenge)], "");
    }
    if let Some(blobs) = blobs.filter(|_| path.contains("/blobs/")) {
        return respond(307, &[("location", &format!("{blobs}{path}"))], "");
    }
    let place = path.strip_prefix("/v2/team/rules/");
    match place.and_then(|place| contents.get(place)) {
        Some(bytes) => respond(200, &[], bytes.clone()),
        None => empty(404),
    }
}

fn archive(value: &Value) -> Done<Vec<u8>> {
    let data = json!({"a": value}).to_string();
    bundle(&[(".manifest", r#"{"roots": ["a"]}"#), ("data.json", &data)])
}

/// Returns an image manifest with these layers.
fn image(layers: &[(&str, &str)]) -> Value {
    let layers = layers
        .iter()
        .map(|(kind, digest)| json!({"mediaType": kind, "digest": digest}));
    json!({"schemaVersion": 2, "mediaType": IMAGE, "layers": layers.collect::<Vec<_>>()})
}

/// Returns an image index with these manifests.
fn index(images: &[(&str, &str)]) -> Value {
    let images = images.iter().map(|(digest, os)| {
        json!({"mediaType": IMAGE, "digest": digest, "platform": {"os": os, "architecture": os}})
    });
    json!({"schemaVersion": 2, "manifests": images.collect::<Vec<_>>()})
}

/// Starts an engine that loads its bundle from an image in the registry.
async fn engine(registry: &Registry, image: &str, credentials: Value) -> Done<Environment> {
    let service = json!({"url": registry.server.url(), "type": "oci", "credentials": credentials});
    Environment::start(json!({
        "services": {"registry": service},
        "bundles": {"rules": {"service": "registry", "resource": image, "polling": quick()}},
        "status": {"console": true},
    }))
    .await
}

#[tokio::test]
async fn an_image_is_downloaded_once_until_its_tag_moves() -> Done {
    let registry = Registry::start(None, None).await?;
    registry.tag("1", &json!(1))?;
    let environment = engine(&registry, "example.com/team/rules:1", json!({})).await?;
    environment.wait_for_data("a", json!(1)).await?;
    until("three questions", || {
        (registry.seen("/manifests/1").len() > 3).then_some(())
    })
    .await?;
    assert_eq!(registry.seen("/blobs/").len(), 1);
    let status = environment.status().await?;
    let message = &status["bundles"]["rules"]["message"];
    assert_eq!(message, &Value::Null, "{status}");

    registry.tag("1", &json!(2))?;
    environment.wait_for_data("a", json!(2)).await?;
    assert_eq!(registry.seen("/blobs/").len(), 2);
    Ok(())
}

#[tokio::test]
async fn a_token_is_fetched_and_shown_to_the_registry_alone() -> Done {
    let storage = Registry::start(None, None).await?;
    let registry = Registry::start(Some("given"), Some(storage.server.url())).await?;
    registry.tag("1", &json!(1))?;
    storage.tag("1", &json!(1))?;
    let credentials = json!({"bearer": {"scheme": "Basic", "token": "u:p"}});
    let environment = engine(&registry, "example.com/team/rules:1", credentials).await?;
    environment.wait_for_data("a", json!(1)).await?;
    let [token_request, ..] = &registry.seen("/token")[..] else {
        return Err("no token was asked for".into());
    };
    let query = token_request.uri().query();
    assert_eq!(
        query,
        Some("service=s&scope=repository%3Ateam%2Frules%3Apull")
    );
    assert_eq!(header(token_request, "authorization"), "Basic dTpw");
    let [blob] = &storage.seen("/blobs/")[..] else {
        return Err("the layer was not asked for once".into());
    };
    assert_eq!(header(blob, "authorization"), "");
    Ok(())
}

#[tokio::test]
async fn an_index_leads_to_its_first_image_with_a_bundle() -> Done {
    let registry = Registry::start(None, None).await?;
    let [first, second] = [archive(&json!(1))?, archive(&json!(2))?];
    let [first, second] = [first, second].map(|bytes| registry.store("blobs", &bytes));
    let store_manifest =
        |manifest: Value| registry.store("manifests", manifest.to_string().as_bytes());
    let attestation = store_manifest(image(&[(LAYER, &second)]));
    let other = store_manifest(image(&[("text/plain", "sha256:0")]));
    let inner = index(&[
        (&other, "linux"),
        (&store_manifest(image(&[(LAYER, &first)])), "linux"),
    ]);
    let missing = format!("sha256:{}", "0".repeat(64));
    let outer = index(&[
        (&attestation, "unknown"),
        (&missing, "linux"),
        (&store_manifest(inner), "linux"),
    ]);
    let digest = store_manifest(outer);
    let environment = engine(&registry, &format!("h/team/rules@{digest}"), json!({})).await?;
    environment.wait_for_data("a", json!(1)).await
}

#[tokio::test]
async fn what_is_no_bundle_is_reported() -> Done {
    let registry = Registry::start(None, None).await?;
    let put = |tag: &str, manifest: Value| {
        registry.put(&format!("manifests/{tag}"), manifest.to_string().as_bytes());
    };
    let nothing = format!("sha256:{}", "0".repeat(64));
    registry.put(&format!("blobs/{nothing}"), b"other");
    registry.put(&format!("manifests/{nothing}"), b"{}");
    let broken = registry.store("blobs", b"no archive");
    put("other", image(&[(LAYER, &nothing)]));
    put("broken", image(&[(LAYER, &broken)]));
    put("md5", image(&[(LAYER, "md5:00")]));
    put("path", image(&[(LAYER, "../../secret")]));
    put("empty", json!({}));
    put("tags", index(&[("md5", "linux")]));
    registry.put("manifests/text", b"text");
    let refusing = Registry::start(Some("hidden"), None).await?;
    let other = "the content does not match its digest";
    for (registry, image, part) in [
        (
            &registry,
            "h/team/rules:none",
            "server replied with Not Found",
        ),
        (&registry, "h/team/rules:other", other),
        (&registry, &format!("h/team/rules@{nothing}"), other),
        (&registry, "h/team/rules:broken", "archive"),
        (&registry, "h/team/rules:md5", "is not SHA-256"),
        (&registry, "h/team/rules:path", "is not SHA-256"),
        (&registry, "h/team/rules:empty", "no layer of type"),
        (&registry, "h/team/rules:tags", "is not SHA-256"),
        (
            &registry,
            "h/team/rules:text",
            "the manifest cannot be read",
        ),
        (&registry, "h/team/rules", "invalid image"),
        (
            &refusing,
            "h/other/rules:1",
            "server replied with Not Found",
        ),
    ] {
        let environment = engine(registry, image, json!({})).await?;
        let failed = |_, answer: &Value| {
            let message = answer["result"]["bundles"]["rules"]["message"].as_str();
            message.is_some_and(|message| message.contains(part))
        };
        environment.wait_for("/v1/status", failed).await?;
        assert_eq!(environment.data("a").await?, Value::Null, "{image}");
    }
    Ok(())
}

//! Repositories over HTTP.

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::repositories::{commit, files, repository};
use super::{World, upload_pack};

/// The header of the one who may fetch: `ann` with the password `pass`.
pub(super) const ANN: &str = "Basic YW5uOnBhc3M=";

/// What the server was asked for packs.
pub(super) type Packs = Arc<AtomicUsize>;

type Failure = Box<dyn Error + Send + Sync>;

/// Answers as a git server does; below `/closed` only to those who may fetch.
async fn serve(
    request: Request<Incoming>,
    root: PathBuf,
    packs: Packs,
) -> Result<Response<Full<Bytes>>, Failure> {
    let header = |name: &str| {
        let value = request.headers().get(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned()
    };
    let path = request.uri().path().to_owned();
    if let Some(rest) = path.strip_prefix("/moved") {
        let to = format!("/open{rest}?{}", request.uri().query().unwrap_or_default());
        return Ok(Response::builder()
            .status(302)
            .header("location", to)
            .body(Full::default())?);
    }
    let inner = match path.split_once("closed") {
        Some((_, rest)) if header("authorization") == ANN => rest,
        Some(_) => {
            let refused = Response::builder().status(401);
            let refused = refused.header("www-authenticate", "Basic realm=\"tests\"");
            return Ok(refused.body(Full::default())?);
        }
        None => path.strip_prefix("/open").unwrap_or(&path),
    };
    if path.ends_with("git-upload-pack") {
        packs.fetch_add(1, Ordering::Relaxed);
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    let folder = inner.split("/.git").next().unwrap_or_default();
    let (kind, answer) = match query.as_str() {
        _ if path == "/document" => ("application/json", b"{\"seen\":true}".to_vec()),
        "" => {
            let folder = root.join(folder.trim_start_matches('/'));
            let answer = upload_pack::answer(&folder, &body)?;
            ("application/x-git-upload-pack-result", answer)
        }
        _ => (
            "application/x-git-upload-pack-advertisement",
            upload_pack::abilities(),
        ),
    };
    let response = Response::builder().header("content-type", kind);
    Ok(response.body(Full::from(answer))?)
}

/// Serves the repositories below a folder; gives the address and how many packs were asked for.
pub(super) async fn server(root: &Path) -> Result<(String, Packs), Box<dyn Error>> {
    let (address, packs) = server_with(root, None).await?;
    Ok((format!("http://{address}"), packs))
}

/// As [`server`], over TLS if there is a configuration for it.
pub(super) async fn server_with(
    root: &Path,
    tls: Option<ServerConfig>,
) -> Result<(SocketAddr, Packs), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let tls = tls.map(|tls| TlsAcceptor::from(Arc::new(tls)));
    let (root, packs) = (root.to_owned(), Packs::default());
    let asked = Arc::clone(&packs);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (root, packs) = (root.clone(), Arc::clone(&asked));
            let service =
                service_fn(move |request| serve(request, root.clone(), Arc::clone(&packs)));
            let tls = tls.clone();
            tokio::spawn(async move {
                let server = hyper::server::conn::http1::Builder::new();
                // Clients that go away are no failures of the tests.
                drop(match tls {
                    None => server.serve_connection(TokioIo::new(stream), service).await,
                    Some(tls) => match tls.accept(stream).await {
                        Ok(stream) => server.serve_connection(TokioIo::new(stream), service).await,
                        Err(_) => Ok(()),
                    },
                });
            });
        }
    });
    Ok((address, packs))
}

fn job(git: &str, secret: &str) -> String {
    format!(
        "{{bundle: {{requirements: [{{source: a}}]}}, secrets: {{s: {{{secret}}}}}, \
         sources: {{a: {{git: {{path: policy, excluded_files: ['*_test.rego'], {git}}}}}}}}}"
    )
}

#[tokio::test]
async fn remotes_are_fetched_and_kept() -> Result<(), Box<dyn Error>> {
    let world = World::new()?;
    let served = world.folder.path().join("served");
    let (first, second) = repository(&served.join("repo"))?;
    let (address, packs) = server(&served).await?;
    let open = format!("repo: {address}/open/repo/.git");
    let closed = format!("credentials: s, repo: {address}/closed/repo/.git");
    // Names and passwords are sent over TLS only, headers as they are given.
    let ann =
        format!("type: basic_auth, username: '', password: '', headers: ['Authorization: {ANN}']");
    for (git, secret, commit) in [
        (format!("{open}, reference: main"), "", &second),
        (format!("{open}, reference: refs/tags/one"), "", &first),
        (format!("{open}, commit: {first}"), "", &first),
        (
            format!("{closed}, reference: refs/heads/main"),
            ann.as_str(),
            &second,
        ),
    ] {
        let job = world.job(&job(&git, secret))?;
        let built = world.build(&job).await?;
        assert_eq!(built.commits.get("a"), Some(commit), "{git}");
        assert!(
            super::listing(&built)?.contains("/a/a.rego package a"),
            "{git}"
        );
    }
    // A new commit is fetched, a known one is not asked for again.
    let reference = world.job(&job(&format!("{open}, reference: main"), ""))?;
    world.build(&reference).await?;
    commit(&served.join("repo"), &files("package a\n\np := 3\n"))?;
    let built = world.build(&reference).await?;
    assert!(super::listing(&built)?.contains("p := 3"));
    let before = packs.load(Ordering::Relaxed);
    let pinned = world.job(&job(&format!("{open}, commit: {second}"), ""))?;
    assert_eq!(world.build(&pinned).await?.commits.get("a"), Some(&second));
    assert_eq!(packs.load(Ordering::Relaxed), before);
    // What a killed server left behind is in nobody's way.
    let work = world.folder.path().join("work");
    let mut kept = std::fs::read_dir(&work)?.next().ok_or("no folder")??.path();
    kept = std::fs::read_dir(&kept)?
        .next()
        .ok_or("no repository")??
        .path();
    std::fs::create_dir_all(kept.join("refs/fetched"))?;
    std::fs::write(kept.join("refs/fetched/reference.lock"), "")?;
    world.build(&reference).await?;
    std::fs::write(kept.join("HEAD"), "")?;
    world.build(&reference).await?;
    // A repository that is no longer used goes.
    world.build(&world.job("{}")?).await?;
    assert!(!kept.exists());
    Ok(())
}

#[tokio::test]
async fn remotes_that_cannot_be_fetched_fail_the_build() -> Result<(), Box<dyn Error>> {
    let mut world = World::new()?;
    let served = world.folder.path().join("served");
    repository(&served.join("repo"))?;
    let (address, _) = server(&served).await?;
    let open = format!("repo: {address}/open/repo/.git");
    let closed = format!("credentials: s, repo: {address}/closed/repo/.git");
    for (git, secret, repository, expected) in [
        (
            format!("{open}, reference: none"),
            "",
            u64::MAX,
            "SYNC SYNC_FAILED: source `a`: git: ",
        ),
        (
            format!("{open}, commit: 0123456789012345678901234567890123456789"),
            "",
            u64::MAX,
            "SYNC SYNC_FAILED: source `a`: git: ",
        ),
        (
            format!("repo: {address}/moved/repo/.git, reference: main"),
            "",
            u64::MAX,
            "SYNC SYNC_FAILED: source `a`: git: ",
        ),
        (
            format!("repo: {address}/closed/repo/.git, reference: main"),
            "",
            u64::MAX,
            "SYNC SYNC_FAILED: source `a`: git: ",
        ),
        (
            format!("{closed}, reference: main"),
            "type: basic_auth, username: ann, password: hush-hush",
            u64::MAX,
            "SYNC SYNC_FAILED: source `a`: git: Transport handshake failed: The transport layer refuses to use a given identity",
        ),
        (
            format!("{closed}, reference: main"),
            "type: api_key, key: k, value: v",
            u64::MAX,
            "SYNC CONFIG_ERROR: source `a`: credentials of type api_key",
        ),
        (
            format!("{open}, reference: main"),
            "",
            10,
            "SYNC SYNC_FAILED: source `a`: git: the repository has more than 10 bytes",
        ),
    ] {
        world.access.limits.repository = repository;
        let found = world.listing(&job(&git, secret)).await?;
        let is_expected = found.starts_with(expected) && !found.contains("hush-hush");
        assert!(is_expected, "{git}: {found}");
    }
    Ok(())
}

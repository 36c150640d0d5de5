//! Repositories over HTTP.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use test_server::{Request, Response, TestServer, empty, header, respond};
use tokio_rustls::TlsAcceptor;

use super::repositories::{commit, files, repository};
use super::{TestFolders, upload_pack};

/// Authorization header of the permitted user: `ann` with the password `pass`.
pub(super) const ANN: &str = "Basic YW5uOnBhc3M=";

/// Responds like a git server; below `/closed` only to the permitted user.
fn answer(request: &Request, root: &Path) -> Result<Response, Box<dyn Error + Send + Sync>> {
    let path = request.uri().path();
    let query = request.uri().query().unwrap_or_default();
    if let Some(rest) = path.strip_prefix("/moved") {
        let to = format!("/open{rest}?{query}");
        return Ok(respond(302, &[("location", &to)], ""));
    }
    let inner = match path.split_once("closed") {
        Some((_, rest)) if header(request, "authorization") == ANN => rest,
        Some(_) => {
            let realm = [("www-authenticate", "Basic realm=\"tests\"")];
            return Ok(respond(401, &realm, ""));
        }
        None => path.strip_prefix("/open").unwrap_or(path),
    };
    let folder = inner.split("/.git").next().unwrap_or_default();
    let (kind, answer) = match query {
        _ if path == "/document" => ("application/json", b"{\"seen\":true}".to_vec()),
        "" => {
            let folder = root.join(folder.trim_start_matches('/'));
            let answer = upload_pack::answer(&folder, request.body())?;
            ("application/x-git-upload-pack-result", answer)
        }
        _ => (
            "application/x-git-upload-pack-advertisement",
            upload_pack::capabilities(),
        ),
    };
    Ok(respond(200, &[("content-type", kind)], answer))
}

/// Serves the repositories below a folder.
pub(super) async fn server(root: &Path) -> std::io::Result<TestServer> {
    server_with(root, None).await
}

/// Like [`server`], over TLS if there is a configuration for it.
pub(super) async fn server_with(
    root: &Path,
    tls: Option<ServerConfig>,
) -> std::io::Result<TestServer> {
    let tls = tls.map(|tls| TlsAcceptor::from(Arc::new(tls)));
    let root: Arc<Path> = root.into();
    let answer = move |request: Request| {
        let answer = answer(&request, &root).unwrap_or_else(|_| empty(500));
        std::future::ready(answer)
    };
    TestServer::start_with(tls, answer).await
}

/// Returns the number of packs requested from a server.
pub(super) fn packs(server: &TestServer) -> usize {
    let requests = server.requests();
    let packs = requests
        .iter()
        .filter(|request| request.uri().path().ends_with("git-upload-pack"));
    packs.count()
}

fn job(git: &str, secret: &str) -> String {
    format!(
        "{{bundle: {{requirements: [{{source: a}}]}}, secrets: {{s: {{{secret}}}}}, \
         sources: {{a: {{git: {{path: policy, excluded_files: ['*_test.rego'], {git}}}}}}}}}"
    )
}

#[tokio::test]
async fn remotes_are_fetched_and_kept() -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let served = fixture.folder.path().join("served");
    let (first, second) = repository(&served.join("repo"))?;
    let server = server(&served).await?;
    let address = server.url();
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
        let job = fixture.job(&job(&git, secret))?;
        let built = fixture.build(&job).await?;
        assert_eq!(built.commits.get("a"), Some(commit), "{git}");
        assert!(
            super::listing(&built)?.contains("/a/a.rego package a"),
            "{git}"
        );
    }
    // A new commit is fetched, a known one is not requested again.
    let reference = fixture.job(&job(&format!("{open}, reference: main"), ""))?;
    fixture.build(&reference).await?;
    commit(&served.join("repo"), &files("package a\n\np := 3\n"))?;
    let built = fixture.build(&reference).await?;
    assert!(super::listing(&built)?.contains("p := 3"));
    let before = packs(&server);
    let pinned = fixture.job(&job(&format!("{open}, commit: {second}"), ""))?;
    assert_eq!(
        fixture.build(&pinned).await?.commits.get("a"),
        Some(&second)
    );
    assert_eq!(packs(&server), before);
    // Files that a killed server left behind do no harm.
    let work = fixture.folder.path().join("work");
    let mut cached = std::fs::read_dir(&work)?.next().ok_or("no folder")??.path();
    cached = std::fs::read_dir(&cached)?
        .next()
        .ok_or("no repository")??
        .path();
    std::fs::create_dir_all(cached.join("refs/fetched"))?;
    std::fs::write(cached.join("refs/fetched/reference.lock"), "")?;
    fixture.build(&reference).await?;
    std::fs::write(cached.join("HEAD"), "")?;
    fixture.build(&reference).await?;
    // A repository that is no longer used is removed.
    fixture.build(&fixture.job("{}")?).await?;
    assert!(!cached.exists());
    Ok(())
}

#[tokio::test]
async fn remotes_that_cannot_be_fetched_fail_the_build() -> Result<(), Box<dyn Error>> {
    let mut fixture = TestFolders::new()?;
    let served = fixture.folder.path().join("served");
    repository(&served.join("repo"))?;
    let server = server(&served).await?;
    let address = server.url();
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
        fixture.access.limits.repository = repository;
        let found = fixture.listing(&job(&git, secret)).await?;
        let is_expected = found.starts_with(expected) && !found.contains("hush-hush");
        assert!(is_expected, "{git}: {found}");
    }
    Ok(())
}

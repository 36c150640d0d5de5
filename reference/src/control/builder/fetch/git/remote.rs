//! Repositories of other hosts, whose objects are kept and completed with each fetch.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gix::bstr::ByteSlice;
use gix::credentials::helper::Action;
use gix::credentials::protocol::Outcome;
use gix::progress::Discard;
use gix::protocol::transport::client::blocking_io::http;
use gix::remote::{Direction, fetch::Tags};
use gix::sec::identity::Account;
use gix::url::Scheme;
use reqwest::{Certificate, Identity};

use super::ssh::Command;
use super::{Credentials, Limits, Revision, Trouble, failed, origin};

/// What the fetched reference is called here.
pub(super) const FETCHED: &str = "refs/fetched/reference";

/// Repositories in more packs than this are fetched anew as a whole.
const PACKS: usize = 50;

/// How often a fetch is looked at.
const GLANCE: Duration = Duration::from_millis(200);

/// Brings a kept repository up to date.
///
/// # Errors
/// When the remote cannot be asked, does not have what is wanted, or sends too much.
pub(super) fn fetch(
    url: &gix::Url,
    credentials: Option<&Credentials>,
    revision: &Revision,
    place: &Path,
    limits: &Limits,
    cancelled: &Arc<AtomicBool>,
) -> Result<gix::Repository, Trouble> {
    tidy(place, limits).map_err(|failure| Trouble::Sync(format!("git: {failure}")))?;
    let access = Auth::new(url, credentials, place)?;
    let repository = open(place, &access)?;
    if let Revision::Commit(id) = revision
        && repository.find_commit(*id).is_ok()
    {
        return Ok(repository);
    }
    let specs = match revision {
        Revision::Reference(name) => vec![format!("+{name}:{FETCHED}")],
        Revision::Commit(_) => vec![
            "+refs/heads/*:refs/fetched/heads/*".to_owned(),
            "+refs/tags/*:refs/fetched/tags/*".to_owned(),
        ],
    };
    let done = AtomicBool::new(false);
    let received = std::thread::scope(|scope| {
        let watch = scope.spawn(|| watch(place, limits.repository, &done, cancelled));
        let received = receive(&repository, url, access, &specs, limits.fetch, cancelled);
        done.store(true, Ordering::Relaxed);
        watch.thread().unpark();
        received
    });
    if size(&place.join("objects")) > limits.repository {
        let limit = limits.repository;
        return Err(Trouble::Sync(format!(
            "git: the repository has more than {limit} bytes"
        )));
    }
    received?;
    // The repository that was open before the fetch does not know of its new packs for sure.
    gix::open_opts(place, origin::options()).map_err(failed)
}

/// Ends a fetch that sends too much.
fn watch(place: &Path, limit: u64, done: &AtomicBool, cancelled: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        if size(&place.join("objects")) > limit {
            cancelled.store(true, Ordering::Relaxed);
            return;
        }
        std::thread::park_timeout(GLANCE);
    }
}

fn receive(
    repository: &gix::Repository,
    url: &gix::Url,
    access: Auth,
    specs: &[String],
    limit: Duration,
    cancelled: &AtomicBool,
) -> Result<(), Trouble> {
    let specs = specs.iter().map(|spec| spec.as_bytes().as_bstr());
    let remote = repository
        .remote_at_without_url_rewrite(url.clone())
        .and_then(|remote| remote.with_refspecs(specs, Direction::Fetch));
    let remote = remote.map_err(failed)?.with_fetch_tags(Tags::None);
    let connection = remote.connect(Direction::Fetch).map_err(failed)?;
    let identity = access.identity;
    let connection = connection.with_credentials(move |action| match (action, &identity) {
        (Action::Get(context), Some(identity)) => Ok(Some(Outcome {
            identity: identity.clone(),
            next: context.into(),
        })),
        _ => Ok(None),
    });
    let connection = match url.scheme {
        Scheme::Ssh => connection,
        _ => {
            let tls = (access.authorities, access.certificate);
            let options = over_http(access.headers, tls, limit);
            connection.with_transport_options(Box::new(options))
        }
    };
    let prepared = connection.prepare_fetch(Discard, Default::default());
    let received = prepared.and_then(|prepared| prepared.receive(Discard, cancelled));
    received.map(drop).map_err(failed)
}

/// Requests that end, and follow no redirection: the hosts that may be asked are known before.
fn over_http(
    headers: Vec<String>,
    (authorities, certificate): (Vec<Certificate>, Option<Identity>),
    limit: Duration,
) -> http::Options {
    let backend = http::reqwest::Options {
        configure_client: Some(Box::new(move |mut client| {
            if !authorities.is_empty() {
                client = client.tls_certs_only(authorities.clone());
            }
            Ok(match &certificate {
                Some(certificate) => client.identity(certificate.clone()),
                None => client,
            })
        })),
        configure_request: Some(Box::new(move |request| {
            *request.timeout_mut() = Some(limit);
            Ok(())
        })),
    };
    http::Options {
        extra_headers: headers,
        follow_redirects: http::options::FollowRedirects::None,
        backend: Some(Arc::new(Mutex::new(backend))),
        ..http::Options::default()
    }
}

/// Who fetches.
#[derive(Debug, Default)]
struct Auth {
    identity: Option<Account>,
    headers: Vec<String>,
    command: Option<Command>,
    /// The authorities that count instead of the system's, if any.
    authorities: Vec<Certificate>,
    /// The client's certificate.
    certificate: Option<Identity>,
}

impl Auth {
    fn new(
        url: &gix::Url,
        credentials: Option<&Credentials>,
        place: &Path,
    ) -> Result<Self, Trouble> {
        let account = |username: &str, password: &str| {
            Some(Account {
                username: username.to_owned(),
                password: password.to_owned(),
                oauth_refresh_token: None,
            })
        };
        match (&url.scheme, credentials) {
            (
                Scheme::Ssh,
                Some(Credentials::SshKey {
                    key,
                    passphrase,
                    fingerprints,
                }),
            ) => {
                let command = Command::new(url, key, passphrase, fingerprints, place)?;
                Ok(Self {
                    command: Some(command),
                    ..Self::default()
                })
            }
            // The server's own keys are nobody else's to use.
            (Scheme::Ssh, None) => Err(Trouble::config(
                "git: ssh needs credentials of type ssh_key",
            )),
            (Scheme::Http | Scheme::Https, None) => Ok(Self::default()),
            (
                Scheme::Http | Scheme::Https,
                Some(Credentials::BasicAuth {
                    username,
                    password,
                    headers,
                }),
            ) => {
                if headers.iter().any(|line| line.contains(['\r', '\n', '\0'])) {
                    return Err(Trouble::config(
                        "git: a header of the credentials cannot be sent",
                    ));
                }
                Ok(Self {
                    identity: account(username, password),
                    headers: headers.clone(),
                    ..Self::default()
                })
            }
            (Scheme::Http | Scheme::Https, Some(Credentials::TokenAuth { token })) => Ok(Self {
                // The name that hosts take tokens for passwords under; most ignore it.
                identity: account("x-access-token", token),
                ..Self::default()
            }),
            (Scheme::Https, Some(Credentials::TlsCert(tls))) => {
                let (authorities, certificate) = tls.read()?;
                Ok(Self {
                    authorities,
                    certificate,
                    ..Self::default()
                })
            }
            (_, Some(other)) => Err(other.unfit("this kind of repository")),
            (_, None) => Ok(Self::default()),
        }
    }
}

/// Opens the kept repository, or makes an empty one in its place.
fn open(place: &Path, access: &Auth) -> Result<gix::Repository, Trouble> {
    let mut overrides = vec![
        "committer.name=reference".to_owned(),
        "committer.email=reference@localhost".to_owned(),
    ];
    if let Some(command) = &access.command {
        overrides.push(format!("core.sshCommand={}", command.line()));
        overrides.push("ssh.variant=ssh".to_owned());
    }
    let options = || origin::options().config_overrides(overrides.iter().map(String::as_str));
    if let Ok(repository) = gix::open_opts(place, options()) {
        return Ok(repository);
    }
    // What a killed server left half made.
    let lost = |failure: std::io::Error| Trouble::Sync(format!("git: {failure}"));
    if place.exists() {
        fs::remove_dir_all(place).map_err(lost)?;
    }
    fs::create_dir_all(place).map_err(lost)?;
    let kind = gix::create::Kind::Bare;
    let made = gix::ThreadSafeRepository::init_opts(place, kind, Default::default(), options());
    made.map(|made| made.to_thread_local()).map_err(failed)
}

/// Removes what killed fetches left, and repositories that have grown too much.
fn tidy(place: &Path, limits: &Limits) -> std::io::Result<()> {
    let packs = fs::read_dir(place.join("objects/pack"));
    let packs = packs.into_iter().flatten().flatten();
    let packs = packs.filter(|file| file.path().extension().is_some_and(|kind| kind == "pack"));
    if packs.count() > PACKS || size(&place.join("objects")) > limits.repository {
        return fs::remove_dir_all(place);
    }
    let mut open = vec![place.join("refs")];
    let mut locks = vec![place.join("packed-refs.lock")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|kind| kind == "lock") {
                locks.push(path);
            }
        }
    }
    for lock in locks.iter().filter(|lock| lock.exists()) {
        fs::remove_file(lock)?;
    }
    Ok(())
}

/// The bytes of all files below a folder. Files may come and go meanwhile.
pub(super) fn size(folder: &Path) -> u64 {
    let mut sum = 0_u64;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => open.push(entry.path()),
                Ok(metadata) => sum = sum.saturating_add(metadata.len()),
                Err(_) => {}
            }
        }
    }
    sum
}

//! Remote repositories, fetched incrementally into a cache.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gix::bstr::ByteSlice;
use gix::credentials::helper::Action;
use gix::credentials::protocol::Outcome;
use gix::progress::Discard;
use gix::protocol::transport::client::blocking_io::{Transport, http};
use gix::remote::{Connection, Direction, fetch::Tags};
use gix::url::Scheme;

use super::auth::Auth;
use super::process::Programs;
use super::ssh::{Key, Ssh};
use super::watch::with_watchdog;
use super::{Access, BuildError, Credentials, Revision, failed, origin};

/// Local name of the fetched reference.
pub(super) const FETCHED: &str = "refs/fetched/reference";

/// Maximum number of packs; repositories with more are fetched again as a whole.
const MAX_PACKS: usize = 50;

/// Connection to a remote repository.
type RemoteConnection<'r> = Connection<'r, 'static, 'r, Box<dyn Transport + Send>>;

/// Fetch of a revision.
#[derive(Debug)]
pub(super) struct Fetch<'f> {
    /// Address of the repository.
    pub(super) url: &'f gix::Url,
    pub(super) credentials: Option<&'f Credentials>,
    pub(super) revision: &'f Revision,
    /// Folder of the cached repository.
    pub(super) place: &'f Path,
    pub(super) access: &'f Access,
    /// Maximum size of the objects in the cached repository, in bytes.
    pub(super) size_limit: u64,
    /// Cancellation flag.
    pub(super) cancelled: &'f AtomicBool,
}

impl Fetch<'_> {
    /// Updates the cached repository.
    ///
    /// # Errors
    /// When the remote cannot be reached, does not have the revision, or sends too much.
    pub(super) fn run(&self) -> Result<gix::Repository, BuildError> {
        let io_error = |failure: std::io::Error| BuildError::sync(format!("git: {failure}"));
        clean_up(self.place, self.access.limits.repository).map_err(io_error)?;
        let repository = open(self.place)?;
        if let Revision::Commit(id) = self.revision
            && repository.find_commit(*id).is_ok()
        {
            return Ok(repository);
        }
        let received = match self.url.scheme {
            Scheme::Ssh => self.over_ssh(&repository),
            _ => self.over_http(&repository),
        };
        if self.is_too_large() {
            let limit = self.access.limits.repository;
            return Err(BuildError::sync(format!(
                "git: the repository has more than {limit} bytes"
            )));
        }
        received?;
        // The repository opened before the fetch may not see the new packs.
        gix::open_opts(self.place, origin::options()).map_err(failed)
    }

    fn is_too_large(&self) -> bool {
        size(&self.place.join("objects")) > self.size_limit
    }

    /// Cancels a fetch that sends too much.
    fn limit_size(&self) {
        if self.is_too_large() {
            self.cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn over_ssh(&self, repository: &gix::Repository) -> Result<(), BuildError> {
        let key = match self.credentials {
            Some(Credentials::SshKey {
                key,
                passphrase,
                fingerprints,
            }) => Key {
                text: key,
                passphrase,
                fingerprints,
            },
            // The server's own keys must not be used.
            None => {
                return Err(BuildError::config(
                    "git: ssh needs credentials of type ssh_key",
                ));
            }
            Some(other) => return Err(other.unsupported("this kind of repository")),
        };
        let programs = Programs {
            folder: &self.access.programs,
            cancelled: self.cancelled,
        };
        let remote = self.remote(repository)?;
        let (ssh, transport) = Ssh::connect(self.url, &key, programs, self.place)?;
        let received = with_watchdog(
            self.cancelled,
            || self.limit_size(),
            || ssh.kill(),
            || self.receive(remote.to_connection_with_transport(transport)),
        );
        received.map_err(|failure| ssh.explain(failure))
    }

    fn over_http(&self, repository: &gix::Repository) -> Result<(), BuildError> {
        let mut auth = Auth::new(self.url, self.credentials)?;
        let remote = self.remote(repository)?;
        let identity = auth.identity.take();
        let options = options(auth, self.access.limits.fetch);
        let work = || {
            let connection = remote.connect(Direction::Fetch).map_err(failed)?;
            let connection = connection.with_credentials(move |action| match (action, &identity) {
                (Action::Get(context), Some(identity)) => Ok(Some(Outcome {
                    identity: identity.clone(),
                    next: context.into(),
                })),
                _ => Ok(None),
            });
            self.receive(connection.with_transport_options(Box::new(options)))
        };
        // The requests have their own timeout.
        with_watchdog(self.cancelled, || self.limit_size(), || {}, work)
    }

    /// Returns the remote with the refspecs to fetch.
    fn remote<'r>(&self, repository: &'r gix::Repository) -> Result<gix::Remote<'r>, BuildError> {
        let specs = match self.revision {
            Revision::Reference(name) => vec![format!("+{name}:{FETCHED}")],
            Revision::Commit(_) => vec![
                "+refs/heads/*:refs/fetched/heads/*".to_owned(),
                "+refs/tags/*:refs/fetched/tags/*".to_owned(),
            ],
        };
        let specs = specs.iter().map(|spec| spec.as_bytes().as_bstr());
        let remote = repository
            .remote_at_without_url_rewrite(self.url.clone())
            .and_then(|remote| remote.with_refspecs(specs, Direction::Fetch));
        Ok(remote.map_err(failed)?.with_fetch_tags(Tags::None))
    }

    fn receive(&self, connection: RemoteConnection<'_>) -> Result<(), BuildError> {
        let prepared = connection.prepare_fetch(Discard, Default::default());
        let received = prepared.and_then(|prepared| prepared.receive(Discard, self.cancelled));
        received.map(drop).map_err(failed)
    }
}

/// Returns options with a timeout and without redirects: allowed hosts are checked beforehand.
fn options(auth: Auth, limit: Duration) -> http::Options {
    let started = Instant::now();
    let (authorities, certificate) = (auth.authorities, auth.certificate);
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
            *request.timeout_mut() = Some(limit.saturating_sub(started.elapsed()));
            Ok(())
        })),
    };
    http::Options {
        extra_headers: auth.headers,
        follow_redirects: http::options::FollowRedirects::None,
        backend: Some(Arc::new(Mutex::new(backend))),
        ..http::Options::default()
    }
}

/// Opens the cached repository, or creates an empty one in its place.
fn open(place: &Path) -> Result<gix::Repository, BuildError> {
    let committer = [
        "committer.name=reference",
        "committer.email=reference@localhost",
    ];
    let options = || origin::options().config_overrides(committer);
    if let Ok(repository) = gix::open_opts(place, options()) {
        return Ok(repository);
    }
    // A killed server may have left an incomplete one.
    let io_error = |failure: std::io::Error| BuildError::sync(format!("git: {failure}"));
    if place.exists() {
        fs::remove_dir_all(place).map_err(io_error)?;
    }
    fs::create_dir_all(place).map_err(io_error)?;
    let kind = gix::create::Kind::Bare;
    let created = gix::ThreadSafeRepository::init_opts(place, kind, Default::default(), options());
    created
        .map(|created| created.to_thread_local())
        .map_err(failed)
}

/// Removes locks of killed fetches, and repositories that have grown too large.
fn clean_up(place: &Path, limit: u64) -> std::io::Result<()> {
    let packs = fs::read_dir(place.join("objects/pack"));
    let packs = packs.into_iter().flatten().flatten();
    let packs = packs.filter(|file| file.path().extension().is_some_and(|kind| kind == "pack"));
    if packs.count() > MAX_PACKS || size(&place.join("objects")) > limit {
        return fs::remove_dir_all(place);
    }
    let mut pending = vec![place.join("refs")];
    let mut locks = vec![place.join("packed-refs.lock")];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                pending.push(path);
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

/// Returns the total size of the files below a folder, in bytes. Files may change meanwhile.
pub(super) fn size(folder: &Path) -> u64 {
    let mut total = 0_u64;
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => pending.push(entry.path()),
                Ok(metadata) => total = total.saturating_add(metadata.len()),
                Err(_) => {}
            }
        }
    }
    total
}

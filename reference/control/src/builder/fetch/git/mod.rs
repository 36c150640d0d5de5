//! Git repositories, read from their objects without a work tree.

mod auth;
mod origin;
mod process;
mod remote;
mod repository_lock;
mod ssh;
mod submodules;
mod tree;
mod watch;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use sha2::{Digest, Sha256};

pub(super) use self::origin::Origin;
use self::remote::Fetch;
use self::submodules::Submodule;
use super::credentials::Credentials;
use super::{BuildError, Steps};
use crate::allowed_hosts::AllowedHosts;
use crate::builder::Access;
use crate::builder::file_selection::{FileQuota, Files, Selection};

/// Maximum number of repositories of a source, including nested submodules.
const MAX_MODULES: usize = 100;

/// Maximum nesting depth of submodules.
const MAX_DEPTH: usize = 10;

/// Revision and files to read from a repository.
#[derive(Debug)]
pub(super) struct GitSpec {
    /// Commit, or else reference.
    revision: Revision,
    /// Folder to read, without leading or trailing slash; everything if empty.
    path: String,
    selection: Selection,
}

/// Commit or reference.
#[derive(Debug)]
enum Revision {
    Commit(ObjectId),
    Reference(String),
}

impl GitSpec {
    /// Validates the options of a definition.
    ///
    /// # Errors
    /// When a commit is not a full hexadecimal id, a reference is not a valid name, a path leaves
    /// the repository, or neither commit nor reference is given.
    pub(super) fn new(
        reference: Option<&str>,
        commit: Option<&str>,
        path: Option<&str>,
        selection: Selection,
    ) -> Result<Self, BuildError> {
        let non_empty =
            |text: Option<&'_ str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        let revision = match (non_empty(commit), non_empty(reference)) {
            (Some(commit), _) => Revision::Commit(id(&commit)?),
            (None, Some(reference)) => Revision::Reference(name(reference)?),
            (None, None) => {
                let message = "git: either a reference or a commit must be given";
                return Err(BuildError::config(message));
            }
        };
        let segments = path.unwrap_or_default().split('/');
        let segments: Vec<&str> = segments
            .filter(|segment| !matches!(*segment, "" | "."))
            .collect();
        if segments.contains(&"..") {
            return Err(BuildError::config("git.path cannot hold the segment `..`"));
        }
        let path = segments.join("/");
        Ok(Self {
            revision,
            path,
            selection,
        })
    }
}

fn id(commit: &str) -> Result<ObjectId, BuildError> {
    let parsed = ObjectId::from_hex(commit.as_bytes());
    parsed
        .map_err(|_| BuildError::config(format!("commit `{commit}` is not 40 hexadecimal digits")))
}

/// Validates the name of a remote reference; it must not be parsed as a pattern or as a refspec.
fn name(reference: String) -> Result<String, BuildError> {
    let valid = gix::validate::reference::name_partial(reference.as_bytes().as_bstr());
    match valid.is_ok() && !reference.starts_with(['-', '+', '^']) {
        true => Ok(reference),
        false => Err(BuildError::config(format!(
            "invalid reference `{reference}`"
        ))),
    }
}

/// Files read from a repository.
#[derive(Debug, Default)]
pub(super) struct Checkout {
    /// Files of the repository and its submodules.
    pub(super) files: Files,
    /// Commit that was read.
    pub(super) commit: String,
    /// Folders of the cached remote repositories, and their sizes in bytes.
    pub(super) folders: BTreeMap<String, u64>,
}

/// Reader for a repository with its submodules.
#[derive(Debug)]
pub(super) struct Reader {
    /// Source that the repository belongs to.
    pub(super) source: String,
    /// Address of the repository.
    pub(super) repo: String,
    /// Credentials for the repository.
    pub(super) credentials: Option<Credentials>,
    /// Folder of the cached remote repositories.
    pub(super) repositories: PathBuf,
    /// Resources that may be accessed.
    pub(super) access: Access,
    /// Allowed hosts.
    pub(super) hosts: AllowedHosts,
}

/// Repository to read.
#[derive(Debug)]
struct Module {
    /// Address of the repository, as written and parsed.
    address: String,
    origin: Origin,
    spec: GitSpec,
    /// Path prefix of the repository's files; empty or with a trailing slash.
    prefix: String,
    /// Nesting depth of the submodule.
    depth: usize,
}

impl Reader {
    /// Reads the files of the repository at `origin`.
    ///
    /// # Errors
    /// When it or a submodule, its commit or the folder cannot be read, or is too large.
    pub(super) fn read(
        &self,
        origin: Origin,
        spec: GitSpec,
        quota: &mut FileQuota,
        cancelled: &AtomicBool,
    ) -> Result<Checkout, BuildError> {
        let mut checkout = Checkout::default();
        let mut pending = vec![Module {
            address: self.repo.clone(),
            origin: origin.clone(),
            spec,
            prefix: String::new(),
            depth: 0,
        }];
        let mut modules = 0;
        while let Some(module) = pending.pop() {
            modules += 1;
            if modules > MAX_MODULES || module.depth > MAX_DEPTH {
                return Err(BuildError::sync("git: there are too many submodules"));
            }
            // The content of a repository determines the addresses of its submodules, so the
            // credentials are only sent to the host of the source's own repository.
            let credentials = match module.origin.is_same_server(&origin) {
                true => self.credentials.as_ref(),
                false => None,
            };
            let nested = self.read_module(&module, credentials, &mut checkout, quota, cancelled);
            pending.extend(nested.map_err(|failure| match module.depth {
                0 => failure,
                _ => failure.within(&format!("submodule `{}`", module.prefix)),
            })?);
        }
        Ok(checkout)
    }

    /// Reads one repository; returns its submodules.
    fn read_module(
        &self,
        module: &Module,
        credentials: Option<&Credentials>,
        checkout: &mut Checkout,
        quota: &mut FileQuota,
        cancelled: &AtomicBool,
    ) -> Result<Vec<Module>, BuildError> {
        let spec = &module.spec;
        let (repository, reference, _lock) = match &module.origin {
            Origin::Local(path, roots) => {
                let steps = Steps::new(quota.entries, cancelled);
                let repository = origin::open(path, roots, steps)?;
                let reference = match &spec.revision {
                    Revision::Reference(name) => name.clone(),
                    Revision::Commit(_) => String::new(),
                };
                (repository, reference, None)
            }
            Origin::Remote(url) => {
                let folder = folder(&format!("{}\n{}", self.source, module.address));
                let place = self.repositories.join(&folder);
                // A repository that was fetched before is updated, and counts once.
                checkout.folders.remove(&folder);
                let others: u64 = checkout.folders.values().sum();
                let lock = repository_lock::lock_repository(&place)?;
                let fetch = Fetch {
                    url,
                    credentials,
                    revision: &spec.revision,
                    place: &place,
                    access: &self.access,
                    size_limit: self.access.limits.repository.saturating_sub(others),
                    cancelled,
                };
                let repository = fetch.run()?;
                checkout.folders.insert(folder, remote::size(&place));
                (repository, remote::FETCHED.to_owned(), Some(lock))
            }
        };
        let commit = match &spec.revision {
            Revision::Commit(id) => repository.find_commit(*id).map_err(failed)?,
            Revision::Reference(_) => {
                let mut found = repository.find_reference(&reference).map_err(failed)?;
                found.peel_to_commit().map_err(failed)?
            }
        };
        if module.depth == 0 {
            checkout.commit = commit.id.to_string();
        }
        let tree = commit.tree().map_err(failed)?;
        let paths = (spec.path.as_str(), module.prefix.as_str());
        let (selection, files) = (&spec.selection, &mut checkout.files);
        let links = tree::read(&tree, paths, selection, quota, files, cancelled)?;
        let mut nested = Vec::new();
        for link in submodules::find(&tree, &spec.path, links)? {
            nested.push(self.resolve_submodule(module, link)?);
        }
        Ok(nested)
    }

    /// Resolves a submodule of a repository.
    fn resolve_submodule(&self, module: &Module, link: Submodule) -> Result<Module, BuildError> {
        let Submodule { path, id, url } = link;
        let address = submodules::resolve_url(&url, &module.address);
        let origin = Origin::read(&address, &self.access.source_roots, &self.hosts);
        let origin = match (origin, &module.origin) {
            (Ok(Origin::Local(..)), Origin::Remote(_)) => Err(BuildError::config(
                "git: a repository of another host has none on this server",
            )),
            (origin, _) => origin,
        };
        Ok(Module {
            origin: origin.map_err(|failure| failure.within(&format!("submodule `{path}`")))?,
            address,
            spec: GitSpec {
                revision: Revision::Commit(id),
                path: String::new(),
                selection: module.spec.selection.clone(),
            },
            prefix: format!("{path}/"),
            depth: module.depth + 1,
        })
    }
}

/// Returns the folder name for a key.
pub(super) fn folder(key: &str) -> String {
    let digest = Sha256::digest(key.as_bytes());
    hex::encode(digest.get(..16).unwrap_or_default())
}

/// Removes all other cached repositories.
pub(super) fn remove_unused(repositories: &Path, used: &[String]) {
    let entries = fs::read_dir(repositories).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !used.contains(&name)
            && let Ok(_lock) = repository_lock::lock_repository(&entry.path())
            && let Err(failure) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%failure, path = %entry.path().display(), "an old repository stays");
        }
    }
}

/// Removes the keys that a killed server left behind.
pub(super) fn remove_keys(repositories: &Path) {
    let entries = fs::read_dir(repositories).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(ssh::FOLDER)
            && let Err(failure) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%failure, path = %entry.path().display(), "a key stays");
        }
    }
}

fn failed(failure: gix::Error) -> BuildError {
    BuildError::sync(format!("git: {}", super::with_causes(&failure)))
}

//! Repository addresses.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;
use gix::url::Scheme;
use reqwest::Url;

use super::{BuildError, failed};
use crate::allowed_hosts::AllowedHosts;
use crate::builder::fetch::{Steps, check_host, directory};
use crate::model::{NO_QUERY, has_query};

/// Location of a repository.
#[derive(Debug, Clone)]
pub(in super::super) enum Origin {
    /// On the server's disk, below one of these folders.
    Local(PathBuf, Vec<PathBuf>),
    /// On an allowed host.
    Remote(gix::Url),
}

impl Origin {
    /// Whether both are on the same host, with the same scheme and port.
    pub(super) fn is_same_server(&self, other: &Self) -> bool {
        let (Self::Remote(one), Self::Remote(other)) = (self, other) else {
            return false;
        };
        one.scheme == other.scheme
            && one.host() == other.host()
            && one.port_or_default() == other.port_or_default()
    }

    /// Parses an address: `https://…`, `http://…`, `ssh://…`, `USER@HOST:PATH` or a path.
    ///
    /// # Errors
    /// When it is invalid, or not allowed.
    pub(in super::super) fn read(
        repo: &str,
        roots: &[PathBuf],
        hosts: &AllowedHosts,
    ) -> Result<Self, BuildError> {
        // The address may contain a password, so no message repeats it.
        let refused = || BuildError::config("git.repo is not an address that can be asked");
        let url = gix::url::parse(repo.as_bytes().as_bstr()).map_err(|_| refused())?;
        if url.password().is_some() {
            let message =
                "git.repo holds a password, which everybody can read; secrets are for that";
            return Err(BuildError::config(message));
        }
        // Also checks old definitions, and submodules.
        if has_query(repo) {
            return Err(BuildError::config(format!("git.repo: {NO_QUERY}")));
        }
        match url.scheme {
            Scheme::File => {
                let path = url.path.to_path().map_err(|_| refused())?;
                let path = directory::resolve(path, roots)?;
                Ok(Self::Local(path, roots.to_vec()))
            }
            Scheme::Https | Scheme::Http | Scheme::Ssh => {
                let host = url.host().ok_or_else(refused)?;
                let is_allowed = |c: char| {
                    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']')
                };
                if host.starts_with('-') || !host.chars().all(is_allowed) {
                    return Err(refused());
                }
                match url.scheme {
                    Scheme::Ssh => check_host(hosts, host, url.port_or_default())?,
                    _ => {
                        // Parsed as by the client that connects.
                        let text = url.to_bstring();
                        let parsed = text.to_str().ok().and_then(|text| Url::parse(text).ok());
                        let parsed = parsed.ok_or_else(refused)?;
                        let host = parsed.host_str().unwrap_or_default();
                        check_host(hosts, host, parsed.port_or_known_default())?;
                    }
                }
                Ok(Self::Remote(url))
            }
            _ => Err(refused()),
        }
    }
}

/// Returns the options to open every repository: only its own configuration applies.
pub(super) fn options() -> gix::open::Options {
    gix::open::Options::isolated()
}

/// Opens a repository on the server's disk, if all its files are below the operator's folders.
///
/// # Errors
/// When a part of it is elsewhere, it has too many entries, or it is not a repository.
pub(super) fn open(
    path: &Path,
    roots: &[PathBuf],
    steps: Steps<'_>,
) -> Result<gix::Repository, BuildError> {
    let mut containment = ContainmentCheck {
        roots,
        steps,
        seen: BTreeSet::new(),
    };
    // Opening reads the configuration already, so it is checked before.
    for folder in [path.join(".git"), path.to_owned()] {
        if folder.join("HEAD").symlink_metadata().is_ok() {
            containment.check(&folder)?;
        }
    }
    let repository = gix::open_opts(path, options()).map_err(failed)?;
    let alternates = repository.objects.store_ref().alternate_db_paths();
    let alternates = alternates.map_err(failed)?;
    let directories = [
        repository.git_dir(),
        repository.common_dir(),
        repository.objects.store_ref().path(),
    ];
    for place in directories
        .into_iter()
        .chain(alternates.iter().map(PathBuf::as_path))
    {
        containment.check(&std::path::absolute(place).map_err(BuildError::sync)?)?;
    }
    Ok(repository)
}

/// Checker that folders of a repository are below the operator's, with all their content.
struct ContainmentCheck<'r> {
    roots: &'r [PathBuf],
    steps: Steps<'r>,
    /// Folders already checked.
    seen: BTreeSet<PathBuf>,
}

impl ContainmentCheck<'_> {
    fn check(&mut self, folder: &Path) -> Result<(), BuildError> {
        let mut pending = vec![directory::resolve(folder, self.roots)?];
        while let Some(folder) = pending.pop() {
            if !self.seen.insert(folder.clone()) {
                continue;
            }
            for entry in fs::read_dir(&folder).map_err(BuildError::sync)? {
                self.steps.count()?;
                let entry = entry.map_err(BuildError::sync)?;
                let kind = entry.file_type().map_err(BuildError::sync)?;
                // Links to hooks are common, and hooks never run here.
                if kind.is_dir() && entry.file_name() != "hooks" {
                    pending.push(entry.path());
                } else if kind.is_symlink() {
                    let found = directory::resolve(&entry.path(), self.roots)?;
                    pending.extend(found.is_dir().then_some(found));
                }
            }
        }
        Ok(())
    }
}

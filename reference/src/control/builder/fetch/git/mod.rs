//! Repositories: read from their objects, so that no work tree is ever written.

mod held;
mod origin;
mod remote;
mod ssh;
mod tree;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use sha2::{Digest, Sha256};

pub(super) use self::origin::Origin;
use super::Trouble;
use super::credentials::Credentials;
use crate::control::builder::Limits;
use crate::control::builder::files::{Budget, Files, Selection};

/// What is wanted of a repository.
#[derive(Debug)]
pub(super) struct Wanted {
    /// A commit, or else a reference.
    revision: Revision,
    /// The folder whose files are wanted, without slashes at its ends; all if empty.
    path: String,
    selection: Selection,
}

/// A commit or what names one.
#[derive(Debug)]
enum Revision {
    Commit(ObjectId),
    Reference(String),
}

impl Wanted {
    /// Checks what a definition asks for.
    ///
    /// # Errors
    /// When a commit is no full hexadecimal id, a reference no name of one, a path leaves the
    /// repository, or neither commit nor reference is given.
    pub(super) fn new(
        reference: Option<&str>,
        commit: Option<&str>,
        path: Option<&str>,
        selection: Selection,
    ) -> Result<Self, Trouble> {
        let given = |text: Option<&'_ str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        let revision = match (given(commit), given(reference)) {
            (Some(commit), _) => Revision::Commit(id(&commit)?),
            (None, Some(reference)) => Revision::Reference(name(reference)?),
            (None, None) => {
                let message = "git: either a reference or a commit must be given";
                return Err(Trouble::config(message));
            }
        };
        let steps = path.unwrap_or_default().split('/');
        let steps: Vec<&str> = steps.filter(|step| !matches!(*step, "" | ".")).collect();
        if steps.contains(&"..") {
            return Err(Trouble::config("git.path cannot hold the segment `..`"));
        }
        let path = steps.join("/");
        Ok(Self {
            revision,
            path,
            selection,
        })
    }
}

fn id(commit: &str) -> Result<ObjectId, Trouble> {
    let read = ObjectId::from_hex(commit.as_bytes());
    read.map_err(|_| Trouble::config(format!("commit `{commit}` is not 40 hexadecimal digits")))
}

/// A name that the remote is asked for; it must not be read as a pattern or as something else.
fn name(reference: String) -> Result<String, Trouble> {
    let valid = gix::validate::reference::name_partial(reference.as_bytes().as_bstr());
    match valid.is_ok() && !reference.starts_with(['-', '+', '^']) {
        true => Ok(reference),
        false => Err(Trouble::config(format!("`{reference}` is no reference"))),
    }
}

/// The files of a repository and the commit they are of. `place` keeps its objects.
///
/// # Errors
/// When the repository, the commit or the folder cannot be had, or are too much.
pub(super) fn read(
    origin: &Origin,
    credentials: Option<Credentials>,
    wanted: &Wanted,
    place: &Path,
    limits: &Limits,
    budget: &mut Budget,
    cancelled: &Arc<AtomicBool>,
) -> Result<(Files, String), Trouble> {
    let (repository, reference, _held) = match origin {
        Origin::Local(path, roots) => {
            let repository = origin::open(path, roots)?;
            let reference = match &wanted.revision {
                Revision::Reference(name) => name.clone(),
                Revision::Commit(_) => String::new(),
            };
            (repository, reference, None)
        }
        Origin::Remote(url) => {
            let held = held::hold(place)?;
            let repository =
                remote::fetch(url, credentials, &wanted.revision, place, limits, cancelled)?;
            (repository, remote::FETCHED.to_owned(), Some(held))
        }
    };
    let commit = match &wanted.revision {
        Revision::Commit(id) => repository.find_commit(*id).map_err(failed)?,
        Revision::Reference(_) => {
            let mut found = repository.find_reference(&reference).map_err(failed)?;
            found.peel_to_commit().map_err(failed)?
        }
    };
    let id = commit.id.to_string();
    let tree = commit.tree().map_err(failed)?;
    let files = tree::read(&tree, &wanted.path, &wanted.selection, budget)?;
    Ok((files, id))
}

/// The name of the folder for what belongs to something.
pub(super) fn folder(of: &str) -> String {
    let digest = Sha256::digest(of.as_bytes());
    digest
        .iter()
        .take(16)
        .fold(String::new(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// Removes repositories that are not among those kept.
pub(super) fn forget(repositories: &Path, kept: &[String]) {
    let entries = fs::read_dir(repositories).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !kept.contains(&name)
            && let Ok(_held) = held::hold(&entry.path())
            && let Err(failure) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%failure, path = %entry.path().display(), "an old repository stays");
        }
    }
}

fn failed(failure: gix::Error) -> Trouble {
    Trouble::Sync(format!("git: {}", super::chain(&failure)))
}

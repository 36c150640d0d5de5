//! Cleanup ledger: the removal of each resource is recorded on disk before the request that creates
//! it, so that killed runs can be cleaned up.
//!
//! One file for each run, `RUN.ndjson`, one entry per line; it is removed when the run has no
//! leftovers. Written lines survive a crash of the program; the first line for each server also
//! survives one of the machine, and the run's name locates everything else there.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::catalogue::Document;
use crate::run::side_effects::{Resource, collections};
use crate::sync::lock;

/// Maximum length of a run's name, in bytes; real names are shorter.
const RUN_LONGEST: usize = 40;
/// Maximum size of a ledger file, in bytes; real ones are smaller.
const FILE_LONGEST: u64 = 64 * 1024 * 1024;

/// The ledger of one run.
#[derive(Debug)]
pub(crate) struct Ledger {
    folder: PathBuf,
    run: String,
    open: Mutex<Option<OpenLedger>>,
    /// Paths of resources that may not have been removed.
    unfinished: Mutex<BTreeSet<String>>,
}

/// The open file of a ledger.
#[derive(Debug)]
struct OpenLedger {
    file: File,
    servers: BTreeSet<(String, Document)>,
}

/// A resource that a run may have created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// Address of the API.
    pub(crate) url: String,
    /// The API.
    pub(crate) document: Document,
    /// Order of removal: entries of a lower rank are removed first.
    pub(crate) rank: u8,
    /// Path of the DELETE request that removes the resource.
    pub(crate) path: String,
}

/// Why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LedgerError {
    #[error("invalid name `{0}` of a run")]
    Name(String),
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    #[error("{0}:{1}: {2}")]
    Line(PathBuf, usize, String),
}

impl Ledger {
    /// Creates the ledger of a run; its file is created with the first entry.
    pub(crate) fn new(folder: PathBuf, run: &str) -> Self {
        Self {
            folder,
            run: run.to_owned(),
            open: Mutex::default(),
            unfinished: Mutex::default(),
        }
    }

    /// Records the resources that a request is about to create.
    ///
    /// # Errors
    /// The record is not on disk, so the request must not be sent.
    pub(crate) fn note(
        &self,
        url: &str,
        document: Document,
        resources: &[Resource],
    ) -> io::Result<()> {
        if resources.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for resource in resources {
            let entry = Entry {
                url: url.to_owned(),
                document,
                rank: resource.rank,
                path: resource.path.clone(),
            };
            serde_json::to_writer(&mut lines, &entry)?;
            lines.push(b'\n');
        }
        let mut open = lock(&self.open);
        let open = match &mut *open {
            Some(open) => open,
            none => none.insert(self.create()?),
        };
        let length = open.file.metadata()?.len();
        if let Err(error) = open.file.write_all(&lines) {
            // An incomplete line would make the following ones unreadable.
            open.file.set_len(length)?;
            return Err(error);
        }
        let server = (url.to_owned(), document);
        if !open.servers.contains(&server) {
            open.file.sync_all()?;
            open.servers.insert(server);
        }
        Ok(())
    }

    fn create(&self) -> io::Result<OpenLedger> {
        fs::create_dir_all(&self.folder)?;
        let path = path(&self.folder, &self.run);
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)?;
        // The directory entry must survive, too; not every system guarantees it.
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
        Ok(OpenLedger {
            file,
            servers: BTreeSet::new(),
        })
    }

    /// Records paths of resources that may not have been removed.
    pub(crate) fn unfinished(&self, paths: impl Iterator<Item = String>) {
        lock(&self.unfinished).extend(paths);
    }

    /// Drops the paths of an API that do not exist: `may_exist` returns whether a path may.
    pub(crate) fn drop_missing(&self, document: Document, may_exist: impl Fn(&str) -> bool) {
        let collections = collections(document);
        let of_api = |path: &str| {
            let mut names = collections.iter().map(|(name, _)| *name);
            names.any(|name| path.starts_with(name))
        };
        lock(&self.unfinished).retain(|path| !of_api(path) || may_exist(path));
    }

    /// Number of paths of resources that may not have been removed, and one of the paths.
    pub(crate) fn remaining(&self) -> Option<(usize, String)> {
        let unfinished = lock(&self.unfinished);
        Some((unfinished.len(), unfinished.first()?.clone()))
    }

    /// Closes the ledger; its file is removed if `is_clean` and no path is unfinished.
    pub(crate) fn close(&self, is_clean: bool) {
        let open = lock(&self.open).take();
        if open.is_some() && is_clean && lock(&self.unfinished).is_empty() {
            // A file that remains only causes a cleanup without effect.
            let _ = remove(&self.folder, &self.run);
        }
    }
}

/// Default folder of ledgers, in the user's directory for program state.
pub(crate) fn folder() -> PathBuf {
    let variable = |name| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some(PathBuf::from(value))
    };
    let state = variable("XDG_STATE_HOME")
        .or_else(|| Some(variable("HOME")?.join(".local/state")))
        .or_else(|| variable("LOCALAPPDATA"));
    state.map_or_else(
        || PathBuf::from(".conformance"),
        |state| state.join("conformance"),
    )
}

/// Names of the runs whose ledgers are in a folder, so that they need a cleanup.
///
/// # Errors
/// The folder cannot be read. A missing folder is not an error: it has no runs.
pub(crate) fn runs(folder: &Path) -> Result<Vec<String>, LedgerError> {
    let failed = |error| LedgerError::File(folder.to_owned(), error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let run = name.to_str().and_then(|name| name.strip_suffix(".ndjson"));
        runs.extend(run.filter(|run| is_run(run)).map(str::to_owned));
    }
    runs.sort();
    Ok(runs)
}

/// Reads the possible leftovers of a run from its ledger. An incomplete last line is ignored: its
/// request was never sent.
///
/// # Errors
/// There is no such run, or a line is not an entry or does not contain the run's name.
pub(crate) fn read(folder: &Path, run: &str) -> Result<Vec<Entry>, LedgerError> {
    if !is_run(run) {
        return Err(LedgerError::Name(run.to_owned()));
    }
    let path = path(folder, run);
    let failed = |error| LedgerError::File(path.clone(), error);
    if fs::metadata(&path).map_err(failed)?.len() > FILE_LONGEST {
        return Err(failed(io::Error::from(ErrorKind::FileTooLarge)));
    }
    let text = fs::read_to_string(&path).map_err(failed)?;
    let complete_lines = text.rfind('\n').and_then(|end| text.get(..end));
    let lines = complete_lines.unwrap_or_default().lines();
    lines
        .zip(1..)
        .map(|(line, number)| {
            entry(line, run).map_err(|reason| LedgerError::Line(path.clone(), number, reason))
        })
        .collect()
}

/// Parses an entry and checks that it belongs to the run: nothing else is ever removed.
fn entry(line: &str, run: &str) -> Result<Entry, String> {
    let entry: Entry = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let is_plain_segment =
        |segment: &str| !matches!(segment, "." | "..") && !segment.contains(['?', '#']);
    let is_own = match entry.path.strip_prefix("/v1/") {
        Some(path) => path.split('/').all(is_plain_segment) && path.contains(run),
        None => false,
    };
    match is_own {
        true => Ok(entry),
        false => Err(format!("`{}` is not of the run `{run}`", entry.path)),
    }
}

/// Removes the ledger of a run.
///
/// # Errors
/// The file cannot be removed.
pub(crate) fn remove(folder: &Path, run: &str) -> Result<(), LedgerError> {
    let path = path(folder, run);
    fs::remove_file(&path).map_err(|error| LedgerError::File(path, error))
}

pub(crate) fn path(folder: &Path, run: &str) -> PathBuf {
    folder.join(format!("{run}.ndjson"))
}

/// Whether a string can be the name of a run: it becomes part of a path.
pub(crate) fn is_run(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (7..=RUN_LONGEST).contains(&text.len()) && text.chars().all(is_allowed)
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn resource(path: &str) -> Resource {
        Resource {
            rank: 1,
            path: path.to_owned(),
        }
    }

    #[test]
    fn what_was_noted_is_read_until_nothing_is_left() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("deep/ledgers");
        let ledger = Ledger::new(folder.clone(), "cabcdef");
        ledger.close(true);
        assert_eq!(runs(&folder).expect("no runs"), Vec::<String>::new());
        for (is_clean, unfinished, left) in [(false, false, 1), (true, true, 1), (true, false, 0)] {
            let _ = fs::remove_dir_all(&folder);
            let ledger = Ledger::new(folder.clone(), "cabcdef");
            let resources = [
                resource("/v1/data/cabcdef_a"),
                resource("/v1/data/cabcdef_b"),
            ];
            let note = |resources| ledger.note("http://a", Document::Engine, resources);
            note(&resources[..1]).expect("a line");
            note(&resources[1..]).expect("a line");
            let read = read(&folder, "cabcdef").expect("entries");
            let paths: Vec<_> = read.iter().map(|entry| entry.path.as_str()).collect();
            assert_eq!(paths, ["/v1/data/cabcdef_a", "/v1/data/cabcdef_b"]);
            if unfinished {
                let path = "/v1/data/cabcdef_a".to_owned();
                ledger.unfinished([path, "/v1/data/cabcdef_b".to_owned()].into_iter());
                ledger.drop_missing(Document::Engine, |path| path.ends_with("_b"));
                let left = ledger.remaining();
                assert_eq!(left, Some((1, "/v1/data/cabcdef_b".to_owned())));
            }
            ledger.close(is_clean);
            assert_eq!(runs(&folder).expect("runs").len(), left);
        }
    }

    #[test]
    fn only_whole_lines_of_the_run_are_taken() {
        let dir = tempfile::tempdir().expect("a folder");
        let line = |path: &str| {
            format!(r#"{{"url":"http://a","document":"engine","rank":1,"path":"{path}"}}"#)
        };
        let good = line("/v1/data/cabcdef_a");
        for (text, expected) in [
            (String::new(), Ok(0)),
            (format!("{good}\n"), Ok(1)),
            (format!("{good}\n{{\"url\":"), Ok(1)),
            (format!("{good}\nx\n"), Err("cabcdef.ndjson:2: ")),
            (line("/v1/data/other") + "\n", Err("is not of the run")),
            (line("/../cabcdef") + "\n", Err("is not of the run")),
            (
                line("/v1/../v1/data/cabcdef") + "\n",
                Err("is not of the run"),
            ),
            (
                line("/v1/data/other?x=cabcdef") + "\n",
                Err("is not of the run"),
            ),
            (
                good.replace("rank", "tank") + "\n",
                Err("unknown field `tank`"),
            ),
        ] {
            fs::write(path(dir.path(), "cabcdef"), &text).expect("a file");
            match (read(dir.path(), "cabcdef"), expected) {
                (Ok(entries), Ok(count)) => assert_eq!(entries.len(), count, "{text}"),
                (Err(error), Err(message)) => {
                    assert!(error.to_string().contains(message), "{error}");
                }
                (found, expected) => assert_eq!(found.is_ok(), expected.is_ok(), "{text}"),
            }
        }
        for name in ["", "../cabcdef", "CABCDEF", "c", "cabcdef/x"] {
            assert!(
                matches!(read(dir.path(), name), Err(LedgerError::Name(_))),
                "{name}"
            );
        }
    }
}

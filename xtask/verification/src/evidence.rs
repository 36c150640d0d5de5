//! Stored evidence in `results/`: compressed events of runs.

use std::error::Error;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use conformance::evidence::Event;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::root;

/// Folder of the evidence of clients, with one file each.
pub(crate) const CLIENTS: &str = "results/clients";

/// Folder of the evidence of libraries behind the shim, with one file each.
pub(crate) const LIBRARIES: &str = "results/libraries";

const ENDING: &str = ".ndjson.gz";

/// Returns the path of the evidence file with this name in a folder.
pub(crate) fn file(folder: &str, name: &str) -> PathBuf {
    root().join(folder).join(format!("{name}{ENDING}"))
}

/// Returns all evidence files of a folder, sorted by name.
///
/// # Errors
/// When the folder cannot be read or is empty.
pub(crate) fn files(folder: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join(folder)).map_err(|error| format!("{folder}: {error}"))? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ENDING) {
            files.push(path);
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(format!("{folder} holds no evidence").into()),
        false => Ok(files),
    }
}

/// Compresses the events of a run into an evidence file.
///
/// # Errors
/// When a file cannot be read or written.
pub(crate) fn keep(events: &Path, file: &Path) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut packed = GzEncoder::new(fs::File::create(file)?, Compression::best());
    packed.write_all(&fs::read(events)?)?;
    packed.finish()?;
    Ok(())
}

/// Reads the events of an evidence file, with their recorded verdicts.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn read(file: &Path) -> Result<Vec<Event>, Box<dyn Error>> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let mut text = String::new();
    let opened = fs::File::open(file).map_err(|error| at(&error))?;
    GzDecoder::new(opened)
        .read_to_string(&mut text)
        .map_err(|error| at(&error))?;
    let events = text.lines().map(Event::read);
    Ok(events
        .collect::<Result<_, _>>()
        .map_err(|error| at(&error))?)
}

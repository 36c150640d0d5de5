//! Packs the evidence of several runs into one `xz` file, which stores their common parts only
//! once.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use conformance::evidence::Event;

use crate::apt;

const XZ: &str = "/usr/bin/xz";

/// Packs the evidence in these files into one file.
///
/// # Errors
/// When a file cannot be read or written, or `xz` is missing.
pub(crate) fn pack(files: &[PathBuf], to: &Path) -> Result<(), Box<dyn Error>> {
    apt::require(&[("xz-utils", XZ)])?;
    let joined = to.with_extension("");
    let mut text = Vec::new();
    for file in files {
        text.extend(fs::read(file)?);
    }
    fs::write(&joined, text)?;
    let packed = Command::new(XZ)
        .args(["-9e", "--threads=1", "--force"])
        .arg(&joined)
        .status()?;
    match packed.success() {
        true => Ok(()),
        false => Err(format!("{}: xz cannot pack it", to.display()).into()),
    }
}

/// Unpacks a file; returns the events of each run.
///
/// # Errors
/// When the file cannot be read, a line is not an event, or `xz` is missing.
pub(crate) fn unpack(file: &Path) -> Result<Vec<Vec<Event>>, Box<dyn Error>> {
    apt::require(&[("xz-utils", XZ)])?;
    let unpacked = Command::new(XZ)
        .args(["--decompress", "--stdout"])
        .arg(file)
        .stderr(Stdio::inherit())
        .output()?;
    if !unpacked.status.success() {
        return Err(format!("{}: xz cannot unpack it", file.display()).into());
    }
    let mut runs: Vec<Vec<Event>> = Vec::new();
    for line in String::from_utf8(unpacked.stdout)?.lines() {
        let event = Event::read(line)?;
        if matches!(event, Event::RunStarted(_)) {
            runs.push(Vec::new());
        }
        if let Some(run) = runs.last_mut() {
            run.push(event);
        }
    }
    Ok(runs)
}

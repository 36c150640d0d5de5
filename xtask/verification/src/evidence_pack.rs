//! Packs the evidence of several runs into one `xz` file, which stores common parts once.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use conformance::evidence::Event;

use crate::apt;

const XZ: &str = "/usr/bin/xz";

/// Packs the evidence of these files into one.
///
/// # Errors
/// A file that cannot be read or written, or no `xz`.
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

/// Unpacks the events of each run.
///
/// # Errors
/// A file that cannot be read, a line that is not an event, or no `xz`.
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

//! A small disk.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::postgres::done;
use crate::servers::Failure;

/// How much it holds.
const SIZE: &str = "2m";

/// The file that takes what is left.
const FILLER: &str = "filler";

/// A disk in memory, of 2 MiB. Unmounted when dropped.
#[derive(Debug)]
pub(super) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts it on a folder.
    ///
    /// # Errors
    /// When it cannot be mounted, which takes root.
    pub(super) fn mount(folder: &str) -> Result<Self, Failure> {
        let mut command = Command::new("mount");
        command.args([
            "-t",
            "tmpfs",
            "-o",
            &format!("size={SIZE}"),
            "tmpfs",
            folder,
        ]);
        done(&mut command).map_err(|why| why.to_string())?;
        Ok(Self(folder.into()))
    }

    /// Where it is mounted.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Fills it up to so many bytes.
    ///
    /// # Errors
    /// When it cannot be written to for other reasons.
    pub(super) fn fill(&self, room: u64) -> Result<(), Failure> {
        let mut filler = fs::File::create(self.0.join(FILLER))?;
        loop {
            match filler.write(&[0; 4096]) {
                Ok(_) => {}
                Err(full) if full.kind() == ErrorKind::StorageFull => break,
                Err(other) => return Err(other.into()),
            }
        }
        let length = filler.metadata()?.len();
        Ok(filler.set_len(length.saturating_sub(room))?)
    }

    /// Makes room again.
    ///
    /// # Errors
    /// When it was not filled.
    pub(super) fn empty(&self) -> Result<(), Failure> {
        Ok(fs::remove_file(self.0.join(FILLER))?)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A folder that is still mounted shows when the harness's folder is removed.
        let _removed = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

//! Small file system for full-disk attacks.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::complete;
use crate::servers::Failure;

/// Size of the file system.
const SIZE: &str = "2m";

/// Name of the file that fills the disk.
const FILLER: &str = "filler";

/// In-memory file system of 2 MiB, unmounted when dropped.
#[derive(Debug)]
pub(super) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts the file system on a folder.
    ///
    /// # Errors
    /// When it cannot be mounted, which requires root.
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
        complete(&mut command).map_err(|error| error.to_string())?;
        Ok(Self(folder.into()))
    }

    /// Returns the mount point.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Fills the disk except for `free_bytes`.
    ///
    /// # Errors
    /// When the filler cannot be written for another reason than a full disk.
    pub(super) fn fill(&self, free_bytes: u64) -> Result<(), Failure> {
        let mut filler = fs::File::create(self.0.join(FILLER))?;
        loop {
            match filler.write(&[0; 4096]) {
                Ok(_) => {}
                Err(full) if full.kind() == ErrorKind::StorageFull => break,
                Err(other) => return Err(other.into()),
            }
        }
        let length = filler.metadata()?.len();
        Ok(filler.set_len(length.saturating_sub(free_bytes))?)
    }

    /// Removes the file that fills the disk.
    ///
    /// # Errors
    /// When the disk was not filled.
    pub(super) fn empty(&self) -> Result<(), Failure> {
        Ok(fs::remove_file(self.0.join(FILLER))?)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // If unmounting fails, removing the harness's folder fails visibly.
        let _removed = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

//! Untrusted submission folders: regular files of the folder itself, up to a length.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

use super::{EVIDENCE, FILES, NEEDED, README, REPORT, Refused, TARGET};

const MIB: u64 = 1024 * 1024;

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    dir: File,
}

impl Folder {
    /// Opens a folder that contains the files of a submission and no others.
    ///
    /// # Errors
    /// The path is not a folder or is a link, or the folder contains something else.
    pub(super) fn open(path: &Path) -> Result<Self, Refused> {
        let to_refused = |error: &dyn std::fmt::Display| Refused::Folder(error.to_string());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(CWD, path, flags, Mode::empty()).map_err(|error| to_refused(&error))?;
        let folder = Self {
            dir: File::from(opened),
        };
        let mut missing = NEEDED.to_vec();
        for entry in Dir::read_from(&folder.dir).map_err(|error| to_refused(&error))? {
            let name = entry
                .map_err(|error| to_refused(&error))?
                .file_name()
                .to_bytes()
                .to_vec();
            if matches!(name.as_slice(), b"." | b"..") {
                continue;
            }
            let Some(known) = FILES.iter().find(|known| known.as_bytes() == name) else {
                let name = OsString::from_vec(name);
                let name = name.to_string_lossy().into_owned();
                return Err(Refused::file(&name, &"is not part of a submission"));
            };
            missing.retain(|needed| needed != known);
            folder.check_kind(known)?;
        }
        match missing.first() {
            Some(name) => Err(Refused::file(name, &"is missing")),
            None => Ok(folder),
        }
    }

    /// Whether the folder contains an entry with this name, of any file type.
    pub(super) fn contains(&self, name: &'static str) -> bool {
        statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Reads all bytes of a file of the folder.
    ///
    /// # Errors
    /// The file is a link or another special file, is too long, or cannot be read.
    pub(super) fn read(&self, name: &'static str) -> Result<Vec<u8>, Refused> {
        let to_refused = |error: &dyn std::fmt::Display| Refused::file(name, error);
        self.check_kind(name)?;
        // It may have been replaced meanwhile; opening it does not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.dir, name, flags | OFlags::NOCTTY, Mode::empty());
        let file = File::from(file.map_err(|error| to_refused(&error))?);
        let metadata = file.metadata().map_err(|error| to_refused(&error))?;
        if !metadata.is_file() {
            return Err(to_refused(&"is not a regular file"));
        }
        let max_length = max_length(name);
        let too_long = || to_refused(&format!("is longer than {} MiB", max_length / MIB));
        if metadata.len() > max_length {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        let read = file.take(max_length + 1).read_to_end(&mut bytes);
        read.map_err(|error| to_refused(&error))?;
        match u64::try_from(bytes.len()).is_ok_and(|length| length <= max_length) {
            true => Ok(bytes),
            false => Err(too_long()),
        }
    }

    /// Rejects anything but a regular file before it is opened, as opening a device may have side
    /// effects.
    fn check_kind(&self, name: &'static str) -> Result<(), Refused> {
        let metadata = statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW);
        let metadata = metadata.map_err(|error| Refused::file(name, &error))?;
        match FileType::from_raw_mode(metadata.st_mode) {
            FileType::RegularFile => Ok(()),
            FileType::Symlink => Err(Refused::file(name, &"is a link")),
            _ => Err(Refused::file(name, &"is not a regular file")),
        }
    }
}

/// Maximum length of a file, in bytes.
fn max_length(name: &str) -> u64 {
    match name {
        EVIDENCE => 16 * MIB,
        REPORT => 4 * MIB,
        README | TARGET => MIB,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;
    use std::os::unix::fs::symlink;

    use rustix::fs::mknodat;

    use super::*;

    /// A test case: name of a file, its replacement, and reason of the rejection.
    type Case = (&'static str, fn(&Path) -> io::Result<()>, &'static str);

    const CASES: &[Case] = &[
        (
            "a link to a file",
            |path| symlink("/etc/passwd", path),
            "report.json: is a link",
        ),
        (
            "a link to nothing",
            |path| symlink("nothing", path),
            "report.json: is a link",
        ),
        (
            "a link to itself",
            |path| symlink("report.json", path),
            "report.json: is a link",
        ),
        (
            "a folder",
            |path| fs::create_dir(path),
            "report.json: is not a regular file",
        ),
        (
            "a pipe",
            |path| Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0)?),
            "report.json: is not a regular file",
        ),
        (
            "a file of many GiB",
            |path| File::create(path)?.set_len(1 << 40),
            "report.json: is longer than 4 MiB",
        ),
    ];

    #[test]
    fn only_regular_files_are_read() -> Result<(), Box<dyn std::error::Error>> {
        for (case, put, why) in CASES {
            let folder = tempfile::tempdir()?;
            for name in NEEDED {
                fs::write(folder.path().join(name), "{}")?;
            }
            let path = folder.path().join(REPORT);
            let opened = Folder::open(folder.path())?;
            assert_eq!(opened.read(REPORT)?, b"{}");
            fs::remove_file(&path)?;
            put(&path)?;
            // A file that is replaced between check and read is rejected, too.
            let read = opened.read(REPORT).err().map(|why| why.to_string());
            assert_eq!(read.as_deref(), Some(*why), "{case}");
            let again = Folder::open(folder.path()).and_then(|folder| folder.read(REPORT));
            let again = again.err().map(|why| why.to_string());
            assert_eq!(again.as_deref(), Some(*why), "{case}");
        }
        Ok(())
    }

    #[test]
    fn a_link_to_a_folder_is_none() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let link = folder.path().join("link");
        symlink(folder.path(), &link)?;
        assert!(matches!(Folder::open(&link), Err(Refused::Folder(_))));
        Ok(())
    }
}

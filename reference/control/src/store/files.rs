//! Files of SQLite databases and their permissions.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tracing::warn;

/// File mode for private files: read and write by the owner only.
const PRIVATE: u32 = 0o600;

/// Permission bits of users other than the owner and the group.
const OTHERS_MASK: u32 = 0o007;

/// Suffixes that SQLite appends to the name of a database for its additional files.
const SIDECAR_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Creates the file of a database if it does not exist, for its owner only. SQLite gives its
/// additional files the same mode.
///
/// # Errors
/// When the file cannot be created.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    match options
        .write(true)
        .create_new(true)
        .mode(PRIVATE)
        .open(path)
    {
        Err(failure) if failure.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

/// Makes database files private that are accessible to everybody.
pub(super) fn tighten_database(path: &Path) {
    tighten(path);
    for suffix in SIDECAR_SUFFIXES {
        let mut sibling = path.as_os_str().to_owned();
        sibling.push(suffix);
        tighten(&PathBuf::from(sibling));
    }
}

/// Makes a file private that is accessible to everybody. Access for the group is assumed to be
/// intended, such as for a backup, and stays.
pub(crate) fn tighten(path: &Path) {
    let Ok(file) = path.metadata() else {
        return;
    };
    let mode = file.permissions().mode() & 0o7777;
    if !file.is_file() || mode & OTHERS_MASK == 0 {
        return;
    }
    let file = path.display();
    let was = format!("{mode:o}");
    match fs::set_permissions(path, fs::Permissions::from_mode(PRIVATE)) {
        Ok(()) => warn!(%file, was, "everybody could open this file; now only its owner can"),
        Err(failure) => warn!(%file, was, %failure, "everybody can open this file"),
    }
}

/// Returns the identity of a file, independent of its name: its device and inode numbers.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    let file = path.metadata().ok()?;
    Some((file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::readable(0o644, 0o600)]
    #[case::writable(0o666, 0o600)]
    #[case::readable_by_others_only(0o604, 0o600)]
    #[case::group(0o640, 0o640)]
    #[case::group_writable(0o660, 0o660)]
    #[case::private(0o600, 0o600)]
    #[case::read_only(0o400, 0o400)]
    fn only_files_for_everybody_become_private(
        #[case] original: u32,
        #[case] expected: u32,
    ) -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let database = folder.path().join("a.db");
        for name in ["a.db", "a.db-wal", "a.db-shm"] {
            let path = folder.path().join(name);
            fs::write(&path, "")?;
            fs::set_permissions(&path, fs::Permissions::from_mode(original))?;
        }
        tighten_database(&database);
        for name in ["a.db", "a.db-wal", "a.db-shm"] {
            let path = folder.path().join(name);
            let mode = path.metadata()?.permissions().mode() & 0o777;
            assert_eq!(mode, expected, "{name}");
            fs::remove_file(path)?;
        }
        Ok(())
    }

    #[test]
    fn private_files_may_be_there() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let database = folder.path().join("a.db");
        create_private(&database)?;
        assert_eq!(database.metadata()?.permissions().mode() & 0o777, PRIVATE);
        create_private(&database)
    }
}

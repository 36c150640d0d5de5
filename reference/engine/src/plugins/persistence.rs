//! Persisted bundles, for times when their service is unavailable.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Maximum bytes that are read of a persisted archive.
const MAX_ARCHIVE: u64 = 1 << 30;

/// Path of the persisted archive of a bundle.
pub(super) fn archive_path(persistence: &Path, name: &str) -> PathBuf {
    // Encoded, so that every name is a separate directory directly below `bundles`.
    let folder = utf8_percent_encode(name, NON_ALPHANUMERIC).to_string();
    persistence
        .join("bundles")
        .join(folder)
        .join("bundle.tar.gz")
}

/// Writes an archive atomically: after a crash there is either the new or the previous one.
pub(super) fn save(path: &Path, archive: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(archive)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failure| failure.error)?;
    File::open(folder)?.sync_all()
}

/// Reads the persisted archive at a path, if it exists.
pub(super) fn load(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(failure) if failure.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let mut archive = Vec::new();
    file.take(MAX_ARCHIVE).read_to_end(&mut archive)?;
    Ok(Some(archive))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("rules", "rules")]
    #[case::parent("../rules", "%2E%2E%2Frules")]
    #[case::slash("a/b", "a%2Fb")]
    #[case::dot(".", "%2E")]
    fn archives_are_kept_in_one_folder_each(#[case] name: &str, #[case] folder: &str) {
        let root = Path::new("kept");
        let expected = root.join("bundles").join(folder).join("bundle.tar.gz");
        assert_eq!(archive_path(root, name), expected);
    }

    #[test]
    fn what_is_saved_is_loaded() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = archive_path(folder.path(), "rules");
        assert_eq!(load(&path)?, None);
        for archive in [b"first".as_slice(), b"second"] {
            save(&path, archive)?;
            assert_eq!(load(&path)?.as_deref(), Some(archive));
        }
        let left = fs::read_dir(folder.path().join("bundles").join("rules"))?;
        assert_eq!(left.count(), 1);
        Ok(())
    }
}

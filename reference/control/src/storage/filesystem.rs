//! File system storage, below allowed directories.

use std::fs::{self, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tempfile::TempPath;

use super::super::model::check_storage_path;
use super::{Identity, StorageError, StoredObject};

/// Folder, next to a bundle, for incomplete files.
const STAGING: &str = ".partial-bundles";

/// Age after which an incomplete file is considered abandoned by a killed process.
const STALE_AGE: Duration = Duration::from_secs(3600);

/// Maximum number of attempts to create a new file: another process removes the folder when it is
/// empty.
const MAX_TRIES: usize = 20;

/// Buffer size of comparisons, in bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// File below a folder that the operator configures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TargetFile {
    /// Folder of the operator.
    root: PathBuf,
    /// Folders from there to the file.
    folders: Vec<PathBuf>,
    /// Name of the file.
    name: PathBuf,
}

impl TargetFile {
    /// Resolves a path: absolute below one of the roots, or else relative to the first.
    ///
    /// # Errors
    /// `Config` when there are no roots, or the path leaves them or does not name a file.
    pub(crate) fn new(path: &str, roots: &[PathBuf]) -> Result<Self, StorageError> {
        let Some(first) = roots.first() else {
            let message = "the server writes no files: its operator names no --bundle-root";
            return Err(StorageError::config(message));
        };
        // Definitions may predate the limit.
        check_storage_path(path)
            .map_err(|invalid| StorageError::Config(format!("path: {invalid}")))?;
        let requested = Path::new(path);
        let matching_root = roots
            .iter()
            .find_map(|root| Some((root, requested.strip_prefix(root).ok()?)));
        let (root, rest) = match matching_root {
            Some(found) => found,
            None if requested.is_relative() => (first, requested),
            None => {
                let message = format!("`{path}` is not below a folder that the operator allows");
                return Err(StorageError::Config(message));
            }
        };
        let mut folders = Vec::new();
        for component in rest.components() {
            match component {
                Component::Normal(name) if name == STAGING => {
                    let message = format!("`{path}` must not hold `{STAGING}`");
                    return Err(StorageError::Config(message));
                }
                Component::Normal(name) => folders.push(PathBuf::from(name)),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    let message = format!("`{path}` must not hold `..`");
                    return Err(StorageError::Config(message));
                }
            }
        }
        match folders.pop() {
            Some(name) if !path.ends_with('/') && !path.contains('\0') => Ok(Self {
                root: root.clone(),
                folders,
                name,
            }),
            _ => Err(StorageError::Config(format!("`{path}` names no file"))),
        }
    }

    /// Returns the path of the file relative to the operator's folder.
    pub(crate) fn below_root(&self) -> PathBuf {
        self.folders.iter().collect::<PathBuf>().join(&self.name)
    }

    /// Returns the path with links resolved. A folder that does not exist counts as a plain folder;
    /// a link at the file itself is not followed, because it is replaced.
    pub(crate) fn resolved(&self) -> PathBuf {
        let root = self.root.clone();
        let root = root.canonicalize().unwrap_or(root);
        let folders = self.folders.iter();
        let folder = folders.fold(root, |folder, name| resolve_link(folder.join(name)));
        folder.join(&self.name)
    }

    /// Compares the file with an archive, byte by byte. Removes incomplete files that would replace
    /// it: their writers have lost the bundle.
    ///
    /// # Errors
    /// `Config` when a link leads out of the root, `Push` when the folder cannot be used.
    pub(super) fn compare(&self, archive: &[u8]) -> Result<StoredObject, StorageError> {
        let folder = self.folder()?;
        let path = folder.join(&self.name);
        self.remove_incomplete(&folder.join(STAGING), None)
            .map_err(|failure| refused(&path, failure))?;
        match fs::symlink_metadata(&path) {
            Err(failure) if failure.kind() == io::ErrorKind::NotFound => {
                return Ok(StoredObject::Nothing);
            }
            Err(failure) => return Err(refused(&path, failure)),
            Ok(found) if !found.is_file() || found.len() != archive.len() as u64 => {
                return Ok(StoredObject::Other(Identity::default()));
            }
            Ok(_) => {}
        }
        // An unreadable file is damaged, too, and writing it again may help.
        Ok(
            match fs::File::open(&path).and_then(|file| is_same(file, archive)) {
                Ok(true) => StoredObject::Same(Identity::default()),
                Ok(false) | Err(_) => StoredObject::Other(Identity::default()),
            },
        )
    }

    /// Whether the file has the SHA-256 digest of an archive. Removes incomplete files like
    /// [`Self::compare`].
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn contains(&self, digest: &str) -> Result<bool, StorageError> {
        let folder = self.folder()?;
        let path = folder.join(&self.name);
        let failed = |failure| refused(&path, failure);
        self.remove_incomplete(&folder.join(STAGING), None)
            .map_err(failed)?;
        if !fs::symlink_metadata(&path).map_err(failed)?.is_file() {
            return Ok(false);
        }
        let mut file = fs::File::open(&path).map_err(failed)?;
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut hash = Sha256::new();
        loop {
            let read = file.read(&mut buffer).map_err(failed)?;
            match buffer.get(..read).unwrap_or_default() {
                [] => return Ok(hex::encode(hash.finalize()) == digest),
                part => hash.update(part),
            }
        }
    }

    /// Writes an archive to the disk, next to the file that it will replace.
    ///
    /// # Errors
    /// `Config` when a link leads out of the root, `Push` when it cannot be written.
    pub(super) fn stage(&self, archive: &[u8]) -> Result<Partial, StorageError> {
        let folder = self.folder()?;
        let target = folder.join(&self.name);
        let written = self
            .create_incomplete(&folder.join(STAGING))
            .and_then(|(mut file, path)| {
                file.write_all(archive)?;
                file.sync_all()?;
                Ok(path)
            });
        match written {
            Ok(path) => Ok(Partial { path, target }),
            Err(failure) => {
                drop(fs::remove_dir(folder.join(STAGING)));
                Err(refused(&target, failure))
            }
        }
    }

    /// Renames an incomplete file to its final path, which replaces the old file atomically.
    /// `false` when the incomplete file is gone, because another process owns the bundle now.
    ///
    /// INVARIANT: an owner of a bundle first removes the incomplete files of others, and checks
    /// that it still owns the bundle after it has created its own. So a process that has lost the
    /// bundle in between, however long it stalled, has no file to rename.
    ///
    /// # Errors
    /// `Push` when it cannot be renamed.
    pub(super) fn place(&self, partial: Partial) -> Result<bool, StorageError> {
        let Partial { path, target } = partial;
        let failed = |failure| refused(&target, failure);
        let staging = path.parent().map(Path::to_owned).unwrap_or_default();
        self.remove_incomplete(&staging, Some(&path))
            .map_err(failed)?;
        match path.persist(&target) {
            Ok(()) => {}
            Err(failure) if failure.error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(failure) => {
                let error = failure.error;
                drop(failure.path);
                drop(fs::remove_dir(&staging));
                return Err(refused(&target, error));
            }
        }
        // Fails if another process uses the folder.
        drop(fs::remove_dir(&staging));
        let folder = target.parent().unwrap_or(&target);
        let synced = fs::File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(failed)?;
        Ok(true)
    }

    /// Returns the name prefix of the incomplete files for this file.
    fn prefix(&self) -> String {
        let digest = Sha256::digest(self.name.as_os_str().as_encoded_bytes());
        hex::encode(digest.get(..16).unwrap_or_default()) + "-"
    }

    /// Creates an incomplete file, which is removed on drop unless it is renamed.
    fn create_incomplete(&self, staging: &Path) -> io::Result<(fs::File, TempPath)> {
        let prefix = self.prefix();
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(&prefix);
        let builder = builder.permissions(Permissions::from_mode(0o644));
        let mut tries = 1;
        loop {
            match fs::create_dir(staging) {
                Err(failure) if failure.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(failure);
                }
                _ => {}
            }
            match builder.tempfile_in(staging) {
                Err(failure) if failure.kind() == io::ErrorKind::NotFound && tries < MAX_TRIES => {
                    tries += 1;
                }
                created => return created.map(tempfile::NamedTempFile::into_parts),
            }
        }
    }

    /// Removes the other incomplete files for this file, and abandoned ones of earlier processes.
    fn remove_incomplete(&self, staging: &Path, excluded: Option<&Path>) -> io::Result<()> {
        let prefix = self.prefix();
        let entries = match staging.read_dir() {
            Err(failure) if failure.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if excluded == Some(entry.path().as_path()) {
                continue;
            }
            if entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(prefix.as_bytes())
            {
                match fs::remove_file(entry.path()) {
                    Err(failure) if failure.kind() != io::ErrorKind::NotFound => {
                        return Err(failure);
                    }
                    _ => {}
                }
            } else {
                let modified = entry.metadata().and_then(|found| found.modified());
                let age = modified.ok().and_then(|time| time.elapsed().ok());
                if age.is_some_and(|age| age > STALE_AGE) {
                    // Another process may have removed it first.
                    drop(fs::remove_file(entry.path()));
                }
            }
        }
        if excluded.is_none() {
            drop(fs::remove_dir(staging));
        }
        Ok(())
    }

    /// Returns the folder of the file, created if necessary. No segment may leave the root.
    fn folder(&self) -> Result<PathBuf, StorageError> {
        let canonical = self.root.canonicalize();
        let root = canonical.map_err(|failure| refused(&self.root, failure))?;
        let mut folder = root.clone();
        for name in &self.folders {
            let next = folder.join(name);
            match fs::create_dir(&next) {
                Ok(()) => {}
                Err(failure) if failure.kind() == io::ErrorKind::AlreadyExists => {}
                Err(failure) => return Err(refused(&next, failure)),
            }
            folder = resolve_link(next.clone());
            if !folder.starts_with(&root) {
                let message = format!("`{}` leads out of the operator's folder", next.display());
                return Err(StorageError::Config(message));
            }
        }
        Ok(folder)
    }
}

/// Complete file on the disk that is not yet at its final path. Removed when dropped.
#[derive(Debug)]
pub(crate) struct Partial {
    path: TempPath,
    target: PathBuf,
}

/// Resolves a path that is a link; returns the path itself if it is not a link or is dangling. Its
/// parent folders contain no links, so they are only resolved again if it is one.
fn resolve_link(path: PathBuf) -> PathBuf {
    let is_link = path
        .symlink_metadata()
        .is_ok_and(|found| found.is_symlink());
    let resolved = is_link.then(|| path.canonicalize().ok()).flatten();
    resolved.unwrap_or(path)
}

fn refused(path: &Path, failure: io::Error) -> StorageError {
    StorageError::Push(format!("`{}`: {failure}", path.display()))
}

/// Whether a file contains exactly these bytes.
fn is_same(mut file: fs::File, bytes: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut remaining = bytes;
    loop {
        let read = file.read(&mut buffer)?;
        let part = buffer.get(..read).unwrap_or_default();
        match remaining.strip_prefix(part) {
            Some(rest) => remaining = rest,
            None => return Ok(false),
        }
        if part.is_empty() {
            return Ok(remaining.is_empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    #[rstest]
    #[case::relative("x.tar.gz", Some("/srv/a/x.tar.gz"))]
    #[case::dot("p/./x.tar.gz", Some("/srv/a/p/x.tar.gz"))]
    #[case::absolute("/srv/b/x.tar.gz", Some("/srv/b/x.tar.gz"))]
    #[case::absolute_and_deep("/srv/b/p/q/x", Some("/srv/b/p/q/x"))]
    #[case::root_with_a_longer_name("/srv/bb/x", None)]
    #[case::elsewhere("/etc/passwd", None)]
    #[case::dots_after_a_root("/srv/a/../x", None)]
    #[case::dots_first("../x", None)]
    #[case::dots("p/../../x", None)]
    #[case::root("/srv/a", None)]
    #[case::slash_at_the_end("/srv/a/p/", None)]
    #[case::only_a_folder("p/", None)]
    #[case::empty("", None)]
    #[case::only_a_dot(".", None)]
    #[case::only_dots("..", None)]
    #[case::nul("a\0b", None)]
    #[case::partial_bundles_folder(".partial-bundles", None)]
    #[case::partial_bundles_below_a_folder("p/.partial-bundles/x", None)]
    fn paths_stay_below_the_roots(#[case] path: &str, #[case] expected: Option<&str>) {
        let roots = ["/srv/a".into(), "/srv/b".into()];
        let target = TargetFile::new(path, &roots).ok().map(|target| {
            let folder = target.root.join(target.folders.iter().collect::<PathBuf>());
            folder.join(target.name)
        });
        assert_eq!(target.as_deref(), expected.map(Path::new));
    }

    #[test]
    fn without_roots_no_path_is_allowed() {
        assert!(TargetFile::new("x", &[]).is_err());
    }

    #[test]
    fn the_deepest_paths_are_found_at_once() -> Tested {
        let root = tempfile::tempdir()?;
        let roots = [root.path().to_owned()];
        let deepest = format!("{}x", "d/".repeat(31));
        let target = TargetFile::new(&deepest, &roots)?;
        assert!(write(&target, b"one")?);
        std::os::unix::fs::symlink("d", root.path().join("link"))?;
        let linked = TargetFile::new(&deepest.replacen('d', "link", 1), &roots)?;
        let started = std::time::Instant::now();
        for _ in 0..1000 {
            assert_eq!(linked.resolved(), target.resolved());
        }
        let elapsed = started.elapsed();
        assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
        let deeper = TargetFile::new(&format!("d/{deepest}"), &roots);
        let refused = matches!(&deeper, Err(StorageError::Config(why)) if why.contains("32"));
        assert!(refused, "{deeper:?}");
        Ok(())
    }

    /// Writes like a replica that owns the bundle all the time.
    fn write(target: &TargetFile, bytes: &[u8]) -> Result<bool, StorageError> {
        target.place(target.stage(bytes)?)
    }

    #[test]
    fn writes_replace_whole_files() -> Tested {
        let root = tempfile::tempdir()?;
        let roots = [root.path().to_owned()];
        let target = TargetFile::new("p/q/x.tar.gz", &roots)?;
        assert_eq!(target.compare(b"one")?, StoredObject::Nothing);
        let file = root.path().join("p/q/x.tar.gz");
        for content in ["one", "three"] {
            assert!(write(&target, content.as_bytes())?);
            assert_eq!(fs::read_to_string(&file)?, content);
            assert!(matches!(
                target.compare(content.as_bytes())?,
                StoredObject::Same(_)
            ));
            let names = fs::read_dir(root.path().join("p/q"))?.count();
            assert_eq!(names, 1, "nothing incomplete is left");
        }
        // Same length and times as before.
        let modified = fs::metadata(&file)?.modified()?;
        fs::write(&file, "thrEe")?;
        fs::File::options()
            .write(true)
            .open(&file)?
            .set_modified(modified)?;
        assert!(matches!(target.compare(b"three")?, StoredObject::Other(_)));
        fs::remove_file(&file)?;
        fs::create_dir(&file)?;
        assert!(matches!(target.compare(b"three")?, StoredObject::Other(_)));
        let written = write(&target, b"three");
        assert!(matches!(written, Err(StorageError::Push(_))), "{written:?}");
        let names = fs::read_dir(root.path().join("p/q"))?.count();
        assert_eq!(names, 1, "nothing incomplete is left of a failed write");
        Ok(())
    }

    /// One replica stalls between staging and placing, while another one takes over the bundle.
    #[test]
    fn who_has_lost_a_bundle_has_nothing_to_place() -> Tested {
        let root = tempfile::tempdir()?;
        let roots = [root.path().to_owned()];
        let target = TargetFile::new("x.tar.gz", &roots)?;
        let other = TargetFile::new("y.tar.gz", &roots)?;
        let file = root.path().join("x.tar.gz");
        let staged = other.stage(b"beside")?;
        let stale = target.stage(b"stale")?;
        assert!(write(&target, b"newer")?);
        assert!(!target.place(stale)?);
        assert_eq!(fs::read_to_string(&file)?, "newer");
        // Also when the other one has nothing to write.
        let stale = target.stage(b"stale")?;
        assert!(matches!(target.compare(b"newer")?, StoredObject::Same(_)));
        assert!(!target.place(stale)?);
        assert_eq!(fs::read_to_string(&file)?, "newer");
        // Staged files of other bundles stay.
        assert!(other.place(staged)?);
        assert_eq!(fs::read_to_string(root.path().join("y.tar.gz"))?, "beside");
        assert_eq!(fs::read_dir(root.path())?.count(), 2);
        Ok(())
    }

    #[test]
    fn links_do_not_leave_the_root() -> Tested {
        let root = tempfile::tempdir()?;
        let outside = tempfile::tempdir()?;
        let victim = outside.path().join("victim");
        fs::write(&victim, "kept")?;
        std::os::unix::fs::symlink(outside.path(), root.path().join("folder"))?;
        std::os::unix::fs::symlink(&victim, root.path().join("file"))?;
        let roots = [root.path().to_owned()];
        for path in ["folder/victim", "folder/new/x"] {
            let written = write(&TargetFile::new(path, &roots)?, b"bundle");
            assert!(matches!(written, Err(StorageError::Config(_))), "{path}");
        }
        let target = TargetFile::new("file", &roots)?;
        assert!(matches!(target.compare(b"kept")?, StoredObject::Other(_)));
        assert!(write(&target, b"bundle")?);
        assert_eq!(fs::read_to_string(root.path().join("file"))?, "bundle");
        assert_eq!(fs::read_to_string(&victim)?, "kept");
        assert_eq!(fs::read_dir(outside.path())?.count(), 1);
        Ok(())
    }
}

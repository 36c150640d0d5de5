//! Files below the folders that the operator names.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use tempfile::TempPath;
use tokio::io::AsyncWriteExt;

use super::DestinationError;

/// How the names of files begin that are not complete yet.
const PARTIAL: &str = ".partial-bundle-";

/// An incomplete file of this age is left over from a process that was killed.
const LEFT_OVER: Duration = Duration::from_secs(3600);

/// A file below a folder that the operator names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// The operator's folder.
    root: PathBuf,
    /// The folders from there to the file.
    folders: Vec<PathBuf>,
    /// The name of the file.
    name: PathBuf,
}

impl Target {
    /// The file at a path: absolute below one of the roots, or else below the first.
    ///
    /// # Errors
    /// `Config` when there are no roots, or the path leads elsewhere or to no file.
    pub(crate) fn new(path: &str, roots: &[PathBuf]) -> Result<Self, DestinationError> {
        let Some(first) = roots.first() else {
            let message = "the server writes no files: its operator names no --bundle-root";
            return Err(DestinationError::config(message));
        };
        let given = Path::new(path);
        let below = roots
            .iter()
            .find_map(|root| Some((root, given.strip_prefix(root).ok()?)));
        let (root, rest) = match below {
            Some(found) => found,
            None if given.is_relative() => (first, given),
            None => {
                let message = format!("`{path}` is not below a folder that the operator allows");
                return Err(DestinationError::Config(message));
            }
        };
        let mut folders = Vec::new();
        for component in rest.components() {
            match component {
                Component::Normal(name) => folders.push(PathBuf::from(name)),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    let message = format!("`{path}` must not hold `..`");
                    return Err(DestinationError::Config(message));
                }
            }
        }
        match folders.pop() {
            Some(name) if !path.ends_with('/') && !path.contains('\0') => Ok(Self {
                root: root.clone(),
                folders,
                name,
            }),
            _ => Err(DestinationError::Config(format!("`{path}` names no file"))),
        }
    }

    /// The path from the operator's folder to the file.
    pub(crate) fn below_root(&self) -> PathBuf {
        self.folders.iter().collect::<PathBuf>().join(&self.name)
    }

    /// The file that links lead to. A folder that is not there lies where it would be made; the
    /// file itself is replaced also where a link stands in its place.
    pub(crate) fn real(&self) -> PathBuf {
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let root = real(self.root.clone());
        let folders = self.folders.iter();
        let folder = folders.fold(root, |folder, name| real(folder.join(name)));
        folder.join(&self.name)
    }

    /// Replaces the file: what is there before stays until the new one is complete on disk.
    ///
    /// # Errors
    /// `Config` when a link leads out of the root, `Push` when the file cannot be written.
    pub(super) async fn write(&self, bytes: &[u8]) -> Result<(), DestinationError> {
        let folder = self.folder()?;
        let target = folder.join(&self.name);
        let failed = |failure: io::Error| {
            DestinationError::Push(format!("`{}`: {failure}", target.display()))
        };
        let (file, partial) = begin(&folder).map_err(failed)?;
        let mut file = tokio::fs::File::from_std(file);
        file.write_all(bytes).await.map_err(failed)?;
        file.sync_all().await.map_err(failed)?;
        // From here on nothing waits, so that whoever gives the write up does so before or after.
        partial
            .persist(&target)
            .map_err(|failure| failed(failure.error))?;
        let synced = fs::File::open(&folder).and_then(|folder| folder.sync_all());
        synced.map_err(failed)
    }

    /// Whether the file is there with that many bytes.
    pub(super) fn holds(&self, bytes: u64) -> bool {
        let found = self.folder().ok().and_then(|folder| {
            let found = fs::symlink_metadata(folder.join(&self.name));
            found.ok()
        });
        found.is_some_and(|found| found.is_file() && found.len() == bytes)
    }

    /// The folder of the file, which is made if it is not there. No step to it leaves the root.
    fn folder(&self) -> Result<PathBuf, DestinationError> {
        let failed = |path: &Path, failure: io::Error| {
            DestinationError::Push(format!("`{}`: {failure}", path.display()))
        };
        let real = self.root.canonicalize();
        let root = real.map_err(|failure| failed(&self.root, failure))?;
        let mut folder = root.clone();
        for name in &self.folders {
            let next = folder.join(name);
            match fs::create_dir(&next) {
                Ok(()) => {}
                Err(failure) if failure.kind() == io::ErrorKind::AlreadyExists => {}
                Err(failure) => return Err(failed(&next, failure)),
            }
            let real = next.canonicalize();
            folder = real.map_err(|failure| failed(&next, failure))?;
            if !folder.starts_with(&root) {
                let message = format!("`{}` leads out of the operator's folder", next.display());
                return Err(DestinationError::Config(message));
            }
        }
        Ok(folder)
    }
}

/// A new file in a folder, which goes away unless it is given a name. Takes away what earlier
/// processes have left.
fn begin(folder: &Path) -> io::Result<(fs::File, TempPath)> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
            let modified = entry.metadata().and_then(|found| found.modified());
            let age = modified.ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > LEFT_OVER) {
                // Another process may have been quicker.
                drop(fs::remove_file(entry.path()));
            }
        }
    }
    let file = tempfile::Builder::new()
        .prefix(PARTIAL)
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    Ok(file.into_parts())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn paths_stay_below_the_roots() {
        let roots = ["/srv/a".into(), "/srv/b".into()];
        for (path, expected) in [
            ("x.tar.gz", Some("/srv/a/x.tar.gz")),
            ("p/./x.tar.gz", Some("/srv/a/p/x.tar.gz")),
            ("/srv/b/x.tar.gz", Some("/srv/b/x.tar.gz")),
            ("/srv/b/p/q/x", Some("/srv/b/p/q/x")),
            ("/srv/bb/x", None),
            ("/etc/passwd", None),
            ("/srv/a/../x", None),
            ("../x", None),
            ("p/../../x", None),
            ("/srv/a", None),
            ("/srv/a/p/", None),
            ("p/", None),
            ("", None),
            (".", None),
            ("..", None),
            ("a\0b", None),
        ] {
            let target = Target::new(path, &roots).ok().map(|target| {
                let folder = target.root.join(target.folders.iter().collect::<PathBuf>());
                folder.join(target.name)
            });
            assert_eq!(target.as_deref(), expected.map(Path::new), "`{path}`");
        }
        assert!(Target::new("x", &[]).is_err());
    }

    #[tokio::test]
    async fn writes_replace_whole_files() -> Tested {
        let root = tempfile::tempdir()?;
        let roots = [root.path().to_owned()];
        let target = Target::new("p/q/x.tar.gz", &roots)?;
        assert!(!target.holds(3));
        for content in ["one", "three"] {
            target.write(content.as_bytes()).await?;
            let file = root.path().join("p/q/x.tar.gz");
            assert_eq!(fs::read_to_string(&file)?, content);
            assert!(target.holds(content.len() as u64));
            let names = fs::read_dir(root.path().join("p/q"))?.count();
            assert_eq!(names, 1, "nothing incomplete is left");
        }
        Ok(())
    }

    #[tokio::test]
    async fn links_do_not_leave_the_root() -> Tested {
        let root = tempfile::tempdir()?;
        let outside = tempfile::tempdir()?;
        let victim = outside.path().join("victim");
        fs::write(&victim, "kept")?;
        std::os::unix::fs::symlink(outside.path(), root.path().join("folder"))?;
        std::os::unix::fs::symlink(&victim, root.path().join("file"))?;
        let roots = [root.path().to_owned()];
        for path in ["folder/victim", "folder/new/x"] {
            let written = Target::new(path, &roots)?.write(b"bundle").await;
            assert!(
                matches!(written, Err(DestinationError::Config(_))),
                "{path}"
            );
        }
        Target::new("file", &roots)?.write(b"bundle").await?;
        assert_eq!(fs::read_to_string(root.path().join("file"))?, "bundle");
        assert_eq!(fs::read_to_string(&victim)?, "kept");
        assert_eq!(fs::read_dir(outside.path())?.count(), 1);
        Ok(())
    }
}

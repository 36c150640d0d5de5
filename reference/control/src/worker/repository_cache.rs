//! Cache directory of Git repositories.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempDir;
use tracing::warn;

use crate::builder;

/// Directory that stores repositories.
#[derive(Debug)]
pub(super) enum WorkFolder {
    Kept(PathBuf),
    Temporary(TempDir),
}

impl WorkFolder {
    /// Creates the folder. Removes keys that a killed process left there: from now on other
    /// replicas may build its bundles.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub(super) fn open(path: Option<&Path>) -> io::Result<Self> {
        match path {
            Some(path) => {
                fs::create_dir_all(path)?;
                let folder = Self::Kept(path.to_owned());
                let bundles = folder.bundles().read_dir();
                for bundle in bundles.into_iter().flatten().flatten() {
                    builder::remove_keys(&bundle.path());
                }
                Ok(folder)
            }
            None => Ok(Self::Temporary(TempDir::with_prefix("control-plane-")?)),
        }
    }

    /// Returns the folder that contains one folder per bundle, named by its id.
    fn bundles(&self) -> PathBuf {
        let path = match self {
            Self::Kept(path) => path.as_path(),
            Self::Temporary(folder) => folder.path(),
        };
        path.join("bundles")
    }

    /// Returns the folder of a bundle.
    pub(super) fn of_bundle(&self, bundle: i64) -> PathBuf {
        self.bundles().join(bundle.to_string())
    }

    /// Removes the folders of all other bundles.
    pub(super) fn sweep(&self, bundles: &HashSet<i64>) {
        let entries = self.bundles().read_dir();
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let bundle = name.to_str().and_then(|name| name.parse().ok());
            if bundle.is_some_and(|bundle| !bundles.contains(&bundle))
                && let Err(failure) = fs::remove_dir_all(entry.path())
            {
                let folder = entry.path();
                warn!(folder = %folder.display(), %failure, "cannot remove files of a bundle");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_deleted_bundles_are_removed() -> io::Result<()> {
        let root = TempDir::new()?;
        let work = WorkFolder::open(Some(root.path()))?;
        work.sweep(&HashSet::new());
        for bundle in [1, 2] {
            fs::create_dir_all(work.of_bundle(bundle).join("repository"))?;
        }
        fs::create_dir(work.bundles().join("other"))?;
        work.sweep(&HashSet::from([1]));
        let left = [
            work.of_bundle(1),
            work.of_bundle(2),
            work.bundles().join("other"),
        ];
        assert_eq!(left.map(|folder| folder.exists()), [true, false, true]);
        Ok(())
    }
}

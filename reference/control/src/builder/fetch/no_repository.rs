//! Git repositories in a build without the feature `git`: sources that name one are refused.

use std::path::{Path, PathBuf};

use super::{BuildError, Fetcher};
use crate::builder::SourceInput;
use crate::builder::file_selection::Files;
use crate::model::Git;

/// Returns the work directory, in which this build creates no repositories.
pub(super) fn folder(work_dir: &Path, _: &str) -> PathBuf {
    work_dir.to_owned()
}

pub(super) fn remove_keys(_: &Path) {}

pub(super) fn remove_unused(_: &Path, _: &[String]) {}

impl Fetcher<'_> {
    /// Refuses a source with a repository.
    ///
    /// # Errors
    /// Always.
    pub(super) async fn repository(
        &mut self,
        _: (&str, &SourceInput),
        _: &str,
        _: &Git,
        _: Option<&str>,
    ) -> Result<(Files, String), BuildError> {
        let message = "this build does not support git repositories (feature `git`)";
        Err(BuildError::config(message))
    }
}

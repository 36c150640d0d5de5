//! Files of git repositories.

use std::path::{Path, PathBuf};

use super::credentials::{Credentials, ResolvedCredentials};
use super::{
    BuildError, Fetcher, blocking, check_all_matched, git, github, selection, timeout_message,
};
use crate::builder::SourceInput;
use crate::builder::file_selection::Files;
use crate::model::Git;

pub(super) use super::git::{remove_keys, remove_unused};

/// Returns the folder of a bundle's repositories below the work directory.
pub(super) fn folder(work_dir: &Path, bundle: &str) -> PathBuf {
    work_dir.join(git::folder(bundle))
}

impl Fetcher<'_> {
    /// Fetches the files of a repository, with the commit that they are of.
    ///
    /// # Errors
    /// When the definition is invalid or not allowed, or the repository cannot be fetched.
    pub(super) async fn repository(
        &mut self,
        (source, input): (&str, &SourceInput),
        repo: &str,
        definition: &Git,
        commit: Option<&str>,
    ) -> Result<(Files, String), BuildError> {
        let included = definition.included_files.as_deref().unwrap_or_default();
        let excluded = definition.excluded_files.as_deref().unwrap_or_default();
        let selection = selection(included, excluded)?;
        let spec = git::GitSpec::new(
            definition.reference.as_deref(),
            commit,
            definition.path.as_deref(),
            selection.clone(),
        )?;
        let origin = git::Origin::read(repo, &self.access.source_roots, &self.hosts)?;
        let credentials = self
            .repository_credentials(&origin, input, definition)
            .await?;
        let reader = git::Reader {
            source: source.to_owned(),
            repo: repo.to_owned(),
            credentials,
            repositories: self.repositories.clone(),
            access: self.access.clone(),
            hosts: self.hosts.clone(),
        };
        let mut quota = self.quota.clone();
        let checkout = blocking(self.access.limits.fetch, move |cancelled| {
            let checkout = reader.read(origin, spec, &mut quota, cancelled)?;
            Ok((checkout, quota))
        });
        let (checkout, quota) = checkout.await?;
        check_all_matched(&selection, "git.included_files")?;
        self.quota = quota;
        self.used.extend(checkout.folders.into_keys());
        Ok((checkout.files, checkout.commit))
    }

    /// Returns the credentials for a repository; its submodules use them only on the same host,
    /// with the same scheme and port.
    async fn repository_credentials(
        &self,
        origin: &git::Origin,
        input: &SourceInput,
        definition: &Git,
    ) -> Result<Option<Credentials>, BuildError> {
        let over_http = self.access.secrets_over_http;
        let resolved = ResolvedCredentials::resolve(
            &input.secrets,
            definition.credentials.as_deref(),
            over_http,
        )?;
        let (Some(ResolvedCredentials { credentials, guard }), git::Origin::Remote(url)) =
            (resolved, origin)
        else {
            return Ok(None);
        };
        let is_private = !matches!(url.scheme, gix::url::Scheme::Http);
        let host = url.host().unwrap_or_default();
        let checked = guard.check(is_private, host, url.port_or_default());
        checked.map_err(|reason| BuildError::config(format!("git: {reason}")))?;
        let Credentials::GithubApp(app) = &credentials else {
            return Ok(Some(credentials));
        };
        let time = self.access.limits.fetch;
        let token = github::token(url, app, &guard, &self.hosts);
        let token = tokio::time::timeout(time, token).await;
        let token = token.unwrap_or_else(|_| Err(BuildError::sync(timeout_message(time))))?;
        Ok(Some(Credentials::TokenAuth { token }))
    }
}

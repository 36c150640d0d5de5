//! Fetches sources.

mod builtin;
mod credentials;
mod datasource;
mod datasource_config;
mod directory;
mod directory_walk;
#[cfg(feature = "git")]
mod git;
#[cfg(feature = "git")]
mod github;
mod http;
#[cfg(not(feature = "git"))]
#[path = "no_repository.rs"]
mod repository;
#[cfg(feature = "git")]
mod repository;
#[cfg(feature = "clouds")]
mod s3;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use self::credentials::ResolvedCredentials;
use self::directory_walk::Steps;
use super::budget::Budget;
use super::file_selection::{FileQuota, Files, Patterns, Selection};
use super::revision::{self, Origins};
use super::transform::{self, Transform, TransformContext};
use super::{Access, BuildError, Job, Limits, SourceInput};
use crate::allowed_hosts::AllowedHosts;
use crate::blocking;
use crate::model::Datasource;

/// Files of a source.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    /// Files of the source, one map for each kind of origin.
    pub(super) layers: Vec<Files>,
    /// Identifies this state of the source; has hashes only if a revision needs them.
    pub(super) origins: Origins,
    /// Transformations of fetched documents; the documents are in the last layer.
    transforms: Vec<Transform>,
}

/// Fetcher for the sources of one build.
pub(super) struct Fetcher<'j> {
    access: &'j Access,
    hosts: AllowedHosts,
    /// Folder of this bundle's repositories, and the names of those in use.
    repositories: PathBuf,
    used: Vec<String>,
    quota: FileQuota,
    /// Whether files are hashed.
    hashes: bool,
    /// Callback that reports which repositories could be read.
    synced: &'j (dyn Fn(&str, bool) + Sync),
}

impl<'j> Fetcher<'j> {
    /// Creates a fetcher for one build.
    pub(super) fn new(
        job: &'j Job,
        access: &'j Access,
        work_dir: &Path,
        synced: &'j (dyn Fn(&str, bool) + Sync),
    ) -> Result<Self, BuildError> {
        http_server::tls_provider::install();
        let hosts = AllowedHosts::read(&access.hosts);
        let hosts = hosts.map_err(|error| BuildError::config(format!("allowed hosts: {error}")))?;
        let repositories = repository::folder(work_dir, &job.name);
        repository::remove_keys(&repositories);
        Ok(Self {
            access,
            hosts,
            repositories,
            used: Vec::new(),
            quota: FileQuota::new(&access.limits),
            hashes: job.bundle.revision.is_some(),
            synced,
        })
    }

    /// Fetches a source, at a commit if a requirement pins one.
    pub(super) async fn fetch(
        &mut self,
        name: &str,
        input: &SourceInput,
        pin: Option<&str>,
    ) -> Result<Fetched, BuildError> {
        let fetched = self.layers(name, input, pin).await;
        fetched.map_err(|failure| failure.within(&format!("source `{name}`")))
    }

    async fn layers(
        &mut self,
        name: &str,
        input: &SourceInput,
        pin: Option<&str>,
    ) -> Result<Fetched, BuildError> {
        let mut fetched = Fetched::default();
        let mut hashed = Files::new();
        let source = &input.definition;
        if let Some(builtin) = source.builtin.as_deref().filter(|name| !name.is_empty()) {
            fetched.layers.push(self.builtin(builtin).await?);
        }
        let paths = source.paths.as_deref().unwrap_or_default();
        let directory = source.directory.as_deref().filter(|path| !path.is_empty());
        if let Some(path_name) = directory.or((!paths.is_empty()).then_some(".")) {
            let mut selection = selection(paths, &[])?;
            if directory.is_some() {
                selection = selection.with_manifest();
            }
            let layer = self.directory(path_name, selection.clone()).await?;
            check_all_matched(&selection, "paths")?;
            self.add_hashed(&mut hashed, &layer);
            fetched.layers.push(layer);
        }
        if let Some(files) = &source.files {
            let embedded = files
                .read()
                .map_err(|error| BuildError::config(error.under("files")))?;
            let embedded = self.within_quota(embedded)?;
            self.add_hashed(&mut hashed, &embedded);
            fetched.layers.push(embedded);
        }
        if let Some(git) = &source.git
            && let Some(repo) = git.repo.as_deref().filter(|repo| !repo.is_empty())
        {
            let commit = pin.or(git.commit.as_deref());
            let checkout = self.repository((name, input), repo, git, commit).await;
            (self.synced)(name, checkout.is_ok());
            let (layer, commit) = checkout?;
            fetched.layers.push(layer);
            fetched.origins.commit = Some(commit);
        }
        let pushed = input.documents.iter();
        let pushed = pushed.map(|(path, text)| (path.clone(), text.clone().into_bytes()));
        let pushed = self.within_quota(pushed)?;
        if self.hashes {
            self.add_hashed(&mut hashed, &pushed);
            fetched.origins.files = revision::hash(&hashed);
        }
        fetched.layers.push(pushed);
        let mut documents = Files::new();
        for datasource in source.datasources.iter().flatten() {
            let path = datasource::path(datasource)?;
            if documents.contains_key(&path) {
                let message = format!("two datasources are placed at `{path}`");
                return Err(BuildError::config(message));
            }
            let bytes = self.datasource(input, datasource).await?;
            if self.hashes {
                let file = Files::from([("data.json".to_owned(), bytes.clone())]);
                let kind = datasource.kind.clone().unwrap_or_default();
                let name = datasource.name.clone().unwrap_or_default();
                let hashes = fetched.origins.fetched.entry(kind).or_default();
                hashes.insert(name, revision::hash(&file));
            }
            documents.insert(path.clone(), bytes);
            let query = datasource.transform_query.clone().unwrap_or_default();
            if !query.is_empty() {
                fetched.transforms.push(Transform { path, query });
            }
        }
        fetched.layers.push(documents);
        Ok(fetched)
    }

    /// Collects embedded or pushed files, within the quota.
    fn within_quota(
        &mut self,
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Result<Files, BuildError> {
        let mut accepted = Files::new();
        for (path, bytes) in files {
            let charged = self.quota.charge(&path, bytes.len() as u64);
            charged.map_err(BuildError::sync)?;
            accepted.insert(path, bytes);
        }
        Ok(accepted)
    }

    /// Retains files for their hash, if hashes are needed.
    fn add_hashed(&self, hashed: &mut Files, files: &Files) {
        if self.hashes {
            hashed.extend(files.clone());
        }
    }

    async fn builtin(&mut self, name: &str) -> Result<Files, BuildError> {
        let (roots, name) = (self.access.builtin_roots.clone(), name.to_owned());
        self.folder(move |quota, cancelled| builtin::read(&name, &roots, quota, cancelled))
            .await
    }

    async fn directory(&mut self, path: &str, selection: Selection) -> Result<Files, BuildError> {
        let (roots, path) = (self.access.source_roots.clone(), PathBuf::from(path));
        self.folder(move |quota, cancelled| {
            let folder = directory::resolve(&path, &roots)?;
            directory::read(folder, &roots, &selection, quota, cancelled)
        })
        .await
    }

    /// Reads files from the server's disk.
    async fn folder(
        &mut self,
        read: impl FnOnce(&mut FileQuota, &AtomicBool) -> Result<Files, BuildError> + Send + 'static,
    ) -> Result<Files, BuildError> {
        let mut quota = self.quota.clone();
        let work = blocking(self.access.limits.fetch, move |cancelled| {
            let files = read(&mut quota, cancelled)?;
            Ok((files, quota))
        });
        let (files, quota) = work.await?;
        self.quota = quota;
        Ok(files)
    }

    async fn datasource(
        &mut self,
        input: &SourceInput,
        definition: &Datasource,
    ) -> Result<Vec<u8>, BuildError> {
        let over_http = self.access.secrets_over_http;
        let resolved = ResolvedCredentials::resolve(
            &input.secrets,
            definition.credentials.as_deref(),
            over_http,
        )?;
        let limit = self.quota.next();
        let fetch = datasource::fetch(definition, resolved, &self.hosts, limit);
        let time = self.access.limits.fetch;
        let fetched = tokio::time::timeout(time, fetch).await;
        let bytes = fetched.unwrap_or_else(|_| Err(BuildError::sync(timeout_message(time))));
        let name = definition.name.as_deref().unwrap_or_default();
        let bytes = bytes.map_err(|failure| datasource::within(name, failure))?;
        let charged = self.quota.charge(name, bytes.len() as u64);
        charged.map_err(BuildError::sync)?;
        Ok(bytes)
    }

    /// Removes the repositories that are no longer in use, after all sources were fetched.
    pub(super) fn remove_unused(&self) {
        repository::remove_unused(&self.repositories, &self.used);
    }
}

impl Fetched {
    /// Transforms the fetched documents.
    pub(super) async fn transformed(
        mut self,
        name: &str,
        limits: &Limits,
        budget: &Arc<Budget>,
    ) -> Result<Self, BuildError> {
        if self.transforms.is_empty() {
            return Ok(self);
        }
        let refused = |reason: String| BuildError::transform(format!("source `{name}`: {reason}"));
        let Some(mut documents) = self.layers.pop() else {
            return Ok(self);
        };
        let (policies, max_bytes, budget) = (limits.policies, limits.file, Arc::clone(budget));
        let transformed = blocking::run(limits.work, move |cancelled| {
            let context = TransformContext {
                others: &self.layers,
                policies,
                max_bytes,
                budget: &budget,
                cancelled,
            };
            transform::run(&self.transforms, &context, &mut documents)?;
            self.layers.push(documents);
            Ok(self)
        });
        let transformed = transformed
            .await
            .map_err(|failure| refused(failure.to_string()))?;
        transformed.map_err(refused)
    }
}

/// Removes the keys below the folders of a work directory.
pub(super) fn remove_keys(work_dir: &Path) {
    let entries = std::fs::read_dir(work_dir).into_iter().flatten().flatten();
    entries.for_each(|entry| repository::remove_keys(&entry.path()));
}

fn selection(included: &[String], excluded: &[String]) -> Result<Selection, BuildError> {
    Ok(Selection::new(
        Patterns::read(included).map_err(BuildError::config)?,
        Patterns::read(excluded).map_err(BuildError::config)?,
    ))
}

/// Refuses patterns that no file has matched: a misspelt one would silently omit policies.
fn check_all_matched(selection: &Selection, field: &str) -> Result<(), BuildError> {
    let Some(pattern) = selection.first_unmatched() else {
        return Ok(());
    };
    let message = format!("{field}: no file matches `{pattern}`");
    Err(BuildError::config(message))
}

/// Refuses a host that the operator does not allow.
fn check_host(hosts: &AllowedHosts, host: &str, port: Option<u16>) -> Result<(), BuildError> {
    match hosts.allows(host, port) {
        true => Ok(()),
        false => Err(BuildError::config(format!(
            "host `{host}` is not among the allowed hosts"
        ))),
    }
}

async fn blocking<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, BuildError> + Send + 'static,
) -> Result<T, BuildError> {
    let result = blocking::run(limit, work).await;
    result.map_err(BuildError::sync)?
}

fn timeout_message(limit: Duration) -> String {
    format!("not done within {} s", limit.as_secs())
}

/// Formats an error with its causes, without repetition.
fn with_causes(failure: &dyn std::error::Error) -> String {
    let mut text = failure.to_string();
    let mut next = failure.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

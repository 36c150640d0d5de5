//! Builder: from the definition of a bundle to the bytes of its archive.
//!
//! It has no state between builds except the repositories cached in its work directory, and does
//! not access the database or destinations. A build succeeds or fails as a whole: a source that
//! cannot be fetched fails it.

mod archive;
mod assemble;
mod budget;
mod documents;
mod failure;
mod fetch;
mod file_selection;
mod fingerprint;
mod modules;
mod mount;
mod reference_walk;
mod requirements;
mod revision;
mod rewrite;
mod roots;
mod transform;
mod versions;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use self::assemble::Assembly;
use self::budget::Budget;
pub(crate) use self::budget::EvaluationBounds;
pub(crate) use self::failure::BuildError;
use self::fetch::{Fetched, Fetcher};
use self::file_selection::Patterns;
use self::requirements::{MountedSource, MountedSources};
use self::revision::Revision;
use super::blocking;
use super::model::{BuildOptions, Bundle, Secret, Source, Stack};
use super::redact::redact;

/// Inputs of one build.
#[derive(Debug)]
pub(crate) struct Job {
    /// Name of the bundle.
    pub(crate) name: String,
    /// Definition of the bundle.
    pub(crate) bundle: Bundle,
    /// All stacks with their names; the builder determines which of them select the bundle.
    pub(crate) stacks: Vec<(String, Stack)>,
    /// Sources by name, at least those that the bundle and its stacks require.
    pub(crate) sources: BTreeMap<String, SourceInput>,
    /// Decrypted secrets by name: those that the definition names and may use.
    pub(crate) secrets: BTreeMap<String, Secret>,
}

impl Job {
    /// Returns the secrets of the bundle and of its sources.
    pub(crate) fn all_secrets(&self) -> impl Iterator<Item = &Secret> {
        let sources = self.sources.values();
        let source_secrets = sources.flat_map(|source| source.secrets.values());
        self.secrets.values().chain(source_secrets)
    }
}

/// Source and its pushed documents.
#[derive(Debug)]
pub(crate) struct SourceInput {
    /// Definition of the source.
    pub(crate) definition: Source,
    /// Documents: the stored path, which ends in `data.json`, and the JSON string.
    pub(crate) documents: Vec<(String, String)>,
    /// Decrypted secrets by name: those that the definition names and may use.
    pub(crate) secrets: BTreeMap<String, Secret>,
}

/// Resources that builds may access.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// Folders below which `directory` sources and local repositories must be.
    pub(crate) source_roots: Vec<PathBuf>,
    /// Folders whose subfolders are the libraries for `builtin` sources.
    pub(crate) builtin_roots: Vec<PathBuf>,
    /// Patterns for the hosts of datasources and repositories.
    pub(crate) hosts: Vec<String>,
    /// Whether secrets may be sent over plain http.
    pub(crate) secrets_over_http: bool,
    /// Environment variables that revision expressions see.
    pub(crate) environment: BTreeMap<String, String>,
    /// Folder of the OpenSSH programs; if empty, they are found on the `PATH`.
    pub(crate) programs: PathBuf,
    /// Limits of each build.
    pub(crate) limits: Limits,
}

/// Limits of one build.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// Maximum size of one file, in bytes.
    pub(crate) file: u64,
    /// Maximum size of all files of a build, in bytes.
    pub(crate) total: u64,
    /// Maximum size of all policies of a build, in bytes; compilation needs many times their size.
    pub(crate) policies: u64,
    /// Maximum number of files of a build.
    pub(crate) files: usize,
    /// Maximum number of mounted sources of a build.
    pub(crate) parts: usize,
    /// Maximum nesting depth of folders.
    pub(crate) depth: usize,
    /// Maximum number of entries of a folder or a commit, selected or not, including nested ones.
    pub(crate) entries: usize,
    /// Maximum size of a repository on disk, in bytes.
    pub(crate) repository: u64,
    /// Timeout of one fetch.
    pub(crate) fetch: Duration,
    /// Timeout of the transformations of one source, and of building the archive.
    pub(crate) work: Duration,
    /// Limits of expressions and queries.
    pub(crate) evaluations: EvaluationBounds,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file: 64 << 20,
            total: 256 << 20,
            policies: 16 << 20,
            files: 20_000,
            parts: 1_000,
            depth: 64,
            entries: 1_000_000,
            repository: 2 << 30,
            fetch: Duration::from_secs(120),
            work: Duration::from_secs(120),
            evaluations: EvaluationBounds::default(),
        }
    }
}

/// Built bundle, ready to be stored.
#[derive(Debug)]
pub(crate) struct Built {
    /// Archive: a gzipped tar file.
    pub(crate) archive: Vec<u8>,
    /// Revision in the manifest of the bundle.
    pub(crate) revision: String,
    /// Whether the bundle has the root of all documents, so that nothing else stays in an engine.
    pub(crate) owns_all: bool,
    /// Commits that sources were read at, by source.
    pub(crate) commits: BTreeMap<String, String>,
    /// Fingerprint of the input files outside the database: empty when there are none. `None` when
    /// they do not determine the result of a build.
    pub(crate) fingerprint: Option<String>,
}

impl Job {
    /// Whether all inputs of the bundle are in the database.
    fn is_stored(&self) -> bool {
        let mut sources = self.sources.values();
        sources.all(|source| source.definition.is_stored())
    }

    /// Whether a build may have another result than the last one with the same files: the revision
    /// or a transformation may be an expression that evaluates differently.
    fn may_differ(&self) -> bool {
        let expression = self.bundle.revision.as_deref().unwrap_or_default();
        let mut sources = self.sources.values();
        !expression.is_empty() || sources.any(|source| source.definition.transforms())
    }
}

/// Removes the keys that a killed server left in a work directory. No build may run in it.
pub(crate) fn remove_keys(work_dir: &Path) {
    fetch::remove_keys(work_dir);
}

/// Builds a bundle. `work_dir` caches repositories between builds; two builds of one bundle must
/// not run in it at the same time. A dropped build stops soon after. `synced` is called with the
/// source of each repository, and whether it could be read. If the files have the `previous`
/// fingerprint, nothing is built.
///
/// # Errors
/// The phase and the reason of the failure, human-readable; secrets are redacted.
pub(crate) async fn build(
    job: &Job,
    access: &Access,
    work_dir: &Path,
    synced: &(dyn Fn(&str, bool) + Sync),
    previous: Option<&str>,
) -> Result<Option<Built>, BuildError> {
    let budget = Arc::new(Budget::new(access.limits.evaluations));
    let built = fetch_and_assemble(job, access, work_dir, synced, previous, &budget).await;
    built.map_err(|failure| BuildError {
        message: redact(failure.message, job.all_secrets()),
        exhausted: budget.is_exhausted(),
        ..failure
    })
}

async fn fetch_and_assemble(
    job: &Job,
    access: &Access,
    work_dir: &Path,
    synced: &(dyn Fn(&str, bool) + Sync),
    previous: Option<&str>,
    budget: &Arc<Budget>,
) -> Result<Option<Built>, BuildError> {
    let options = job.bundle.options.as_ref();
    if let Some(target) = options.and_then(BuildOptions::compiled_to) {
        return Err(BuildError::config(format!(
            "options.target: bundles are not compiled to `{target}` here; without a target they \
             hold the policies themselves, which every engine reads"
        )));
    }
    let sources = requirements::collect(job, &access.limits)?;
    let excluded = job.bundle.excluded_files.as_deref().unwrap_or_default();
    let excluded = Patterns::read(excluded)
        .map_err(|error| BuildError::config(format!("excluded_files: {error}")))?;
    let fetcher = Fetcher::new(job, access, work_dir, synced)?;
    let fetched = fetch(job, &sources, fetcher).await?;
    let (fingerprint, fetched) = fingerprint(job, &access.limits, fetched).await?;
    if fingerprint.is_some() && fingerprint.as_deref() == previous {
        return Ok(None);
    }
    let built = assemble(job, access, sources.parts, excluded, fetched, budget).await?;
    Ok(Some(Built {
        fingerprint,
        ..built
    }))
}

/// Fetches all sources of a bundle, and removes the cached repositories of others.
async fn fetch(
    job: &Job,
    sources: &MountedSources,
    mut fetcher: Fetcher<'_>,
) -> Result<BTreeMap<String, Fetched>, BuildError> {
    let mut fetched = BTreeMap::new();
    for part in &sources.parts {
        if let Some(input) = job.sources.get(&part.source)
            && !fetched.contains_key(&part.source)
        {
            let pin = sources.pins.get(&part.source).map(String::as_str);
            let files = fetcher.fetch(&part.source, input, pin).await?;
            fetched.insert(part.source.clone(), files);
        }
    }
    fetcher.remove_unused();
    Ok(fetched)
}

/// Computes the fingerprint of a build, and returns the fetched files.
async fn fingerprint(
    job: &Job,
    limits: &Limits,
    fetched: BTreeMap<String, Fetched>,
) -> Result<(Option<String>, BTreeMap<String, Fetched>), BuildError> {
    if job.may_differ() {
        return Ok((None, fetched));
    }
    if job.is_stored() {
        return Ok((Some(String::new()), fetched));
    }
    let hashed = blocking::run(limits.work, move |_| {
        (Some(fingerprint::compute(&fetched)), fetched)
    });
    hashed.await.map_err(BuildError::internal)
}

/// Transforms the fetched documents, and assembles all mounted sources. The result has no
/// fingerprint yet.
async fn assemble(
    job: &Job,
    access: &Access,
    parts: Vec<MountedSource>,
    excluded: Patterns,
    fetched: BTreeMap<String, Fetched>,
    budget: &Arc<Budget>,
) -> Result<Built, BuildError> {
    let (mut layers, mut commits, mut sources) =
        (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (source, files) in fetched {
        let files = files.transformed(&source, &access.limits, budget).await?;
        let commit = files.origins.commit.clone();
        commits.extend(commit.map(|commit| (source.clone(), commit)));
        sources.insert(source.clone(), files.origins);
        layers.insert(source, files.layers);
    }
    let expression = job.bundle.revision.clone().unwrap_or_default();
    let revision = (!expression.is_empty()).then(|| Revision {
        expression,
        sources,
        environment: access.environment.clone(),
    });
    let (limits, name, budget) = (access.limits.clone(), job.name.clone(), Arc::clone(budget));
    let assembled = blocking::run(limits.work, move |cancelled| {
        let mut assembly = Assembly::new(&limits, &parts);
        for part in &parts {
            let files = layers.get(&part.source).map(Vec::as_slice);
            assembly.add(part, files.unwrap_or_default(), &excluded)?;
        }
        let revision = |content: &str| {
            let revision = revision.as_ref()?;
            Some(revision.resolve(content, &budget, cancelled))
        };
        assembly.finish(&name, revision)
    });
    let built = assembled
        .await
        .map_err(BuildError::internal)?
        .map_err(BuildError::build)?;
    Ok(Built { commits, ..built })
}

#[cfg(test)]
mod tests;

//! Assembles a bundle from the mounted files of its sources.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rego::value::from_json;
use rego::{Compiler, Module, Policy, Value, Version};
use serde::Deserialize;
use serde_json::Map;
use sha2::{Digest, Sha256};

use super::file_selection::{self, FileQuota, Files, Kind, Patterns};
use super::modules::PolicyQuota;
use super::mount::{self, Mount};
use super::requirements::MountedSource;
use super::roots::{Path, Roots};
use super::versions::ManifestVersions as Versions;
use super::{Built, Limits, archive, documents, modules, rewrite, roots};

/// Characters that are not escaped in the name of a folder.
const UNESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'+')
    .remove(b':');

/// Maximum depth of mounts and folders above a document.
const MAX_DEPTH: usize = 128;

/// Bundle under construction.
#[derive(Debug)]
pub(super) struct Assembly {
    documents: Value,
    /// Modules by their names in the archive, with their Rego versions.
    modules: BTreeMap<String, (Module, Version)>,
    roots: Roots,
    /// Merged manifests of sources.
    manifests: SourceManifests,
    /// Folders in the archive in use for modules, and the first folders of all sources.
    folders: HashSet<String>,
    /// Sources whose first folder is in use.
    seen_sources: HashSet<String>,
    /// Quota of all mounted sources together; a source may be mounted many times.
    quota: FileQuota,
    policies: PolicyQuota,
}

/// Merged manifests of sources.
#[derive(Debug, Default)]
struct SourceManifests {
    revision: Option<String>,
    /// Roots, and the sources that declare them.
    roots: Option<(Vec<String>, Vec<String>)>,
}

/// Members of a source's manifest that are used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Manifest {
    revision: String,
    roots: Option<Vec<String>>,
}

impl Assembly {
    /// Creates an empty bundle, to which all these mounted sources will be added.
    pub(super) fn new(limits: &Limits, parts: &[MountedSource]) -> Self {
        Self {
            documents: documents::root(),
            modules: BTreeMap::new(),
            roots: Roots::default(),
            manifests: SourceManifests::default(),
            folders: parts.iter().map(|part| folder_name(&part.source)).collect(),
            seen_sources: HashSet::new(),
            quota: FileQuota::new(limits),
            policies: PolicyQuota::new(limits.policies),
        }
    }

    /// Adds a mounted source, without the files that the bundle excludes.
    ///
    /// # Errors
    /// When a file is invalid, or the source conflicts with another one.
    pub(super) fn add(
        &mut self,
        part: &MountedSource,
        layers: &[Files],
        excluded: &Patterns,
    ) -> Result<(), String> {
        let mut claimed = BTreeSet::new();
        let mut is_empty = true;
        for layer in layers {
            let mut folder = None;
            // The manifest determines Rego versions even if the bundle excludes it.
            let versions = file_selection::versions(layer);
            let versions =
                versions.map_err(|error| format!("source `{}`: {error}", part.source))?;
            for (path, bytes) in layer.iter().filter(|(path, _)| !excluded.matches(path)) {
                is_empty = false;
                let root = match Kind::of(path) {
                    Some(Kind::Policy) => {
                        let folder = folder.get_or_insert_with(|| self.folder(&part.source));
                        let id = format!("{folder}/{path}");
                        self.module(&part.mounts, &id, bytes, versions.of(path))
                    }
                    Some(Kind::Manifest) if part.mounts.is_empty() => {
                        self.manifest(&part.source, bytes).map(|()| None)
                    }
                    Some(kind) => self.document(&part.mounts, kind, path, bytes),
                    None => Ok(None),
                };
                claimed.extend(root.map_err(|error| format!("source `{}`: {error}", part.source))?);
            }
        }
        // A source without files still claims its mount point if it is mounted as a whole.
        if is_empty && part.mounts.iter().any(|mount| !mount.to.is_empty()) {
            claimed.extend(mount::place(&part.mounts, Path::new()));
        }
        self.roots.claim(&part.source, &claimed)
    }

    /// Returns the folder for the next modules of a source: its first one, then with a number as
    /// suffix. No two sources share one.
    fn folder(&mut self, source: &str) -> String {
        let name = folder_name(source);
        if self.seen_sources.insert(source.to_owned()) {
            return name;
        }
        let mut numbered = (1_usize..).map(|number| format!("{name}{number}"));
        let unused = numbered.find(|folder| self.folders.insert(folder.clone()));
        unused.unwrap_or(name)
    }

    fn module(
        &mut self,
        mounts: &[Mount],
        id: &str,
        bytes: &[u8],
        version: Option<Version>,
    ) -> Result<Option<Path>, String> {
        let (mut module, version) = modules::read(&mut self.policies, id, bytes, version)?;
        for mount in mounts {
            match rewrite::rewrite(module, version, mount)? {
                Some(moved) => module = moved,
                None => return Ok(None),
            }
        }
        self.quota.charge(id, module.text.len() as u64)?;
        let root = roots::longest_expressible(&rewrite::package(&module));
        let root = root.map_err(|error| format!("{id}: {error}"))?;
        self.modules.insert(id.to_owned(), (module, version));
        Ok(Some(root))
    }

    fn document(
        &mut self,
        mounts: &[Mount],
        kind: Kind,
        path: &str,
        bytes: &[u8],
    ) -> Result<Option<Path>, String> {
        let Some(place) = mount::place(mounts, documents::folders(path)) else {
            return Ok(None);
        };
        let refused = |reason: String| format!("`{path}`: {reason}");
        if place.len() > MAX_DEPTH {
            return Err(refused(format!("more than {MAX_DEPTH} levels deep")));
        }
        let Some(document) = documents::read(kind, bytes).map_err(refused)? else {
            return Ok(None);
        };
        self.quota.charge(path, bytes.len() as u64)?;
        documents::place(&mut self.documents, &place, document).map_err(refused)?;
        roots::longest_expressible(&place)
            .map(Some)
            .map_err(refused)
    }

    fn manifest(&mut self, source: &str, bytes: &[u8]) -> Result<(), String> {
        let refused = |reason: String| format!("`.manifest`: {reason}");
        let manifest: Manifest =
            serde_json::from_slice(bytes).map_err(|reason| refused(reason.to_string()))?;
        if !manifest.revision.is_empty() && self.manifests.revision.is_none() {
            self.manifests.revision = Some(manifest.revision);
        }
        if let Some(roots) = manifest.roots {
            let (all_roots, sources) = self.manifests.roots.get_or_insert_default();
            let roots = roots.iter().map(|root| root.trim_matches('/').to_owned());
            all_roots.extend(roots);
            sources.push(source.to_owned());
        }
        Ok(())
    }

    /// Compiles the policy and builds the archive of the bundle with this name. `custom_revision`
    /// computes the revision from the content hash, or returns `None` to use the hash. The result
    /// has neither commits nor a fingerprint.
    ///
    /// # Errors
    /// When the mounted sources are inconsistent.
    pub(super) fn finish(
        self,
        bundle: &str,
        custom_revision: impl FnOnce(&str) -> Option<Result<String, String>>,
    ) -> Result<Built, String> {
        let mut roots = self.final_roots()?;
        if roots.is_empty() {
            roots.push(roots::of_empty_bundle(bundle));
        }
        let mut compiler = Compiler::new(&Policy::default()).documents(&self.documents);
        let mut modules = Vec::with_capacity(self.modules.len());
        for (id, (module, version)) in self.modules {
            let text = Arc::clone(&module.text);
            compiler = compiler.put(&id, module);
            modules.push((id, text, version));
        }
        compiler.compile().map_err(|errors| errors.to_string())?;
        let documents = self.documents.to_string();
        from_json(documents.as_bytes())
            .map_err(|error| format!("the documents together: {error}"))?;
        let mut files = vec![("data.json", documents.as_bytes())];
        files.extend(
            modules
                .iter()
                .map(|(id, text, _)| (id.as_str(), text.as_bytes())),
        );
        let versions = modules
            .iter()
            .map(|(id, _, version)| (id.as_str(), *version));
        let versions = Versions::of(versions);
        let revision = match self.manifests.revision {
            Some(revision) => revision,
            None => {
                let content = digest(&roots, &versions, &files);
                custom_revision(&content).unwrap_or(Ok(content))?
            }
        };
        let owns_all = roots.iter().any(String::is_empty);
        // Sorted, whether maps preserve insertion order or not.
        let mut manifest = Map::new();
        versions.write(&mut manifest);
        manifest.insert("revision".to_owned(), revision.as_str().into());
        manifest.insert("roots".to_owned(), roots.into());
        let manifest = serde_json::Value::from(manifest).to_string();
        files.push((".manifest", manifest.as_bytes()));
        let archive = archive::write(files).map_err(|error| format!("archive: {error}"))?;
        Ok(Built {
            archive,
            revision,
            owns_all,
            commits: BTreeMap::new(),
            fingerprint: None,
        })
    }

    /// Returns the roots in manifests of sources, if they cover everything, or computed ones.
    fn final_roots(&self) -> Result<Vec<String>, String> {
        let Some((declared, sources)) = &self.manifests.roots else {
            return Ok(self.roots.to_strings());
        };
        if let Some((path, owner)) = self.roots.first_uncovered(declared) {
            return Err(format!(
                "`{path}` of source `{owner}` lies outside of the roots in the manifest of source `{}`: {}",
                sources.join("`, `"),
                declared.join(", ")
            ));
        }
        let mut outermost: Vec<String> = Vec::new();
        let mut sorted = declared.clone();
        sorted.sort_unstable_by(|one, other| one.split('/').cmp(other.split('/')));
        for root in sorted {
            let is_below = |above: &String| {
                let rest = root.strip_prefix(above.as_str());
                above.is_empty()
                    || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if !outermost.last().is_some_and(is_below) {
                outermost.push(root);
            }
        }
        Ok(outermost)
    }
}

/// Returns the first folder of a source. It is unique: `#` only replaces colons.
fn folder_name(source: &str) -> String {
    match source {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        name => utf8_percent_encode(name, UNESCAPED)
            .to_string()
            .replace(':', "#"),
    }
}

/// Computes a revision that depends on the content only.
fn digest(roots: &[String], versions: &Versions<'_>, files: &[(&str, &[u8])]) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    roots.iter().for_each(|root| part(root.as_bytes()));
    versions
        .markers()
        .for_each(|marker| part(marker.as_bytes()));
    for (name, bytes) in files {
        part(name.as_bytes());
        part(bytes);
    }
    hex::encode(hash.finalize())
}

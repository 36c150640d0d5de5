//! Registry of active bundles and the roots they own.

use std::collections::BTreeMap;
use std::sync::Arc;

use percent_encoding::utf8_percent_encode;
use rego::Value;

use bundle::{ESCAPED, Manifest};

/// Path of the documents with the manifests of active bundles.
pub(super) const STATUS_PATH: [&str; 2] = ["system", "bundles"];

/// Snapshot of the active bundles, by name. Clones share all data.
#[derive(Debug, Clone, Default)]
pub struct Bundles(pub(super) Arc<BTreeMap<String, Active>>);

/// Refusal of a write because a bundle owns the path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum OwnedByBundle {
    /// The write replaces the root document, part of which a bundle owns.
    #[error("can't write to document root with bundle roots configured")]
    Root,
    /// One bundle owns all paths.
    #[error("all paths owned by bundle {bundle:?}")]
    Everything {
        /// The name of the bundle.
        bundle: String,
    },
    /// A bundle owns the path, or something below it.
    #[error("path {path} is owned by bundle {bundle:?}")]
    Path {
        /// The name of the bundle.
        bundle: String,
        /// The path of the write, percent-encoded.
        path: String,
    },
}

/// An active bundle.
#[derive(Debug, Clone)]
pub(super) struct Active {
    pub(super) manifest: Arc<Manifest>,
    pub(super) etag: String,
}

impl Bundles {
    /// Whether no bundle is active.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Paths that bundles own, including the path of the documents with their manifests.
    pub(super) fn paths(&self) -> Vec<Vec<String>> {
        let roots = self.iter().flat_map(|(_, manifest)| manifest.roots.iter());
        let roots = roots.map(<[_]>::to_vec);
        let status_path = (!self.is_empty()).then(|| STATUS_PATH.map(str::to_owned).to_vec());
        roots.chain(status_path).collect()
    }

    /// Manifests by bundle name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Manifest)> {
        let active = self.0.iter();
        active.map(|(name, active)| (name.as_str(), active.manifest.as_ref()))
    }

    /// Object with the revision of each bundle that has one, as in provenance and decision logs.
    pub(super) fn revisions(&self) -> Value {
        Value::object(self.iter().map(|(name, manifest)| {
            let revision = Some(manifest.revision.as_str()).filter(|revision| !revision.is_empty());
            let revision = revision.map(|revision| ("revision", Value::from(revision)));
            (name, Value::object(revision))
        }))
    }

    /// Refuses a change of the document or the package at a path if a bundle owns the path or
    /// something below it.
    ///
    /// # Errors
    /// When a bundle owns the path; the error names the bundle and the path.
    pub(super) fn permit(&self, path: &[String]) -> Result<(), OwnedByBundle> {
        if path.is_empty() && !self.is_empty() {
            return Err(OwnedByBundle::Root);
        }
        for (name, manifest) in self.iter() {
            let Some(below) = manifest.roots.touching(path) else {
                continue;
            };
            let bundle = name.to_owned();
            return Err(match below {
                [] => OwnedByBundle::Everything { bundle },
                _ => {
                    let steps = path.iter().map(|step| utf8_percent_encode(step, ESCAPED));
                    let steps: Vec<_> = steps.map(|step| step.to_string()).collect();
                    let path = steps.join("/");
                    OwnedByBundle::Path { bundle, path }
                }
            });
        }
        Ok(())
    }

    /// Object with the manifest and the ETag of each active bundle: the document at `STATUS_PATH`.
    pub(super) fn to_value(&self) -> Value {
        let active = self.0.iter().map(|(name, active)| {
            let value = Value::object([
                ("manifest", active.manifest.to_value()),
                ("etag", Value::from(active.etag.as_str())),
            ]);
            (name.as_str(), value)
        });
        Value::object(active)
    }
}

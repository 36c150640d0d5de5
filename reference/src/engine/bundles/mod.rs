//! Active bundles: what they own, and how they come and go.

use std::collections::BTreeMap;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rego::Value;

use super::Engine;
use crate::bundle::{Bundle, BundleError, Manifest};
use crate::http::ApiError;

mod change;

pub(super) use change::activate;

/// What a path shows as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b':')
    .remove(b'=')
    .remove(b'@');

/// The active bundles at one time, by name. Clones share everything.
#[derive(Debug, Clone, Default)]
pub struct Bundles(Arc<BTreeMap<String, Active>>);

/// A bundle that is active.
#[derive(Debug, Clone)]
struct Active {
    manifest: Arc<Manifest>,
    etag: String,
}

impl Engine {
    /// Activates bundles, all or none: each takes the place of what it had brought before, or
    /// changes it. What lies outside of their roots stays.
    ///
    /// # Errors
    /// When roots of different bundles overlap, a delta fits no active bundle, a policy cannot be
    /// compiled with the others, or data and rules are in each other's way. Then nothing changes.
    pub fn activate(&self, bundles: Vec<(String, Bundle)>) -> Result<(), BundleError> {
        self.write(|contents| activate(contents, bundles))
    }

    /// Takes away bundles with all policies and data below their roots. Names of bundles that are
    /// not active mean nothing.
    ///
    /// # Errors
    /// When other policies cannot be compiled without theirs. Then nothing changes.
    pub fn deactivate(&self, names: &[String]) -> Result<(), BundleError> {
        self.write(|contents| change::deactivate(contents, names))
    }

    /// The bundles that are active now.
    pub fn active_bundles(&self) -> Bundles {
        self.state().contents().bundles.clone()
    }
}

impl Bundles {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The manifests by the names of the bundles.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Manifest)> {
        let active = self.0.iter();
        active.map(|(name, active)| (name.as_str(), active.manifest.as_ref()))
    }

    /// An object that has the revision of each bundle, as provenance and decision logs show it.
    pub(super) fn revisions(&self) -> Value {
        Value::object(self.iter().map(|(name, manifest)| {
            let revision = Value::from(manifest.revision.as_str());
            (name, Value::object([("revision", revision)]))
        }))
    }

    /// Refuses a change of the document or the package at a path if it belongs to a bundle, or
    /// holds something that does.
    ///
    /// # Errors
    /// `invalid_parameter`, with the name of the bundle.
    pub(super) fn permit(&self, path: &[String]) -> Result<(), ApiError> {
        if path.is_empty() && !self.is_empty() {
            let message = "can't write to document root with bundle roots configured";
            return Err(ApiError::invalid_parameter(message));
        }
        for (name, manifest) in self.iter() {
            let message = match manifest.roots.touching(path) {
                None => continue,
                Some([]) => format!("all paths owned by bundle {name:?}"),
                Some(_) => {
                    let steps = path.iter().map(|step| utf8_percent_encode(step, PLAIN));
                    let steps: Vec<_> = steps.map(|step| step.to_string()).collect();
                    format!("path {} is owned by bundle {name:?}", steps.join("/"))
                }
            };
            return Err(ApiError::invalid_parameter(message));
        }
        Ok(())
    }

    /// What the documents show of them.
    fn shown(&self) -> Value {
        let active = self.0.iter().map(|(name, active)| {
            let shown = Value::object([
                ("manifest", active.manifest.shown()),
                ("etag", Value::from(active.etag.as_str())),
            ]);
            (name.as_str(), shown)
        });
        Value::object(active)
    }
}

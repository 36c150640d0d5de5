//! Bundle manifests.

use rego::value::{Object, from_json_prefix};
use rego::{Value, Version};

use super::{BundleError, Roots, Versions};

/// Name of the manifest file.
pub(super) const NAME: &str = ".manifest";

/// The manifest of a bundle.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    /// Revision of the sources that the bundle was built from; empty when not specified.
    pub revision: String,
    /// Paths of the documents that the bundle owns: all documents when not specified.
    pub roots: Roots,
    /// Any other metadata by the bundle's author.
    pub metadata: Option<Value>,
    versions: Versions,
}

impl Manifest {
    /// Parses the manifest file. Unknown members are ignored, as is anything after the first JSON
    /// value.
    ///
    /// # Errors
    /// When the file is not a JSON object, a member is of the wrong type, roots overlap, or there
    /// are WebAssembly resolvers.
    pub(super) fn read(text: &[u8]) -> Result<Self, BundleError> {
        let wrong = |reason: String| BundleError::of_file(NAME, reason);
        let document = from_json_prefix(text).map_err(|error| wrong(error.to_string()))?;
        let Value::Object(members) = &document else {
            let message = format!("expected an object, found {}", document.kind());
            return Err(wrong(message));
        };
        Self::of(members).map_err(wrong)
    }

    fn of(members: &Object) -> Result<Self, String> {
        let member = |name| members.get(name).filter(|value| **value != Value::Null);
        let mut manifest = Self::default();
        if let Some(value) = member("revision") {
            let text = value.as_str().ok_or("`revision` must be a string")?;
            text.clone_into(&mut manifest.revision);
        }
        if let Some(value) = member("roots") {
            manifest.roots = roots(value)?;
        }
        if let Some(value) = member("metadata") {
            value.as_object().ok_or("`metadata` must be an object")?;
            manifest.metadata = Some(value.clone());
        }
        manifest.versions = Versions::read(members)?;
        if let Some(value) = member("wasm") {
            let resolvers = value.as_array().ok_or("`wasm` must be an array")?;
            if !resolvers.is_empty() {
                return Err("decisions by WebAssembly (`wasm`) are not supported".to_owned());
            }
        }
        Ok(manifest)
    }

    /// Returns the Rego version of the policy at a path: that of the first pattern that matches the
    /// path, else that of the bundle. `None` if the manifest specifies neither.
    pub(super) fn version_of(&self, path: &str) -> Option<Version> {
        self.versions.of(path)
    }

    /// Converts the manifest to the form in which `data.system.bundles` shows it.
    pub fn to_value(&self) -> Value {
        let roots = self.roots.texts().iter();
        let roots: Vec<_> = roots.map(|root| Value::from(root.as_str())).collect();
        let mut object = Object::new();
        object.insert("revision", Value::from(self.revision.as_str()));
        object.insert("roots", Value::from(roots));
        self.versions.show(&mut object);
        if let Some(metadata) = &self.metadata {
            object.insert("metadata", metadata.clone());
        }
        Value::from(object)
    }
}

fn roots(value: &Value) -> Result<Roots, String> {
    let items = value.as_array().ok_or("`roots` must be an array")?;
    let texts = items.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
    let texts = texts.ok_or("`roots` must be an array of strings")?;
    Roots::read(texts.into_iter())
}

//! Rego versions of the policies in a bundle.

use globset::{Glob, GlobMatcher};
use rego::value::Object;
use rego::{Value, Version};

/// Rego versions that a manifest specifies for the policies of its bundle.
#[derive(Debug, Clone, Default)]
pub struct Versions {
    all: Option<Version>,
    /// Patterns of the paths of files that have another version, in order.
    files: Vec<(GlobMatcher, Version)>,
}

impl Versions {
    /// Parses the members `rego_version` and `file_rego_versions` of a manifest.
    ///
    /// # Errors
    /// Names the member that is of the wrong type, an unknown version, or a malformed pattern.
    pub fn read(members: &Object) -> Result<Self, String> {
        let member = |name| members.get(name).filter(|value| **value != Value::Null);
        let mut versions = Self::default();
        if let Some(value) = member("rego_version") {
            versions.all = Some(version(value, "rego_version")?);
        }
        if let Some(value) = member("file_rego_versions") {
            let value = value.as_object();
            let value = value.ok_or("`file_rego_versions` must be an object")?;
            versions.files = value.iter().map(file_version).collect::<Result<_, _>>()?;
        }
        Ok(versions)
    }

    /// Returns the Rego version of the policy at a path: that of the first pattern that matches the
    /// path, else that of the bundle. `None` if the manifest specifies neither.
    pub fn of(&self, path: &str) -> Option<Version> {
        let rooted = format!("/{path}");
        let mut patterns = self.files.iter();
        let named =
            patterns.find(|(pattern, _)| pattern.is_match(path) || pattern.is_match(&rooted));
        named.map(|(_, version)| *version).or(self.all)
    }

    /// Adds these versions to a manifest, as the members `rego_version` and `file_rego_versions`.
    pub(super) fn show(&self, manifest: &mut Object) {
        if let Some(version) = self.all {
            manifest.insert("rego_version", number(version));
        }
        if !self.files.is_empty() {
            let versions = self.files.iter();
            let versions =
                versions.map(|(pattern, version)| (pattern.glob().glob(), number(*version)));
            manifest.insert("file_rego_versions", Value::object(versions));
        }
    }
}

fn number(version: Version) -> Value {
    Value::from(i64::from(version.number()))
}

fn version(value: &Value, of: &str) -> Result<Version, String> {
    let number = match value {
        Value::Number(number) => number.as_i64(),
        _ => None,
    };
    number
        .and_then(Version::of_number)
        .ok_or_else(|| format!("`{of}`: the version of Rego must be 0 or 1, found {value}"))
}

fn file_version((pattern, value): (&Value, &Value)) -> Result<(GlobMatcher, Version), String> {
    let text = pattern.as_str().unwrap_or_default();
    let of = format!("file_rego_versions.{text}");
    let version = version(value, &of)?;
    let pattern = Glob::new(text).map_err(|error| format!("`{of}`: {error}"))?;
    Ok((pattern.compile_matcher(), version))
}

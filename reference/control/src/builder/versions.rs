//! Rego versions in the manifest of a bundle.

use rego::Version;
use serde_json::{Map, Value};

/// Special characters of file patterns in a manifest.
const SPECIAL: [char; 8] = ['\\', '*', '?', '[', ']', '{', '}', '!'];

/// Versions of modules: a default, and the modules with the other version.
#[derive(Debug, Default)]
pub(super) struct ManifestVersions<'m> {
    all: Version,
    others: Vec<&'m str>,
}

impl<'m> ManifestVersions<'m> {
    /// Collects the versions of modules by their names in the archive. If all are the same, no
    /// module is listed: engines that do not know versions of single files read such bundles, too.
    pub(super) fn of(modules: impl Iterator<Item = (&'m str, Version)>) -> Self {
        let (old, new): (Vec<_>, Vec<_>) =
            modules.partition(|(_, version)| *version == Version::V0);
        match (old.is_empty(), new.is_empty()) {
            (false, true) => Self {
                all: Version::V0,
                others: Vec::new(),
            },
            _ => Self {
                all: Version::V1,
                others: old.into_iter().map(|(id, _)| id).collect(),
            },
        }
    }

    /// Adds the members for the Rego versions to a manifest.
    pub(super) fn write(&self, manifest: &mut Map<String, Value>) {
        if !self.others.is_empty() {
            let others = self.others.iter();
            let others = others.map(|id| (pattern(id), Version::V0.number()));
            manifest.insert("file_rego_versions".to_owned(), Value::from_iter(others));
        }
        manifest.insert("rego_version".to_owned(), self.all.number().into());
    }

    /// Returns markers that distinguish bundles whose files differ in their versions only; none if
    /// all modules have version 1.
    pub(super) fn markers(&self) -> impl Iterator<Item = &str> {
        let all = (self.all == Version::V0).then_some("rego_version 0");
        all.into_iter().chain(self.others.iter().copied())
    }
}

/// Returns the pattern that matches only the file with this name.
fn pattern(id: &str) -> String {
    let mut text = "/".to_owned();
    for character in id.chars() {
        if SPECIAL.contains(&character) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(&[], r#"{"rego_version":1}"#)]
    #[case::version_1(&[("a.rego", Version::V1)], r#"{"rego_version":1}"#)]
    #[case::version_0(&[("a.rego", Version::V0), ("b.rego", Version::V0)], r#"{"rego_version":0}"#)]
    #[case::both(
        &[("a/a.rego", Version::V0), ("b.rego", Version::V1), ("c*[d].rego", Version::V0)],
        r#"{"file_rego_versions":{"/a/a.rego":0,"/c\\*\\[d\\].rego":0},"rego_version":1}"#
    )]
    fn versions_are_told_as_shortly_as_can_be(
        #[case] modules: &[(&str, Version)],
        #[case] expected: &str,
    ) {
        let mut manifest = Map::new();
        ManifestVersions::of(modules.iter().copied()).write(&mut manifest);
        assert_eq!(Value::from(manifest).to_string(), expected);
    }
}

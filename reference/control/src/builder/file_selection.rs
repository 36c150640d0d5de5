//! Selection of source files by patterns, with quotas.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use globset::{Glob, GlobSet, GlobSetBuilder};
use rego::Value;
use rego::value::from_json;

use super::Limits;
use bundle::Versions;

/// Name of the manifest of a source.
const MANIFEST: &str = ".manifest";

/// Files of one origin by their paths, whose segments are neither empty nor `.` or `..`.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Module.
    Policy,
    /// JSON document.
    Json,
    /// YAML document.
    Yaml,
    /// Manifest of a source.
    Manifest,
}

impl Kind {
    /// Returns the kind of a file by its path; `None` for files that are not part of bundles.
    pub(super) fn of(path: &str) -> Option<Self> {
        if path == MANIFEST {
            return Some(Self::Manifest);
        }
        // Signatures are for the original archive, not for the built one.
        if path == ".signatures.json" {
            return None;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.')?.1 {
            "rego" => Some(Self::Policy),
            "json" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// Parses the Rego versions of modules in the manifest of an origin.
///
/// # Errors
/// When the manifest is invalid.
pub(super) fn versions(files: &Files) -> Result<Versions, String> {
    let Some(bytes) = files.get(MANIFEST) else {
        return Ok(Versions::default());
    };
    let refused = |reason: String| format!("`{MANIFEST}`: {reason}");
    match from_json(bytes).map_err(|reason| refused(reason.to_string()))? {
        Value::Object(members) => Versions::read(&members).map_err(refused),
        other => Err(refused(format!(
            "expected an object, found {}",
            other.kind()
        ))),
    }
}

/// Path patterns, in which `*` also matches slashes.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns {
    texts: Vec<String>,
    set: Option<GlobSet>,
}

impl Patterns {
    /// Parses patterns. An empty list matches nothing.
    ///
    /// # Errors
    /// When a pattern is not a valid glob; the error names it.
    pub(super) fn read(texts: &[String]) -> Result<Self, String> {
        if texts.is_empty() {
            return Ok(Self::default());
        }
        let mut set = GlobSetBuilder::new();
        for text in texts {
            let glob = Glob::new(text);
            set.add(glob.map_err(|failure| format!("pattern `{text}`: {}", failure.kind()))?);
        }
        let set = set.build();
        let set = set.map_err(|failure| format!("patterns: {}", failure.kind()))?;
        Ok(Self {
            texts: texts.to_vec(),
            set: Some(set),
        })
    }

    /// Whether there are no patterns.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether one of the patterns matches.
    pub(super) fn matches(&self, path: &str) -> bool {
        self.set.as_ref().is_some_and(|set| set.is_match(path))
    }

    /// Whether one of the patterns may match a path in a folder, whose name ends in a slash.
    fn may_match_in(&self, folder: &str) -> bool {
        self.texts.iter().any(|text| reaches(text, folder))
    }

    /// Whether one of the patterns certainly matches every path in a folder, whose name ends in a
    /// slash: it matches the folder and ends in `*`.
    fn match_all_in(&self, folder: &str) -> bool {
        let matches = self.set.iter().flat_map(|set| set.matches(folder));
        let texts = matches.filter_map(|index| self.texts.get(index));
        texts.into_iter().any(|text| text.ends_with('*'))
    }
}

/// Whether a pattern may match a path in a folder, whose name ends in a slash. Only the part in
/// front of the first wildcard can exclude a match.
fn reaches(pattern: &str, folder: &str) -> bool {
    let wildcard = pattern.find(['*', '?', '[', '{', '\\']);
    match wildcard.and_then(|wildcard| pattern.get(..wildcard)) {
        Some(start) => start.starts_with(folder) || folder.starts_with(start),
        None => pattern.starts_with(folder),
    }
}

/// Selection of the files of an origin.
#[derive(Debug, Clone, Default)]
pub(super) struct Selection {
    /// Patterns for files to include; all if empty.
    included: Patterns,
    /// Patterns for files to exclude.
    excluded: Patterns,
    /// Which of the include patterns have matched a file so far. Shared by clones.
    matched: Arc<[AtomicBool]>,
    /// Whether the manifest is selected regardless of the include patterns.
    manifest: bool,
}

impl Selection {
    /// Selects the included files, or all without include patterns, minus the excluded ones.
    pub(super) fn new(included: Patterns, excluded: Patterns) -> Self {
        Self {
            matched: included
                .texts
                .iter()
                .map(|_| AtomicBool::new(false))
                .collect(),
            included,
            excluded,
            manifest: false,
        }
    }

    /// Always selects the manifest: it determines how the other files are parsed.
    pub(super) fn with_manifest(mut self) -> Self {
        self.manifest = true;
        self
    }

    /// Whether a file is selected and relevant to a bundle.
    pub(super) fn selects(&self, path: &str) -> bool {
        let included = match &self.included.set {
            None => true,
            Some(set) => {
                let matches = set.matches(path);
                let matched = matches.iter().filter_map(|index| self.matched.get(*index));
                matched.for_each(|matched| matched.store(true, Ordering::Relaxed));
                !matches.is_empty() || (self.manifest && path == MANIFEST)
            }
        };
        Kind::of(path).is_some() && included && !self.excluded.matches(path)
    }

    /// Whether files in a folder, whose name ends in a slash, may be selected.
    pub(super) fn reaches(&self, folder: &str) -> bool {
        (self.included.is_empty() || self.included.may_match_in(folder))
            && !self.excluded.match_all_in(folder)
    }

    /// Records that a folder is skipped, with a trailing slash: its files may match patterns.
    pub(super) fn record_skipped(&self, folder: &str) {
        for (text, matched) in self.included.texts.iter().zip(self.matched.iter()) {
            if reaches(text, folder) {
                matched.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Returns the first include pattern that no file has matched, after all files were checked.
    pub(super) fn first_unmatched(&self) -> Option<&str> {
        let mut patterns = self.included.texts.iter().zip(self.matched.iter());
        let unmatched = patterns.find(|(_, matched)| !matched.load(Ordering::Relaxed));
        unmatched.map(|(text, _)| text.as_str())
    }
}

/// Remaining quota of a build.
#[derive(Debug, Clone)]
pub(super) struct FileQuota {
    file: u64,
    bytes: u64,
    files: usize,
    /// Maximum nesting depth of folders.
    pub(super) depth: usize,
    /// Maximum number of entries that one walk may visit.
    pub(super) entries: usize,
}

impl FileQuota {
    /// Creates the full quota.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            file: limits.file,
            bytes: limits.total,
            files: limits.files,
            depth: limits.depth,
            entries: limits.entries,
        }
    }

    /// Returns the maximum size of the next file, in bytes.
    pub(super) fn next(&self) -> u64 {
        self.file.min(self.bytes)
    }

    /// Deducts a file of this length.
    ///
    /// # Errors
    /// When it exceeds the quota.
    pub(super) fn charge(&mut self, path: &str, length: u64) -> Result<(), String> {
        if length > self.file {
            let limit = self.file;
            return Err(format!("`{path}` has more than {limit} bytes"));
        }
        match (self.bytes.checked_sub(length), self.files.checked_sub(1)) {
            (Some(bytes), Some(files)) => {
                (self.bytes, self.files) = (bytes, files);
                Ok(())
            }
            (None, _) => Err(format!("the files up to `{path}` have too many bytes")),
            (_, None) => Err(format!("there are too many files, at `{path}`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn patterns(texts: &[&str]) -> Result<Patterns, String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        Patterns::read(&texts)
    }

    #[test]
    fn folders_are_reached_by_their_names() {
        for (included, excluded, expected) in [
            (&[] as &[&str], &[] as &[&str], true),
            (&["q/*"], &[], false),
            (&["q/*", "lib/in/*"], &[], true),
            (&["lib/*"], &[], true),
            (&["*.rego"], &[], true),
            (&["l?b/x.rego"], &[], true),
            (&["li[a-b]/x"], &[], true),
            (&["{q,lib}/x"], &[], true),
            (&["l\\ib/x"], &[], true),
            (&["lib/in/x.rego"], &[], true),
            (&["lib/x.rego"], &[], false),
            (&["lib"], &[], false),
            (&["lib/in"], &[], false),
            (&["lib/inner/*"], &[], false),
            (&[], &["lib/*"], false),
            (&[], &["lib*"], false),
            (&[], &["lib/**"], false),
            (&[], &["**"], false),
            (&[], &["*_test.rego"], true),
            (&[], &["lib/in/*.rego"], true),
            (&[], &["lib/in/a*"], true),
            (&[], &["lib/in"], true),
            (&[], &["lib/in/"], true),
            (&[], &["lib/inner/*"], true),
            (&["lib/*"], &["lib/in/*"], false),
            (&["lib/*"], &["lib/out/*"], true),
        ] {
            let selection = Selection::new(
                patterns(included).unwrap_or_default(),
                patterns(excluded).unwrap_or_default(),
            );
            let reaches = selection.reaches("lib/in/");
            assert_eq!(reaches, expected, "{included:?} {excluded:?}");
            let takes = ["a.rego", "b/c.json", "x.rego"]
                .iter()
                .any(|file| selection.selects(&format!("lib/in/{file}")));
            assert!(reaches || !takes, "{included:?} {excluded:?}");
        }
    }

    #[rstest]
    #[case::by_default(
        &[],
        &[],
        &["a.rego", "b/a.json", "c.yml", "c.yaml", ".manifest"],
        &[
            "a",
            "rego",
            "README.md",
            "b/.manifest",
            ".signatures.json",
            "a.REGO",
        ]
    )]
    #[case::excluded(&[], &["*_test.rego"], &["a.rego"], &["a_test.rego", "b/a_test.rego"])]
    #[case::included_and_excluded(
        &["b/*"],
        &["b/c/*"],
        &["b/a.rego", "b/d/a.rego"],
        &["a.rego", "b/c/a.rego"]
    )]
    fn files_are_taken_by_their_names(
        #[case] included: &[&str],
        #[case] excluded: &[&str],
        #[case] selected: &[&str],
        #[case] skipped: &[&str],
    ) {
        let selection = Selection::new(
            patterns(included).unwrap_or_default(),
            patterns(excluded).unwrap_or_default(),
        );
        for (paths, expected) in [(selected, true), (skipped, false)] {
            for path in paths {
                assert_eq!(selection.selects(path), expected, "{path}");
            }
        }
    }

    #[test]
    fn broken_patterns_are_refused() {
        assert!(patterns(&["a", "[b"]).is_err());
    }

    #[rstest]
    #[case::no_pattern(&[], &[], None)]
    #[case::no_file(&["*"], &[], Some("*"))]
    #[case::file_that_is_no_policy(&["*"], &["README.md"], None)]
    #[case::first_of_two(&["b/*", "a.rego"], &["a.rego", "c/b/x"], Some("b/*"))]
    #[case::file_that_is_excluded(&["b/*", "*.rego"], &["b/a.rego"], None)]
    #[case::name_of_a_folder(&["ab"], &["ab/x.rego"], Some("ab"))]
    fn patterns_that_meet_nothing_are_known(
        #[case] included: &[&str],
        #[case] files: &[&str],
        #[case] unmatched: Option<&str>,
    ) {
        let selection = Selection::new(
            patterns(included).unwrap_or_default(),
            patterns(&["*.rego"]).unwrap_or_default(),
        );
        let clone = selection.clone();
        let selected = files.iter().filter(|file| clone.selects(file)).count();
        assert!(selected <= files.len());
        assert_eq!(selection.first_unmatched(), unmatched);
    }

    #[test]
    fn skipped_folders_meet_patterns() {
        let selection = Selection::new(
            patterns(&["lib/*", "a/*"]).unwrap_or_default(),
            Patterns::default(),
        );
        selection.record_skipped("lib/in/");
        assert_eq!(selection.first_unmatched(), Some("a/*"));
    }

    #[rstest]
    #[case::full(&[10, 5], false)]
    #[case::long_file(&[11], true)]
    #[case::long_files(&[10, 6], true)]
    #[case::empty_files(&[0, 0, 0], false)]
    #[case::too_many_files(&[0, 0, 0, 0], true)]
    fn quotas_end(#[case] lengths: &[u64], #[case] ends: bool) {
        let limits = Limits {
            file: 10,
            total: 15,
            files: 3,
            ..Limits::default()
        };
        let mut quota = FileQuota::new(&limits);
        let charged: Result<Vec<()>, _> = lengths
            .iter()
            .map(|length| quota.charge("f", *length))
            .collect();
        assert_eq!(charged.is_err(), ends);
    }
}

//! Reads the source files that the tests of this folder check.

use std::fs;
use std::path::{Path, PathBuf};

/// Rust source file, with its path below a folder; the path has `/` as separator.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    /// Returns the module path of the file, as names from the root of its crate.
    pub(crate) fn module(&self) -> Vec<&str> {
        let path = self.path.trim_end_matches(".rs");
        let path = path.strip_suffix("/mod").unwrap_or(path);
        path.split('/').filter(|name| *name != "lib").collect()
    }
}

/// Reads every Rust source file below a folder of the repository.
pub(crate) fn sources(folder: &str) -> Vec<Source> {
    let sources = paths(folder, ".rs").into_iter().map(|path| {
        let file = repository().join(folder).join(&path);
        let text = fs::read_to_string(file).unwrap_or_default();
        Source { path, text }
    });
    sources.collect()
}

/// Returns the sorted paths of the files below a folder that end with a suffix.
pub(crate) fn paths(folder: &str, ending: &str) -> Vec<String> {
    let root = repository().join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files);
    let below = files
        .iter()
        .filter_map(|file| file.strip_prefix(&root).ok());
    let mut paths: Vec<String> = below
        .map(|path| {
            let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            parts.join("/")
        })
        .filter(|path| path.ends_with(ending))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder} has no {ending} files");
    paths
}

pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

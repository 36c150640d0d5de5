//! Policy and data files of the command line.

use std::fs;
use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};
use rego::value::{Object, document_from_json, from_yaml};
use rego::{Compiler, Module, Policy, Value, Version};

use super::parallel_read;
use super::state::Contents;
use super::store;
use bundle::merge;
use http_server::StartError;

/// Maximum nesting of directories, so that a link to a parent ends.
const MAX_FOLDERS: usize = 64;

/// Loads files into compiled contents, except those with ignored names. Policies are of `version`.
pub(super) fn contents(
    paths: &[String],
    ignored: &[String],
    version: Version,
) -> Result<Contents, StartError> {
    read(paths, ignored, version)?.compiled()
}

/// Loads files, see [`contents`], without compiling the policies.
pub(super) fn read(
    paths: &[String],
    ignored: &[String],
    version: Version,
) -> Result<Loaded, StartError> {
    let ignored = patterns(ignored)?;
    let mut found = Files {
        documents: Value::from(Object::new()),
        texts: Vec::new(),
    };
    let read = paths.iter().try_for_each(|path| found.add(path, &ignored));
    let mut modules = Vec::with_capacity(found.texts.len());
    let parsed = Module::parse_all(&found.texts, version);
    for (module, (id, _)) in parsed.into_iter().zip(found.texts) {
        let module = module.map_err(|errors| StartError::new(errors.to_string()))?;
        modules.push((id, module));
    }
    // A reading error is reported after the parse errors of the policies read before it.
    read?;
    Ok(Loaded {
        documents: found.documents,
        modules,
    })
}

/// Splits a command-line argument into the document path and the file path or URL.
pub(super) fn split(path: &str) -> (Vec<&str>, &str) {
    if let Some(path) = path.strip_prefix("file://") {
        return (Vec::new(), path);
    }
    match path.split_once(':') {
        Some((prefix, path)) => (
            prefix.split('.').collect(),
            path.strip_prefix("file://").unwrap_or(path),
        ),
        None => (Vec::new(), path),
    }
}

/// Loaded documents and parsed policies.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) documents: Value,
    /// Parsed policies with their ids.
    pub(super) modules: Vec<(String, Module)>,
}

impl Loaded {
    fn compiled(self) -> Result<Contents, StartError> {
        let mut compiler = Compiler::new(&Policy::default()).documents(&self.documents);
        for (id, module) in self.modules {
            compiler = compiler.put(&id, module);
        }
        let policy = compiler.compile();
        let policy = policy.map_err(|errors| StartError::new(errors.to_string()))?;
        Ok(Contents {
            documents: self.documents,
            policy,
            ..Contents::default()
        })
    }
}

/// Compiles the patterns of ignored names.
pub(super) fn patterns(texts: &[String]) -> Result<GlobSet, StartError> {
    let mut patterns = GlobSetBuilder::new();
    for text in texts {
        let pattern = Glob::new(text)
            .map_err(|source| StartError::new(format!("--ignore `{text}`: {source}")))?;
        patterns.add(pattern);
    }
    let patterns = patterns.build();
    patterns.map_err(|source| StartError::new(format!("--ignore: {source}")))
}

/// Documents and policies read so far.
struct Files {
    documents: Value,
    /// Ids and sources of the policies.
    texts: Vec<(String, String)>,
}

impl Files {
    /// Loads the files at a path of the command line.
    fn add(&mut self, path: &str, ignored: &GlobSet) -> Result<(), StartError> {
        let (prefix, path) = split(path);
        let prefix: Vec<String> = prefix.iter().map(|&name| name.to_owned()).collect();
        let path = Path::new(path);
        let metadata = fs::metadata(path).map_err(|source| refused(path, &source))?;
        if metadata.is_dir() {
            folder(self, path, &prefix, ignored)?;
        } else if !file(self, path, &prefix)? {
            return Err(refused(path, &"not a policy, JSON or YAML file"));
        }
        Ok(())
    }
}

/// Loads the files of a directory into the document at `prefix`. Those of a subdirectory are loaded
/// below its name.
fn folder(
    found: &mut Files,
    path: &Path,
    prefix: &[String],
    ignored: &GlobSet,
) -> Result<(), StartError> {
    if prefix.len() > MAX_FOLDERS {
        return Err(refused(
            path,
            &format!("more than {MAX_FOLDERS} directories deep"),
        ));
    }
    let entries = fs::read_dir(path).map_err(|source| refused(path, &source))?;
    let entries: Result<Vec<_>, _> = entries.collect();
    let mut entries = entries.map_err(|source| refused(path, &source))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if ignored.is_match(entry.file_name()) {
            continue;
        }
        let path = entry.path();
        let metadata = fs::metadata(&path).map_err(|source| refused(&path, &source))?;
        if metadata.is_dir() {
            let mut below = prefix.to_vec();
            below.push(entry.file_name().to_string_lossy().into_owned());
            folder(found, &path, &below, ignored)?;
        } else {
            file(found, &path, prefix)?;
        }
    }
    Ok(())
}

/// Loads a policy or data file; returns false if it has neither extension.
fn file(found: &mut Files, path: &Path, prefix: &[String]) -> Result<bool, StartError> {
    let text = || parallel_read::read(path).map_err(|source| refused(path, &source));
    let extension = path.extension().and_then(|extension| extension.to_str());
    let document = match extension {
        Some("json") => document_from_json(&text()?).map_err(|source| refused(path, &source))?,
        Some("yaml" | "yml") => from_yaml(&text()?).map_err(|source| refused(path, &source))?,
        Some("rego") => {
            found.texts.push(policy(path, text()?)?);
            return Ok(true);
        }
        _ => return Ok(false),
    };
    place(&mut found.documents, path, prefix, document)?;
    Ok(true)
}

/// Policy of a file: its id, which is the path without a leading slash, and its source.
fn policy(path: &Path, text: Vec<u8>) -> Result<(String, String), StartError> {
    let text = String::from_utf8(text).map_err(|source| refused(path, &source))?;
    let path_text = path.to_string_lossy();
    let id = path_text.strip_prefix('/').unwrap_or(&path_text);
    Ok((id.to_owned(), text))
}

/// Merges a document into the root document.
fn place(
    root: &mut Value,
    path: &Path,
    prefix: &[String],
    document: Value,
) -> Result<(), StartError> {
    if document.as_object().is_none() {
        return Err(refused(path, &"the document must be an object"));
    }
    let nested = prefix.iter().rev().fold(document, |inner, name| {
        Value::object([(name.as_str(), inner)])
    });
    merge(root, nested, true).map_err(|at| {
        let at = store::display_path(&at);
        refused(
            path,
            &format!("conflicts with the document of another file at `{at}`"),
        )
    })
}

fn refused(path: &Path, error: &dyn std::fmt::Display) -> StartError {
    StartError::new(format!("file `{}`: {error}", path.display()))
}

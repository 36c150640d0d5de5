//! Data files that the command line names.

use std::fs;
use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};
use rego::Value;
use rego::value::{Object, from_json, from_yaml};

use super::store;
use crate::StartError;

/// Directories may be nested this deep, so that a link to a parent ends.
const MAX_FOLDERS: usize = 64;

/// The root document that the files make together, but for those whose names are ignored.
pub(super) fn documents(paths: &[String], ignored: &[String]) -> Result<Value, StartError> {
    let ignored = patterns(ignored)?;
    let mut root = Value::from(Object::new());
    for path in paths {
        let (prefix, path) = match path.split_once(':') {
            Some((prefix, path)) => (prefix.split('.').map(str::to_owned).collect(), path),
            None => (Vec::new(), path.as_str()),
        };
        let path = Path::new(path);
        let metadata = fs::metadata(path).map_err(|source| refused(path, &source))?;
        if metadata.is_dir() {
            folder(&mut root, path, &prefix, &ignored)?;
        } else {
            let document = match read(path)? {
                Some(document) => document,
                None => return Err(refused(path, &"not a JSON or YAML file")),
            };
            place(&mut root, path, &prefix, document)?;
        }
    }
    Ok(root)
}

fn patterns(texts: &[String]) -> Result<GlobSet, StartError> {
    let mut patterns = GlobSetBuilder::new();
    for text in texts {
        let pattern = Glob::new(text)
            .map_err(|source| StartError::new(format!("--ignore `{text}`: {source}")))?;
        patterns.add(pattern);
    }
    let patterns = patterns.build();
    patterns.map_err(|source| StartError::new(format!("--ignore: {source}")))
}

/// Loads the files of a directory at `prefix`, and those of its directories below their names.
fn folder(
    root: &mut Value,
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
            folder(root, &path, &below, ignored)?;
        } else if let Some(document) = read(&path)? {
            place(root, &path, prefix, document)?;
        }
    }
    Ok(())
}

/// The document of a file, unless its name says that it is something else than data.
fn read(path: &Path) -> Result<Option<Value>, StartError> {
    let text = || fs::read(path).map_err(|source| refused(path, &source));
    let extension = path.extension().and_then(|extension| extension.to_str());
    let document = match extension {
        Some("json") => from_json(&text()?).map_err(|source| refused(path, &source))?,
        Some("yaml" | "yml") => from_yaml(&text()?).map_err(|source| refused(path, &source))?,
        Some("rego") => return Err(refused(path, &"policies are not supported by this build")),
        _ => return Ok(None),
    };
    Ok(Some(document))
}

/// Merges a document into the root.
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
    merge(root, nested, &mut Vec::new()).map_err(|at| {
        let at = store::written(&at);
        refused(path, &format!("another file has something else at `{at}`"))
    })
}

/// Merges objects into each other; the error is the path where that is not possible.
fn merge(into: &mut Value, from: Value, at: &mut Vec<String>) -> Result<(), Vec<String>> {
    if *into == from {
        return Ok(());
    }
    let (Some(members), Value::Object(added)) = (into.as_object_mut(), from) else {
        return Err(at.clone());
    };
    for (name, value) in added.iter() {
        let Some(member) = members.get_value_mut(name) else {
            members.insert(name.clone(), value.clone());
            continue;
        };
        at.push(name.as_str().unwrap_or_default().to_owned());
        merge(member, value.clone(), at)?;
        at.pop();
    }
    Ok(())
}

fn refused(path: &Path, why: &dyn std::fmt::Display) -> StartError {
    StartError::new(format!("data file `{}`: {why}", path.display()))
}

//! The configuration: tokens, and the things that every start and reload declares anew.
//!
//! Files are YAML (so JSON, too); a folder stands for its `.yaml`, `.yml` and `.json` files in
//! the order of their names. All files make one configuration; where two name the same thing,
//! the later one counts. What is declared is created or replaced at every start, and whenever the
//! configuration is read again, so changes over the API last until then. What is no longer
//! declared stays in the database; a token that is no longer declared is gone.

mod file;
mod token;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use self::file::File;
use super::keyring::Keyring;
use super::model::{self, Definition, Entry, Kind};
use super::principal::Keys;

/// What all files together say, ready to be used.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The valid keys.
    pub(crate) keys: Keys,
    /// What is declared; secrets first, so that others may name them.
    pub(crate) entries: Vec<Entry>,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("configuration {place}: {problem}")]
pub(crate) struct ConfigError {
    place: String,
    problem: String,
}

impl ConfigError {
    fn new(place: impl ToString, problem: impl ToString) -> Self {
        Self {
            place: place.to_string(),
            problem: problem.to_string(),
        }
    }

    fn in_file(path: &Path, problem: impl ToString) -> Self {
        Self::new(path.display(), problem)
    }
}

/// Reads the configuration of the given files and folders.
///
/// # Errors
/// When a file cannot be read, holds an unknown key or a wrong value, two tokens have the same
/// key, or an environment variable is missing.
pub(crate) fn load(paths: &[PathBuf], cipher: &Keyring) -> Result<Config, ConfigError> {
    let mut whole = File::default();
    let mut origins = Origins::default();
    for path in paths {
        for path in files(path)? {
            let file = File::read(&path)?;
            origins.note(&file, &path);
            whole.merge(file);
        }
    }
    assemble(whole, &origins, cipher)
}

/// The file itself, or the configuration files of a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = path.read_dir();
    let entries = entries.map_err(|failure| ConfigError::in_file(path, failure))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry
            .map_err(|failure| ConfigError::in_file(path, failure))?
            .path();
        let extension = file.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("yaml" | "yml" | "json")) {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// The file that a thing was declared in last.
#[derive(Debug, Default)]
struct Origins(HashMap<(Option<Kind>, String), PathBuf>);

impl Origins {
    fn note(&mut self, file: &File, path: &Path) {
        for (kind, name) in file.names() {
            self.0.insert((kind, name.to_owned()), path.to_owned());
        }
    }

    /// The place of a thing, or of a token.
    fn place(&self, kind: Option<Kind>, name: &str) -> String {
        let file = self.0.get(&(kind, name.to_owned()));
        let file = file.map_or(Path::new(""), PathBuf::as_path).display();
        let kind = kind.map_or("token", Kind::name);
        format!("{file}: {kind} `{name}`")
    }
}

fn assemble(file: File, origins: &Origins, cipher: &Keyring) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    for (name, token) in &file.tokens {
        let place = || origins.place(None, name);
        model::check_name(name).map_err(|invalid| ConfigError::new(place(), invalid))?;
        let added = config.keys.add(name, token.role(), token.digest());
        added.map_err(|other| {
            ConfigError::new(place(), format!("has the same key as token `{other}`"))
        })?;
    }
    for (name, secret) in file.secrets {
        let failed =
            |problem: String| ConfigError::new(origins.place(Some(Kind::Secret), &name), problem);
        model::check_name(&name).map_err(|invalid| failed(invalid.to_string()))?;
        let given = secret.0;
        let text = cipher.seal(&name, &given.secret.to_bytes());
        let text = text.map_err(|failure| failed(failure.to_string()))?;
        config
            .entries
            .push(Entry::secret(&name, text, given.shared));
    }
    config.entries.extend(entries(file.sources, origins)?);
    config.entries.extend(entries(file.bundles, origins)?);
    config.entries.extend(entries(file.stacks, origins)?);
    Ok(config)
}

fn entries<D: Definition>(
    definitions: BTreeMap<String, D>,
    origins: &Origins,
) -> Result<Vec<Entry>, ConfigError> {
    let definitions = definitions.into_iter();
    let entries = definitions.map(|(name, definition)| {
        let entry = model::entry(&name, definition);
        entry.map_err(|invalid| ConfigError::new(origins.place(Some(D::KIND), &name), invalid))
    });
    entries.collect()
}

//! Configuration: tokens, and the definitions that every start and reload applies.
//!
//! Files are YAML (so JSON, too); a folder stands for its `.yaml`, `.yml` and `.json` files in
//! the order of their names. All files make one configuration; where two name the same thing,
//! the later one counts. What is declared is created or replaced at every start, and whenever the
//! configuration is read again, so changes over the API last until then. What is no longer
//! declared stays in the database; a token that is no longer declared is gone. Where the database
//! is, and what the paths of the API begin with, is taken at the start only.

mod database;
mod file;
mod service;
mod source;
mod token;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use tracing::warn;

use self::file::File;
use super::keyring::Keyring;
use super::model::{self, Definition, Entry, Kind};
use super::principal::Keys;
use super::store::DatabaseUrl;

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

/// What all files together say.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    whole: File,
    origins: Origins,
}

/// Reads the configuration of the given files and folders.
///
/// # Errors
/// When a file cannot be read, holds an unknown key or a wrong value, or an environment variable
/// is missing.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Declared, ConfigError> {
    let mut declared = Declared::default();
    for path in paths {
        for path in files(path)? {
            let file = File::read(&path)?;
            for section in file.without_effect() {
                warn!(file = %path.display(), section, "a section of the configuration has no effect");
            }
            declared.origins.note(&file, &path);
            declared.whole.merge(file);
        }
    }
    Ok(declared)
}

impl Declared {
    /// The address of the database, if one is configured.
    ///
    /// # Errors
    /// When that is none that can be used.
    pub(crate) fn database(&self) -> Result<Option<DatabaseUrl>, ConfigError> {
        let section = self.whole.database.as_ref();
        let url = section.map_or(Ok(None), database::Section::url);
        url.map_err(|problem| {
            let file = self.origins.database.as_path();
            ConfigError::in_file(file, problem)
        })
    }

    /// What the paths of the API begin with; empty, or a slash and what follows.
    pub(crate) fn api_prefix(&self) -> &str {
        let service = self.whole.service.as_ref();
        service.map_or("", |service| &service.api_prefix)
    }

    /// What is declared, with its secrets encrypted.
    ///
    /// # Errors
    /// When two tokens have the same key, or something cannot be as it is declared.
    pub(crate) fn sealed(self, cipher: &Keyring) -> Result<Config, ConfigError> {
        assemble(self.whole, &self.origins, cipher)
    }
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
struct Origins {
    things: HashMap<(Option<Kind>, String), PathBuf>,
    database: PathBuf,
}

impl Origins {
    fn note(&mut self, file: &File, path: &Path) {
        for (kind, name) in file.names() {
            let thing = (kind, name.to_owned());
            self.things.insert(thing, path.to_owned());
        }
        if file.database.is_some() {
            path.clone_into(&mut self.database);
        }
    }

    /// The place of a thing, or of a token.
    fn place(&self, kind: Option<Kind>, name: &str) -> String {
        let file = self.things.get(&(kind, name.to_owned()));
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
    let sources = file.sources.into_iter();
    let sources = sources.map(|(name, source)| (name, source.0)).collect();
    config.entries.extend(entries(sources, origins)?);
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

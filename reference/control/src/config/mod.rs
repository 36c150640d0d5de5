//! Configuration: tokens, and the definitions that every start and reload applies.
//!
//! Files are YAML or JSON. For a folder, its `.yaml`, `.yml` and `.json` files are read in the
//! order of their names. All files form one configuration; for two definitions or tokens of the
//! same name, the later one applies. Declared definitions are created or replaced at every start
//! and every reload, so changes over the API last until then. Definitions that are no longer
//! declared stay in the database; a token that is no longer declared stops working. The address of
//! the database and the prefix of the API paths take effect at the start only.

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

/// Merged configuration of all files, with encrypted secrets.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The valid keys.
    pub(crate) keys: Keys,
    /// Declared definitions: secrets first, because others may reference them.
    pub(crate) entries: Vec<Entry>,
}

/// Reason why the configuration cannot be used.
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

/// Merged configuration of all files, before its secrets are encrypted.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    merged: File,
    origins: Origins,
}

/// Reads the configuration of the given files and folders.
///
/// # Errors
/// When a file cannot be read or is invalid, or an environment variable is not set.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Declared, ConfigError> {
    let mut declared = Declared::default();
    for path in paths {
        for path in files(path)? {
            let file = File::read(&path)?;
            for section in file.without_effect() {
                warn!(file = %path.display(), section, "a section of the configuration has no effect");
            }
            declared.origins.record(&file, &path);
            declared.merged.merge(file);
        }
    }
    Ok(declared)
}

impl Declared {
    /// Returns the address of the database, if one is configured.
    ///
    /// # Errors
    /// When the database is not supported or its address is invalid.
    pub(crate) fn database(&self) -> Result<Option<DatabaseUrl>, ConfigError> {
        let section = self.merged.database.as_ref();
        let url = section.map_or(Ok(None), database::Section::url);
        url.map_err(|problem| {
            let file = self.origins.database.as_path();
            ConfigError::in_file(file, problem)
        })
    }

    /// Returns the prefix of the API paths; empty, or beginning with a slash.
    pub(crate) fn api_prefix(&self) -> &str {
        let service = self.merged.service.as_ref();
        service.map_or("", |service| &service.api_prefix)
    }

    /// Validates the declarations, and encrypts the secrets.
    ///
    /// # Errors
    /// When two tokens have the same key, or a declaration is invalid.
    pub(crate) fn sealed(self, cipher: &Keyring) -> Result<Config, ConfigError> {
        assemble(self.merged, &self.origins, cipher)
    }
}

/// Returns the path itself, or the configuration files of a folder.
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

/// For each definition and token, the file with its last declaration.
#[derive(Debug, Default)]
struct Origins {
    files: HashMap<(Option<Kind>, String), PathBuf>,
    database: PathBuf,
}

impl Origins {
    fn record(&mut self, file: &File, path: &Path) {
        for (kind, name) in file.names() {
            let key = (kind, name.to_owned());
            self.files.insert(key, path.to_owned());
        }
        if file.database.is_some() {
            path.clone_into(&mut self.database);
        }
    }

    /// Returns the file and name of a definition or token, for messages.
    fn place(&self, kind: Option<Kind>, name: &str) -> String {
        let file = self.files.get(&(kind, name.to_owned()));
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
        let parsed = secret.0;
        let text = cipher.seal(&name, &parsed.secret.to_bytes());
        let text = text.map_err(|failure| failed(failure.to_string()))?;
        config
            .entries
            .push(Entry::secret(&name, text, parsed.shared));
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

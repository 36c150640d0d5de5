//! Command line options of the control plane.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tracing::info;
use zeroize::Zeroizing;

use super::allowed_hosts::AllowedHosts;
use super::builder::{Access, EvaluationBounds, Limits};
use super::cipher::{Cipher, CipherError};
use super::keyring::Keyring;
use super::storage::AllowedStorages;
use super::store::{Contents, Database, DatabaseUrl, tighten};
use super::worker::Settings;
use http_server::StartError;
use http_server::units::{duration, size_or_none};

/// Environment variable with the encryption key. There is no flag for it, because process listings
/// show flags.
pub(super) const KEY_VARIABLE: &str = "REFERENCE_ENCRYPTION_KEY";

/// Environment variable with a further key, with which some secrets may still be encrypted.
const PREVIOUS_KEY_VARIABLE: &str = "REFERENCE_PREVIOUS_ENCRYPTION_KEY";

/// Environment variable with the new key of a rotation.
pub(super) const NEW_KEY_VARIABLE: &str = "REFERENCE_NEW_ENCRYPTION_KEY";

/// Command-line options of the control plane.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "control")]
pub struct Options {
    /// Configuration file, or folder of such files; may be repeated: values of later files win
    #[arg(long, value_name = "FILE|DIR")]
    pub(super) config: Vec<PathBuf>,
    /// Database: sqlite:FILE, sqlite::memory: or postgres://USER@HOST/NAME. Default: the database
    /// in the configuration, else sqlite:control.db
    #[arg(
        long,
        value_name = "URL",
        env = "REFERENCE_DATABASE",
        hide_env_values = true
    )]
    pub(super) database: Option<DatabaseUrl>,
    /// File with the key that encrypts secrets: 32 random bytes in Base64. Default: the environment
    /// variable REFERENCE_ENCRYPTION_KEY; without it, a key file is created next to an SQLite file
    #[arg(long, value_name = "FILE")]
    pub(super) encryption_key_file: Option<PathBuf>,
    /// File with a further key that decrypts secrets, before or after a rotation; may be repeated.
    /// Default: the environment variable REFERENCE_PREVIOUS_ENCRYPTION_KEY
    #[arg(long, value_name = "FILE")]
    pub(super) previous_encryption_key_file: Vec<PathBuf>,
    /// Folder that contains the directories and local repositories of sources; may be repeated.
    /// Without it, sources cannot read the disk of the server
    #[arg(long, value_name = "DIR")]
    pub(super) source_root: Vec<PathBuf>,
    /// Folder whose subfolders are the libraries for `builtin` of sources; may be repeated: the
    /// first folder with the library is used. Without it, there are no libraries
    #[arg(long, value_name = "DIR")]
    pub(super) builtin_root: Vec<PathBuf>,
    /// Folder below which bundles are written to files; may be repeated: relative paths are below
    /// the first. Without it, no bundle is written to the disk of the server
    #[arg(long, value_name = "DIR")]
    pub(super) bundle_root: Vec<PathBuf>,
    /// Host that datasources, repositories and custom URLs of object storages may use, such as
    /// `git.example.com`, `*.example.com` or `127.0.0.1:9000`; may be repeated. Without it, no host
    /// is allowed
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(super) allow_host: Vec<String>,
    /// Allow secrets to be sent over plain HTTP to datasources, repositories and object storages
    #[arg(long)]
    pub(super) allow_secrets_over_http: bool,
    /// Environment variable that is available to `revision` of bundles in opa.runtime().env; may be
    /// repeated. Without it, none is
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) revision_env: Vec<String>,
    /// Folder in storages that contains one folder per owner, PREFIX/NAME/, for its bundles; may be
    /// empty. Administrators may write bundles anywhere. Without this option, all owners may
    #[arg(long, value_name = "PREFIX")]
    pub(super) owner_prefix: Option<String>,
    /// Folder in which this process keeps its copies of repositories across restarts. Default: a
    /// temporary folder
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: Option<PathBuf>,
    /// Interval at which bundles are rebuilt without a changed definition, such as 30s or 5m
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub(super) rebuild_interval: Duration,
    /// Maximum number of concurrent builds
    #[arg(long, value_name = "COUNT", default_value = "4")]
    pub(super) concurrent_builds: NonZeroUsize,
    /// Time limit of `revision` and all `transform_query` of a build together, such as 500ms or 5s;
    /// 0: unlimited
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration)]
    pub(super) build_evaluation_timeout: Duration,
    /// Memory limit of the values that they allocate, such as 64MiB; 0: unlimited
    #[arg(long, value_name = "SIZE", default_value = "128MiB", value_parser = size_or_none)]
    pub(super) build_evaluation_memory: u64,
    /// Only serve the API; another process on the same database builds the bundles
    #[arg(long)]
    pub(super) no_builder: bool,
}

/// Returns the values of the environment variables that are set.
fn variables(names: &[String]) -> BTreeMap<String, String> {
    let set = |name: &String| Some((name.clone(), std::env::var(name).ok()?));
    names.iter().filter_map(set).collect()
}

/// Strips the slashes at both ends of a prefix.
fn trimmed(prefix: &str) -> String {
    prefix.trim_matches('/').to_owned()
}

impl Options {
    /// Converts the options to the settings of requests and builds.
    ///
    /// # Errors
    /// When a folder does not exist, a pattern is invalid, or the interval between builds is zero.
    pub(super) fn settings(&self) -> Result<Settings, StartError> {
        let roots = [&self.source_root, &self.builtin_root, &self.bundle_root];
        for root in roots.into_iter().flatten() {
            if !root.is_dir() {
                let message = format!("`{}` is not a directory", root.display());
                return Err(StartError::new(message));
            }
        }
        if self.rebuild_interval.is_zero() {
            return Err(StartError::new("--rebuild-interval must be longer than 0"));
        }
        let prefix = self.owner_prefix.as_deref().unwrap_or_default();
        if prefix.split('/').any(|step| matches!(step, "." | "..")) {
            return Err(StartError::new("--owner-prefix must not hold `.` or `..`"));
        }
        if let Err(why) = AllowedHosts::read(&self.allow_host) {
            return Err(StartError::new(format!("--allow-host {why}")));
        }
        Ok(Settings {
            access: Access {
                source_roots: self.source_root.clone(),
                builtin_roots: self.builtin_root.clone(),
                hosts: self.allow_host.clone(),
                secrets_over_http: self.allow_secrets_over_http,
                environment: variables(&self.revision_env),
                programs: PathBuf::new(),
                limits: Limits {
                    evaluations: self.evaluation_bounds(),
                    ..Limits::default()
                },
            },
            destinations: AllowedStorages {
                roots: self.bundle_root.clone(),
                hosts: self.allow_host.clone(),
                secrets_over_http: self.allow_secrets_over_http,
            },
            owner_prefix: self.owner_prefix.as_deref().map(trimmed),
            work: self.data_dir.clone(),
            interval: self.rebuild_interval,
            concurrent: match self.no_builder {
                true => 0,
                false => self.concurrent_builds.get(),
            },
        })
    }

    /// Returns the limits on the time and memory of evaluations in a build.
    fn evaluation_bounds(&self) -> EvaluationBounds {
        let (time, memory) = (self.build_evaluation_timeout, self.build_evaluation_memory);
        EvaluationBounds {
            time: Some(time).filter(|time| !time.is_zero()),
            memory: Some(memory).filter(|bytes| *bytes > 0),
        }
    }

    /// Returns the address of the database.
    pub(super) fn database_url(&self) -> DatabaseUrl {
        self.database.clone().unwrap_or_default()
    }

    /// Parses the address of the database.
    ///
    /// # Errors
    /// When the kind of the database is not supported.
    pub(super) fn check_database(&self) -> Result<Database, StartError> {
        let message =
            "the database must be sqlite:FILE, sqlite::memory: or postgres://USER@HOST/NAME";
        match self.database_url().database() {
            None => Err(StartError::new(message)),
            Some(Database::Postgres) if cfg!(not(feature = "postgres")) => Err(StartError::new(
                "this build does not support PostgreSQL (feature `postgres`)",
            )),
            Some(database) => Ok(database),
        }
    }

    /// Returns the keys from the options, the environment or the key file next to the SQLite file.
    /// For an SQLite file without a key check, a missing key file is created; a database in memory
    /// has a temporary key.
    ///
    /// # Errors
    /// When there is no usable key for the database.
    pub(super) fn keyring(&self, contents: &Contents) -> Result<Keyring, StartError> {
        if let Some(keyring) = self.given_keyring()? {
            return Ok(keyring);
        }
        let current = match self.check_database()? {
            Database::Memory => Cipher::ephemeral()?,
            Database::File(file) => {
                let path = key_beside(&file);
                if matches!(contents, Contents::Ours { check: Some(_) }) {
                    return Err(StartError::new(format!(
                        "the encryption key file `{}` is gone, and without it the secrets of \
                         the database cannot be read; put it back, or give the key with \
                         --encryption-key-file or {KEY_VARIABLE}",
                        path.display()
                    )));
                }
                info!(file = %path.display(), "the encryption key is in a file next to the database");
                Cipher::from_file_or_new(&path)?
            }
            Database::Postgres => {
                return Err(StartError::new(format!(
                    "PostgreSQL needs an encryption key: give --encryption-key-file or {KEY_VARIABLE}"
                )));
            }
        };
        Ok(Keyring::new(current, self.previous_keys()?))
    }

    /// Returns the keys from the options, the environment or an existing key file; `None` without a
    /// current key.
    ///
    /// # Errors
    /// When a given key cannot be used.
    pub(super) fn given_keyring(&self) -> Result<Option<Keyring>, StartError> {
        let key = match (&self.encryption_key_file, self.check_database()?) {
            (Some(path), _) => Some(Cipher::from_file(path)),
            (None, database) => from_variable(KEY_VARIABLE).or_else(|| match database {
                Database::File(file) => {
                    let path = key_beside(&file);
                    tighten(&path);
                    path.exists().then(|| Cipher::from_file(&path))
                }
                Database::Memory | Database::Postgres => None,
            }),
        };
        match key {
            Some(current) => Ok(Some(Keyring::new(current?, self.previous_keys()?))),
            None => Ok(None),
        }
    }

    fn previous_keys(&self) -> Result<Vec<Cipher>, StartError> {
        let files = self.previous_encryption_key_file.iter();
        let mut keys = Vec::new();
        for key in files.map(|path| Cipher::from_file(path)) {
            keys.push(key?);
        }
        if keys.is_empty()
            && let Some(key) = from_variable(PREVIOUS_KEY_VARIABLE)
        {
            keys.push(key?);
        }
        Ok(keys)
    }
}

/// Returns the path of the default key file of an SQLite file.
pub(super) fn key_beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".key");
    PathBuf::from(name)
}

/// Reads the key in an environment variable, if it is set.
pub(super) fn from_variable(name: &str) -> Option<Result<Cipher, CipherError>> {
    let text = std::env::var(name).map(Zeroizing::new).ok()?;
    Some(Cipher::from_text(&text))
}

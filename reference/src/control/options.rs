//! What the command line says about the control plane.

use std::path::PathBuf;

use tracing::info;
use zeroize::Zeroizing;

use super::cipher::{Cipher, CipherError};
use super::store::{Database, DatabaseUrl};
use crate::StartError;

/// The environment variable with the encryption key. It is no flag, because flags show in lists
/// of processes.
const KEY_VARIABLE: &str = "REFERENCE_ENCRYPTION_KEY";

/// What the command line says about the control plane.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "control")]
pub struct Options {
    /// Configuration file, or a folder of them; may be repeated, later files count
    #[arg(long, value_name = "FILE|DIR")]
    pub(super) config: Vec<PathBuf>,
    /// Database: sqlite:FILE, sqlite::memory: or postgres://USER@HOST/NAME
    #[arg(
        long,
        value_name = "URL",
        default_value = "sqlite:control.db",
        env = "REFERENCE_DATABASE",
        hide_env_values = true
    )]
    pub(super) database: DatabaseUrl,
    /// File with the key that encrypts secrets, 32 random bytes in base64; otherwise the variable
    /// REFERENCE_ENCRYPTION_KEY counts, and beside an SQLite file a key file is made
    #[arg(long, value_name = "FILE")]
    pub(super) encryption_key_file: Option<PathBuf>,
}

impl Options {
    /// The cipher with the key that the options, the environment or the database lead to.
    ///
    /// # Errors
    /// When the database is none that can be used, or there is no usable key for it.
    pub(super) fn cipher(&self) -> Result<Cipher, StartError> {
        let Some(database) = self.database.database() else {
            return Err(StartError::new(
                "the database must be sqlite:FILE, sqlite::memory: or postgres://USER@HOST/NAME",
            ));
        };
        let from_environment = std::env::var(KEY_VARIABLE).map(Zeroizing::new);
        let cipher = match (&self.encryption_key_file, from_environment, database) {
            (Some(path), _, _) => Cipher::from_file(path),
            (None, Ok(text), _) => Cipher::from_text(&text),
            (None, Err(_), Database::Memory) => Cipher::ephemeral(),
            (None, Err(_), Database::File(file)) => {
                let path = PathBuf::from(format!("{}.key", file.display()));
                info!(file = %path.display(), "the encryption key is in a file beside the database");
                Cipher::from_file_or_new(&path)
            }
            (None, Err(_), Database::Postgres) => {
                return Err(StartError::new(format!(
                    "PostgreSQL needs an encryption key: give --encryption-key-file or {KEY_VARIABLE}"
                )));
            }
        };
        cipher.map_err(|failure: CipherError| StartError::new(failure.to_string()))
    }
}

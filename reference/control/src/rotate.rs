//! `reference control rotate-key`: rotates the encryption key of the database.

use std::path::PathBuf;

use super::cipher::{Cipher, CipherError};
use super::keyring::Keyring;
use super::options::{KEY_VARIABLE, NEW_KEY_VARIABLE, from_variable, key_beside};
use super::store::{Contents, Database, DatabaseUrl, Store, inspect};
use http_server::StartError;

/// Re-encrypt all secrets of a database with another key, in one transaction
///
/// Servers of the database continue to work meanwhile if they have both keys: start them with the
/// new key as --encryption-key-file and the old one as --previous-encryption-key-file, rotate the
/// key, then remove the old one. `head -c 32 /dev/urandom | base64` creates a key.
#[derive(Debug, Clone, clap::Args)]
pub struct RotateKey {
    /// Database: sqlite:FILE or postgres://USER@HOST/NAME
    #[arg(
        long,
        value_name = "URL",
        default_value = "sqlite:control.db",
        env = "REFERENCE_DATABASE",
        hide_env_values = true
    )]
    database: DatabaseUrl,
    /// File with the present key. Default: the environment variable REFERENCE_ENCRYPTION_KEY, else
    /// the key file next to an SQLite file
    #[arg(long, value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
    /// File with the new key. Default: the environment variable REFERENCE_NEW_ENCRYPTION_KEY
    #[arg(long, value_name = "FILE")]
    new_encryption_key_file: Option<PathBuf>,
}

impl RotateKey {
    /// Rotates the key, and returns a message about the result. A repeated rotation changes
    /// nothing.
    ///
    /// # Errors
    /// When a key or the database cannot be used; then nothing changes.
    pub async fn run(&self) -> Result<String, StartError> {
        let new = self.new_key()?;
        let old = self.old_key()?;
        if !matches!(inspect(&self.database).await?, Contents::Ours { .. }) {
            return Err(StartError::new(
                "the database holds nothing of a control plane",
            ));
        }
        let keyring = Keyring::new(self.new_key()?, vec![old]);
        let new = Keyring::new(new, Vec::new());
        let store = Store::connect(&self.database).await?;
        let rotated = store.rotate_key(
            |check| keyring.adopt(check).and_then(|()| new.check()),
            |name, sealed| new.seal(name, &keyring.open(name, sealed)?),
        );
        let secrets = rotated.await;
        let secrets = secrets.map_err(|failure| StartError::new(failure.to_string()))?;
        Ok(format!("{secrets} secrets are encrypted with the new key"))
    }

    fn new_key(&self) -> Result<Cipher, StartError> {
        let key = match &self.new_encryption_key_file {
            Some(path) => Some(Cipher::from_file(path)),
            None => from_variable(NEW_KEY_VARIABLE),
        };
        let missing = || {
            StartError::new(format!(
                "there is no new key: give --new-encryption-key-file or {NEW_KEY_VARIABLE}"
            ))
        };
        Ok(key.ok_or_else(missing)??)
    }

    fn old_key(&self) -> Result<Cipher, StartError> {
        let key = match &self.encryption_key_file {
            Some(path) => Some(Cipher::from_file(path)),
            None => from_variable(KEY_VARIABLE),
        };
        match (key, self.database.database()) {
            (Some(key), _) => Ok(key?),
            (None, Some(Database::File(file))) => Ok(Cipher::from_file(&key_beside(&file))?),
            (None, _) => Err(StartError::new(format!(
                "there is no old key: give --encryption-key-file or {KEY_VARIABLE}"
            ))),
        }
    }
}

impl From<CipherError> for StartError {
    fn from(failure: CipherError) -> Self {
        Self::new(failure.to_string())
    }
}

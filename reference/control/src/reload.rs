//! Loading of the configuration, at the start and at each reload.

use std::sync::Arc;

use tracing::warn;

use super::Control;
use super::cipher::CipherError;
use super::config::{self, Config};
use super::keyring::Keyring;
use super::startup_migration;
use super::store::StoreError;
use http_server::ApiError;
use http_server::StartError;

/// Maximum number of attempts to repeat loading after a concurrent rotation of the key.
const ROTATIONS: usize = 2;

impl Control {
    /// Reloads the configuration and the encryption keys, and applies the declared definitions.
    /// From the next request on, only the configured tokens are accepted.
    ///
    /// # Errors
    /// When a file, a key or a definition cannot be used; then nothing changes.
    pub async fn reload(&self) -> Result<(), StartError> {
        let keyring = self.options.given_keyring()?;
        let cipher = keyring.as_ref().unwrap_or(&self.cipher);
        cipher
            .adopt(&self.store.key_check().await?)
            .map_err(refused)?;
        let config = config::read(&self.options.config).map_err(refused)?;
        let config = config.sealed(cipher).map_err(refused)?;
        self.apply(config, cipher).await?;
        if let Some(keyring) = &keyring {
            self.cipher.replace(keyring);
        }
        Ok(())
    }

    /// Applies the definitions of a configuration, then its tokens. Returns the number of
    /// definitions.
    ///
    /// # Errors
    /// When a declared definition is refused; then nothing changes.
    pub(super) async fn apply(
        &self,
        mut config: Config,
        cipher: &Keyring,
    ) -> Result<usize, StartError> {
        let mut rotations = 0..ROTATIONS;
        loop {
            self.settle(&mut config).await?;
            match self.store.declare(&config.entries).await {
                Ok(()) => break,
                Err(StoreError::KeyRotated) if rotations.next().is_some() => {
                    cipher
                        .adopt(&self.store.key_check().await?)
                        .map_err(refused)?;
                    let reread = config::read(&self.options.config).map_err(refused)?;
                    config = reread.sealed(cipher).map_err(refused)?;
                }
                Err(failure) => return Err(StartError::new(format!("configuration: {failure}"))),
            }
        }
        if config.keys.is_empty() {
            warn!("the configuration has no tokens, so every request below /v1 will be refused");
        }
        self.keys.store(Arc::new(config.keys));
        Ok(config.entries.len())
    }

    /// Resolves the storage locations of declared definitions, and migrates stored definitions.
    async fn settle(&self, config: &mut Config) -> Result<(), StartError> {
        let Config { keys, entries, .. } = config;
        let roots = &self.options.bundle_root;
        let migrated = startup_migration::migrate(&self.store, keys, entries, roots).await;
        migrated.map_err(refused)
    }

    /// Makes the key of a concurrent rotation the active one, if this server has it.
    ///
    /// # Errors
    /// When the server does not have the key, or the database fails.
    pub(super) async fn follow_rotation(&self) -> Result<(), ApiError> {
        let check = self.store.key_check().await?;
        let adopted = self.cipher.adopt(&check);
        Ok(adopted.map_err(|_| CipherError::Rotated)?)
    }
}

fn refused(failure: impl std::error::Error) -> StartError {
    StartError::new(failure.to_string())
}

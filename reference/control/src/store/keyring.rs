//! The key check of the database, and the rotation of its encryption key.
//!
//! A transaction that stores secrets locks the key check until its end and compares the key; a
//! rotation locks it exclusively. So no secret is stored with the old key after a rotation.

use sqlx::{Any, Row as _, Transaction, query};

use super::{Store, StoreError};
use crate::cipher::{CipherError, key_id};
use crate::model::{Entry, Kind};

/// Reason why the encryption key was not rotated; then nothing has changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RotateError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Cipher(#[from] CipherError),
    #[error("secret `{0}` is encrypted with neither the old nor the new key")]
    Unreadable(String),
    #[error("the database has no encryption key yet")]
    NoKey,
}

impl From<sqlx::Error> for RotateError {
    fn from(failure: sqlx::Error) -> Self {
        Self::Store(failure.into())
    }
}

impl Store {
    /// Returns the key check of the database.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn key_check(&self) -> Result<String, StoreError> {
        let check = query("SELECT sealed FROM keyring");
        Ok(check.fetch_one(self.reader()).await?.try_get(0)?)
    }

    /// Checks that secrets are sealed with the key of the database, and prevents its rotation until
    /// the transaction ends.
    ///
    /// # Errors
    /// `KeyRotated` when one is sealed with another key.
    pub(super) async fn lock_key(
        &self,
        transaction: &mut Transaction<'static, Any>,
        entries: &[Entry],
    ) -> Result<(), StoreError> {
        let mut secrets = entries.iter().filter(|entry| entry.kind == Kind::Secret);
        if secrets.clone().next().is_none() {
            return Ok(());
        }
        let select = self.locking(
            "SELECT sealed FROM keyring",
            "SELECT sealed FROM keyring FOR SHARE",
        );
        let row = query(select).fetch_one(&mut **transaction).await?;
        let check: String = row.try_get(0)?;
        match secrets.all(|secret| key_id(&secret.text) == key_id(&check)) {
            true => Ok(()),
            false => Err(StoreError::KeyRotated),
        }
    }

    /// Reseals all secrets and the key check in one transaction; returns the number of secrets.
    /// `reseal` gets the name and the sealed value of each, `check` the key check.
    ///
    /// # Errors
    /// When the database fails, or a secret cannot be opened; then nothing has changed.
    pub(crate) async fn rotate_key(
        &self,
        check: impl FnOnce(&str) -> Result<String, CipherError>,
        reseal: impl Fn(&str, &str) -> Result<String, CipherError>,
    ) -> Result<usize, RotateError> {
        let mut transaction = self.begin().await?;
        let select = self.locking(
            "SELECT sealed FROM keyring",
            "SELECT sealed FROM keyring FOR UPDATE",
        );
        let row = query(select).fetch_optional(&mut *transaction).await?;
        let old: String = row.ok_or(RotateError::NoKey)?.try_get(0)?;
        let new = check(&old)?;
        let select = "SELECT id, name, definition FROM resources WHERE kind = $1 ORDER BY id";
        let select = query(select).bind(Kind::Secret.name());
        let secrets = select.fetch_all(&mut *transaction).await?;
        for secret in &secrets {
            let (id, name): (i64, String) = (secret.try_get(0)?, secret.try_get(1)?);
            let sealed: String = secret.try_get(2)?;
            let resealed = match reseal(&name, &sealed) {
                Err(CipherError::OtherKey) => return Err(RotateError::Unreadable(name)),
                resealed => resealed?,
            };
            let update = query("UPDATE resources SET definition = $1 WHERE id = $2");
            let update = update.bind(resealed).bind(id);
            update.execute(&mut *transaction).await?;
        }
        let update = query("UPDATE keyring SET sealed = $1").bind(new);
        update.execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(secrets.len())
    }
}

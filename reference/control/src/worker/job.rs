//! Loads the inputs of a build.

use std::collections::BTreeMap;
use std::io;

use sha2::{Digest, Sha256};

use crate::Control;
use crate::builder::{Job, SourceInput};
use crate::cipher::CipherError;
use crate::model::Secret;
use crate::store::{BuildInputs, StoreError};

/// Reason why the inputs of a build cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum JobError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Content(#[from] ContentError),
}

/// Reason why a stored value cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ContentError {
    #[error(transparent)]
    Cipher(#[from] CipherError),
    #[error("a stored definition cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// Inputs loaded for a build.
#[derive(Debug)]
pub(super) struct LoadedInputs {
    pub(super) job: Job,
    /// Digest of all stored inputs of the build; `None` when only the bundle was loaded.
    pub(super) digest: Option<String>,
}

impl Control {
    /// Loads the inputs of a bundle, with secrets decrypted; `None` when the bundle is deleted.
    ///
    /// # Errors
    /// When they cannot be read or decrypted, or have more than `limit` bytes of source data.
    pub(super) async fn job(
        &self,
        bundle: i64,
        limit: u64,
    ) -> Result<Option<LoadedInputs>, JobError> {
        let Some(inputs) = self.store.inputs(bundle, limit).await? else {
            return Ok(None);
        };
        let digest = Some(digest(&inputs).map_err(ContentError::from)?);
        let job = self.read(inputs)?;
        Ok(Some(LoadedInputs { job, digest }))
    }

    /// Loads a bundle, with secrets decrypted and without sources: enough to check its storage.
    ///
    /// # Errors
    /// When the bundle cannot be read or decrypted.
    pub(super) async fn bundle_alone(&self, bundle: i64) -> Result<Option<LoadedInputs>, JobError> {
        let Some(inputs) = self.store.bundle(bundle).await? else {
            return Ok(None);
        };
        let (job, digest) = (self.read(inputs)?, None);
        Ok(Some(LoadedInputs { job, digest }))
    }

    fn read(&self, inputs: BuildInputs) -> Result<Job, ContentError> {
        let mut sources = BTreeMap::new();
        for (name, source) in inputs.sources {
            let input = SourceInput {
                definition: serde_json::from_str(&source.definition)?,
                documents: source.documents,
                secrets: self.opened(source.secrets)?,
            };
            sources.insert(name, input);
        }
        Ok(Job {
            name: inputs.name,
            bundle: inputs.bundle,
            stacks: inputs.stacks,
            sources,
            secrets: self.opened(inputs.secrets)?,
        })
    }

    /// Decrypts secrets, by name.
    fn opened(
        &self,
        sealed: BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, Secret>, CipherError> {
        let secrets = sealed.into_iter().map(|(name, sealed)| {
            let value = self.cipher.open(&name, &sealed)?;
            Ok((name, Secret::opened(value)))
        });
        secrets.collect()
    }
}

/// Computes a digest of the stored inputs, with secrets as they are sealed.
fn digest(inputs: &BuildInputs) -> Result<String, serde_json::Error> {
    /// Writer that hashes its input.
    struct Hash(Sha256);
    impl io::Write for Hash {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hash = Hash(Sha256::new());
    serde_json::to_writer(&mut hash, inputs)?;
    Ok(hex::encode(hash.0.finalize()))
}

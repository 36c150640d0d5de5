//! Loads the inputs of a build.

use std::collections::BTreeMap;
use std::io;

use sha2::{Digest, Sha256};

use crate::control::Control;
use crate::control::builder::{Job, SourceInput};
use crate::control::cipher::CipherError;
use crate::control::model::Secret;
use crate::control::store::{BuildInputs, StoreError};

/// Why the inputs of a build cannot be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum JobError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Content(#[from] ContentError),
}

/// What is stored, and cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ContentError {
    #[error(transparent)]
    Cipher(#[from] CipherError),
    #[error("a stored definition cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// What was read for a build.
#[derive(Debug)]
pub(super) struct LoadedInputs {
    pub(super) job: Job,
    /// A digest of all that is stored of it; `None` when no more than the bundle was read.
    pub(super) digest: Option<String>,
}

impl Control {
    /// What a bundle is built from, with its secrets opened; `None` when it is deleted.
    ///
    /// # Errors
    /// When it cannot be read or opened, or has more than `limit` bytes of source data.
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

    /// A bundle, with its secrets opened and without sources: enough to look at its storage.
    ///
    /// # Errors
    /// When it cannot be read or opened.
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

    /// Secrets by name, opened.
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

/// A digest of what is stored, secrets as they are sealed.
fn digest(inputs: &BuildInputs) -> Result<String, serde_json::Error> {
    /// Takes up what is written to it.
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

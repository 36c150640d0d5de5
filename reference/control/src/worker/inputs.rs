//! Inputs of a build, loaded from the database.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;

use sha2::{Digest, Sha256};

use super::Shared;
use crate::builder::{Job, SourceInput};
use crate::cipher::CipherError;
use crate::model::{BuildResult, Phase, Secret};
use crate::store::{BuildInputs, BuildOutcome, Claim, StoreError};

/// Inputs loaded for a build.
#[derive(Debug)]
pub(super) struct Inputs {
    pub(super) job: Job,
    /// Digest of all stored inputs of the build; `None` when only the bundle was loaded.
    pub(super) digest: Option<String>,
}

impl Shared {
    /// Loads the inputs of a bundle, with secrets decrypted; with `bundle_only` without sources,
    /// which is enough to check its storage.
    ///
    /// # Errors
    /// The outcome of the build, when they cannot be read or decrypted, or are too large.
    pub(super) async fn load_inputs(
        &self,
        claim: &Claim,
        bundle_only: bool,
    ) -> Result<Inputs, BuildOutcome> {
        let (store, limit) = (&self.control.store, self.settings.access.limits.total);
        let inputs = match bundle_only {
            true => store.bundle(claim.bundle).await,
            false => store.inputs(claim.bundle, limit).await,
        };
        let inputs = match inputs {
            Ok(Some(inputs)) => inputs,
            Ok(None) => return Err(BuildOutcome::Deleted),
            Err(failure @ (StoreError::TooLarge(_) | StoreError::MissingReference { .. })) => {
                let (result, message) = (BuildResult::ConfigError, failure.to_string());
                return Err(self.failed(claim, Phase::Sync, result, &message));
            }
            Err(failure) => return Err(self.server_failure(claim, Phase::Sync, &failure)),
        };
        let prepared = self.prepare(inputs, bundle_only);
        prepared.map_err(|failure| self.server_failure(claim, Phase::Sync, failure.as_ref()))
    }

    /// Parses the stored definitions and decrypts the secrets of a build.
    fn prepare(&self, inputs: BuildInputs, bundle_only: bool) -> Result<Inputs, Box<dyn Error>> {
        let digest = match bundle_only {
            true => None,
            false => Some(digest(&inputs).map_err(StoreError::from)?),
        };
        let mut sources = BTreeMap::new();
        for (name, source) in inputs.sources {
            let definition = serde_json::from_str(&source.definition);
            let input = SourceInput {
                definition: definition.map_err(StoreError::from)?,
                documents: source.documents,
                secrets: self.decrypt(source.secrets)?,
            };
            sources.insert(name, input);
        }
        let job = Job {
            name: inputs.name,
            bundle: inputs.bundle,
            stacks: inputs.stacks,
            sources,
            secrets: self.decrypt(inputs.secrets)?,
        };
        Ok(Inputs { job, digest })
    }

    /// Decrypts secrets, by name.
    fn decrypt(
        &self,
        sealed: BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, Secret>, CipherError> {
        let secrets = sealed.into_iter().map(|(name, sealed)| {
            let value = self.control.cipher.open(&name, &sealed)?;
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

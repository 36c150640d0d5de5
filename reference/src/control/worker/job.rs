//! What a build is made from.

use std::collections::BTreeMap;

use crate::control::Control;
use crate::control::builder::{Job, SourceInput};
use crate::control::cipher::CipherError;
use crate::control::model::Secret;
use crate::control::store::StoreError;

/// Why the inputs of a build cannot be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum JobError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Cipher(#[from] CipherError),
    #[error("a stored definition cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl Control {
    /// What a bundle is built from, with its secrets opened; `None` when it is deleted.
    ///
    /// # Errors
    /// When it cannot be read or opened, or has more than `limit` characters of source data.
    pub(super) async fn job(&self, bundle: i64, limit: u64) -> Result<Option<Job>, JobError> {
        let Some(inputs) = self.store.inputs(bundle, limit).await? else {
            return Ok(None);
        };
        let mut sources = BTreeMap::new();
        for (name, source) in inputs.sources {
            let input = SourceInput {
                definition: serde_json::from_str(&source.definition)?,
                documents: source.documents,
                secrets: self.opened(source.secrets)?,
            };
            sources.insert(name, input);
        }
        Ok(Some(Job {
            name: inputs.name,
            bundle: inputs.bundle,
            stacks: inputs.stacks,
            sources,
            secrets: self.opened(inputs.secrets)?,
        }))
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

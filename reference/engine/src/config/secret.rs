//! Secrets in the configuration, never shown.

use std::fmt;

use serde::Deserialize;

/// Secret string, which debug output does not contain.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

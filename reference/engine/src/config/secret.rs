//! Secrets in the configuration, never shown.

use std::fmt;

use serde::Deserialize;

/// String that messages do not show.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

//! Requirement: a source that something is built from.

use serde::{Deserialize, Serialize};

use super::Uses;

/// A source that something is built from, or a pinned commit in its place.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Requirement {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) git: Option<Pin>,
    /// Whether a stack's requirement is placed below `data.stacks.STACK`; it is if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) automount: Option<bool>,
}

/// A commit of a repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Pin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
}

/// The sources that requirements name.
pub(super) fn uses(requirements: Option<&[Requirement]>) -> Uses {
    let named = requirements.unwrap_or_default().iter();
    let sources = named.filter_map(|requirement| requirement.source.clone());
    Uses {
        sources: sources.filter(|source| !source.is_empty()).collect(),
        ..Uses::default()
    }
}

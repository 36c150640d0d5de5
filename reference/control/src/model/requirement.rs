//! Requirement: a source that a definition is built from.

use serde::{Deserialize, Serialize};

use super::{References, ValidationError, limits};

/// Source that a definition is built from, or a pinned commit instead.
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
    pub(crate) git: Option<CommitPin>,
    /// Whether a stack's requirement is placed below `data.stacks.STACK`; it is if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) automount: Option<bool>,
}

/// Commit of a repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CommitPin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
}

/// Refuses too many requirements, and paths that are too long.
pub(super) fn check(requirements: Option<&[Requirement]>) -> Result<(), ValidationError> {
    let requirements = requirements.unwrap_or_default();
    let checked = limits::number(requirements.len(), limits::PARTS, "requirements");
    checked.map_err(|invalid| invalid.under("requirements"))?;
    for (at, one) in requirements.iter().enumerate() {
        let path = limits::member(one.path.as_deref(), "path", limits::document_path);
        let prefix = limits::member(one.prefix.as_deref(), "prefix", limits::document_path);
        let pin = one.git.as_ref().and_then(|pin| pin.commit.as_deref());
        let pin = limits::member(pin, "git.commit", limits::name);
        path.and(prefix)
            .and(pin)
            .map_err(|invalid| invalid.under(format!("requirements[{at}]")))?;
    }
    Ok(())
}

/// Returns the sources that requirements name.
pub(super) fn uses(requirements: Option<&[Requirement]>) -> References {
    let named = requirements.unwrap_or_default().iter();
    let sources = named.filter_map(|requirement| requirement.source.clone());
    References {
        sources: sources.filter(|source| !source.is_empty()).collect(),
        ..References::default()
    }
}

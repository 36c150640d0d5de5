//! Requirements: the sources of a definition.

use serde::{Deserialize, Serialize};

use super::{References, ValidationError, limits};

/// Source that a definition requires, with its mount path and an optional commit.
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
    /// True if a stack's requirement is mounted below `data.stacks.STACK`, which is the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) automount: Option<bool>,
}

/// Commit of a repository that is built instead of the latest one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CommitPin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
}

/// Returns an error if there are too many requirements, or a path is too long.
pub(super) fn check(requirements: Option<&[Requirement]>) -> Result<(), ValidationError> {
    let requirements = requirements.unwrap_or_default();
    let checked = limits::number(requirements.len(), limits::PARTS, "requirements");
    checked.map_err(|invalid| invalid.under("requirements"))?;
    for (index, requirement) in requirements.iter().enumerate() {
        let path = limits::member(requirement.path.as_deref(), "path", limits::document_path);
        let prefix = limits::member(
            requirement.prefix.as_deref(),
            "prefix",
            limits::document_path,
        );
        let pin = requirement
            .git
            .as_ref()
            .and_then(|pin| pin.commit.as_deref());
        let pin = limits::member(pin, "git.commit", limits::name);
        path.and(prefix)
            .and(pin)
            .map_err(|invalid| invalid.under(format!("requirements[{index}]")))?;
    }
    Ok(())
}

/// Returns the references to the sources of the requirements.
pub(super) fn uses(requirements: Option<&[Requirement]>) -> References {
    let named = requirements.unwrap_or_default().iter();
    let sources = named.filter_map(|requirement| requirement.source.clone());
    References {
        sources: sources.filter(|source| !source.is_empty()).collect(),
        ..References::default()
    }
}

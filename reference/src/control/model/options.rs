//! Options: how a bundle is built, as OPA Control Plane is told.

use serde::{Deserialize, Serialize};

use super::ValidationError;

/// The targets that may be named; an empty one is the first.
const TARGETS: [&str; 5] = ["rego", "ir", "plan", "wasm", ""];

/// The highest level of optimization that may be named.
const HIGHEST: u8 = 2;

/// How a bundle is built.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BuildOptions {
    /// Whether requirements of stacks are placed where they say, and not below their stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_default_stack_mount: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimization: Option<Optimization>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

/// How much of a policy is evaluated when it is built.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Optimization {
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u8>,
}

impl BuildOptions {
    /// Whether requirements of stacks are placed below their stack unless they say otherwise.
    pub(crate) fn mounts_stacks(&self) -> bool {
        self.no_default_stack_mount != Some(true)
    }

    /// Whether an optimization is asked for.
    pub(crate) fn optimizes(&self) -> bool {
        let optimization = self.optimization.as_ref();
        optimization.is_some_and(|one| one.level.unwrap_or_default() > 0)
    }

    /// What policies are to be compiled to; `None` when they stay as they are.
    pub(crate) fn compiled_to(&self) -> Option<&str> {
        let target = self.target.as_deref();
        target.filter(|target| !matches!(*target, "" | "rego"))
    }

    /// Refuses what nobody could build.
    pub(super) fn check(&self) -> Result<(), ValidationError> {
        let target = self.target.as_deref().unwrap_or_default();
        if !TARGETS.contains(&target) {
            let message =
                format!("invalid target `{target}`: expected one of rego, ir, plan and wasm");
            return Err(ValidationError::new(message).under("target"));
        }
        let level = self.optimization.as_ref().and_then(|one| one.level);
        match level {
            Some(level) if level > HIGHEST => {
                let invalid = ValidationError::new(format!("must be between 0 and {HIGHEST}"));
                Err(invalid.under("level").under("optimization"))
            }
            _ => Ok(()),
        }
    }
}

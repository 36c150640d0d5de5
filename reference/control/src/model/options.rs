//! Build options of a bundle, as in OPA Control Plane.

use serde::{Deserialize, Serialize};

use super::ValidationError;

/// Supported compilation targets; an empty target means `rego`.
const TARGETS: [&str; 5] = ["rego", "ir", "plan", "wasm", ""];

/// Maximum optimization level.
const HIGHEST: u8 = 2;

/// Build options of a bundle.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BuildOptions {
    /// True if requirements of stacks are mounted at their own paths instead of below their stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_default_stack_mount: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimization: Option<Optimization>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

/// Settings of the partial evaluation of policies during a build.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Optimization {
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u8>,
}

impl BuildOptions {
    /// Returns true if requirements of stacks are mounted below their stack, unless they override
    /// it.
    pub(crate) fn mounts_stacks(&self) -> bool {
        self.no_default_stack_mount != Some(true)
    }

    /// Returns true if the level of optimization is above zero.
    pub(crate) fn optimizes(&self) -> bool {
        let optimization = self.optimization.as_ref();
        optimization.is_some_and(|one| one.level.unwrap_or_default() > 0)
    }

    /// Returns the compilation target; `None` if the bundle contains policies as source.
    pub(crate) fn compiled_to(&self) -> Option<&str> {
        let target = self.target.as_deref();
        target.filter(|target| !matches!(*target, "" | "rego"))
    }

    /// Returns an error for an unsupported target or optimization level.
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

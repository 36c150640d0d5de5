//! Modules of sources, parsed in their Rego version.

use rego::{Errors, Module, Version};

/// Remaining quota for policies, in bytes.
#[derive(Debug)]
pub(super) struct PolicyQuota(u64);

impl PolicyQuota {
    /// Creates a full quota.
    pub(super) fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    fn charge(&mut self, id: &str, bytes: &[u8]) -> Result<(), String> {
        let remaining = self.0.checked_sub(bytes.len() as u64);
        self.0 =
            remaining.ok_or_else(|| format!("the policies up to `{id}` have too many bytes"))?;
        Ok(())
    }
}

/// Parses a module. Without a version in a manifest, it is parsed as version 1, or else as version
/// 0: hardly any module with a rule is valid in both.
///
/// # Errors
/// When it is invalid, with the errors of the closer version, or the quota is exhausted.
pub(super) fn read(
    quota: &mut PolicyQuota,
    id: &str,
    bytes: &[u8],
    version: Option<Version>,
) -> Result<(Module, Version), String> {
    quota.charge(id, bytes)?;
    let text = std::str::from_utf8(bytes).map_err(|error| format!("`{id}`: {error}"))?;
    let parse_as = |version| Module::parse_as(id, text, version).map(|module| (module, version));
    if let Some(version) = version {
        return parse_as(version).map_err(|errors| errors.to_string());
    }
    let fewer_errors = |new: Errors, old: Errors| match old.0.len() < new.0.len() {
        true => old.to_string(),
        false => new.to_string(),
    };
    parse_as(Version::V1).or_else(|new| parse_as(Version::V0).map_err(|old| fewer_errors(new, old)))
}

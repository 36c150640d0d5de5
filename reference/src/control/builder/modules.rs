//! Modules of sources, parsed in their version of the language.

use rego::{Errors, Module, Version};

/// The bytes that policies may still have.
#[derive(Debug)]
pub(super) struct PolicyQuota(u64);

impl PolicyQuota {
    /// All that a limit allows.
    pub(super) fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    fn take(&mut self, id: &str, bytes: &[u8]) -> Result<(), String> {
        let left = self.0.checked_sub(bytes.len() as u64);
        self.0 = left.ok_or_else(|| format!("the policies up to `{id}` have too many bytes"))?;
        Ok(())
    }
}

/// Reads a module. One of which no manifest says a version is of version 1, or else, if it can be
/// read so, of version 0: hardly any module with a rule is of both.
///
/// # Errors
/// What is wrong with it, in the version that it is nearer to, or that the quota is used up.
pub(super) fn read(
    quota: &mut PolicyQuota,
    id: &str,
    bytes: &[u8],
    version: Option<Version>,
) -> Result<(Module, Version), String> {
    quota.take(id, bytes)?;
    let text = std::str::from_utf8(bytes).map_err(|why| format!("`{id}`: {why}"))?;
    let attempt = |version| Module::parse_as(id, text, version).map(|module| (module, version));
    if let Some(version) = version {
        return attempt(version).map_err(|errors| errors.to_string());
    }
    let nearer = |new: Errors, old: Errors| match old.0.len() < new.0.len() {
        true => old.to_string(),
        false => new.to_string(),
    };
    attempt(Version::V1).or_else(|new| attempt(Version::V0).map_err(|old| nearer(new, old)))
}

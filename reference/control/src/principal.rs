//! Principals: API keys, roles and permissions.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::model::Kind;

/// Permissions of a key holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Everything.
    Administrator,
    /// Reads everything, writes nothing.
    Viewer,
    /// Creates bundles, sources and secrets; sees and manages its own definitions.
    Owner,
    /// Creates stacks; sees and manages its own definitions.
    StackOwner,
}

/// Authenticated caller. It can only be obtained with a valid key, so a handler that accepts one
/// cannot be reached without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Principal {
    name: String,
    role: Role,
}

impl Principal {
    /// Returns the name under which definitions are owned.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the caller can see definitions of others.
    pub(crate) fn sees_all(&self) -> bool {
        matches!(self.role, Role::Administrator | Role::Viewer)
    }

    /// Whether the caller can change definitions of others.
    pub(crate) fn manages_all(&self) -> bool {
        self.role == Role::Administrator
    }

    /// Whether the caller can create definitions of the kind and change their own.
    pub(crate) fn may_write(&self, kind: Kind) -> bool {
        match self.role {
            Role::Administrator => true,
            Role::Viewer => false,
            Role::Owner => matches!(kind, Kind::Bundle | Kind::Source | Kind::Secret),
            Role::StackOwner => kind == Kind::Stack,
        }
    }

    /// Whether the caller can see a definition of this owner.
    pub(crate) fn sees(&self, owner: &str) -> bool {
        self.sees_all() || self.name == owner
    }

    /// Whether the caller can change a definition of this kind and owner.
    pub(crate) fn manages(&self, kind: Kind, owner: &str) -> bool {
        self.may_write(kind) && (self.manages_all() || self.name == owner)
    }
}

/// SHA-256 of a key. Keys have enough entropy that a slow hash would protect nothing more.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct KeyDigest([u8; 32]);

impl KeyDigest {
    /// Computes the digest of a key.
    pub(crate) fn of(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDigest")
    }
}

/// Valid keys, by digest. Nothing else stores keys, so a key stops working as soon as the
/// configuration is reloaded without it.
#[derive(Debug, Default)]
pub(crate) struct Keys(HashMap<KeyDigest, Principal>);

impl Keys {
    /// Adds the key of a named token; on failure, returns the name of the token with the same key.
    pub(crate) fn add(&mut self, name: &str, role: Role, digest: KeyDigest) -> Result<(), String> {
        let name = name.to_owned();
        match self.0.insert(digest, Principal { name, role }) {
            None => Ok(()),
            Some(other) => Err(other.name),
        }
    }

    /// Whether there are no keys.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of the principals who see everything.
    pub(crate) fn seeing_all(&self) -> Vec<&str> {
        let all = self.0.values().filter(|principal| principal.sees_all());
        all.map(Principal::name).collect()
    }

    /// Returns the principal for the value of an Authorization header.
    pub(crate) fn principal(&self, authorization: &str) -> Option<&Principal> {
        let (scheme, key) = authorization.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let digest = KeyDigest::of(key);
        let (known, principal) = self.0.get_key_value(&digest)?;
        bool::from(known.0.ct_eq(&digest.0)).then_some(principal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_principals() {
        let mut keys = Keys::default();
        assert_eq!(
            keys.add("admin", Role::Administrator, KeyDigest::of("k")),
            Ok(())
        );
        for (header, known) in [
            ("Bearer k", true),
            ("bearer k", true),
            ("BEARER k", true),
            ("Bearer  k", false),
            ("Bearer k ", false),
            ("Bearer", false),
            ("Bearer ", false),
            ("Basic k", false),
            ("Bearer:k", false),
            ("Bearerk", false),
            ("k", false),
            ("", false),
            ("Bearer K", false),
        ] {
            assert_eq!(keys.principal(header).is_some(), known, "`{header}`");
        }
        assert_eq!(
            keys.add("twin", Role::Viewer, KeyDigest::of("k")),
            Err("admin".to_owned())
        );
    }

    #[test]
    fn roles_and_what_they_may_write() {
        let kinds = [Kind::Bundle, Kind::Source, Kind::Stack, Kind::Secret];
        for (role, writes, sees_others, manages_others) in [
            (Role::Administrator, [true; 4], true, true),
            (Role::Viewer, [false; 4], true, false),
            (Role::Owner, [true, true, false, true], false, false),
            (Role::StackOwner, [false, false, true, false], false, false),
        ] {
            let name = "me".to_owned();
            let principal = Principal { name, role };
            assert_eq!(kinds.map(|kind| principal.may_write(kind)), writes);
            assert_eq!(kinds.map(|kind| principal.manages(kind, "me")), writes);
            assert!(principal.sees("me"), "{role:?}");
            assert_eq!(principal.sees("other"), sees_others, "{role:?}");
            assert_eq!(
                principal.manages(Kind::Bundle, "other"),
                manages_others,
                "{role:?}"
            );
        }
    }
}

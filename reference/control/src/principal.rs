//! Principals: API keys, roles and permissions.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::model::Kind;

/// Role of an API key, which determines its permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Reads and writes everything.
    Administrator,
    /// Reads everything, writes nothing.
    Viewer,
    /// Creates bundles, sources and secrets; sees and manages its own definitions.
    Owner,
    /// Creates stacks; sees and manages its own definitions.
    StackOwner,
}

/// Authenticated caller. Only a valid key yields one, so a handler with a `&Principal` parameter
/// cannot be called without authentication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Principal {
    name: String,
    role: Role,
}

impl Principal {
    /// Returns the name of the token, under which the caller owns definitions.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the caller may read definitions of others.
    pub(crate) fn sees_all(&self) -> bool {
        matches!(self.role, Role::Administrator | Role::Viewer)
    }

    /// Returns true if the caller may change definitions of others.
    pub(crate) fn manages_all(&self) -> bool {
        self.role == Role::Administrator
    }

    /// Returns true if the caller may create definitions of a kind and change its own.
    pub(crate) fn may_write(&self, kind: Kind) -> bool {
        match self.role {
            Role::Administrator => true,
            Role::Viewer => false,
            Role::Owner => matches!(kind, Kind::Bundle | Kind::Source | Kind::Secret),
            Role::StackOwner => kind == Kind::Stack,
        }
    }

    /// Returns true if the caller may read the definitions of an owner.
    pub(crate) fn sees(&self, owner: &str) -> bool {
        self.sees_all() || self.name == owner
    }

    /// Returns true if the caller may change definitions of a kind and owner.
    pub(crate) fn manages(&self, kind: Kind, owner: &str) -> bool {
        self.may_write(kind) && (self.manages_all() || self.name == owner)
    }
}

/// SHA-256 of a key. A slow hash would not add protection, because keys are random and long.
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

/// Valid keys, by digest. They are stored only here, so a key stops working as soon as a
/// configuration without it is loaded.
#[derive(Debug, Default)]
pub(crate) struct Keys(HashMap<KeyDigest, Principal>);

impl Keys {
    /// Adds the key of a named token.
    ///
    /// # Errors
    /// The name of another token that has the same key.
    pub(crate) fn add(&mut self, name: &str, role: Role, digest: KeyDigest) -> Result<(), String> {
        let name = name.to_owned();
        match self.0.insert(digest, Principal { name, role }) {
            None => Ok(()),
            Some(other) => Err(other.name),
        }
    }

    /// Returns true if there are no keys.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of the principals that may read everything.
    pub(crate) fn seeing_all(&self) -> Vec<&str> {
        let all = self.0.values().filter(|principal| principal.sees_all());
        all.map(Principal::name).collect()
    }

    /// Returns the principal whose key is in an `Authorization` header, given the header's value.
    pub(crate) fn principal(&self, authorization: &str) -> Option<&Principal> {
        let (scheme, key) = authorization.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let digest = KeyDigest::of(key);
        let (stored, principal) = self.0.get_key_value(&digest)?;
        bool::from(stored.0.ct_eq(&digest.0)).then_some(principal)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::bearer("Bearer k", true)]
    #[case::lower_case("bearer k", true)]
    #[case::upper_case("BEARER k", true)]
    #[case::two_spaces("Bearer  k", false)]
    #[case::space_at_the_end("Bearer k ", false)]
    #[case::scheme("Bearer", false)]
    #[case::empty_key("Bearer ", false)]
    #[case::other_scheme("Basic k", false)]
    #[case::colon("Bearer:k", false)]
    #[case::no_space("Bearerk", false)]
    #[case::key("k", false)]
    #[case::empty("", false)]
    #[case::other_case_of_the_key("Bearer K", false)]
    fn headers_and_principals(#[case] header: &str, #[case] known: bool) {
        let mut keys = Keys::default();
        assert_eq!(
            keys.add("admin", Role::Administrator, KeyDigest::of("k")),
            Ok(())
        );
        assert_eq!(keys.principal(header).is_some(), known);
    }

    #[test]
    fn keys_are_of_one_principal() {
        let mut keys = Keys::default();
        assert_eq!(
            keys.add("admin", Role::Administrator, KeyDigest::of("k")),
            Ok(())
        );
        assert_eq!(
            keys.add("twin", Role::Viewer, KeyDigest::of("k")),
            Err("admin".to_owned())
        );
    }

    #[rstest]
    #[case(Role::Administrator, [true; 4], true, true)]
    #[case(Role::Viewer, [false; 4], true, false)]
    #[case(Role::Owner, [true, true, false, true], false, false)]
    #[case(Role::StackOwner, [false, false, true, false], false, false)]
    fn roles_and_what_they_may_write(
        #[case] role: Role,
        #[case] writes: [bool; 4],
        #[case] sees_others: bool,
        #[case] manages_others: bool,
    ) {
        let kinds = [Kind::Bundle, Kind::Source, Kind::Stack, Kind::Secret];
        let name = "me".to_owned();
        let principal = Principal { name, role };
        assert_eq!(kinds.map(|kind| principal.may_write(kind)), writes);
        assert_eq!(kinds.map(|kind| principal.manages(kind, "me")), writes);
        assert!(principal.sees("me"));
        assert_eq!(principal.sees("other"), sees_others);
        assert_eq!(principal.manages(Kind::Bundle, "other"), manages_others);
    }
}

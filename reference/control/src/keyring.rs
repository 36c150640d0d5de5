//! Keyring: the encryption keys of a server. One of them is active: it seals new values.
//!
//! The key check is a value in the database, sealed with the key of all its secrets; it identifies
//! this key. A server may have additional keys, so that every server can have both the old and the
//! new key during a rotation.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use zeroize::Zeroizing;

use super::cipher::{Cipher, CipherError, key_id};

/// Name under which the key check is sealed; no secret can have an empty name.
const KEY_CHECK: &str = "";

/// The encryption keys of a server.
pub(crate) struct Keyring(ArcSwap<KeyringState>);

/// The keys and the active one, replaced together.
struct KeyringState {
    ciphers: Vec<Arc<Cipher>>,
    active: Arc<Cipher>,
}

impl Keyring {
    /// Creates a keyring with an active key and further keys.
    pub(crate) fn new(current: Cipher, previous: Vec<Cipher>) -> Self {
        let active = Arc::new(current);
        let mut ciphers = vec![Arc::clone(&active)];
        ciphers.extend(previous.into_iter().map(Arc::new));
        Self(ArcSwap::from_pointee(KeyringState { ciphers, active }))
    }

    /// Makes the key that opens the key check of the database the active one.
    ///
    /// # Errors
    /// `OtherKey` when no key opens the key check; then nothing changes.
    pub(crate) fn adopt(&self, check: &str) -> Result<(), CipherError> {
        let state = self.0.load_full();
        let opens = |cipher: &&Arc<Cipher>| cipher.open(KEY_CHECK, check).is_ok();
        let active = state.ciphers.iter().find(opens);
        let active = Arc::clone(active.ok_or(CipherError::OtherKey)?);
        let ciphers = state.ciphers.clone();
        self.0.store(Arc::new(KeyringState { ciphers, active }));
        Ok(())
    }

    /// Replaces all keys with those of another keyring.
    pub(crate) fn replace(&self, other: &Self) {
        self.0.store(other.0.load_full());
    }

    /// Returns true if one of the keys has the id in the key check; true for a key check without an
    /// id.
    pub(crate) fn knows(&self, check: &str) -> bool {
        let state = self.0.load();
        match key_id(check) {
            Some(id) => state.ciphers.iter().any(|cipher| cipher.id() == id),
            None => true,
        }
    }

    /// Creates a key check with the active key.
    pub(crate) fn check(&self) -> Result<String, CipherError> {
        self.seal(KEY_CHECK, KEY_CHECK.as_bytes())
    }

    /// Encrypts a value with the active key, bound to the name of its secret.
    pub(crate) fn seal(&self, name: &str, value: &[u8]) -> Result<String, CipherError> {
        self.0.load().active.seal(name, value)
    }

    /// Decrypts a value that any of the keys sealed under the name.
    pub(crate) fn open(&self, name: &str, sealed: &str) -> Result<Zeroizing<Vec<u8>>, CipherError> {
        let state = self.0.load();
        let mut opened = state.ciphers.iter().map(|cipher| cipher.open(name, sealed));
        opened
            .find(Result::is_ok)
            .unwrap_or(Err(CipherError::OtherKey))
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_says_which_key_seals() -> Result<(), CipherError> {
        let key = |byte: u8| {
            use base64::Engine;
            let text = base64::engine::general_purpose::STANDARD.encode([byte; 32]);
            Cipher::from_text(&text)
        };
        let (old, new) = (key(1)?, key(2)?);
        let only_old = Keyring::new(key(1)?, Vec::new());
        let both = Keyring::new(key(2)?, vec![key(1)?]);
        assert_eq!(key_id(&both.seal("a", b"v")?), Some(new.id()));
        both.adopt(&only_old.check()?)?;
        let sealed = both.seal("a", b"v")?;
        assert_eq!(key_id(&sealed), Some(old.id()));
        assert_eq!(only_old.open("a", &sealed)?.as_slice(), b"v");
        // After the rotation, the other key is active, and values of both are opened.
        let rotated = Keyring::new(key(2)?, Vec::new()).check()?;
        assert!(only_old.adopt(&rotated).is_err() && !only_old.knows(&rotated));
        both.adopt(&rotated)?;
        assert!(both.knows(&rotated));
        assert_eq!(key_id(&both.seal("a", b"v")?), Some(new.id()));
        assert_eq!(both.open("a", &sealed)?.as_slice(), b"v");
        Ok(())
    }
}

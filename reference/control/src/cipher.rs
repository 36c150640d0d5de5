//! Encryption of secrets at rest: XChaCha20-Poly1305 with a random nonce for each value, bound
//! to the name of its secret.
//!
//! A sealed value has the form `ID:BASE64`: the id of its key, then the nonce and the ciphertext.
//! Values without an id, which older versions sealed, are still opened.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Length of a nonce in bytes.
const NONCE: usize = 24;

/// Length of a key id in hexadecimal digits.
const ID: usize = 16;

/// Prefix of the bytes that are hashed to derive the id of a key, so that the id differs from other
/// hashes of the key.
const ID_PURPOSE: &[u8] = b"id of an encryption key\0";

/// Reason why a key or a sealed value cannot be used. The message contains no part of either.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CipherError {
    #[error("an encryption key is 32 random bytes in base64")]
    Malformed,
    #[error("encryption key file `{0}`: {1}")]
    File(String, std::io::Error),
    #[error("the system gives no random bytes")]
    NoRandomness,
    #[error("a value could not be encrypted")]
    Seal,
    #[error("the encryption key is not the one that the secrets were encrypted with")]
    OtherKey,
    #[error("the encryption key was rotated, and this server has not been given the new one")]
    Rotated,
}

/// Encryption key of secrets.
pub(crate) struct Cipher {
    id: String,
    aead: XChaCha20Poly1305,
}

/// Returns the id of the key that a value was sealed with, if it contains one.
pub(crate) fn key_id(sealed: &str) -> Option<&str> {
    let (id, _) = sealed.split_once(':')?;
    let is_id = id.len() == ID && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(id)
}

impl Cipher {
    /// Creates a cipher from a key in base64.
    pub(crate) fn from_text(text: &str) -> Result<Self, CipherError> {
        let bytes = STANDARD.decode(text.trim()).map(Zeroizing::new);
        let bytes = bytes.map_err(|_| CipherError::Malformed)?;
        let key = <&Key>::try_from(bytes.as_slice()).map_err(|_| CipherError::Malformed)?;
        let digest = Sha256::new_with_prefix(ID_PURPOSE)
            .chain_update(key)
            .finalize();
        Ok(Self {
            id: hex::encode(digest.get(..ID / 2).unwrap_or_default()),
            aead: XChaCha20Poly1305::new(key),
        })
    }

    /// Creates a cipher from a key file.
    pub(crate) fn from_file(path: &Path) -> Result<Self, CipherError> {
        let failed = |failure| CipherError::File(path.display().to_string(), failure);
        let mut text = Zeroizing::new(String::new());
        let mut file = File::open(path).map_err(failed)?;
        file.read_to_string(&mut text).map_err(failed)?;
        Self::from_text(&text)
    }

    /// Creates a cipher from a key file. A missing file is created atomically with a random key,
    /// readable for its owner only.
    pub(crate) fn from_file_or_new(path: &Path) -> Result<Self, CipherError> {
        let failed = |failure| CipherError::File(path.display().to_string(), failure);
        if path.try_exists().map_err(failed)? {
            return Self::from_file(path);
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut line = random_key()?;
        line.push('\n');
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(line.as_bytes()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        match file.persist_noclobber(path) {
            Ok(_) => {
                let folder = File::open(folder).map_err(failed)?;
                folder.sync_all().map_err(failed)?;
                Self::from_text(&line)
            }
            // Another process has created the file in the meantime.
            Err(failure) if failure.error.kind() == ErrorKind::AlreadyExists => {
                Self::from_file(path)
            }
            Err(failure) => Err(failed(failure.error)),
        }
    }

    /// Creates a cipher with a random key that is not stored.
    pub(crate) fn ephemeral() -> Result<Self, CipherError> {
        Self::from_text(&random_key()?)
    }

    /// Returns the id of the key.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Encrypts a value, bound to the name of its secret, and returns the sealed value as a string.
    pub(crate) fn seal(&self, name: &str, value: &[u8]) -> Result<String, CipherError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| CipherError::NoRandomness)?;
        let payload = Payload {
            msg: value,
            aad: name.as_bytes(),
        };
        let encrypted = self.aead.encrypt(&XNonce::from(nonce), payload);
        let mut sealed = nonce.to_vec();
        sealed.extend(encrypted.map_err(|_| CipherError::Seal)?);
        Ok(format!("{}:{}", self.id, STANDARD.encode(sealed)))
    }

    /// Decrypts a sealed value; fails if it was sealed under another name or with another key.
    pub(crate) fn open(&self, name: &str, sealed: &str) -> Result<Zeroizing<Vec<u8>>, CipherError> {
        let text = match key_id(sealed) {
            Some(id) if id != self.id => return Err(CipherError::OtherKey),
            Some(_) => sealed.split_once(':').map_or(sealed, |(_, text)| text),
            None => sealed,
        };
        let sealed = STANDARD.decode(text).map_err(|_| CipherError::OtherKey)?;
        let (nonce, encrypted) = sealed
            .split_first_chunk::<NONCE>()
            .ok_or(CipherError::OtherKey)?;
        let payload = Payload {
            msg: encrypted,
            aad: name.as_bytes(),
        };
        let opened = self.aead.decrypt(&XNonce::from(*nonce), payload);
        opened
            .map(Zeroizing::new)
            .map_err(|_| CipherError::OtherKey)
    }
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cipher")
    }
}

/// Generates a random key in base64.
fn random_key() -> Result<Zeroizing<String>, CipherError> {
    let mut key = Zeroizing::new([0; 32]);
    getrandom::fill(key.as_mut_slice()).map_err(|_| CipherError::NoRandomness)?;
    Ok(Zeroizing::new(STANDARD.encode(key.as_slice())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_open_only_with_their_key_and_name() -> Result<(), CipherError> {
        let cipher = Cipher::ephemeral()?;
        let sealed = cipher.seal("a", b"hush")?;
        assert_ne!(sealed, cipher.seal("a", b"hush")?);
        assert_eq!(cipher.open("a", &sealed)?.as_slice(), b"hush");
        assert_eq!(key_id(&sealed), Some(cipher.id()));
        // A value without an id, as older versions sealed it.
        let (_, old) = sealed.split_once(':').unwrap_or_default();
        assert_eq!(key_id(old), None);
        assert_eq!(cipher.open("a", old)?.as_slice(), b"hush");
        assert!(cipher.open("b", &sealed).is_err());
        assert!(Cipher::ephemeral()?.open("a", &sealed).is_err());
        for broken in ["", "AAAA", "not base64!", "0123456789abcdef:AAAA"] {
            assert!(cipher.open("a", broken).is_err(), "{broken}");
        }
        for key in ["", "AAAA", "!"] {
            assert!(Cipher::from_text(key).is_err(), "{key}");
        }
        Ok(())
    }

    #[test]
    fn a_new_key_file_is_private_and_used_again() -> Result<(), Box<dyn std::error::Error>> {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("key");
        let sealed = Cipher::from_file_or_new(&path)?.seal("a", b"hush")?;
        assert_eq!(path.metadata()?.permissions().mode() & 0o777, 0o600);
        let opened = Cipher::from_file_or_new(&path)?.open("a", &sealed)?;
        assert_eq!(opened.as_slice(), b"hush");
        Ok(())
    }
}

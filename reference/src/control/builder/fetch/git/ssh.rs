//! How the `ssh` program is called.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::Trouble;

/// Options of every call: nothing is asked of anybody, nothing but the given key is shown, and
/// only to a host that is known.
const OPTIONS: &[&str] = &[
    "BatchMode=yes",
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "PasswordAuthentication=no",
    "StrictHostKeyChecking=yes",
    "UpdateHostKeys=no",
    "ForwardAgent=no",
    "ConnectTimeout=20",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
];

/// The environment variable that tells `ssh-keygen` a passphrase.
const PASSPHRASE: &str = "REFERENCE_PASSPHRASE";

/// How `ssh` is called with a key. The files that it needs live as long as this.
#[derive(Debug)]
pub(super) struct Command {
    line: String,
    _files: TempDir,
}

impl Command {
    /// Writes the key, and what is known of the host if there are fingerprints; without them the
    /// host must be one that the operator's own list of known hosts has.
    ///
    /// # Errors
    /// When the passphrase is not the key's, or no key of the host has one of the fingerprints.
    pub(super) fn new(
        url: &gix::Url,
        key: &str,
        passphrase: &str,
        fingerprints: &[String],
        place: &Path,
    ) -> Result<Self, Trouble> {
        let lost = |failure: std::io::Error| Trouble::Sync(format!("git: {failure}"));
        let parent = place.parent().unwrap_or(place);
        std::fs::create_dir_all(parent).map_err(lost)?;
        // The name is not one of a repository, so that what a killed server left is removed.
        let files = tempfile::Builder::new().prefix("ssh-").tempdir_in(parent);
        let files = files.map_err(lost)?;
        let identity = files.path().join("key");
        let mut text = key.trim_end().to_owned();
        text.push('\n');
        write(&identity, &text, 0o600).map_err(lost)?;
        if !passphrase.is_empty() {
            unlock(&identity, passphrase, files.path())?;
        }
        let mut line = format!("ssh -F none -i {}", quoted(&identity)?);
        for option in OPTIONS {
            line.push_str(" -o ");
            line.push_str(option);
        }
        if !fingerprints.is_empty() {
            let known = files.path().join("known_hosts");
            write(&known, &known_hosts(url, fingerprints)?, 0o600).map_err(lost)?;
            let known = quoted(&known)?;
            line.push_str(&format!(
                " -o UserKnownHostsFile={known} -o GlobalKnownHostsFile=/dev/null"
            ));
        }
        Ok(Self {
            line,
            _files: files,
        })
    }

    /// The command, for a shell.
    pub(super) fn line(&self) -> &str {
        &self.line
    }
}

/// Takes the passphrase off a key. `ssh` itself would ask for it only where it may ask for
/// anything.
fn unlock(key: &Path, passphrase: &str, folder: &Path) -> Result<(), Trouble> {
    let lost = |failure: std::io::Error| Trouble::Sync(format!("git: ssh-keygen: {failure}"));
    let answer = folder.join("answer");
    let text = format!("#!/bin/sh\nprintf '%s\\n' \"${PASSPHRASE}\"\n");
    write(&answer, &text, 0o700).map_err(lost)?;
    let mut process = Process::new("ssh-keygen");
    process
        .args(["-q", "-p", "-N", "", "-f"])
        .arg(key)
        .env("SSH_ASKPASS", answer)
        .env("SSH_ASKPASS_REQUIRE", "force")
        .env(PASSPHRASE, passphrase);
    let unlocked = process.stdin(Stdio::null()).output().map_err(lost)?;
    match unlocked.status.success() {
        true => Ok(()),
        false => Err(Trouble::config(
            "git: the key of the credentials cannot be opened with their passphrase",
        )),
    }
}

/// Writes a file for its owner only.
fn write(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}

/// A path as one word of a shell and of an option.
fn quoted(path: &Path) -> Result<String, Trouble> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    match path.to_str() {
        Some(text) if text.chars().all(plain) => Ok(text.to_owned()),
        _ => Err(Trouble::config(
            "git: ssh needs a data directory whose path has no special characters",
        )),
    }
}

/// The lines for the keys that the host shows now and that have a known fingerprint.
fn known_hosts(url: &gix::Url, fingerprints: &[String]) -> Result<String, Trouble> {
    let host = url.host().unwrap_or_default();
    let mut process = Process::new("ssh-keyscan");
    process.args(["-T", "20", "-p", &url.port.unwrap_or(22).to_string(), host]);
    let output = process.stdin(Stdio::null()).output();
    let output = output.map_err(|failure| Trouble::Sync(format!("git: ssh-keyscan: {failure}")))?;
    let lines = String::from_utf8_lossy(&output.stdout);
    let known = lines
        .lines()
        .filter(|line| fingerprint(line).is_some_and(|found| fingerprints.contains(&found)));
    let known: Vec<&str> = known.collect();
    match known.is_empty() {
        true => Err(Trouble::Sync(format!(
            "git: host `{host}` shows no key with a fingerprint of the credentials"
        ))),
        false => Ok(known.join("\n") + "\n"),
    }
}

/// The fingerprint of the key in a line of known hosts, as `ssh-keygen -l` shows it.
fn fingerprint(line: &str) -> Option<String> {
    let key = line.split(' ').nth(2)?;
    let digest = Sha256::digest(STANDARD.decode(key).ok()?);
    Some(format!("SHA256:{}", STANDARD_NO_PAD.encode(digest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_opened_with_their_passphrase() -> Result<(), Box<dyn std::error::Error>> {
        // The passphrase is `it's $HOME "quoted" \`.
        const KEY: &str = include_str!("../../tests/locked-key");
        // Where there is no ssh, there is nothing to open keys with.
        if Process::new("ssh-keygen").arg("-?").output().is_err() {
            return Ok(());
        }
        let url = gix::url::parse("ssh://git@127.0.0.1/x")?;
        let folder = tempfile::tempdir()?;
        for (passphrase, opens) in [
            ("it's $HOME \"quoted\" \\", true),
            ("it's", false),
            ("", true),
        ] {
            let place = folder.path().join("repository");
            let command = Command::new(&url, KEY, passphrase, &[], &place);
            assert_eq!(command.is_ok(), opens, "{passphrase}");
            let Ok(command) = command else { continue };
            let shown = Process::new("ssh-keygen")
                .args(["-y", "-P", "", "-f"])
                .arg(command._files.path().join("key"))
                .output()?;
            assert_eq!(shown.status.success(), !passphrase.is_empty());
        }
        Ok(())
    }

    #[test]
    fn fingerprints_are_those_of_ssh_keygen() {
        for (line, expected) in [
            (
                "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
                Some("SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"),
            ),
            ("host ssh-rsa", None),
            ("host ssh-rsa !", None),
            ("", None),
        ] {
            assert_eq!(fingerprint(line).as_deref(), expected, "{line}");
        }
    }
}

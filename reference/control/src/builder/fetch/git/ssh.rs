//! Invocation of `ssh`.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use gix::bstr::ByteSlice;
use gix::protocol::transport::Protocol;
use gix::protocol::transport::client::blocking_io::Transport;
use gix::protocol::transport::client::git::{ConnectMode, blocking_io::Connection};
use gix::url::ArgumentSafety;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::BuildError;
use super::process::{Programs, Running};

/// Name prefix of folders that contain keys.
pub(super) const FOLDER: &str = "ssh-";

/// Options of every call: no prompts, only the given key is offered, and only to a known host.
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
    "SendEnv=GIT_PROTOCOL",
];

/// Environment variable that passes a passphrase to `ssh-keygen`.
const PASSPHRASE: &str = "REFERENCE_PASSPHRASE";

/// Maximum number of bytes of the error output of `ssh` that messages repeat.
const MAX_LOG_BYTES: usize = 500;

/// Private key, and the hosts that it is used for.
#[derive(Debug)]
pub(super) struct Key<'k> {
    pub(super) text: &'k str,
    pub(super) passphrase: &'k str,
    /// Fingerprints of known hosts; if empty, the operator's own list applies.
    pub(super) fingerprints: &'k [String],
}

/// Running `ssh` process. The files that it needs exist as long as this.
#[derive(Debug)]
pub(super) struct Ssh {
    running: Running,
    files: TempDir,
}

impl Ssh {
    /// Connects to a repository.
    ///
    /// # Errors
    /// When the address is invalid, the passphrase does not match, no host key has one of the
    /// fingerprints, or `ssh` cannot be started.
    pub(super) fn connect(
        url: &gix::Url,
        key: &Key<'_>,
        programs: Programs<'_>,
        place: &Path,
    ) -> Result<(Self, Box<dyn Transport + Send>), BuildError> {
        let parent = place.parent().unwrap_or(place);
        std::fs::create_dir_all(parent).map_err(io_error)?;
        let files = tempfile::Builder::new().prefix(FOLDER).tempdir_in(parent);
        let files = files.map_err(io_error)?;
        let mut command = programs.command("ssh");
        add_key(&mut command, key, programs, files.path())?;
        if !key.fingerprints.is_empty() {
            let known = files.path().join("known_hosts");
            write(&known, &known_hosts(url, key, programs)?, 0o600).map_err(io_error)?;
            command
                .arg("-o")
                .arg(format!("UserKnownHostsFile={}", check_path(&known)?));
            command.args(["-o", "GlobalKnownHostsFile=/dev/null"]);
        }
        // The stderr of the remote is discarded, as its size is unlimited.
        command.arg("-E").arg(files.path().join("said"));
        add_remote_command(&mut command, url)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = Running::start(command.stderr(Stdio::null())).map_err(io_error)?;
        let pipes = running.pipes();
        let (output, input) = pipes.ok_or_else(|| BuildError::sync("git: ssh has no pipes"))?;
        let (path, virtual_host) = (url.path.clone(), None::<(String, _)>);
        let mode = ConnectMode::Process;
        let connection =
            Connection::new(output, input, Protocol::V2, path, virtual_host, mode, false);
        Ok((Self { running, files }, Box::new(connection)))
    }

    /// Kills the process.
    pub(super) fn kill(&self) {
        self.running.kill();
    }

    /// Adds the error output of `ssh` to an error.
    pub(super) fn explain(&self, failure: BuildError) -> BuildError {
        let log = std::fs::read(self.files.path().join("said")).unwrap_or_default();
        let log = log.get(..MAX_LOG_BYTES).unwrap_or(&log);
        match (failure, String::from_utf8_lossy(log).trim()) {
            (failure, "") => failure,
            (failure, log) => failure.within(&format!("git: ssh: {log}")),
        }
    }
}

/// Adds the key as the only identity.
fn add_key(
    command: &mut Command,
    key: &Key<'_>,
    programs: Programs<'_>,
    folder: &Path,
) -> Result<(), BuildError> {
    let identity = folder.join("key");
    let mut text = key.text.trim_end().to_owned();
    text.push('\n');
    write(&identity, &text, 0o600).map_err(io_error)?;
    if !key.passphrase.is_empty() {
        remove_passphrase(&identity, key.passphrase, programs, folder)?;
    }
    command.args(["-F", "none", "-i", check_path(&identity)?]);
    for option in OPTIONS {
        command.args(["-o", option]);
    }
    Ok(())
}

/// Adds the host and the command for the repository.
fn add_remote_command(command: &mut Command, url: &gix::Url) -> Result<(), BuildError> {
    let refused = || BuildError::config("git.repo is not an address that can be asked");
    match url.user_as_argument() {
        ArgumentSafety::Usable(user) => command.args(["-l", user]),
        ArgumentSafety::Absent => command,
        ArgumentSafety::Dangerous(_) => return Err(refused()),
    };
    if let Some(port) = url.port {
        command.args(["-p", &port.to_string()]);
    }
    let path = gix::url::expand_path::for_shell(url.path.clone());
    if path.trim().starts_with(b"-") {
        return Err(refused());
    }
    let path = gix::quote::single(path.as_bstr());
    command
        .args(["--", host(url), "git-upload-pack"])
        .arg(
            path.to_os_str()
                .map(OsString::from)
                .map_err(|_| refused())?,
        )
        .env("GIT_PROTOCOL", "version=2")
        .env("LC_ALL", "C");
    Ok(())
}

/// Returns the host in the form that the programs accept.
fn host(url: &gix::Url) -> &str {
    let host = url.host().unwrap_or_default();
    let address = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    address.unwrap_or(host)
}

/// Removes the passphrase of a key. `ssh` itself would only prompt for it in interactive mode.
fn remove_passphrase(
    key: &Path,
    passphrase: &str,
    programs: Programs<'_>,
    folder: &Path,
) -> Result<(), BuildError> {
    let io_error = |failure: io::Error| BuildError::sync(format!("git: ssh-keygen: {failure}"));
    let askpass = folder.join("answer");
    let text = format!("#!/bin/sh\nprintf '%s\\n' \"${PASSPHRASE}\"\n");
    write(&askpass, &text, 0o700).map_err(io_error)?;
    let mut command = programs.command("ssh-keygen");
    command
        .args(["-q", "-p", "-N", "", "-f"])
        .arg(key)
        .env("SSH_ASKPASS", askpass)
        .env("SSH_ASKPASS_REQUIRE", "force")
        .env(PASSPHRASE, passphrase);
    match programs.run(&mut command).map_err(io_error)? {
        (_, true) => Ok(()),
        (_, false) => Err(BuildError::config(
            "git: the key of the credentials cannot be opened with their passphrase",
        )),
    }
}

fn io_error(failure: io::Error) -> BuildError {
    BuildError::sync(format!("git: ssh: {failure}"))
}

/// Writes a file that only its owner can access.
fn write(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}

/// Returns the path if `ssh` expands nothing in it.
fn check_path(path: &Path) -> Result<&str, BuildError> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    match path.to_str() {
        Some(text) if text.chars().all(is_allowed) => Ok(text),
        _ => Err(BuildError::config(
            "git: ssh needs a data directory whose path has no special characters",
        )),
    }
}

/// Returns the known-hosts lines for the host's current keys that have a known fingerprint.
fn known_hosts(
    url: &gix::Url,
    key: &Key<'_>,
    programs: Programs<'_>,
) -> Result<String, BuildError> {
    let host = host(url);
    let mut command = programs.command("ssh-keyscan");
    command
        .args(["-T", "20", "-p", &url.port.unwrap_or(22).to_string(), "--"])
        .arg(host);
    let scanned = programs.run(&mut command);
    let io_error = |failure| BuildError::sync(format!("git: ssh-keyscan: {failure}"));
    let (output, _) = scanned.map_err(io_error)?;
    let lines = String::from_utf8_lossy(&output);
    let known = lines.lines().filter(|line| {
        let found = fingerprint(line);
        found.is_some_and(|found| key.fingerprints.contains(&found))
    });
    let known: Vec<&str> = known.collect();
    match known.is_empty() {
        true => Err(BuildError::sync(format!(
            "git: host `{host}` shows no key with a fingerprint of the credentials"
        ))),
        false => Ok(known.join("\n") + "\n"),
    }
}

/// Computes the fingerprint of the key in a known-hosts line, as `ssh-keygen -l` shows it.
fn fingerprint(line: &str) -> Option<String> {
    let key = line.split(' ').nth(2)?;
    let digest = Sha256::digest(STANDARD.decode(key).ok()?);
    Some(format!("SHA256:{}", STANDARD_NO_PAD.encode(digest)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::key(
        "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
        Some("SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU")
    )]
    #[case::without_a_key("host ssh-rsa", None)]
    #[case::no_base64("host ssh-rsa !", None)]
    #[case::empty("", None)]
    fn fingerprints_are_those_of_ssh_keygen(#[case] line: &str, #[case] expected: Option<&str>) {
        assert_eq!(fingerprint(line).as_deref(), expected);
    }

    #[rstest]
    #[case::user_port_and_home(
        "ssh://git@a.example:2/~ann/x",
        Some("-l git -p 2 -- a.example git-upload-pack '~ann/x'")
    )]
    #[case::scp_like_with_a_quote(
        "a.example:it's",
        Some("-- a.example git-upload-pack 'it'\\''s'")
    )]
    #[case::address_v6("ssh://[::1]/x", Some("-- ::1 git-upload-pack '/x'"))]
    #[case::option_as_user("ssh://-oProxyCommand=x@a.example/x", None)]
    #[case::escaped_option_as_user("ssh://%2doProxyCommand=x@a.example/x", None)]
    #[case::option_as_path("a.example:-x", None)]
    fn calls_hold_no_options_of_others(
        #[case] url: &str,
        #[case] expected: Option<&str>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let mut command = Command::new("ssh");
        let added = add_remote_command(&mut command, &gix::url::parse(url)?);
        let words = command.get_args().map(|word| word.to_string_lossy());
        let arguments = words.collect::<Vec<_>>().join(" ");
        let found = added.is_ok().then_some(arguments.as_str());
        assert_eq!(found, expected);
        Ok(())
    }
}

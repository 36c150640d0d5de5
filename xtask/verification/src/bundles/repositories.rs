//! Git repositories on real servers, over HTTPS and SSH.

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};

use super::archive;
use super::control_plane::{Administrator, WorkDir};
use super::value_at;
use crate::command::complete;
use crate::servers::{ExternalProcess, HANG_LIMIT, free_address};
use crate::{apt, report};

/// Debian packages of the servers, each with the path of a program in it.
const PACKAGES: &[(&str, &str)] = &[
    ("openssh-server", "/usr/sbin/sshd"),
    ("lighttpd", "/usr/sbin/lighttpd"),
    ("lighttpd-mod-openssl", "/usr/lib/lighttpd/mod_openssl.so"),
    ("git", "/usr/lib/git-core/git-http-backend"),
];

/// User with access to the repository over HTTPS.
const USER: &str = "reader";
const PASSWORD: &str = "reader-password";

/// Passphrase of the SSH key; its characters have a meaning in a shell.
const PASSPHRASE: &str = r#"it's $HOME "quoted" \"#;

/// Builds bundles from a repository over HTTPS and SSH, and again after new commits. Checks that no
/// bundle is built with wrong credentials.
///
/// # Errors
/// When a server cannot be installed or started, or a bundle does not contain a commit.
pub(super) async fn run(folder: &Path) -> Result<(), Box<dyn Error>> {
    apt::require(PACKAGES)?;
    let folder = folder.join("repositories");
    fs::create_dir_all(&folder)?;
    let repository = Repository::new(&folder)?;
    repository.commit(0)?;
    let https = Https::start(&folder)?;
    let ssh = Ssh::start(&folder)?;
    let mut home = WorkDir::new(&folder.join("plane"), None)?;
    home.environment("SSL_CERT_FILE", &https.authority);
    let running = home.start("plane").await?;
    let plane = &running.administrator;
    let password = |password: &str| json!({"value": {"type": "basic_auth", "username": USER, "password": password}});
    let key = |key: &Path| -> Result<Value, Box<dyn Error>> {
        let fingerprints = [ssh.fingerprint.as_str()];
        let key = fs::read_to_string(key)?;
        let value = json!({
            "type": "ssh_key",
            "key": key,
            "passphrase": PASSPHRASE,
            "fingerprints": fingerprints,
        });
        Ok(json!({"value": value}))
    };
    let over_https = format!("https://{}/rules.git", https.address);
    let user = String::from_utf8(Command::new("id").arg("-un").output()?.stdout)?;
    let path = repository.bare_repository.display();
    let over_ssh = format!("ssh://{}@{}{path}", user.trim(), ssh.address);
    for (name, url, right, wrong) in [
        ("https", over_https, password(PASSWORD), password("wrong")),
        ("ssh", over_ssh, key(&ssh.key)?, key(&ssh.other_key)?),
    ] {
        let file = home.folder.join(format!("built/{name}.tar.gz"));
        plane.put(&format!("/v1/secrets/{name}"), &wrong).await?;
        let git = json!({"repo": url, "reference": "refs/heads/main", "credentials": name});
        let source = json!({"git": git});
        plane.put(&format!("/v1/sources/{name}"), &source).await?;
        let bundle = json!({
            "object_storage": {"filesystem": {"path": file.display().to_string()}},
            "requirements": [{"source": name}],
        });
        plane.put(&format!("/v1/bundles/{name}"), &bundle).await?;
        refused(plane, name).await?;
        plane.put(&format!("/v1/secrets/{name}"), &right).await?;
        let mut state = repository.state()?;
        for _ in 0..3 {
            built(plane, name, &file, state).await?;
            state += 1;
            repository.commit(state)?;
        }
        built(plane, name, &file, state).await?;
        report(
            "built",
            &format!("from git over {name}, wrong credentials refused"),
        );
    }
    Ok(())
}

/// Waits until the build of a bundle has failed because of its source.
async fn refused(plane: &Administrator, bundle: &str) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    loop {
        let latest = plane.latest(bundle).await?;
        if value_at(&latest, "/status") == "SYNC_FAILED" {
            return Ok(());
        }
        if value_at(&latest, "/status") == "SUCCESS" || start.elapsed() > HANG_LIMIT {
            return Err(format!("wrong credentials for {bundle}: {latest}").into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until the bundle contains a state of the repository.
async fn built(
    plane: &Administrator,
    bundle: &str,
    file: &Path,
    state: u64,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    loop {
        let built_data = fs::read(file)
            .ok()
            .map(|built_data| archive::data(&built_data));
        let built_data = built_data.transpose()?.unwrap_or_default();
        if value_at(&built_data, "/rules/state") == state {
            return Ok(());
        }
        if start.elapsed() > HANG_LIMIT {
            let latest = plane.latest(bundle).await?;
            return Err(format!("{bundle}: {built_data} instead of {state}: {latest}").into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Bare repository, and a work tree that pushes to it.
struct Repository {
    bare_repository: PathBuf,
    tree: PathBuf,
}

impl Repository {
    fn new(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let repository = Self {
            bare_repository: folder.join("served/rules.git"),
            tree: folder.join("tree"),
        };
        fs::create_dir_all(&repository.bare_repository)?;
        fs::create_dir_all(repository.tree.join("rules"))?;
        git(
            &repository.bare_repository,
            &["init", "--quiet", "--bare", "-b", "main"],
        )?;
        git(&repository.tree, &["init", "--quiet", "-b", "main"])?;
        let bare_path = repository.bare_repository.display().to_string();
        git(&repository.tree, &["remote", "add", "origin", &bare_path])?;
        Ok(repository)
    }

    fn commit(&self, state: u64) -> Result<(), Box<dyn Error>> {
        let data = json!({"state": state}).to_string();
        fs::write(self.tree.join("rules/data.json"), data)?;
        let rule = format!("package rules.checks\n\nimport rego.v1\n\nstate := {state}\n");
        fs::write(self.tree.join("rules/checks.rego"), rule)?;
        git(&self.tree, &["add", "--all"])?;
        let message = format!("State {state}");
        git(&self.tree, &["commit", "--quiet", "-m", &message])?;
        git(&self.tree, &["push", "--quiet", "origin", "main"])
    }

    fn state(&self) -> Result<u64, Box<dyn Error>> {
        let data: Value = serde_json::from_slice(&fs::read(self.tree.join("rules/data.json"))?)?;
        value_at(&data, "/state")
            .as_u64()
            .ok_or_else(|| "no state".into())
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    complete(
        Command::new("git")
            .args(["-c", "user.name=Proof", "-c", "user.email=proof@localhost"])
            .arg("-C")
            .arg(folder)
            .args(arguments),
    )
}

/// HTTPS server for the folder `served`, protected by a password.
struct Https {
    address: SocketAddr,
    authority: PathBuf,
    _process: ExternalProcess,
}

impl Https {
    fn start(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let address = free_address()?;
        let authority = folder.join("authority.pem");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
        let certificate = certificate.signed_by(&key, &issuer)?;
        fs::write(&authority, issuer.pem())?;
        let chain = format!("{}{}", key.serialize_pem(), certificate.pem());
        fs::write(folder.join("server.pem"), chain)?;
        fs::write(folder.join("users"), format!("{USER}:{PASSWORD}\n"))?;
        let at = folder.display();
        let config = format!(
            "server.modules = (\"mod_openssl\", \"mod_auth\", \"mod_authn_file\", \"mod_setenv\", \"mod_alias\", \"mod_cgi\")\n\
             server.document-root = \"{at}/served\"\n\
             server.bind = \"127.0.0.1\"\n\
             server.port = {port}\n\
             ssl.engine = \"enable\"\n\
             ssl.pemfile = \"{at}/server.pem\"\n\
             auth.backend = \"plain\"\n\
             auth.backend.plain.userfile = \"{at}/users\"\n\
             auth.require = (\"/\" => (\"method\" => \"basic\", \"realm\" => \"git\", \"require\" => \"valid-user\"))\n\
             alias.url = (\"/\" => \"/usr/lib/git-core/git-http-backend/\")\n\
             cgi.assign = (\"\" => \"\")\n\
             setenv.set-environment = (\"GIT_PROJECT_ROOT\" => \"{at}/served\", \"GIT_HTTP_EXPORT_ALL\" => \"1\")\n",
            port = address.port(),
        );
        let file = folder.join("lighttpd.conf");
        fs::write(&file, config)?;
        let mut command = Command::new("/usr/sbin/lighttpd");
        command.args(["-D", "-f"]).arg(file);
        Ok(Self {
            address,
            authority,
            _process: ExternalProcess::start("lighttpd", &mut command, address, folder)?,
        })
    }
}

/// SSH server with one authorized client key.
struct Ssh {
    address: SocketAddr,
    key: PathBuf,
    other_key: PathBuf,
    /// Fingerprint of the host key, in the format of `ssh-keygen -l`.
    fingerprint: String,
    _process: ExternalProcess,
}

impl Ssh {
    fn start(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let address = free_address()?;
        let key = folder.join("client_key");
        let other_key = folder.join("other_key");
        let host_key = folder.join("host_key");
        for (path, passphrase) in [
            (&key, PASSPHRASE),
            (&other_key, PASSPHRASE),
            (&host_key, ""),
        ] {
            let mut command = Command::new("ssh-keygen");
            complete(
                command
                    .args(["-q", "-t", "ed25519", "-N", passphrase, "-f"])
                    .arg(path),
            )?;
        }
        fs::copy(key.with_extension("pub"), folder.join("authorized"))?;
        let printed = Command::new("ssh-keygen")
            .arg("-lf")
            .arg(&host_key)
            .output()?;
        let printed = String::from_utf8(printed.stdout)?;
        let fingerprint = printed.split_whitespace().nth(1);
        let at = folder.display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host_key\n\
             AuthorizedKeysFile {at}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             PermitRootLogin prohibit-password\n",
            port = address.port(),
        );
        let file = folder.join("sshd_config");
        fs::write(&file, config)?;
        // The server requires this directory for its privilege separation.
        fs::create_dir_all("/run/sshd")?;
        let mut command = Command::new("/usr/sbin/sshd");
        command.args(["-D", "-e", "-f"]).arg(file);
        Ok(Self {
            address,
            key,
            other_key,
            fingerprint: fingerprint.ok_or("no fingerprint")?.to_owned(),
            _process: ExternalProcess::start("sshd", &mut command, address, folder)?,
        })
    }
}

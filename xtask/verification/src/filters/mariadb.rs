//! MariaDB server for tests.

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::Selected;
use crate::apt;
use crate::command::complete;
use crate::servers::HANG_LIMIT;

/// Debian package of the server.
const PACKAGE: &str = "mariadb-server";

/// System account that the package creates; the server refuses to run as root.
const ACCOUNT: &str = "mysql";

/// Character set of queries.
pub(super) const UTF8: &str = "utf8mb4";

/// Running server; stopped and removed when dropped.
#[derive(Debug)]
pub(super) struct MariaDb {
    folder: TempDir,
    process: Child,
}

impl MariaDb {
    /// Starts a server on a socket in a separate folder. If the machine has no server, the Debian
    /// package is installed first.
    ///
    /// # Errors
    /// When the server cannot be installed, initialised or started.
    pub(super) fn start() -> Result<Self, Box<dyn Error>> {
        if !PathBuf::from("/usr/sbin/mariadbd").is_file() {
            apt::install(&[PACKAGE])?;
        }
        let folder = tempfile::Builder::new().prefix("mariadb-").tempdir()?;
        let is_root = Command::new("id").arg("-u").output()?.stdout.trim_ascii() == b"0";
        if is_root {
            complete(Command::new("chown").arg(ACCOUNT).arg(folder.path()))?;
        }
        let data = format!("--datadir={}", folder.path().join("data").display());
        let user = format!("--user={ACCOUNT}");
        let user: &[&str] = if is_root { &[&user] } else { &[] };
        complete(
            Command::new("mariadb-install-db")
                .args(["--no-defaults", &data, "--skip-test-db"])
                .arg("--auth-root-authentication-method=normal")
                .args(user)
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        )?;
        let log = fs::File::create(folder.path().join("log"))?;
        let socket = format!("--socket={}", folder.path().join("socket").display());
        let process = Command::new("/usr/sbin/mariadbd")
            .args(["--no-defaults", &data, &socket, "--skip-networking"])
            .args(user)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let server = Self { folder, process };
        let started = Instant::now();
        while server.run("SELECT 1;\n").is_err() {
            if started.elapsed() > HANG_LIMIT {
                return Err("MariaDB does not answer".into());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(server)
    }

    /// Creates tables with these statements and runs each query.
    ///
    /// # Errors
    /// When the tables cannot be created or a response cannot be parsed.
    pub(super) fn select(
        &self,
        tables: &str,
        queries: &[String],
    ) -> Result<Vec<Selected>, Box<dyn Error>> {
        self.create(tables)?;
        self.select_with(UTF8, "", queries)
    }

    /// Creates tables with these statements.
    ///
    /// # Errors
    /// When the tables cannot be created.
    pub(super) fn create(&self, tables: &str) -> Result<(), Box<dyn Error>> {
        self.run(&format!(
            "CREATE DATABASE filters CHARACTER SET utf8mb4; USE filters;\n{tables}"
        ))
    }

    /// Runs each query in a session with this character set, after these statements.
    ///
    /// # Errors
    /// When a response cannot be parsed.
    pub(super) fn select_with(
        &self,
        charset: &str,
        before: &str,
        queries: &[String],
    ) -> Result<Vec<Selected>, Box<dyn Error>> {
        // One line per query, because the client reports errors with line numbers.
        let mut script = format!("USE filters; {before}\n");
        for (index, query) in queries.iter().enumerate() {
            if query.contains(['\n', '\r']) {
                return Err(format!("a query of several lines: {query}").into());
            }
            script.push_str(&format!("SELECT '#{index}'; {query};\n"));
        }
        let output = self.client(charset, &script)?;
        let mut found: Vec<Selected> = queries.iter().map(|_| Ok([].into())).collect();
        let stderr = String::from_utf8_lossy(&output.stderr);
        // An error in a query of several lines is printed together with the query.
        for line in stderr.lines().filter(|line| line.starts_with("ERROR")) {
            let index = line.split_once(" at line ").and_then(|(_, rest)| {
                let (line, _) = rest.split_once(':')?;
                line.parse::<usize>().ok()?.checked_sub(2)
            });
            let index = index.and_then(|index| found.get_mut(index));
            *index.ok_or_else(|| format!("MariaDB: {line}"))? = Err(line.to_owned());
        }
        let mut index = 0;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            match line.strip_prefix('#') {
                Some(number) => index = number.parse()?,
                None => {
                    let selected = found.get_mut(index).ok_or("an answer to nothing")?;
                    if let Ok(selected) = selected {
                        selected.insert(line.parse()?);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Runs statements that must all succeed.
    fn run(&self, script: &str) -> Result<(), Box<dyn Error>> {
        let output = self.client(UTF8, script)?;
        match output.stderr.is_empty() && output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
    }

    fn client(&self, charset: &str, script: &str) -> Result<std::process::Output, Box<dyn Error>> {
        // Reads from a file, so that a full pipe cannot block either side.
        let path = self.folder.path().join("script");
        fs::File::create(&path)?.write_all(script.as_bytes())?;
        let socket = format!("--socket={}", self.folder.path().join("socket").display());
        let output = Command::new("mariadb")
            .args(["--no-defaults", "--user=root", &socket])
            .arg(format!("--default-character-set={charset}"))
            .args(["--batch", "--force", "--skip-column-names"])
            .stdin(fs::File::open(&path)?)
            .output()?;
        Ok(output)
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ended = self.process.kill();
        let _waited = self.process.wait();
    }
}

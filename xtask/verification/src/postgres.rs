//! PostgreSQL server for checks.

use std::{
    error::Error,
    fs, io,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::apt;
use crate::command::complete;

/// Debian package of the server.
const PACKAGE: &str = "postgresql";

/// System account that the package creates; the server refuses to run as root.
const ACCOUNT: &str = "postgres";

/// Running server with an empty database; stopped and removed when dropped.
#[derive(Debug)]
pub(crate) struct Postgres {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
}

impl Postgres {
    /// Starts a server on a free loopback port, in a separate folder. If the machine has no server,
    /// the Debian package is installed first.
    ///
    /// # Errors
    /// When the server cannot be installed, initialised or started.
    pub(crate) fn start() -> Result<Self, Box<dyn Error>> {
        let programs = match programs() {
            Some(found) => found,
            None => {
                apt::install(&[PACKAGE])?;
                programs().ok_or("the PostgreSQL package has no server programs")?
            }
        };
        let folder = tempfile::Builder::new().prefix("postgres-").tempdir()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let server = Self {
            programs,
            folder,
            port,
        };
        if is_root()? {
            complete(Command::new("chown").arg(ACCOUNT).arg(server.folder.path()))?;
        }
        let data = server.data();
        complete(
            server
                .program("initdb")?
                .args([
                    "--auth=trust",
                    "--username=postgres",
                    "--encoding=UTF8",
                    "--no-sync",
                ])
                .arg("-D")
                .arg(&data),
        )?;
        // Without fsync, data still survives the simulated crashes of the server, but not a crash
        // of the machine.
        let options = format!(
            "-p {port} -c fsync=off -c listen_addresses=127.0.0.1 -c unix_socket_directories={}",
            server.folder.path().display()
        );
        complete(
            server
                .program("pg_ctl")?
                .arg("-D")
                .arg(&data)
                .args(["-w", "-o", &options])
                .arg("-l")
                .arg(server.folder.path().join("log"))
                .arg("start"),
        )?;
        Ok(server)
    }

    /// Restarts the server with its data. The mode `immediate` simulates a crash.
    ///
    /// # Errors
    /// When it does not restart.
    pub(crate) fn restart(&self, mode: &str) -> Result<(), Box<dyn Error>> {
        let mut command = self.program("pg_ctl")?;
        command.arg("-D").arg(self.data()).args(["-w", "-m", mode]);
        // The restarted server needs the log file again.
        command.arg("-l").arg(self.folder.path().join("log"));
        complete(command.arg("restart"))
    }

    /// Returns the address of the server.
    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Returns the URL of the server's database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn program(&self, name: &str) -> io::Result<Command> {
        let path = self.programs.join(name);
        let mut command = if is_root()? {
            let mut command = Command::new("runuser");
            command.args(["-u", ACCOUNT, "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command
            .current_dir(self.folder.path())
            .stdout(Stdio::null());
        Ok(command)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let data = self.data();
        let stopped = self.program("pg_ctl").and_then(|mut command| {
            command
                .arg("-D")
                .arg(data)
                .args(["-m", "immediate", "stop"])
                .status()
        });
        // The folder is removed in any case; a server still running then ends without its files.
        drop(stopped);
    }
}

/// Returns the folder of the newest installed server programs.
fn programs() -> Option<PathBuf> {
    let installed = fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut versions: Vec<PathBuf> = installed
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|folder| folder.join("initdb").is_file())
        .collect();
    versions.sort();
    versions.pop()
}

fn is_root() -> io::Result<bool> {
    let output = Command::new("id").arg("-u").output()?;
    Ok(output.stdout.trim_ascii() == b"0")
}

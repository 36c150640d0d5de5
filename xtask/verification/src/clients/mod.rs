//! Third-party client libraries: small programs print the results that their callers get from OPA
//! and from the engine, which must be the same except for known differences.

mod answers;
mod differences;
mod packages;

use std::error::Error;
use std::fmt::Display;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cargo::cargo;
use crate::command::complete;
use crate::release_build::PACKAGES;
use crate::servers::Server;
use crate::{real_opa, report, root};
use answers::Answers;
use differences::Differences;
use packages::Packages;

/// Folder of the programs, their lock files, and the policies that both servers start with.
const FOLDER: &str = "xtask/verification/clients";

/// Arguments that enable authorization on both servers, as some of the policies authorize requests.
const GUARDED: [&str; 2] = ["--authentication=token", "--authorization=basic"];

/// Time limit of a client program.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Small program that uses a client library.
struct Client {
    /// Name in `differences.toml`, and prefix of the names of its cases.
    name: &'static str,
    command: fn(&Packages, SocketAddr, &Path) -> Command,
}

const CLIENTS: &[Client] = &[
    Client {
        name: "opa",
        command: |packages, server, _| {
            let mut command = packages.node("opa.mjs");
            command.arg(format!("http://{server}"));
            command
        },
    },
    Client {
        name: "ucast-prisma",
        command: |packages, server, folder| {
            let mut command = packages.node("prisma.mjs");
            command.arg(format!("http://{server}"));
            command.arg(folder.join("rows.db"));
            command
        },
    },
    Client {
        name: "opa-python-client",
        command: |packages, server, folder| python("sync", packages, server, folder),
    },
    Client {
        name: "opa-python-client-async",
        command: |packages, server, folder| python("async", packages, server, folder),
    },
];

fn python(mode: &str, packages: &Packages, server: SocketAddr, folder: &Path) -> Command {
    let mut command = packages.python();
    command
        .arg(root().join(FOLDER).join("python/cases.py"))
        .arg(mode)
        .args([server.ip().to_string(), server.port().to_string()])
        .arg(folder);
    command
}

/// Installs the libraries, runs every program on separate servers, and compares its results on
/// both.
///
/// # Errors
/// When a library is not available, a program does not end, or a difference is not as listed.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let packages = Packages::install()?;
    let opa = real_opa::build()?;
    complete(cargo().current_dir(root()).arg("build").args(PACKAGES))?;
    let reference = root().join("target/debug/reference");
    let listed = fs::read_to_string(root().join(FOLDER).join("differences.toml"))?;
    let mut differences = Differences::read(&listed)?;
    let mut wrong = Vec::new();
    for client in CLIENTS {
        let theirs = client.answers(&packages, &opa, real_opa::SERVE)?;
        let ours = client.answers(&packages, &reference, &["engine"])?;
        let compared = differences.compare(client.name, &theirs, &ours)?;
        let (name, alike, listed) = (client.name, compared.alike, compared.listed);
        report(
            "compared",
            &format!("{name:<24} {alike:>4} cases alike {listed:>4} differ as listed"),
        );
        wrong.extend(compared.wrong);
    }
    wrong.extend(differences.unused());
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}

impl Client {
    /// Starts a server, runs the program on it, and parses its output.
    fn answers(
        &self,
        packages: &Packages,
        program: &Path,
        serve: &[&str],
    ) -> Result<Answers, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let policies = root().join(FOLDER).join("policies").display().to_string();
        let arguments = [serve, &GUARDED, &[policies.as_str()]].concat();
        let server = Server::start(program, &arguments, folder.path())?;
        let mut command = (self.command)(packages, server.address, folder.path());
        let at = |error: &dyn Display| format!("{} on {}: {error}", self.name, program.display());
        let printed = folder.path().join("printed");
        ended(&mut command, &printed).map_err(|error| at(&error))?;
        let lines = fs::read_to_string(&printed)?;
        Ok(Answers::read(&lines).map_err(|error| at(&error))?)
    }
}

/// Runs a command to completion, with its standard output in a file.
fn ended(command: &mut Command, printed: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut process = command
        .stdin(Stdio::null())
        .stdout(fs::File::create(printed)?)
        .spawn()?;
    loop {
        match process.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("ended with {status}").into()),
            None if start.elapsed() > TIME_LIMIT => {
                process.kill()?;
                process.wait()?;
                return Err("does not come to its end".into());
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

//! Runs the reproducers of `findings/` on the real servers.
//!
//! A second-level heading starts the findings of one server; it begins with the name of a [`Peer`].
//! A finding is a third-level heading, followed by commands in a block `sh` and their expected
//! output in a block `text`. A block `yaml` before the first finding is the server's configuration.
//! Each finding runs on a separate server.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::servers::{ExternalProcess, free_address};
use crate::stored_evidence::on_search_path;
use crate::{apt, real_opa, report, root};

/// Pages with findings.
const PAGES: [&str; 2] = ["findings/engine.md", "findings/control-plane.md"];

/// Programs that the commands use, with their packages.
const PROGRAMS: &[(&str, &str)] = &[("curl", "/usr/bin/curl"), ("sqlite3", "/usr/bin/sqlite3")];

/// Server that findings are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Peer {
    Engine,
    Eopa,
    Control,
}

/// Finding with the commands that reproduce it.
#[derive(Debug)]
struct Finding<'p> {
    peer: Peer,
    title: &'p str,
    commands: &'p str,
    output: &'p str,
}

/// Parsed page with findings.
#[derive(Debug, Default)]
struct Page<'p> {
    /// Configuration of the control plane.
    config: &'p str,
    findings: Vec<Finding<'p>>,
}

/// Runs every finding, or those whose title contains a string. The output must match the page; with
/// `bless` the page is updated.
///
/// # Errors
/// When a server cannot be started, or the output does not match the page.
pub(crate) fn run(only: Option<&str>, bless: bool) -> Result<(), Box<dyn Error>> {
    apt::require(PROGRAMS)?;
    let engine = real_opa::build()?;
    let [eopa, control] = ["eopa", "opactl"].map(|program| {
        let found = on_search_path(program);
        if found.is_none() {
            let reason =
                format!("`{program}` is not on the search path: those of it are not played");
            report("findings", &reason);
        }
        found
    });
    let programs = [Some(engine), eopa, control];
    let mut wrong = Vec::new();
    for page in PAGES {
        wrong.extend(check_page(page, &programs, only, bless)?);
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("the pages say otherwise:\n{}", wrong.join("\n")).into()),
    }
}

/// Runs the findings of a page on the programs of the engine, EOPA and the control plane; returns
/// the mismatches, none with `bless`.
fn check_page(
    page: &str,
    [engine, eopa, control]: &[Option<PathBuf>; 3],
    only: Option<&str>,
    bless: bool,
) -> Result<Vec<String>, Box<dyn Error>> {
    let file = root().join(page);
    let text = fs::read_to_string(&file)?;
    let page = read(&text)?;
    let folder = root().join("target/findings");
    let mut blessed = text.clone();
    let mut wrong = Vec::new();
    for finding in &page.findings {
        if only.is_some_and(|only| !finding.title.contains(only)) {
            continue;
        }
        let program = match finding.peer {
            Peer::Engine => engine.as_deref(),
            Peer::Eopa => eopa.as_deref(),
            Peer::Control => control.as_deref(),
        };
        let Some(program) = program else { continue };
        report("playing", finding.title);
        let output = finding.run_commands(program, page.config, &folder)?;
        if output != finding.output {
            wrong.push(format!("{}:\n{output}", finding.title));
            let (before, after) = (finding.block(finding.output), finding.block(&output));
            blessed = blessed.replacen(&before, &after, 1);
        }
    }
    if bless {
        fs::write(&file, blessed)?;
        wrong.clear();
    }
    Ok(wrong)
}

impl Finding<'_> {
    /// Formats the commands and their output like the page does.
    fn block(&self, output: &str) -> String {
        format!("```sh\n{}```\n\n```text\n{output}```\n", self.commands)
    }

    /// Runs the commands of the finding on a new server; returns their output.
    fn run_commands(
        &self,
        program: &Path,
        config: &str,
        folder: &Path,
    ) -> Result<String, Box<dyn Error>> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        let address = free_address()?;
        let mut server = Command::new(program);
        server.current_dir(folder);
        let (name, variable) = match self.peer {
            Peer::Engine => {
                let (address, level) = (address.to_string(), ["--log-level", "error"]);
                server
                    .args(real_opa::SERVE)
                    .args(["--addr", &address])
                    .args(level);
                ("opa", "OPA")
            }
            Peer::Eopa => {
                let address = address.to_string();
                server.args([
                    "run",
                    "--server",
                    "--log-level",
                    "error",
                    "--addr",
                    &address,
                ]);
                ("eopa", "EOPA")
            }
            Peer::Control => {
                fs::write(folder.join("ocp.yaml"), config)?;
                let options = ["--config", "ocp.yaml", "--data-dir", "data"];
                server
                    .args(["run", "--addr", &address.to_string()])
                    .args(options);
                ("opactl", "OCP")
            }
        };
        let _server = ExternalProcess::start(name, &mut server, address, folder)?;
        let mut path = program
            .parent()
            .map(Path::as_os_str)
            .unwrap_or_default()
            .to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("exec 2>&1\n{}", self.commands))
            .current_dir(folder)
            .env(variable, format!("http://{address}"))
            .env("PATH", path)
            .stdin(Stdio::null())
            .output()?;
        let mut output = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.ends_with('\n') && !output.is_empty() {
            output.push('\n');
        }
        Ok(output)
    }
}

/// Parses a page with findings.
///
/// # Errors
/// When a finding lacks one of its blocks.
fn read(text: &str) -> Result<Page<'_>, Box<dyn Error>> {
    let mut page = Page::default();
    for section in text.split("\n## ").skip(1) {
        let mut parts = section.split("\n### ");
        let head = parts.next().unwrap_or_default();
        let title = head.lines().next().unwrap_or_default();
        let peer = match title {
            _ if title.starts_with("Open Policy Agent") => Peer::Engine,
            _ if title.starts_with("EOPA") => Peer::Eopa,
            _ if title.starts_with("OPA Control Plane") => Peer::Control,
            _ => continue,
        };
        if let Some(config) = block(head, "yaml") {
            page.config = config;
        }
        for finding in parts {
            let title = finding.lines().next().unwrap_or_default();
            let commands = block(finding, "sh").ok_or_else(|| format!("{title}: no block `sh`"))?;
            let output =
                block(finding, "text").ok_or_else(|| format!("{title}: no block `text`"))?;
            page.findings.push(Finding {
                peer,
                title,
                commands,
                output,
            });
        }
    }
    Ok(page)
}

/// Returns the first fenced block of a language.
fn block<'t>(text: &'t str, language: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("\n```{language}\n"))?;
    let end = rest.find("```")?;
    rest.get(..end)
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_finding_can_be_played() {
        for page in PAGES {
            let text = fs::read_to_string(root().join(page)).expect(page);
            let page = read(&text).expect(page);
            for finding in &page.findings {
                let is_listed = text.contains(&finding.block(finding.output));
                assert!(is_listed, "{}: `text` does not follow `sh`", finding.title);
            }
            assert!(!page.findings.is_empty());
        }
    }
}

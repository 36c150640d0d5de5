//! Examples of `conformance shim`: libraries without a server, judged behind the shim.

use std::error::Error;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cargo::cargo;
use crate::command::complete;
use crate::{evidence, examples, lock_files, real_opa, root};

/// Folder of the examples, each in a folder named after its target.
const FOLDER: &str = "examples/shim";

/// Folder of the installed libraries and compiled adapters.
const BUILT: &str = "target/shim-examples";

/// Folder of the adapter programs, each named `shim-` followed by its target.
const PROGRAMS: &str = "target/shim-examples/bin";

type Install = fn(source: &Path, built: &Path) -> Result<(), Box<dyn Error>>;

/// Library, and how its adapter is installed.
struct Example {
    target: &'static str,
    /// Version of the library in its lock file.
    version: &'static str,
    /// Installs the library and the adapter; `built` is a separate folder.
    install: Install,
}

const EXAMPLES: &[Example] = &[
    Example {
        target: "regorus",
        version: "0.14.1",
        install: regorus,
    },
    Example {
        target: "regopy",
        version: "1.5.2",
        install: regopy,
    },
    Example {
        target: "opa-wasm",
        version: "1.10.0",
        install: opa_wasm,
    },
];

/// Builds the program, installs every library from its registry, and judges it; with `bless` the
/// evidence is stored in `results/`.
///
/// # Errors
/// When a library is not available, or does not match its list of known deviations, after all
/// others are judged.
pub(crate) fn run(bless: bool) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(root().join(PROGRAMS))?;
    examples::try_all(
        FOLDER,
        EXAMPLES,
        |one| one.target,
        |one, program| one.run(program, bless),
    )
}

impl Example {
    fn run(&self, program: &Path, bless: bool) -> Result<(), Box<dyn Error>> {
        let source = root().join(FOLDER).join(self.target);
        let built = root().join(BUILT).join(self.target);
        fs::create_dir_all(&built)?;
        (self.install)(&source, &built)?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [root().join(PROGRAMS)];
        let folders = folders.into_iter().chain(std::env::split_paths(&path));
        let seen = built.join("evidence.ndjson");
        complete(
            Command::new(program)
                .args(["run", "--target", self.target])
                .args(["--target-version", self.version, "--jobs", "1", "--program"])
                .arg(program)
                .arg(format!("--report=ndjson={}", seen.display()))
                .env("PATH", std::env::join_paths(folders)?)
                .stdin(Stdio::null()),
        )?;
        match bless {
            true => evidence::keep(&seen, &evidence::file(evidence::LIBRARIES, self.target)),
            false => Ok(()),
        }
    }
}

/// Compiles the adapter, which depends on the crate `regorus`.
fn regorus(source: &Path, built: &Path) -> Result<(), Box<dyn Error>> {
    complete(
        cargo()
            .current_dir(source)
            .args(["build", "--locked", "--target-dir"])
            .arg(built),
    )?;
    fs::copy(built.join("debug/shim-regorus"), adapter("regorus"))?;
    Ok(())
}

/// Installs the library `regopy` in a separate Python environment.
fn regopy(source: &Path, built: &Path) -> Result<(), Box<dyn Error>> {
    lock_files::python(&source.join("requirements.txt"), built)?;
    let (python, program) = (built.join("bin/python"), source.join("adapter.py"));
    starter("regopy", &[python, "-B".into(), program])
}

/// Installs the library; the adapter compiles policies with the real OPA.
fn opa_wasm(source: &Path, built: &Path) -> Result<(), Box<dyn Error>> {
    lock_files::npm(source, built)?;
    let opa = format!("OPA={}", real_opa::build()?.display());
    let program = built.join("adapter.mjs");
    starter(
        "opa-wasm",
        &["env".into(), opa.into(), "node".into(), program],
    )
}

/// Returns the path of a target's adapter.
fn adapter(target: &str) -> PathBuf {
    root().join(PROGRAMS).join(format!("shim-{target}"))
}

/// Writes the adapter of a target as a script that runs this command.
fn starter(target: &str, command: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let words = command.iter().map(|word| {
        let word = word.display().to_string();
        format!("'{}'", word.replace('\'', r"'\''"))
    });
    let words: Vec<String> = words.collect();
    let script = adapter(target);
    fs::write(&script, format!("#!/bin/sh\nexec {}\n", words.join(" ")))?;
    fs::set_permissions(&script, Permissions::from_mode(0o755))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::error::Error;

    use super::{EXAMPLES, FOLDER};
    use crate::examples;

    /// Every folder of examples must be tested.
    #[test]
    fn every_folder_is_judged() -> Result<(), Box<dyn Error>> {
        let folders = examples::folders(FOLDER)?;
        let judged: BTreeSet<String> = EXAMPLES.iter().map(|one| one.target.to_owned()).collect();
        assert_eq!(judged, folders);
        Ok(())
    }
}

//! Examples of `conformance mock`: a small client in each language, tested with it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::apt;
use crate::cargo::cargo;
use crate::stored_evidence::on_search_path;
use crate::{examples, root};

/// Folder of the examples, each in a folder named after its language.
const FOLDER: &str = "examples/mock";

/// Folder of the compiled examples.
const BUILT: &str = "target/mock-examples";

/// Time limit of an example; compilers use most of it.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Tests of one language.
struct Example {
    language: &'static str,
    /// Programs that the tests require, each with its Debian package.
    needs: &'static [(&'static str, &'static str)],
    /// Returns the commands of the tests, which run one by one in the folder of the example.
    commands: fn(built: &Path) -> Vec<Command>,
}

const EXAMPLES: &[Example] = &[
    Example {
        language: "javascript",
        needs: &[("node", "nodejs")],
        commands: |_| vec![command("node", &["--test"])],
    },
    Example {
        language: "python",
        needs: &[("python3", "python3")],
        // `-B` writes no bytecode next to the tests.
        commands: |_| vec![command("python3", &["-B", "-m", "unittest"])],
    },
    Example {
        language: "go",
        needs: &[("go", "golang-go")],
        commands: |_| vec![command("go", &["test", "-count=1", "./..."])],
    },
    Example {
        language: "java",
        needs: &[("javac", "default-jdk-headless")],
        commands: |built| {
            let mut compile = command("javac", &["-d"]);
            compile.arg(built).args(["Client.java", "ClientTest.java"]);
            let mut run = command("java", &["-cp"]);
            run.arg(built).arg("ClientTest");
            vec![compile, run]
        },
    },
    Example {
        language: "rust",
        needs: &[("cargo", "cargo")],
        commands: |built| {
            let mut test = cargo();
            test.args(["test", "--locked", "--target-dir"]).arg(built);
            vec![test]
        },
    },
];

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Builds the program, and runs the tests of every language.
///
/// # Errors
/// When the programs of a language are missing, or tests fail or do not end, after all others have
/// run.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    examples::try_all(FOLDER, EXAMPLES, |one| one.language, Example::run)
}

impl Example {
    fn run(&self, program: &Path) -> Result<(), Box<dyn Error>> {
        for (program, package) in self.needs {
            if on_search_path(program).is_none() {
                apt::install(&[package])?;
            }
        }
        let built: PathBuf = root().join(BUILT).join(self.language);
        for mut command in (self.commands)(&built) {
            command
                .current_dir(root().join(FOLDER).join(self.language))
                .env("CONFORMANCE", program)
                .stdin(Stdio::null());
            ended(&mut command)?;
        }
        Ok(())
    }
}

/// Runs a command to completion.
fn ended(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let name = command.get_program().to_string_lossy().into_owned();
    let mut process = command
        .spawn()
        .map_err(|error| format!("cannot start `{name}`: {error}"))?;
    loop {
        match process.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("`{name}` ended with {status}").into()),
            None if start.elapsed() > TIME_LIMIT => {
                process.kill()?;
                process.wait()?;
                return Err(format!("`{name}` does not come to its end").into());
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::error::Error;

    use super::{EXAMPLES, FOLDER};
    use crate::examples;

    /// Every folder of examples must be tested.
    #[test]
    fn every_folder_is_run() -> Result<(), Box<dyn Error>> {
        let mut folders = examples::folders(FOLDER)?;
        assert!(folders.remove("policies"), "what all of them start with");
        let run: BTreeSet<String> = EXAMPLES.iter().map(|one| one.language.to_owned()).collect();
        assert_eq!(run, folders);
        Ok(())
    }
}

//! Starts the program in a folder of its own, with nothing of the caller's configuration.

use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};

use conformance::cli::{self, Console};
use tempfile::TempDir;

/// Set where this executable is to be the program instead of its tests.
pub(crate) const WANTED: &str = "TESTS_CLI_IS_PROGRAM";

pub(crate) fn is_wanted() -> bool {
    std::env::var_os(WANTED).is_some()
}

pub(crate) fn main() -> ExitCode {
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let console = Console {
        out: &mut out,
        err: &mut err,
        colour: false,
        watched: false,
    };
    cli::main(std::env::args_os(), console).into()
}

/// The program in an empty folder.
pub(crate) struct Program {
    pub(crate) folder: TempDir,
    environment: Vec<(String, String)>,
}

/// What the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            environment: Vec::new(),
        }
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.folder.path().join(name), text).expect("a file in the folder");
        self
    }

    /// The text of a file that the program wrote.
    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let executable = std::env::current_exe().expect("this executable");
        let mut command = Command::new(executable);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CONFORMANCE_")) {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .env(WANTED, "1")
            .env("XDG_STATE_HOME", self.folder.path().join("state"))
            .envs(self.environment.iter().cloned())
            .current_dir::<&Path>(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let output = self
            .command(arguments)
            .output()
            .expect("the program starts");
        Ran::of(&output)
    }
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// Fails unless the code is this and each text stands in the outputs.
    pub(crate) fn expect(&self, code: i32, texts: &[&str]) -> &Self {
        assert_eq!(self.code, code, "{self:#?}");
        for text in texts {
            let found = self.out.contains(text) || self.err.contains(text);
            assert!(found, "no {text:?} in {self:#?}");
        }
        self
    }
}

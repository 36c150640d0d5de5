//! Starts the program in an empty folder, without the configuration of the user.

use std::path::Path;
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use conformance::cli::{self, Console};
use tempfile::TempDir;

/// Timeout of waits in tests, which only ends hangs. It is not a performance requirement.
pub(crate) const HANG_LIMIT: Duration = Duration::from_secs(120);

/// Timeout option of the program in seconds, for waits that must end for another reason. It is much
/// longer than [`HANG_LIMIT`].
pub(crate) const NEVER: &str = "3600";

/// Timeout options of the program in seconds, for runs in which one wait must time out and the
/// others must not. The load of the machine determines the value that is long enough for the
/// others.
pub(crate) const LIMITS: [&str; 5] = ["0.5", "2", "8", "32", "128"];

/// Environment variable that makes this executable act as the program.
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

/// Returns a timeout option of the program with [`HANG_LIMIT`] as its value.
pub(crate) fn long_timeout(option: &str) -> String {
    format!("--{option}={}", HANG_LIMIT.as_secs())
}

/// Runs the program with increasing [`LIMITS`] until only the intended wait times out; `early`
/// returns true for a run in which another wait timed out.
pub(crate) fn run_with_limit(
    run: impl Fn(&str) -> RunResult,
    early: impl Fn(&RunResult) -> bool,
) -> RunResult {
    let [first, longer @ ..] = LIMITS;
    longer
        .iter()
        .fold(run(first), |result, limit| match early(&result) {
            true => run(limit),
            false => result,
        })
}

/// Polls a condition until it is true.
pub(crate) fn wait(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANG_LIMIT, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal, such as `-INT`, to a process.
pub(crate) fn signal(process: u32, signal: &str) -> bool {
    let id = process.to_string();
    let sent = Command::new("kill").args([signal, &id]).status();
    sent.expect("kill").success()
}

/// Program under test, in an empty folder.
pub(crate) struct Program {
    pub(crate) folder: TempDir,
    environment: Vec<(String, String)>,
}

/// Result of the program.
#[derive(Debug)]
pub(crate) struct RunResult {
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

    /// Returns the content of a file in the folder of the program.
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

    pub(crate) fn run(&self, arguments: &[&str]) -> RunResult {
        let output = self
            .command(arguments)
            .output()
            .expect("the program starts");
        RunResult::of(&output)
    }
}

impl RunResult {
    /// Waits for the end of the program and returns its result.
    pub(crate) fn ended(child: Child) -> Self {
        let id = child.id();
        let (sender, ended) = channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let output = ended.recv_timeout(HANG_LIMIT).unwrap_or_else(|_| {
            signal(id, "-KILL");
            panic!("the program does not end")
        });
        Self::of(&output.expect("its output"))
    }

    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// Asserts that the exit code is `code`, and that each of `texts` occurs in an output.
    pub(crate) fn expect(&self, code: i32, texts: &[&str]) -> &Self {
        assert_eq!(self.code, code, "{self:#?}");
        for text in texts {
            let found = self.out.contains(text) || self.err.contains(text);
            assert!(found, "no {text:?} in {self:#?}");
        }
        self
    }
}

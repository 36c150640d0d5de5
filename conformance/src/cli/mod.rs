//! The `conformance` program: parses the command line and maps each outcome to an exit code.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | conformant for the chosen rules |
//! | 1 | a rule is broken, or a known deviation passes; an entry of a list has expired; a rule has varying results |
//! | 2 | the command line, the configuration or a file it names is wrong |
//! | 3 | incomplete: nothing was judged, or a rule that had to be judged was not |
//! | 4 | the target cannot be reached, or died |
//! | 5 | the suite's own defect: a wrong request of its own, leftover resources, or changed content of the target |
//! | 6 | nothing is broken, but capabilities that the server does not show, or rules outside of the mode, were not tested |
//! | 130 | interrupted; the reports are still written |

mod baseline;
mod cleanup;
#[cfg(feature = "embedded")]
mod client;
mod completions;
mod connection;
mod coverage;
mod detect;
mod doctor;
mod evidence_file;
mod explain;
mod known_lists;
mod list;
mod man;
#[cfg(feature = "embedded")]
mod mock;
mod multi_target;
mod options;
mod progress;
mod replay;
mod report;
mod rerun_command;
mod rule_selection;
mod run;
mod schema;
#[cfg(feature = "embedded")]
mod selftest;
mod serve;
mod shim;
mod submit;
mod target;
mod watch;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::Path;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::catalogue::{Catalogue, Document};
use crate::visible::Visible;

/// Exit code of usage errors.
const USAGE: u8 = 2;

/// Output streams of the program, and their capabilities.
pub struct Console<'a> {
    /// Stream for results.
    pub out: &'a mut (dyn Write + Send),
    /// Stream for errors and warnings.
    pub err: &'a mut (dyn Write + Send),
    /// Whether output to `out` is coloured by default.
    pub colour: bool,
    /// Whether the terminal is interactive, so that a progress bar makes sense.
    pub watched: bool,
}

impl std::fmt::Debug for Console<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Console")
            .field("colour", &self.colour)
            .field("watched", &self.watched)
            .finish_non_exhaustive()
    }
}

/// Error that ends a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    /// The command line, the configuration, or a file that they name.
    #[error("{0}")]
    Usage(String),
    /// Output or a report cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] std::io::Error),
}

impl Failed {
    fn usage(what: impl std::fmt::Display) -> Self {
        Self::Usage(what.to_string())
    }

    /// Creates a usage error about a file, prefixed with its name.
    fn at(path: &Path, error: &dyn std::fmt::Display) -> Self {
        Self::Usage(format!("{}: {error}", path.display()))
    }
}

#[derive(Parser)]
#[command(
    name = "conformance",
    version,
    about = "Judges any policy engine and control plane by the documented rules of their REST APIs",
    after_help = "Without a command, `run` is meant: `conformance --target opa` is `conformance run --target opa`."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Judge a target (the default)
    Run(Box<watch::Arguments>),
    /// Check a server and suggest how to test it
    Doctor(doctor::Arguments),
    /// Show the rules
    List(list::Arguments),
    /// Show one rule: clause, requests, expected transcript, known deviations
    Explain(explain::Arguments),
    /// Show how much of each document the scenarios cover
    Coverage(coverage::Arguments),
    /// Write, shorten and check lists of known deviations
    #[command(subcommand)]
    Baseline(baseline::Command),
    /// Remove what a killed run left behind
    Cleanup(cleanup::Arguments),
    /// Make reports from stored evidence, without any traffic
    Report(report::Arguments),
    /// Send the requests of an earlier run again, and say whether each answer is as it was
    Replay(Box<replay::Arguments>),
    /// Serve an engine, and a control plane, for tests of their clients: requests are recorded, and
    /// answers break on demand
    #[cfg(feature = "embedded")]
    Mock(Box<mock::Arguments>),
    /// Judge a client of the APIs, which stands behind a small adapter
    #[cfg(feature = "embedded")]
    Client(Box<client::Arguments>),
    /// Serve the decisions of a library that has no server, so that it can be judged
    Shim(shim::Arguments),
    /// Write the script that completes this command line in a shell
    Completions(completions::Arguments),
    /// Write the manual page
    Man(man::Arguments),
    /// Mutation-test the suite: inject faults into the embedded reference, and show which rules
    /// notice
    #[cfg(feature = "embedded")]
    Selftest(selftest::Arguments),
    /// Judge a target by a profile, and write what its implementer publishes: report, evidence and
    /// how to repeat it
    Submit(Box<submit::Arguments>),
    /// Show the JSON Schema of what the program writes
    Schema(schema::Arguments),
}

/// Runs the program with these arguments (the first is the program's name) and returns its
/// exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>, mut console: Console<'_>) -> u8 {
    let arguments = with_command(arguments.into_iter().collect());
    let cli = match parse(arguments) {
        Ok(cli) => cli,
        Err(error) => return explain_usage(&error, &mut console),
    };
    // Server output is sanitized before it reaches a terminal or a job log.
    let Console {
        out,
        err,
        colour,
        watched,
    } = console;
    if let Command::Completions(arguments) = &cli.command {
        let written = completions::completions(arguments, Cli::command(), out);
        return ended(written, err);
    }
    let (mut out, mut err) = (Visible::new(out), Visible::new(err));
    let mut console = Console {
        out: &mut out,
        err: &mut err,
        colour,
        watched,
    };
    let done = match cli.command {
        Command::Run(arguments) => watch::run(*arguments, &mut console),
        Command::Doctor(arguments) => doctor::doctor(&arguments, &mut console),
        Command::List(arguments) => list::list(&arguments, console.out),
        Command::Explain(arguments) => explain::explain(&arguments, console.out),
        Command::Coverage(arguments) => coverage::coverage(&arguments, console.out),
        Command::Baseline(command) => baseline::baseline(command, &mut console),
        Command::Cleanup(arguments) => cleanup::cleanup(&arguments, &mut console),
        Command::Report(arguments) => report::report(&arguments, &mut console),
        Command::Replay(arguments) => replay::replay(*arguments, &mut console),
        #[cfg(feature = "embedded")]
        Command::Mock(arguments) => mock::mock(*arguments, &mut console),
        #[cfg(feature = "embedded")]
        Command::Client(arguments) => client::client(&arguments, &mut console),
        Command::Shim(arguments) => shim::shim(arguments, &mut console),
        Command::Completions(_) => Ok(0),
        Command::Man(arguments) => man::man(&arguments, Cli::command(), console.out),
        #[cfg(feature = "embedded")]
        Command::Selftest(arguments) => selftest::selftest(&arguments, &mut console),
        Command::Submit(arguments) => submit::submit(*arguments, &mut console),
        Command::Schema(arguments) => schema::schema(&arguments, console.out),
    };
    let flushed = console.out.flush();
    let done = done.and_then(|code| flushed.map(|()| code).map_err(Failed::Write));
    ended(done, console.err)
}

/// Prints the error of a command, if any, and returns the exit code.
fn ended(done: Result<u8, Failed>, err: &mut dyn Write) -> u8 {
    done.unwrap_or_else(|failed| {
        if let Failed::Write(error) = &failed
            && error.kind() == ErrorKind::BrokenPipe
        {
            // The reader closed the pipe, so it has read enough.
            return 0;
        }
        // If the error stream is closed, only the exit code reports the error.
        let _ = writeln!(err, "error: {failed}");
        USAGE
    })
}

fn parse(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let matches = Cli::command()
        .color(clap::ColorChoice::Never)
        .try_get_matches_from(arguments)?;
    Cli::from_arg_matches(&matches)
}

/// Inserts `run` before arguments that start with a flag or with rules instead of a command.
fn with_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.is_empty() {
        arguments.push("conformance".into());
    }
    let runs = arguments.get(1).is_none_or(|argument| {
        let argument = argument.to_string_lossy();
        !["-h", "--help", "-V", "--version"].contains(&argument.as_ref())
            && (argument.starts_with(['-', '@']) || argument.contains(['/', '*', '?', '[', '{']))
            || Document::ALL
                .iter()
                .any(|document| document.name() == argument)
    });
    if runs {
        arguments.insert(1, "run".into());
    }
    arguments
}

/// Prints help and version to the output, usage errors to the error stream.
fn explain_usage(error: &clap::Error, console: &mut Console<'_>) -> u8 {
    let text = error.render().to_string();
    if error.use_stderr() {
        let _ = console.err.write_all(text.as_bytes());
        USAGE
    } else {
        let _ = console.out.write_all(text.as_bytes());
        0
    }
}

/// Returns the embedded catalogue.
fn catalogue() -> Result<&'static Catalogue, Failed> {
    Catalogue::embedded().map_err(Failed::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Former spellings of options are accepted for one more version.
    #[test]
    fn former_options_are_accepted() {
        for command_line in [
            "run --verify-stable 2",
            "run --i-own-this-target",
            "run --probe",
            "run --patience 1",
            "replay run.ndjson --i-own-this-target",
            "list --informational",
            "selftest --vacuity",
            "submit --name x --how how.md",
            #[cfg(feature = "embedded")]
            "mock --keep 1 --keep-body 1 --until-eof",
            #[cfg(feature = "embedded")]
            "client --rules-from . --selftest",
            "shim --until-eof -- program",
        ] {
            let words = std::iter::once("conformance").chain(command_line.split(' '));
            let parsed = Cli::try_parse_from(words).map(drop);
            assert_eq!(parsed.map_err(|error| error.to_string()), Ok(()));
        }
    }
}

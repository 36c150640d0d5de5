//! `conformance replay RUN.ndjson:RULE`: resends the requests of an earlier run.

use std::path::{Path, PathBuf};

use clap::Args;

use super::connection::ConnectionArgs;
use super::evidence_file::read;
use super::options::{RunOptions, eventual_timeout};
use super::run::limit;
use super::target::target;
use super::{Console, Failed, catalogue};
use crate::catalogue::pattern::Pattern;
use crate::evidence::{Event, RunStarted};
use crate::http_client::Client;
use crate::judge::openapi::Contract;
use crate::replay::{RecordedRule, Replay, Stopped};
use crate::report::Conclusion;
use crate::run::ledger::{self, Ledger};
use crate::scenario::resource_names::run_name;

/// Default timeout of eventual effects, in seconds.
const EVENTUAL_TIMEOUT: f64 = 10.0;

/// Number of random characters at the end of a run's name.
const RANDOM: usize = 6;

/// The command line of `replay`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct Arguments {
    /// Evidence that a run wrote with `--report ndjson=PATH`, and the rules: an id, an id prefix
    /// such as `engine/v1/data`, or a glob
    #[arg(value_name = "RUN.ndjson:RULE")]
    what: String,
    /// Address of the engine
    #[arg(long, value_name = "URL", env = "CONFORMANCE_ENGINE_URL")]
    engine_url: Option<String>,
    /// Address of the control plane
    #[arg(long, value_name = "URL", env = "CONFORMANCE_CONTROL_URL")]
    control_url: Option<String>,
    /// Implementation: a name the program knows, or a target file; without any, the embedded
    /// reference
    #[arg(long, value_name = "NAME|FILE", env = "CONFORMANCE_TARGET")]
    target: Option<String>,
    /// The program that the target is started with, instead of the one on the search path
    #[arg(long, value_name = "PATH", env = "CONFORMANCE_PROGRAM")]
    program: Option<PathBuf>,
    /// Vendor part of the target's media types, `application/vnd.VENDOR.…`
    #[arg(long, value_name = "VENDOR", env = "CONFORMANCE_VENDOR")]
    vendor: Option<String>,
    /// Requests that touch what others see may be sent to a target that is not on loopback
    #[arg(long, alias = "i-own-this-target")]
    allow_full_mode: bool,
    /// Directory of the cleanup journal: what is created on a server that runs already, for
    /// `conformance cleanup`
    #[arg(long, value_name = "FOLDER", env = "CONFORMANCE_LEDGER")]
    ledger: Option<PathBuf>,
    /// Seconds that one request may take
    #[arg(long, value_name = "SECONDS", env = "CONFORMANCE_TIMEOUT")]
    timeout: Option<f64>,
    /// Seconds to wait for eventual effects, such as the activation of a bundle; 10 unless said
    #[arg(
        long,
        alias = "patience",
        value_name = "SECONDS",
        env = "CONFORMANCE_EVENTUAL_TIMEOUT"
    )]
    eventual_timeout: Option<f64>,
    #[command(flatten)]
    reached: ConnectionArgs,
}

const NOTES: &str = "\
Requests are sent as they were, but for own names, addresses, what an earlier answer says now
(a cursor, an id), and tokens, which are those of the target, as evidence does not contain any.
Each rule gets its own server if the suite starts it, so lists that other rules added to, and
documents loaded before, may differ. Compared are status, media type and every member of a JSON
body, except ids, times, versions, measurements and text of several lines.

Exit codes:
  0    every answer is as it was
  1    some answer is not
  2    wrong usage: no such file, no such rule in it
  3    a rule cannot be replayed: the evidence lacks what it sent, or the target the setup
  4    the target cannot be reached, or died
  130  interrupted";

/// Number of rules by outcome of their replay.
#[derive(Debug, Default)]
struct Count {
    same: usize,
    different: usize,
    not_possible: usize,
}

/// Replays the rules and reports how the responses differ.
pub(super) fn replay(arguments: Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    let what = arguments.what.rsplit_once(':');
    let parts = what.filter(|(file, rule)| !file.is_empty() && !rule.is_empty());
    let Some((file, rule)) = parts else {
        let what = &arguments.what;
        return Err(Failed::usage(format!("`{what}` is not RUN.ndjson:RULE")));
    };
    let path = Path::new(file);
    let events = read(path)?;
    let started = started(&events).ok_or_else(|| Failed::at(path, &"no run starts in it"))?;
    let pattern = Pattern::parse(rule).map_err(Failed::usage)?;
    let ids = started.chosen.iter().map(|chosen| chosen.rule.as_str());
    pattern
        .check(ids)
        .map_err(|error| Failed::at(path, &error))?;

    let mut connection = arguments.reached.connection()?;
    if let Some(seconds) = arguments.timeout {
        connection.timeout = limit(seconds)?;
    }
    let run = run(started)?;
    let folder = arguments.ledger.clone().unwrap_or_else(ledger::folder);
    let ledger = Ledger::new(folder.clone(), &run);
    let seconds = eventual_timeout(arguments.eventual_timeout)?.unwrap_or(EVENTUAL_TIMEOUT);
    let (own_target, eventual_timeout) = (arguments.allow_full_mode, limit(seconds)?);
    let target = target(&arguments.target_options(), catalogue()?)?;
    let client = Client::new(&connection).map_err(Failed::usage)?;
    let replay = Replay {
        target: &target,
        client: &client,
        contract: Contract::embedded().map_err(Failed::usage)?,
        run: &run,
        eventual_timeout,
        own_target,
        ledger: &ledger,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let recorded_rules = started
        .chosen
        .iter()
        .filter(|chosen| pattern.matches(&chosen.rule))
        // A rule without a scenario is reported only if requested by id.
        .filter(|chosen| chosen.setup.is_some() || pattern.names(&chosen.rule))
        .map(|chosen| RecordedRule::of(&events, started, chosen));
    let code = runtime.block_on(all(&replay, recorded_rules, console))?;
    ledger.close(true);
    if ledger::path(&folder, &run).exists() {
        writeln!(console.out, "what is left: conformance cleanup --run {run}")?;
    }
    Ok(code)
}

fn started(events: &[Event]) -> Option<&RunStarted> {
    events.iter().find_map(|event| match event {
        Event::RunStarted(started) => Some(&**started),
        _ => None,
    })
}

/// Creates a run name as long as the earlier one, so that lengths in requests remain correct.
fn run(started: &RunStarted) -> Result<String, Failed> {
    let random = getrandom::u64().map_err(|error| Failed::usage(error.to_string()))?;
    let end = started.run.len().saturating_sub(RANDOM);
    let prefix = started.run.get(..end).filter(|prefix| !prefix.is_empty());
    Ok(run_name(prefix.unwrap_or("c"), random))
}

async fn all(
    replay: &Replay<'_>,
    recorded_rules: impl Iterator<Item = RecordedRule<'_>>,
    console: &mut Console<'_>,
) -> Result<u8, Failed> {
    let mut count = Count::default();
    for recorded in recorded_rules {
        writeln!(console.out, "{}", recorded.rule)?;
        let (mut same, mut write_error) = (true, Ok(()));
        let ended = replay
            .replay(&recorded, &mut |answered| {
                same &= answered.differences.is_empty();
                let written = answered
                    .lines()
                    .iter()
                    .try_for_each(|line| writeln!(console.out, "  {line}"));
                if write_error.is_ok() {
                    write_error = written;
                }
            })
            .await;
        write_error?;
        match ended {
            Err(Stopped::NotPossible(why)) => {
                writeln!(console.out, "  cannot be replayed: {why}")?;
                count.not_possible += 1;
            }
            Err(Stopped::Unreachable(why)) => {
                writeln!(console.out, "  {why}")?;
                return Ok(Conclusion::Unreachable.exit_code());
            }
            Err(Stopped::Interrupted) => return Ok(Conclusion::Interrupted.exit_code()),
            Ok(()) if same => count.same += 1,
            Ok(()) => {}
        }
        if !same {
            count.different += 1;
        }
    }
    let Count {
        same,
        different,
        not_possible,
    } = count;
    writeln!(
        console.out,
        "as it was: {same}, not as it was: {different}, cannot be replayed: {not_possible}"
    )?;
    Ok(match (different, not_possible) {
        (0, 0) => Conclusion::Conformant,
        (0, _) => Conclusion::Incomplete,
        _ => Conclusion::NotConformant,
    }
    .exit_code())
}

impl Arguments {
    fn target_options(self) -> RunOptions {
        RunOptions {
            engine_url: self.engine_url,
            control_url: self.control_url,
            target: self.target.into_iter().collect(),
            program: self.program,
            vendor: self.vendor,
            token_env: self.reached.token_env,
            ..RunOptions::default()
        }
    }
}

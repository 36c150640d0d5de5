//! Options of `run`: flags, then `CONFORMANCE_*` variables, then the configuration file.

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Deserializer};

use super::Failed;
use crate::catalogue::Pack;
use crate::report::FileReport;
use crate::run::Mode;

/// The command line of `run`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct RunArguments {
    /// TOML file with any of these options, under the same names
    #[arg(long, value_name = "FILE", env = "CONFORMANCE_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    options: RunOptions,
}

const NOTES: &str = "\
Every option is also an environment variable: CONFORMANCE_ENGINE_URL, CONFORMANCE_RULES, …
A flag outweighs a variable, a variable outweighs the configuration file.

Without a target, the embedded reference is judged, and conformance-report.json is written
unless a --report is asked for.

With several targets each is judged by the same rules (without a RULE, those of the APIs that all
of them have) and the same seed. Then the program says where they differ: rules with other
verdicts, open clauses with other records, and answers that no rule covers, as proposed
clauses; what differs is asked once more, so that random differences are not reported. Reports
are written for each target, its name before the ending of the file (run.ndjson, run.opa.ndjson);
html shows all of them on one page. The exit code is that of the worst target.

Exit codes:
  0    conformant for the chosen rules
  1    a rule is broken, a known deviation passes, an entry of a list has expired, or a rule has
       varying results
  2    wrong usage: unknown ids, globs that match nothing, unknown configuration keys
  3    incomplete: nothing was judged, or a rule that had to be judged was not; also a target that
       lets nobody in (401, 403), or does not serve the API (404 at every path)
  4    the target cannot be reached, or died; also TLS at a port without it, and the reverse
  5    the suite's own defect: an invalid request, leftovers, or a target whose contents are not
       those from before the run
  6    nothing is broken, but not everything was tested: the server at an address does not show
       some capabilities and --capabilities does not name them, or --mode left rules out
  130  interrupted; the reports are still written

With --profile the exit code is by its rules of the level must: each has to be judged and to hold.
Rules of the level should are judged and told, and leave the exit code alone. The target claims
what capabilities the rules that must hold need.

A rule has to be judged when its id is given, or when only the suite or the target's own
description stands in the way (no snapshot; a target file lacks a setup, or a fixture server in it).
Otherwise rules that cannot run are shown and counted as not proven, but leave the exit code
alone: those of capabilities that the target does not claim, those still to be written, and
those of setups and tokens that plain addresses cannot provide. Capabilities that a look at the
server does not find, and rules outside of the mode, end the run with 6.

A run by address first looks at the server, with GET requests and POST requests that evaluate what
is not defined. What it finds it says in one line for each address, and goes by it: the vendor, the
version, the path before the API, and which capabilities are not there. --vendor, --target-version
and --capabilities say otherwise.";

/// The options of `run`, as flags and as keys of the configuration file.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RunOptions {
    /// Rules: ids, id prefixes such as `engine/v1/data`, globs (`*` in a segment, `**` across), or
    /// @FILE with one a line
    #[arg(value_name = "RULE", env = "CONFORMANCE_RULES", value_delimiter = ' ')]
    pub(super) rules: Vec<String>,
    /// Judge by a profile: a frozen set of rules, such as `engine-decision`. The exit code depends
    /// on the required rules; recommended ones are reported
    #[arg(
        long,
        value_name = "NAME",
        env = "CONFORMANCE_PROFILE",
        conflicts_with_all = ["rules", "pack", "shard"]
    )]
    pub(super) profile: Option<String>,
    /// Also the rules of a pack, which are outside the score; without a RULE, only they
    #[arg(long, value_name = "PACK", env = "CONFORMANCE_PACK")]
    pub(super) pack: Option<Pack>,
    /// Rules to leave out, written like RULE
    #[arg(
        long,
        value_name = "RULE",
        env = "CONFORMANCE_SKIP",
        value_delimiter = ' '
    )]
    pub(super) skip: Vec<String>,
    /// Judge the I-th of N equal parts of the rules; `report merge` joins their evidence
    #[arg(long, value_name = "I/N", env = "CONFORMANCE_SHARD")]
    pub(super) shard: Option<String>,

    /// Address of the engine to judge
    #[arg(long, value_name = "URL", env = "CONFORMANCE_ENGINE_URL")]
    pub(super) engine_url: Option<String>,
    /// Address of the control plane to judge
    #[arg(long, value_name = "URL", env = "CONFORMANCE_CONTROL_URL")]
    pub(super) control_url: Option<String>,
    /// Implementation to judge: a name the program knows, or a target file. With addresses, only
    /// its description is used and nothing is started. Given several times, each is judged in turn
    /// and then compared; the variable names one
    #[arg(long, value_name = "NAME|FILE", env = "CONFORMANCE_TARGET")]
    #[serde(deserialize_with = "one_or_several")]
    pub(super) target: Vec<String>,
    /// The program that the target is started with, instead of the one on the search path
    #[arg(long, value_name = "PATH", env = "CONFORMANCE_PROGRAM")]
    pub(super) program: Option<PathBuf>,
    /// Vendor part of the target's media types, `application/vnd.VENDOR.…`; `auto`, unless said: by
    /// address the one that the server takes, else that of the description
    #[arg(long, value_name = "VENDOR", env = "CONFORMANCE_VENDOR")]
    pub(super) vendor: Option<String>,
    /// Capabilities of the target, instead of those that its description claims
    #[arg(
        long,
        value_name = "NAME",
        env = "CONFORMANCE_CAPABILITIES",
        value_delimiter = ','
    )]
    pub(super) capabilities: Vec<String>,
    /// Version of the target, for lists of known deviations that depend on it
    #[arg(long, value_name = "VERSION", env = "CONFORMANCE_TARGET_VERSION")]
    pub(super) target_version: Option<String>,
    /// Also run the rules of capabilities that the target does not claim, and say what works
    #[arg(
        long, alias = "probe", env = "CONFORMANCE_RUN_UNCLAIMED", value_parser = BoolishValueParser::new(),
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL"
    )]
    #[serde(alias = "probe")]
    pub(super) run_unclaimed: Option<bool>,

    /// Permitted effects of rules on the target; by default all on loopback, else `additive`
    #[arg(long, value_name = "MODE", env = "CONFORMANCE_MODE")]
    pub(super) mode: Option<Mode>,
    /// The target is the user's own: without --mode, rules that change what others see may run
    /// on it
    #[arg(
        long, alias = "i-own-this-target", env = "CONFORMANCE_ALLOW_FULL_MODE", value_parser = BoolishValueParser::new(),
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL"
    )]
    #[serde(alias = "i-own-this-target")]
    pub(super) allow_full_mode: Option<bool>,

    /// Prefix of every name that the run creates
    #[arg(long, value_name = "PREFIX", env = "CONFORMANCE_NAMESPACE")]
    pub(super) namespace: Option<String>,
    /// Directory of the cleanup journal: what the run creates on a server that it did not start,
    /// for `conformance cleanup`; unless said, below XDG_STATE_HOME
    #[arg(long, value_name = "FOLDER", env = "CONFORMANCE_LEDGER")]
    pub(super) ledger: Option<PathBuf>,

    /// Rules run at the same time
    #[arg(short, long, value_name = "N", env = "CONFORMANCE_JOBS", value_parser = positive::<std::num::NonZeroUsize>)]
    pub(super) jobs: Option<std::num::NonZeroUsize>,
    /// Seed of the order in which rules run
    #[arg(long, value_name = "N", env = "CONFORMANCE_SEED")]
    pub(super) seed: Option<u64>,
    /// Run the rules N times in the same way; rules with varying results fail the run
    #[arg(long, value_name = "N", env = "CONFORMANCE_REPEAT", value_parser = positive::<std::num::NonZeroU32>)]
    pub(super) repeat: Option<std::num::NonZeroU32>,
    /// Run the rules N times, each time in another order and with other --jobs; rules with varying
    /// results fail the run. Reports are those of the first run
    #[arg(
        long, alias = "verify-stable",
        value_name = "N",
        env = "CONFORMANCE_DETECT_FLAKY",
        conflicts_with = "repeat",
        value_parser = positive::<std::num::NonZeroU32>
    )]
    #[serde(alias = "verify-stable")]
    pub(super) detect_flaky: Option<std::num::NonZeroU32>,
    /// Stop after the first rule that is not as expected
    #[arg(
        short = 'x', long, env = "CONFORMANCE_FAIL_FAST", value_parser = BoolishValueParser::new(),
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL"
    )]
    pub(super) fail_fast: Option<bool>,
    /// Stop after N rules that are not as expected
    #[arg(long, value_name = "N", env = "CONFORMANCE_MAX_FAIL", value_parser = positive::<std::num::NonZeroUsize>)]
    pub(super) max_fail: Option<std::num::NonZeroUsize>,
    /// Seconds that one request may take
    #[arg(long, value_name = "SECONDS", env = "CONFORMANCE_TIMEOUT")]
    pub(super) timeout: Option<f64>,
    /// Seconds to wait for eventual effects, such as the activation of a bundle
    #[arg(
        long,
        alias = "patience",
        value_name = "SECONDS",
        env = "CONFORMANCE_EVENTUAL_TIMEOUT"
    )]
    #[serde(alias = "patience")]
    pub(super) eventual_timeout: Option<f64>,

    /// Header added to every request; the variable holds one a line
    #[arg(
        short = 'H',
        long,
        value_name = "NAME: VALUE",
        env = "CONFORMANCE_HEADER",
        value_delimiter = '\n',
        hide_env_values = true
    )]
    pub(super) header: Vec<String>,
    /// Environment variable that holds the administrator's bearer token
    #[arg(long, value_name = "NAME", env = "CONFORMANCE_TOKEN_ENV")]
    pub(super) token_env: Option<String>,
    /// Certificate authorities in PEM, instead of the system's
    #[arg(long, value_name = "FILE", env = "CONFORMANCE_CACERT")]
    pub(super) cacert: Option<PathBuf>,
    /// Accept any server certificate
    #[arg(
        short = 'k', long, env = "CONFORMANCE_INSECURE", value_parser = BoolishValueParser::new(),
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL"
    )]
    pub(super) insecure: Option<bool>,

    /// Report to write, FORMAT=PATH; formats are badge, html, json, junit, markdown, ndjson (the
    /// evidence) and tap. May be given again, or with commas between
    #[arg(
        long,
        value_name = "FORMAT=PATH",
        env = "CONFORMANCE_REPORT",
        value_delimiter = ','
    )]
    pub(super) report: Vec<FileReport>,
    /// Folder for reproducers: of each failing rule the shortest steps that show it, as RULE.sh
    /// (curl) and RULE.hurl
    #[arg(long, value_name = "FOLDER", env = "CONFORMANCE_REPRO")]
    pub(super) repro: Option<PathBuf>,
    /// Known deviations of the target, instead of those that the program knows; the name of a
    /// target, such as `opa`, stands for those that it knows of that one
    #[arg(long, value_name = "FILE", env = "CONFORMANCE_KNOWN_FAILING")]
    pub(super) known_failing: Option<PathBuf>,
    /// Rules that the target keeps on some runs and breaks on others: never proven, never failed
    #[arg(long, value_name = "FILE", env = "CONFORMANCE_KNOWN_FLAKY")]
    pub(super) known_flaky: Option<PathBuf>,
    /// Colours
    #[arg(long, value_name = "WHEN", env = "CONFORMANCE_COLOR")]
    pub(super) color: Option<Colour>,
    /// Progress display while rules run; auto is a bar on a terminal and lines in a file
    #[arg(long, value_name = "HOW", env = "CONFORMANCE_PROGRESS")]
    pub(super) progress: Option<Progress>,

    /// Name of the target, instead of that of its description.
    #[arg(skip)]
    #[serde(skip)]
    pub(super) called: Option<String>,
    /// Whether the run is one of several that are compared, so that it keeps every exchange.
    #[arg(skip)]
    #[serde(skip)]
    pub(super) compared: bool,
}

/// Parses a positive number.
fn positive<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "give a whole number, 1 or more".to_owned())
}

/// Deserializes a string or a list of strings.
fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Texts::deserialize(from)? {
        Texts::One(text) => vec![text],
        Texts::Several(texts) => texts,
    })
}

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Colour {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Progress display.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Progress {
    /// A bar on a terminal, else lines
    #[default]
    Auto,
    /// A bar
    Bar,
    /// A line for each verdict
    Lines,
    /// Nothing
    None,
}

impl Colour {
    /// Whether to use colours; `console` is whether the console shows them.
    pub(super) fn is_enabled(self, console: bool) -> bool {
        match self {
            Self::Auto => console,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Returns the value of `--eventual-timeout`, or that of the variable's former name.
///
/// # Errors
/// The variable is not a number.
pub(super) fn eventual_timeout(value: Option<f64>) -> Result<Option<f64>, Failed> {
    const FORMER: &str = "CONFORMANCE_PATIENCE";
    match (value, std::env::var(FORMER)) {
        (None, Ok(text)) => match text.parse() {
            Ok(seconds) => Ok(Some(seconds)),
            Err(_) => Err(Failed::usage(format!(
                "invalid {FORMER} {text}: expected a time limit in seconds"
            ))),
        },
        (value, _) => Ok(value),
    }
}

impl RunArguments {
    /// The options of the command line and the environment, completed by the configuration.
    ///
    /// # Errors
    /// A configuration that cannot be read, is not TOML, or has an unknown key.
    pub(super) fn options(mut self) -> Result<RunOptions, Failed> {
        self.options.eventual_timeout = eventual_timeout(self.options.eventual_timeout)?;
        let Some(path) = self.config else {
            return Ok(self.options.with_pack());
        };
        let named =
            |error: &dyn std::fmt::Display| Failed::usage(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(&path).map_err(|error| named(&error))?;
        let file: RunOptions = toml::from_str(&text).map_err(|error| named(&error))?;
        Ok(self.options.or_defaults(file).with_pack())
    }
}

impl RunOptions {
    /// Adds the rules of the pack to the chosen rules.
    fn with_pack(mut self) -> Self {
        let pack = self.pack.take();
        self.rules.extend(pack.map(|pack| pack.name().to_owned()));
        self
    }

    /// Merges two sets of options; values of `defaults` apply where these are unset.
    fn or_defaults(self, defaults: Self) -> Self {
        fn list<T>(own: Vec<T>, defaults: Vec<T>) -> Vec<T> {
            if own.is_empty() { defaults } else { own }
        }
        Self {
            rules: list(self.rules, defaults.rules),
            profile: self.profile.or(defaults.profile),
            pack: self.pack.or(defaults.pack),
            skip: list(self.skip, defaults.skip),
            shard: self.shard.or(defaults.shard),
            engine_url: self.engine_url.or(defaults.engine_url),
            control_url: self.control_url.or(defaults.control_url),
            target: list(self.target, defaults.target),
            program: self.program.or(defaults.program),
            vendor: self.vendor.or(defaults.vendor),
            capabilities: list(self.capabilities, defaults.capabilities),
            target_version: self.target_version.or(defaults.target_version),
            run_unclaimed: self.run_unclaimed.or(defaults.run_unclaimed),
            mode: self.mode.or(defaults.mode),
            allow_full_mode: self.allow_full_mode.or(defaults.allow_full_mode),
            namespace: self.namespace.or(defaults.namespace),
            ledger: self.ledger.or(defaults.ledger),
            jobs: self.jobs.or(defaults.jobs),
            seed: self.seed.or(defaults.seed),
            repeat: self.repeat.or(defaults.repeat),
            detect_flaky: self.detect_flaky.or(defaults.detect_flaky),
            fail_fast: self.fail_fast.or(defaults.fail_fast),
            max_fail: self.max_fail.or(defaults.max_fail),
            timeout: self.timeout.or(defaults.timeout),
            eventual_timeout: self.eventual_timeout.or(defaults.eventual_timeout),
            header: list(self.header, defaults.header),
            token_env: self.token_env.or(defaults.token_env),
            cacert: self.cacert.or(defaults.cacert),
            insecure: self.insecure.or(defaults.insecure),
            report: list(self.report, defaults.report),
            repro: self.repro.or(defaults.repro),
            known_failing: self.known_failing.or(defaults.known_failing),
            known_flaky: self.known_flaky.or(defaults.known_flaky),
            color: self.color.or(defaults.color),
            progress: self.progress.or(defaults.progress),
            called: self.called,
            compared: self.compared,
        }
    }
}

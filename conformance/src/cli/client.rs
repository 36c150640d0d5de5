//! `conformance client`: judges an API client behind an adapter.

use std::fs;
use std::io::{self, BufRead as _, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use chrono::Utc;
use clap::Args;
use tokio::runtime::Runtime;

use super::options::{Colour, Progress};
use super::progress::Observer;
use super::run::limit;
use super::{Console, Failed};
use crate::catalogue::pattern::Pattern;
use crate::client_conformance::rules::Rule;
use crate::client_conformance::{Adapter, Judging, Model, Rules, Subject, judge, kill_matrix};
use crate::http_client::curl::argument;
use crate::known_deviations::KnownList;
use crate::report::{self, Conclusion, Digest, FileReport, Paint};
use crate::run::interrupt::shutdown_requested;

/// The command line of `client`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct Arguments {
    /// The adapter of the client, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Rule to judge: an id, a path above ids such as client/engine/decisions, or a glob; may be
    /// repeated. Without one, all
    #[arg(long, value_name = "RULE")]
    rule: Vec<String>,
    /// Rule to leave out, written like --rule
    #[arg(long, value_name = "RULE")]
    skip: Vec<String>,
    /// Show the rules, and judge nothing
    #[arg(long)]
    list: bool,
    /// Name of the client in reports, if its adapter does not give one
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Seconds that the adapter may take for one operation
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    timeout: f64,
    /// Stop after the first rule that is not as expected
    #[arg(short = 'x', long)]
    fail_fast: bool,
    /// Known deviations of the client
    #[arg(long, value_name = "FILE")]
    known_failing: Option<PathBuf>,
    /// Rules that the client keeps on some runs and breaks on others
    #[arg(long, value_name = "FILE")]
    known_flaky: Option<PathBuf>,
    /// Report to write, FORMAT=PATH; formats are badge, html, json, junit, markdown, ndjson and
    /// tap. May be repeated
    #[arg(long, value_name = "FORMAT=PATH", value_delimiter = ',')]
    report: Vec<FileReport>,
    /// Colours
    #[arg(long, value_name = "WHEN")]
    color: Option<Colour>,
    /// Progress display while rules run
    #[arg(long, value_name = "HOW")]
    progress: Option<Progress>,

    /// Judge the model instead, a client that keeps every rule
    #[arg(long, conflicts_with = "command", help_heading = "Testing the rules")]
    model: bool,
    /// Fault of the model
    #[arg(long, value_name = "NAME", help_heading = "Testing the rules")]
    fault: Option<String>,
    /// Show the faults of the model
    #[arg(long, help_heading = "Testing the rules")]
    list_faults: bool,
    /// Play every rule on the model with every fault, and write which rules notice which
    #[arg(long, value_name = "FILE", help_heading = "Testing the rules")]
    kill_matrix: Option<PathBuf>,
    /// Play each fault of the model on the rule that is meant to notice it
    #[arg(long, help_heading = "Testing the rules")]
    selftest: bool,
    /// Folder to read the rules from, instead of those that the program carries
    #[arg(
        long,
        alias = "rules-from",
        value_name = "FOLDER",
        help_heading = "Testing the rules"
    )]
    rules_dir: Option<PathBuf>,
    /// Be the adapter of the model
    #[arg(long, help_heading = "Testing the rules")]
    serve_model: bool,
}

const NOTES: &str = "\
The adapter reads a line of JSON for each operation and writes one. The guide has them all:
docs/guide/client.md.

Exit codes:
  0    conformant: all that the client supports passes
  1    a rule is broken, or a known deviation passes, or an entry of a list has expired
  2    wrong usage, or a file that cannot be used
  3    incomplete: nothing was judged, or a rule that was named was not
  4    the adapter cannot be started, or its answer is invalid
  5    the suite's own defect
  130  interrupted; the reports are still written";

pub(super) fn client(arguments: &Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    let rules = rules(arguments)?;
    if arguments.list {
        let chosen = chosen(&rules, arguments)?;
        for rule in chosen {
            writeln!(console.out, "{}: {}", rule.id, rule.states)?;
        }
        return Ok(0);
    }
    if arguments.list_faults {
        for fault in rules.faults() {
            writeln!(console.out, "{}: {}", fault.id, fault.breaks)?;
        }
        return Ok(0);
    }
    if arguments.selftest || arguments.kill_matrix.is_some() {
        return selftest(arguments, rules, console);
    }
    if arguments.serve_model {
        let mut model = model(arguments)?;
        return serve(&mut model, console);
    }
    let subject = match (arguments.model, arguments.command.is_empty()) {
        (true, _) => Subject::Model(Box::new(model(arguments)?)),
        (false, false) => Subject::Adapter(Box::new(Adapter::new(arguments.command.clone()))),
        (false, true) => {
            let message = "give the adapter's command behind `--`, as in \
                       `conformance client -- python3 adapter.py`";
            return Err(Failed::usage(message));
        }
    };
    judged(arguments, &rules, subject, console)
}

fn rules(arguments: &Arguments) -> Result<Rules, Failed> {
    let rules = match &arguments.rules_dir {
        Some(folder) => Rules::below(folder),
        None => Rules::embedded(),
    };
    rules.map_err(Failed::usage)
}

fn judged(
    arguments: &Arguments,
    rules: &Rules,
    mut subject: Subject,
    console: &mut Console<'_>,
) -> Result<u8, Failed> {
    let chosen = chosen(rules, arguments)?;
    let known = known(arguments, rules)?;
    let random = getrandom::u64().map_err(|error| Failed::usage(error.to_string()))?;
    let judging = Judging {
        rules: chosen,
        limit: limit(arguments.timeout)?,
        name: name(arguments),
        run: format!("c{:08x}", random >> 32),
    };
    let paint = Paint(
        arguments
            .color
            .unwrap_or_default()
            .is_enabled(console.colour),
    );
    let progress = arguments.progress.unwrap_or_default();
    let mut observer = Observer::new(progress, &known, paint, console, &arguments.report)?;
    runtime()?.block_on(async {
        let end = async {
            // Without signal handlers, nothing can request a shutdown.
            if shutdown_requested().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        judge(&judging, &mut subject, end, |event| {
            observer.event(event);
            !(arguments.fail_fast && observer.failures() > 0)
        })
        .await;
    });
    let (events, write_error) = observer.finish();
    let mut digest = Digest::of(events, &known, &named(arguments));
    digest.rerun_command = Some(rerun_command(arguments));
    digest.one_at_a_time = true;
    for report in &arguments.report {
        report::write(std::slice::from_ref(&digest), report)
            .map_err(|error| Failed::at(&report.path, &error))?;
    }
    let write_result = write_error.map_or(Ok(()), Err);
    match write_result.and_then(|()| show(arguments, &digest, paint, console)) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failed::Write(error)),
        _ => Ok(digest.conclusion().exit_code()),
    }
}

fn show(
    arguments: &Arguments,
    digest: &Digest,
    paint: Paint,
    console: &mut Console<'_>,
) -> io::Result<()> {
    write!(console.out, "{}", report::terminal(digest, paint))?;
    if digest.conclusion() == Conclusion::Interrupted {
        writeln!(console.out, "what was judged until then stands above")?;
    }
    for report in &arguments.report {
        writeln!(console.out, "report: {}", report.path.display())?;
    }
    Ok(())
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
}

/// Returns the rules that the options choose, in the order of the files.
fn chosen<'a>(rules: &'a Rules, arguments: &Arguments) -> Result<Vec<&'a Rule>, Failed> {
    let requested = patterns(rules, &arguments.rule)?;
    let skipped = patterns(rules, &arguments.skip)?;
    let any_matches = |patterns: &[Pattern], id: &str| patterns.iter().any(|one| one.matches(id));
    let chosen = rules.all().iter().filter(|rule| {
        (requested.is_empty() || any_matches(&requested, &rule.id))
            && !any_matches(&skipped, &rule.id)
    });
    let chosen: Vec<&Rule> = chosen.collect();
    match chosen.is_empty() {
        true => Err(Failed::usage("no rule is left to judge")),
        false => Ok(chosen),
    }
}

fn patterns(rules: &Rules, texts: &[String]) -> Result<Vec<Pattern>, Failed> {
    let pattern = |text: &String| {
        let pattern = Pattern::parse(text).map_err(Failed::usage)?;
        pattern.check(rules.ids()).map_err(|error| {
            let message = error.to_string();
            Failed::usage(message.replace("`conformance list`", "`conformance client --list`"))
        })?;
        Ok(pattern)
    };
    texts.iter().map(pattern).collect()
}

/// Returns the rules that the user named explicitly, so that they must be judged.
fn named(arguments: &Arguments) -> Vec<String> {
    arguments.rule.clone()
}

fn known(arguments: &Arguments, rules: &Rules) -> Result<KnownList, Failed> {
    let mut list = KnownList::default();
    for (path, kind) in [
        (
            &arguments.known_failing,
            crate::known_deviations::Kind::Failing,
        ),
        (&arguments.known_flaky, crate::known_deviations::Kind::Flaky),
    ] {
        if let Some(path) = path {
            let text = fs::read_to_string(path).map_err(|error| Failed::at(path, &error))?;
            let file = path.display().to_string();
            list = list
                .and(kind, &text, &file, rules.ids())
                .map_err(Failed::usage)?;
        }
    }
    let today = Utc::now().date_naive();
    list.on(&name(arguments), None, today)
        .map_err(Failed::usage)
}

/// Returns the name of the client that is used until its adapter reports one.
fn name(arguments: &Arguments) -> String {
    let command = arguments.command.join(" ");
    match (&arguments.name, command.is_empty()) {
        (Some(name), _) => name.clone(),
        (None, false) => command,
        (None, true) => "model".to_owned(),
    }
}

/// Returns the command that judges one rule again, with the placeholder `{rule}`.
fn rerun_command(arguments: &Arguments) -> String {
    let mut words = vec!["conformance client --rule {rule}".to_owned()];
    if arguments.model {
        words.push("--model".to_owned());
    }
    if let Some(fault) = &arguments.fault {
        words.push(format!("--fault {}", argument(fault)));
    }
    if !arguments.command.is_empty() {
        words.push("--".to_owned());
        words.extend(arguments.command.iter().map(|word| argument(word)));
    }
    words.join(" ")
}

/// Creates the reference client, with the fault that the options name.
fn model(arguments: &Arguments) -> Result<Model, Failed> {
    let Some(name) = &arguments.fault else {
        return Ok(Model::new(None));
    };
    let rules = rules(arguments)?;
    let fault = rules.into_fault(name).ok_or_else(|| {
        let shows = "`conformance client --list-faults` shows them all";
        Failed::usage(format!("the model has no fault `{name}`; {shows}"))
    })?;
    Ok(Model::new(Some(Arc::new(fault))))
}

/// Serves as the adapter of the reference client until the end of input.
fn serve(model: &mut Model, console: &mut Console<'_>) -> Result<u8, Failed> {
    let runtime = runtime()?;
    for line in io::stdin().lock().lines() {
        let request = serde_json::from_str(&line?).map_err(io::Error::from)?;
        let answer = runtime.block_on(model.answer(&request));
        writeln!(console.out, "{answer}")?;
        console.out.flush()?;
    }
    Ok(0)
}

fn selftest(arguments: &Arguments, rules: Rules, console: &mut Console<'_>) -> Result<u8, Failed> {
    let (all, faults) = (rules.all().len(), rules.faults().len());
    let matrix_path = arguments.kill_matrix.as_ref();
    let matrix = kill_matrix(rules, matrix_path.is_some()).map_err(Failed::usage)?;
    let findings = matrix.findings;
    if let Some(path) = matrix_path {
        fs::write(path, matrix.text).map_err(|error| Failed::at(path, &error))?;
    }
    for finding in &findings {
        writeln!(console.out, "{finding}")?;
    }
    writeln!(
        console.out,
        "{all} rules, {faults} faults, {} findings",
        findings.len()
    )?;
    Ok(u8::from(!findings.is_empty()))
}

//! `conformance run` on one target.

use std::fs;
use std::io::{self, ErrorKind};
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use super::detect::{self, Detection};
use super::known_lists::Lists;
use super::options::{Progress, RunOptions};
use super::progress::Observer;
use super::rule_selection::{Choice, profile};
use super::{Console, Failed, catalogue, rerun_command, target};
use crate::catalogue::{Catalogue, Document, Profile};
use crate::http_client::Connection;
use crate::http_client::redact::Redactor;
use crate::known_deviations::KnownList;
use crate::report::repetitions::Repetitions;
use crate::report::repro::{self, Reproducer};
use crate::report::{self, Conclusion, Digest, FileReport, Format, Paint};
use crate::run::{Suite, SuiteError, check_namespace, default_jobs, ledger};
use crate::target::Target;

/// File of the default report, when the embedded reference is judged without another report.
const DEFAULT_REPORT: &str = "conformance-report.json";

/// Judges a target as the options say, prints the result and writes the reports. Without `known`,
/// the options name the known deviations. None if no rule is chosen.
pub(super) fn judge(
    options: &RunOptions,
    known: Option<KnownList>,
    console: &mut Console<'_>,
) -> Result<Option<Digest>, Failed> {
    let catalogue = catalogue()?;
    let mut options = options.clone();
    let mut target = target::target(&options, catalogue)?;
    let connection = connection(&options)?;
    // Invalid arguments are reported before any request is sent.
    let profile = match &options.profile {
        Some(_) if options.shard.is_some() || (!options.rules.is_empty() && !options.compared) => {
            return Err(Failed::usage(
                "a profile is judged whole: it goes with no rules, no pack and no shard",
            ));
        }
        Some(name) => Some(profile(catalogue, name)?),
        None => None,
    };
    let mut choice = choice(&options, catalogue, &target, profile)?;
    if let Some(shard) = &options.shard {
        choice = choice.shard(shard)?;
    }
    let reports = reports(&options, &target)?;
    if let Some(prefix) = &options.namespace {
        check_namespace(prefix).map_err(Failed::usage)?;
    }
    options.eventual_timeout.map(limit).transpose()?;
    if known.is_none() {
        Lists::of(&options).known(&target.name, target.version.as_deref())?;
    }
    let clauses = choice.ids.iter().filter_map(|id| catalogue.clause(id));
    let chosen = clauses.map(|clause| clause.capability.as_str()).collect();
    let needed = profile.map_or_else(Default::default, |one| one.capabilities(catalogue));
    target
        .capabilities
        .extend(needed.iter().map(|name| (*name).to_owned()));
    let requested = detect::RequestedCapabilities { chosen, needed };
    let detection = detect::detect(&mut options, &mut target, &connection, &requested)?;
    if let Some(name) = &options.called {
        target.name.clone_from(name);
    }
    let options = &options;
    for line in &detection.lines {
        writeln!(console.err, "{line}")?;
    }
    let known = match known {
        Some(known) => known,
        None => Lists::of(options).known(&target.name, target.version.as_deref())?,
    };
    let mut plan = Plan {
        options,
        known: &known,
        reports,
        connection,
        detection,
        paint: Paint(options.color.unwrap_or_default().is_enabled(console.colour)),
        target,
        choice,
        profile,
    };
    if plan.choice.ids.is_empty() {
        writeln!(console.err, "no rule is left to judge")?;
        return Ok(None);
    }
    let (suite, mut digest, mut write_error) = plan.round(0, None, console)?;
    digest.rerun_command = Some(rerun_command::command(options));
    digest.one_at_a_time = options.jobs.map_or_else(default_jobs, |jobs| jobs.get()) == 1;
    let times = options.repeat.or(options.detect_flaky);
    if let Some(times) = times.map(NonZeroU32::get).filter(|times| *times > 1) {
        write_error = plan.repeat(times, &mut digest, console)?.or(write_error);
    }
    for report in &plan.reports {
        report::write(std::slice::from_ref(&digest), report)
            .map_err(|error| Failed::at(&report.path, &error))?;
    }
    let repro = options.repro.as_ref();
    let repro = repro.map(|folder| (folder, repro::write(&suite, &digest, folder)));
    let write_result = write_error.map_or(Ok(()), Err);
    let write_result = write_result.and_then(|()| plan.show(&digest, suite.remaining(), console));
    // The verdict is shown even if writing the reproducers fails.
    if let Some((folder, written)) = repro {
        print_reproducer(
            console,
            &written.map_err(|error| Failed::at(folder, &error))?,
        )?;
    }
    match write_result {
        // The reader may close the pipe early; the verdict remains valid.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failed::Write(error)),
        _ => Ok(Some(digest)),
    }
}

/// Reports how many reproducers were written; their paths follow from the rules.
fn print_reproducer(console: &mut Console<'_>, written: &Reproducer) -> Result<(), Failed> {
    for (rule, reason) in &written.left_out {
        writeln!(console.err, "no reproducer of {rule}: {reason}")?;
    }
    writeln!(console.out, "reproducers: {} file(s)", written.files.len())?;
    Ok(())
}

/// Prepared inputs of a run.
struct Plan<'a> {
    options: &'a RunOptions,
    known: &'a KnownList,
    reports: Vec<FileReport>,
    connection: Connection,
    detection: Detection,
    paint: Paint,
    target: Target,
    choice: Choice,
    profile: Option<&'static Profile>,
}

impl Plan<'_> {
    /// Judges the rules once. Returns the suite, the digest, and the error if output failed.
    fn round(
        &self,
        number: u32,
        seed: Option<u64>,
        console: &mut Console<'_>,
    ) -> Result<(Suite, Digest, Option<io::Error>), Failed> {
        let (options, first) = (self.options, number == 0);
        let suite = self.suite(number, seed)?;
        let redactor = redactor(&self.target, &self.connection.headers);
        let max_failures = match options.max_fail {
            Some(failures) => failures.get(),
            None if options.fail_fast == Some(true) => 1,
            None => usize::MAX,
        };
        let progress = match options.progress.unwrap_or_default() {
            Progress::Auto | Progress::Lines if !first => Progress::None,
            progress => progress,
        };
        let reports = if first { &self.reports[..] } else { &[] };
        let observer = Observer::new(progress, self.known, self.paint, console, reports)?;
        let mut observer = observer.with_profile(self.profile);
        if options.compared {
            observer = observer.keeping_all();
        }
        suite.run(|mut event| {
            redactor.event(&mut event);
            observer.event(event);
            if observer.failures() >= max_failures {
                suite.stop();
            }
        });
        let (events, write_error) = observer.finish();
        let digest = Digest::of(events, self.known, &self.choice.named);
        Ok((suite, digest, write_error))
    }

    /// Repeats the run until there are `times` rounds, and adds the results to the digest.
    fn repeat(
        &mut self,
        times: u32,
        digest: &mut Digest,
        console: &mut Console<'_>,
    ) -> Result<Option<io::Error>, Failed> {
        let seed = digest.started.as_ref().map(|started| started.seed);
        let (mut rounds, mut write_error) = (Repetitions::default(), None);
        rounds.add(digest);
        for number in 1..times {
            if digest.conclusion() == Conclusion::Interrupted {
                break;
            }
            writeln!(console.err, "run {} of {times}", number + 1)?;
            let (_, more, failed) = self.round(number, seed, console)?;
            rounds.add(&more);
            digest.leaked.extend(more.leaked);
            digest.changed.extend(more.changed);
            digest.not_compared.extend(more.not_compared);
            digest.defects.extend(more.defects);
            write_error = write_error.or(failed);
            if more
                .finished
                .as_ref()
                .is_none_or(|finished| finished.interrupted)
            {
                digest.finished = more.finished;
            }
        }
        digest.stability = Some(rounds.stability());
        Ok(write_error)
    }

    /// Creates the suite of a round. When stability is verified, the rounds have different orders,
    /// and run the configured number of rules concurrently, one, or twice that number.
    fn suite(&self, number: u32, seed: Option<u64>) -> Result<Suite, Failed> {
        let options = self.options;
        let jobs = options.jobs.map_or_else(default_jobs, |jobs| jobs.get());
        let (seed, jobs) = match (options.detect_flaky.is_some(), number % 3) {
            (true, 1) => (seed, 1),
            (true, 2) => (seed, jobs * 2),
            _ => (seed, jobs),
        };
        let seed = seed.map(|seed| match options.detect_flaky {
            Some(_) => seed.wrapping_add(number.into()),
            None => seed,
        });
        let builder = Suite::builder(self.target.clone())
            .rules(self.choice.ids.iter().cloned())
            .profile(self.profile)
            .seed(seed.or(options.seed))
            .jobs(jobs)
            .mode(options.mode)
            .own_target(options.allow_full_mode.unwrap_or_default())
            .probe(options.run_unclaimed.unwrap_or_default())
            .refusal(self.detection.refusal.clone())
            .modules(self.detection.modules.clone())
            .ledger(Some(options.ledger.clone().unwrap_or_else(ledger::folder)))
            .connection(self.connection.clone());
        let builder = match &options.namespace {
            Some(prefix) => builder.namespace(prefix),
            None => builder,
        };
        let builder = match options.eventual_timeout {
            Some(seconds) => builder.eventual_timeout(limit(seconds)?),
            None => builder,
        };
        builder.build().map_err(|error| match error {
            SuiteError::System(what) => Failed::Write(io::Error::other(what)),
            error => Failed::usage(error),
        })
    }

    fn show(
        &self,
        digest: &Digest,
        leftovers: Option<(usize, String)>,
        console: &mut Console<'_>,
    ) -> io::Result<()> {
        write!(console.out, "{}", report::terminal(digest, self.paint))?;
        // A submission writes the evidence into its own folder.
        let is_submission_evidence =
            |report: &&FileReport| self.options.called.is_some() && report.format == Format::Ndjson;
        for report in self
            .reports
            .iter()
            .filter(|report| !is_submission_evidence(report))
        {
            writeln!(console.out, "report: {}", report.path.display())?;
        }
        let folder = self.options.ledger.clone().unwrap_or_else(ledger::folder);
        if let Some(started) = &digest.started
            && ledger::path(&folder, &started.run).exists()
        {
            let run = &started.run;
            if let Some((count, path)) = leftovers {
                writeln!(console.out, "{count} names may be left, such as {path}")?;
            }
            let label = match digest.leaked.is_empty() {
                true => "what may be left",
                false => "what is left",
            };
            writeln!(console.out, "{label}: conformance cleanup --run {run}")?;
        }
        Ok(())
    }
}

/// Returns the rules of the profile or those that the options choose; by default, all rules of the
/// target's APIs.
fn choice(
    options: &RunOptions,
    catalogue: &Catalogue,
    target: &Target,
    profile: Option<&Profile>,
) -> Result<Choice, Failed> {
    if let Some(profile) = profile {
        return Choice::of_profile(catalogue, profile, &options.skip);
    }
    if !options.rules.is_empty() {
        return Choice::of(catalogue, &options.rules, &options.skip);
    }
    let documents = target::documents(target);
    let paths: Vec<_> = documents
        .iter()
        .map(|document| document.name().to_owned())
        .collect();
    Choice::of(catalogue, &paths, &options.skip)
}

/// Returns the reports to write. Their folders must exist, which is checked before the long run.
fn reports(options: &RunOptions, target: &Target) -> Result<Vec<FileReport>, Failed> {
    let mut reports = options.report.clone();
    if reports.is_empty() && target.in_process && !options.compared {
        reports.push(FileReport {
            format: Format::Json,
            path: DEFAULT_REPORT.into(),
        });
    }
    for report in &reports {
        let folder = report
            .path
            .parent()
            .filter(|folder| *folder != Path::new(""));
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(Failed::at(&report.path, &"its folder does not exist"));
        }
    }
    Ok(reports)
}

fn connection(options: &RunOptions) -> Result<Connection, Failed> {
    let insecure = options.insecure.unwrap_or_default();
    let mut connection = connection_from(&options.header, options.cacert.as_deref(), insecure)?;
    if let Some(seconds) = options.timeout {
        connection.timeout = limit(seconds)?;
    }
    Ok(connection)
}

/// Creates the connection settings from the command line.
pub(super) fn connection_from(
    header: &[String],
    cacert: Option<&Path>,
    insecure: bool,
) -> Result<Connection, Failed> {
    let mut connection = Connection {
        headers: headers(header)?,
        insecure,
        ..Connection::default()
    };
    if let Some(path) = cacert {
        let pem = fs::read(path).map_err(|error| Failed::at(path, &error))?;
        connection.cacert = Some(pem);
    }
    Ok(connection)
}

/// Converts a timeout in seconds to a duration.
pub(super) fn limit(seconds: f64) -> Result<Duration, Failed> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| {
            Failed::usage(format!(
                "invalid time limit {seconds}: expected seconds, more than 0"
            ))
        })
}

fn headers(texts: &[String]) -> Result<Vec<(String, String)>, Failed> {
    let header = |text: &String| {
        let (name, value) = text.split_once(':')?;
        let (name, value) = (name.trim(), value.trim());
        http::HeaderName::try_from(name).ok()?;
        http::HeaderValue::try_from(value).ok()?;
        Some((name.to_owned(), value.to_owned()))
    };
    // The string may contain a credential, so the error does not repeat it.
    let wrong = || Failed::usage("a --header is not `NAME: VALUE`");
    texts
        .iter()
        .map(|text| header(text).ok_or_else(wrong))
        .collect()
}

/// Creates a redactor for every token of the target and every header of the user.
fn redactor(target: &Target, headers: &[(String, String)]) -> Redactor {
    let launches = target.setups.values().flat_map(|setup| {
        Document::ALL
            .into_iter()
            .filter_map(|document| setup.launch(document))
    });
    let tokens = launches.flat_map(|launch| launch.tokens.values());
    let redactor = tokens.fold(Redactor::default(), |redactor, token| {
        redactor.secret(token.reveal())
    });
    headers.iter().fold(redactor, |redactor, (name, value)| {
        redactor.header(name, value)
    })
}

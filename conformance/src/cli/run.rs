//! `conformance run`: judges a target.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::choice::Choice;
use super::options::{Progress, RunArguments, RunOptions};
use super::report::{known, named};
use super::{Console, Failed, catalogue, target};
use crate::catalogue::{Catalogue, Document};
use crate::client::Connection;
use crate::evidence::Event;
use crate::known::KnownList;
use crate::redact::Redactor;
use crate::report::{self, Conclusion, Digest, FileReport, Format, Outcome, Paint, Row};
use crate::suite::{Suite, SuiteError};
use crate::target::Target;

/// Written when the embedded reference is judged and no other report is asked for.
const DEFAULT_REPORT: &str = "conformance-report.json";

/// Judges a target and returns the exit code of what it comes to.
pub(super) fn run(arguments: RunArguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    let options = arguments.options()?;
    let catalogue = catalogue()?;
    let target = target::target(&options, catalogue)?;
    let choice = choice(&options, catalogue, &target)?;
    let known = known(catalogue, &target.name, options.known_failing.as_deref())?;
    let reports = reports(&options, &target)?;
    let connection = connection(&options)?;
    let redactor = redactor(&target, &connection.headers);
    let builder = Suite::builder(target)
        .rules(choice.ids.iter().cloned())
        .seed(options.seed)
        .own_target(options.i_own_this_target.unwrap_or_default())
        .connection(connection);
    let builder = match options.patience {
        Some(seconds) => builder.patience(limit(seconds)?),
        None => builder,
    };
    let builder = match options.jobs {
        Some(jobs) => builder.jobs(jobs.get()),
        None => builder,
    };
    if choice.ids.is_empty() {
        writeln!(console.err, "no rule is left to judge")?;
        return Ok(Conclusion::Incomplete.exit_code());
    }
    let suite = builder.build().map_err(|error| match error {
        SuiteError::System(what) => Failed::Write(io::Error::other(what)),
        error => Failed::usage(error),
    })?;

    let paint = Paint(options.color.unwrap_or_default().wanted(console.colour));
    let mut watch = Watch::new(&options, &known, paint, console, &reports)?;
    suite.run(|mut event| {
        redactor.event(&mut event);
        watch.event(event);
    });
    let (events, trouble) = watch.finish();

    let digest = Digest::of(events, &known, &choice.named);
    for report in &reports {
        report::write(&digest, report).map_err(|error| named(&report.path, &error))?;
    }
    let shown = trouble.map_or(Ok(()), Err);
    let shown = shown.and_then(|()| show(console, &digest, &reports, paint));
    match shown {
        // Whoever reads the output may stop early; the verdict stands.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failed::Write(error)),
        _ => Ok(digest.conclusion().exit_code()),
    }
}

fn show(
    console: &mut Console<'_>,
    digest: &Digest,
    reports: &[FileReport],
    paint: Paint,
) -> io::Result<()> {
    write!(console.out, "{}", report::terminal(digest, paint))?;
    for report in reports {
        writeln!(console.out, "report: {}", report.path.display())?;
    }
    Ok(())
}

/// The rules that the options choose; without any, all of the APIs that the target has.
fn choice(options: &RunOptions, catalogue: &Catalogue, target: &Target) -> Result<Choice, Failed> {
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

/// The reports to write. Their folders must exist, which is better known before a long run.
fn reports(options: &RunOptions, target: &Target) -> Result<Vec<FileReport>, Failed> {
    let mut reports = options.report.clone();
    if reports.is_empty() && target.in_process {
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
            return Err(named(&report.path, &"its folder does not exist"));
        }
    }
    Ok(reports)
}

fn connection(options: &RunOptions) -> Result<Connection, Failed> {
    let mut connection = Connection {
        headers: headers(options)?,
        insecure: options.insecure.unwrap_or_default(),
        ..Connection::default()
    };
    if let Some(path) = &options.cacert {
        let pem = fs::read(path).map_err(|error| named(path, &error))?;
        connection.cacert = Some(pem);
    }
    if let Some(seconds) = options.timeout {
        connection.timeout = limit(seconds)?;
    }
    Ok(connection)
}

/// A time limit in seconds.
fn limit(seconds: f64) -> Result<Duration, Failed> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| Failed::usage(format!("{seconds} is no time limit in seconds")))
}

fn headers(options: &RunOptions) -> Result<Vec<(String, String)>, Failed> {
    let header = |text: &String| {
        let (name, value) = text.split_once(':')?;
        let (name, value) = (name.trim(), value.trim());
        http::HeaderName::try_from(name).ok()?;
        http::HeaderValue::try_from(value).ok()?;
        Some((name.to_owned(), value.to_owned()))
    };
    // The text may hold a credential, so the error does not repeat it.
    let wrong = || Failed::usage("a --header is not `NAME: VALUE`");
    options
        .header
        .iter()
        .map(|text| header(text).ok_or_else(wrong))
        .collect()
}

/// Knows every token of the target and every header of the user's.
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

/// Watches a run: shows it, writes the evidence, and gathers what the reports need.
struct Watch<'a> {
    known: &'a KnownList,
    paint: Paint,
    bar: Option<report::Progress>,
    lines: Option<&'a mut (dyn Write + Send)>,
    evidence: Vec<(PathBuf, BufWriter<File>)>,
    events: Vec<Event>,
    trouble: Option<io::Error>,
}

impl<'a> Watch<'a> {
    fn new(
        options: &RunOptions,
        known: &'a KnownList,
        paint: Paint,
        console: &'a mut Console<'_>,
        reports: &[FileReport],
    ) -> Result<Self, Failed> {
        let progress = match options.progress.unwrap_or_default() {
            Progress::Auto if console.watched => Progress::Bar,
            Progress::Auto => Progress::Lines,
            other => other,
        };
        let mut evidence = Vec::new();
        for report in reports
            .iter()
            .filter(|report| report.format == Format::Ndjson)
        {
            let file = File::create(&report.path).map_err(|error| named(&report.path, &error))?;
            evidence.push((report.path.clone(), BufWriter::new(file)));
        }
        Ok(Self {
            known,
            paint,
            bar: (progress == Progress::Bar).then(report::Progress::bar),
            lines: (progress == Progress::Lines).then_some(&mut *console.out),
            evidence,
            events: Vec::new(),
            trouble: None,
        })
    }

    fn event(&mut self, event: Event) {
        if let Err(error) = self.record(&event).and_then(|()| self.show(&event)) {
            self.trouble.get_or_insert(error);
        }
        // Exchanges are many, and only the evidence holds them.
        if !matches!(event, Event::Exchange(_)) {
            self.events.push(event);
        }
    }

    fn record(&mut self, event: &Event) -> io::Result<()> {
        for (path, file) in &mut self.evidence {
            let written = serde_json::to_writer(&mut *file, event)
                .map_err(io::Error::from)
                .and_then(|()| file.write_all(b"\n"))
                .and_then(|()| match event {
                    // What is judged is on disk, whatever happens next.
                    Event::Exchange(_) => Ok(()),
                    _ => file.flush(),
                });
            written.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        if let Some(bar) = &self.bar {
            bar.show(event);
        }
        if let (Some(lines), Event::Judged(judged)) = (&mut self.lines, event) {
            let row = Row::of((**judged).clone(), self.known);
            if row.outcome != Outcome::NotRun {
                writeln!(lines, "{}", report::verdict_line(&row, self.paint))?;
            }
        }
        Ok(())
    }

    fn finish(self) -> (Vec<Event>, Option<io::Error>) {
        (self.events, self.trouble)
    }
}

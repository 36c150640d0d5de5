//! Observer of a run: shows progress, writes the evidence, and retains the events for reports.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use super::options::Progress;
use super::{Console, Failed};
use crate::catalogue::Profile;
use crate::evidence::Event;
use crate::known_deviations::KnownList;
use crate::report::{self, FileReport, Format, Outcome, Paint, Row};

/// Observes the events of one run.
pub(super) struct Observer<'a> {
    known: &'a KnownList,
    profile: Option<&'static Profile>,
    paint: Paint,
    bar: Option<report::Progress>,
    lines: Option<&'a mut (dyn Write + Send)>,
    evidence: Vec<Evidence>,
    events: Vec<Event>,
    exchanges: Exchanges,
    failures: usize,
    write_error: Option<io::Error>,
}

/// Which exchanges are retained until the end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exchanges {
    None,
    /// Those parts of each exchange that a report shows.
    Trimmed,
    Whole,
}

/// The evidence file, and complete lines that are not yet written to it.
struct Evidence {
    path: PathBuf,
    file: File,
    pending: Vec<u8>,
}

impl<'a> Observer<'a> {
    pub(super) fn new(
        progress: Progress,
        known: &'a KnownList,
        paint: Paint,
        console: &'a mut Console<'_>,
        reports: &[FileReport],
    ) -> Result<Self, Failed> {
        let progress = match progress {
            Progress::Auto if console.watched => Progress::Bar,
            Progress::Auto => Progress::Lines,
            other => other,
        };
        let mut evidence = Vec::new();
        for report in reports
            .iter()
            .filter(|report| report.format == Format::Ndjson)
        {
            let file =
                File::create(&report.path).map_err(|error| Failed::at(&report.path, &error))?;
            evidence.push(Evidence {
                path: report.path.clone(),
                file,
                pending: Vec::new(),
            });
        }
        Ok(Self {
            known,
            profile: None,
            paint,
            bar: (progress == Progress::Bar).then(report::Progress::bar),
            lines: (progress == Progress::Lines).then_some(&mut *console.out),
            evidence,
            events: Vec::new(),
            exchanges: match reports.iter().any(|report| report.format == Format::Html) {
                true => Exchanges::Trimmed,
                false => Exchanges::None,
            },
            failures: 0,
            write_error: None,
        })
    }

    /// Sets the profile by which the results are judged, if there is one.
    pub(super) fn with_profile(self, profile: Option<&'static Profile>) -> Self {
        Self { profile, ..self }
    }

    /// Retains every exchange unchanged, for comparisons.
    pub(super) fn keeping_all(self) -> Self {
        Self {
            exchanges: Exchanges::Whole,
            ..self
        }
    }

    pub(super) fn event(&mut self, event: Event) {
        if let Err(error) = self.record(&event).and_then(|()| self.show(&event)) {
            self.write_error.get_or_insert(error);
        }
        // Exchanges are many and may be long; only the evidence file stores all of them.
        match (event, self.exchanges) {
            (Event::Exchange(_), Exchanges::None) => {}
            (Event::Exchange(mut exchange), Exchanges::Trimmed) => {
                report::trim(&mut exchange);
                self.events.push(Event::Exchange(exchange));
            }
            (event, _) => self.events.push(event),
        }
    }

    fn record(&mut self, event: &Event) -> io::Result<()> {
        for evidence in &mut self.evidence {
            let written = evidence.add(event);
            written.map_err(|error| {
                io::Error::other(format!("{}: {error}", evidence.path.display()))
            })?;
        }
        Ok(())
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        if let Some(bar) = &self.bar {
            bar.show(event);
        }
        let Event::Judged(judged) = event else {
            return Ok(());
        };
        let row = Row::of((**judged).clone(), self.known).bound_by(self.profile);
        if matches!(row.outcome, Outcome::Fail | Outcome::UnexpectedPass) {
            self.failures += 1;
        }
        match &mut self.lines {
            Some(lines) if row.outcome != Outcome::NotRun => {
                writeln!(lines, "{}", report::verdict_line(&row, self.paint))
            }
            _ => Ok(()),
        }
    }

    /// Number of rules with unexpected results so far.
    pub(super) fn failures(&self) -> usize {
        self.failures
    }

    pub(super) fn finish(self) -> (Vec<Event>, Option<io::Error>) {
        (self.events, self.write_error)
    }
}

impl Evidence {
    /// Adds an event as a line. A verdict is written at once, with all events before it, so that a
    /// killed program leaves complete lines.
    fn add(&mut self, event: &Event) -> io::Result<()> {
        self.pending.extend(event.line()?.into_bytes());
        self.pending.push(b'\n');
        if !matches!(event, Event::Exchange(_)) {
            self.file.write_all(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }
}

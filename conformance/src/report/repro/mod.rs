//! Reproducers: the shortest steps that show a failure, as a self-contained shell script and Hurl
//! file.
//!
//! The target's address is a variable. So are tokens, which are never written, and response values
//! that a later request repeats: the script reads them with `jq`, Hurl captures them.

mod call;
mod check;
mod hurl;
mod shell;
pub(crate) mod shrink;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::judge::verdict::{Failure, Verdict};
use crate::report::repro::shrink::shrink;
use crate::report::{Digest, Outcome, Row};
use crate::run::Suite;
use crate::visible::{visible, visible_line};
use call::Calls;

/// Time limit for shortening all scenarios; failures after that are written with all their steps.
const SHRINKING: Duration = Duration::from_secs(120);

/// Result of writing reproducers.
#[derive(Debug, Default)]
pub(crate) struct Reproducer {
    /// The written files.
    pub(crate) files: Vec<PathBuf>,
    /// Rules without a reproducer, and why.
    pub(crate) left_out: Vec<(String, &'static str)>,
}

/// A failure, with the requests that reproduce it.
struct FailedRule<'a> {
    row: &'a Row,
    failure: &'a Failure,
    calls: Calls<'a>,
}

/// Writes the reproducers of every rule that fails, as `FOLDER/RULE.sh` and `FOLDER/RULE.hurl`. The
/// target is queried again, so it must still be running.
///
/// # Errors
/// A file or folder cannot be written.
pub(crate) fn write(target: &Suite, digest: &Digest, folder: &Path) -> io::Result<Reproducer> {
    let failing: Vec<(&Row, &Failure)> = digest
        .rows
        .iter()
        .filter(|row| row.outcome == Outcome::Fail)
        .filter_map(|row| match &row.judged.verdict {
            Verdict::Fail(failure) => Some((row, failure)),
            _ => None,
        })
        .collect();
    let good_suite = good_server(&failing);
    let written = write_each(target, good_suite.as_ref(), failing, folder);
    target.close();
    good_suite.as_ref().map(Suite::close);
    written
}

fn write_each(
    target: &Suite,
    good_suite: Option<&Suite>,
    failing: Vec<(&Row, &Failure)>,
    folder: &Path,
) -> io::Result<Reproducer> {
    let start = Instant::now();
    let mut written = Reproducer::default();
    for (row, failure) in failing {
        let rule = &row.judged.rule;
        let enough = || start.elapsed() > SHRINKING;
        let steps = shrink(target, good_suite, rule, failure, enough);
        match Calls::of(target, rule, &steps) {
            Ok(calls) => {
                let failed = FailedRule {
                    row,
                    failure,
                    calls,
                };
                let path = folder.join(rule);
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent)?;
                }
                let mut save = |extension: &str, text: String| {
                    let path = path.with_extension(extension);
                    fs::write(&path, text)?;
                    written.files.push(path);
                    Ok::<_, io::Error>(())
                };
                // Invisible characters that remain would be displayed by viewers of the file.
                let is_visible = |text: &String| visible(text) == *text;
                let script = Some(shell::script(&failed)).filter(is_visible);
                let hurl = hurl::file(&failed).filter(is_visible);
                if script.is_none() {
                    let reason = "its requests hold what no script can show";
                    written.left_out.push((rule.clone(), reason));
                }
                for (extension, text) in [("sh", script), ("hurl", hurl)] {
                    if let Some(text) = text {
                        save(extension, text)?;
                    }
                }
            }
            Err(reason) => written.left_out.push((rule.clone(), reason)),
        }
    }
    Ok(written)
}

/// Returns an embedded server that passes these rules, if there is one.
#[cfg(feature = "embedded")]
fn good_server(failing: &[(&Row, &Failure)]) -> Option<Suite> {
    let target = crate::target::Target::embedded().ok()?;
    let rules = failing.iter().map(|(row, _)| row.judged.rule.clone());
    Suite::builder(target).rules(rules).build().ok()
}

#[cfg(not(feature = "embedded"))]
fn good_server(_: &[(&Row, &Failure)]) -> Option<Suite> {
    None
}

impl FailedRule<'_> {
    /// Returns the comments at the head of a reproducer, line by line.
    fn head(&self) -> Vec<String> {
        let judged = &self.row.judged;
        let mut lines = vec![
            judged.rule.clone(),
            format!("{}: {}", judged.section, judged.states),
        ];
        for difference in &self.failure.differences {
            lines.push(format!("at       {}", difference.path));
            lines.push(format!("expected {}", difference.expected));
            lines.push(format!("got      {}", difference.got));
        }
        lines.extend(self.failure.notes.iter().cloned());
        if let Some(setup) = self.calls.setup {
            lines.push(format!(
                "The server must have been started in the setup `{setup}`."
            ));
        }
        // One comment is one line, whatever the server sent.
        lines.iter().map(|line| visible_line(line)).collect()
    }
}

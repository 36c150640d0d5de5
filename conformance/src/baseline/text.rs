//! The text of a list: written from what a run showed, and shortened without touching what
//! people wrote.

use std::fmt::Write as _;

use crate::evidence::Judged;
use crate::known::{Deviation, Kind, KnownError, PLACEHOLDER};
use crate::verdict::{Failure, Verdict};

/// The longest part of a failure that a comment shows.
const SHOWN: usize = 200;

/// A list of these rules, whose reasons are still to be written.
pub(crate) fn written<'a>(kind: Kind, failed: impl Iterator<Item = &'a Judged>) -> String {
    let (table, flag) = kind.names();
    let mut text = format!(
        "# For {flag}. Every reason has to be written before the list can be used:\n\
         # what the target does instead, and why.\n"
    );
    for judged in failed {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n[[{table}]]\nrule = {}\nreason = {}\n# {}\n",
            quoted(&judged.rule),
            quoted(PLACEHOLDER),
            shown(judged.states.trim())
        );
        if let Verdict::Fail(failure) = &judged.verdict {
            let _ = writeln!(text, "# {}", shown(&headline(failure)));
        }
    }
    text
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// One line of a comment: what a server sent may hold anything.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown.escape_debug().to_string().replace("\\\"", "\"")
}

fn headline(failure: &Failure) -> String {
    let step = format!("step {}: {}", failure.step, failure.request);
    match (failure.differences.first(), failure.notes.first()) {
        (Some(one), _) => format!(
            "{step}: {}: expected {} | got {}",
            one.path, one.expected, one.got
        ),
        (None, Some(note)) => format!("{step}: {note}"),
        (None, None) => step,
    }
}

/// The text without the entries for which `drop` says so; everything else stays as it is. A
/// comment above an entry is the entry's; a paragraph of comments at the start is the file's.
///
/// # Errors
/// The list cannot be read, or is written so that its entries cannot be told apart by lines.
pub(crate) fn without(
    text: &str,
    file: &str,
    drop: impl Fn(&Deviation) -> bool,
) -> Result<String, Unclear> {
    let kind = Kind::Failing;
    let entries = kind.read(text, file)?;
    let header = format!("[[{}]]", kind.names().0);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let starts: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.trim() == header)
        .map(|(at, _)| start_with_comments(&lines, at))
        .collect();
    if starts.len() != entries.len() {
        return Err(Unclear::Text(file.to_owned(), header));
    }
    let first = starts.first().copied().unwrap_or(lines.len());
    let mut left = lines.get(..first).unwrap_or_default().concat();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(lines.len());
        let lines = lines.get(*start..end).unwrap_or_default();
        let kept = match entries.get(number).is_some_and(&drop) {
            true => lines.get(length(lines)..).unwrap_or_default(),
            false => lines,
        };
        left.push_str(&kept.concat());
    }
    let wanted: Vec<Deviation> = entries.into_iter().filter(|entry| !drop(entry)).collect();
    match kind.read(&left, file) {
        Ok(found) if found == wanted => Ok(left.trim_end().to_owned() + "\n"),
        _ => Err(Unclear::Text(file.to_owned(), header)),
    }
}

/// How many of these lines are an entry's own: up to its last value, the comments right below
/// that, and the empty lines behind.
fn length(lines: &[&str]) -> usize {
    let is_value = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let values = lines.iter().rposition(is_value).map_or(0, |last| last + 1);
    let behind = lines.get(values..).unwrap_or_default().iter();
    let comments = behind.clone().take_while(|line| line.starts_with('#'));
    let comments = comments.count();
    let behind = behind.skip(comments);
    values + comments + behind.take_while(|line| line.trim().is_empty()).count()
}

/// The first line of an entry whose table starts at a line: that of the comments right above.
fn start_with_comments(lines: &[&str], at: usize) -> usize {
    let above = lines.get(..at).unwrap_or_default().iter().rev();
    let comments = above.take_while(|line| line.starts_with('#')).count();
    // What stands at the start of the file is about all of it.
    if comments == at { at } else { at - comments }
}

/// A list that cannot be shortened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unclear {
    #[error(transparent)]
    Known(#[from] KnownError),
    #[error("{0}: each entry has to start with a line `{1}`")]
    Text(String, String),
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::catalogue::Level;
    use crate::verdict::Difference;

    #[test]
    fn entries_go_and_everything_else_stays() {
        let one = "[[deviation]]\nrule = 'a' # one\nreason = '''\n[[no entry]]\n'''\n\n";
        let two = "# About two.\n[[deviation]]\nrule = 'b'\nreason = 'r'\nwhen.target = 'x'\n";
        let text = format!("# The list.\n{one}{two}");
        for (gone, left) in [
            ("", text.clone()),
            ("a", format!("# The list.\n{two}")),
            ("b", format!("# The list.\n{}\n", one.trim_end())),
            ("ab", "# The list.\n".to_owned()),
        ] {
            let found = without(&text, "x.toml", |entry| gone.contains(&entry.rule));
            assert_eq!(found.expect("a list"), left, "without {gone:?}");
        }
        let section = "# ---- a part ----\n\n";
        let noted = "[[deviation]]\nrule = 'a'\nreason = 'r'\n# What it states.\n\n";
        let parts = format!("{noted}{section}{two}");
        let found = without(&parts, "x.toml", |entry| entry.rule == "a");
        assert_eq!(found.expect("a list"), format!("{section}{two}"));
        for unclear in [
            "deviation = [{ rule = 'a', reason = 'r' }]\n",
            "[[deviation]]\nrule = 'a'\nreason = '''\n[[deviation]]\n'''\n",
            "[[ deviation ]]\nrule = 'a'\nreason = 'r'\n",
        ] {
            let error = without(unclear, "x.toml", |_| true).map_err(|error| error.to_string());
            let error = error.expect_err(unclear);
            assert!(
                error.starts_with("x.toml: each entry has to start"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_written_list_is_read_whatever_a_server_sent() {
        let hostile = "\"\n[[deviation]]\nrule = 'x'\r\u{1b}[2J\u{0}";
        let judged = Judged {
            rule: "engine/health/get/healthy-is-empty-object".to_owned(),
            level: Level::Rule,
            section: String::new(),
            states: hostile.to_owned(),
            verdict: Verdict::Fail(Failure {
                differences: vec![Difference {
                    path: "status".to_owned(),
                    expected: "200".to_owned(),
                    got: hostile.repeat(100),
                }],
                ..Failure::default()
            }),
            milliseconds: 0.0,
            transcript: String::new(),
        };
        for kind in [Kind::Failing, Kind::Flaky] {
            let text = written(kind, std::iter::once(&judged));
            let read = kind.read(&text, "x.toml").expect("a list");
            let rules: Vec<_> = read.iter().map(|entry| entry.rule.as_str()).collect();
            assert_eq!(rules, [judged.rule.as_str()]);
        }
    }
}

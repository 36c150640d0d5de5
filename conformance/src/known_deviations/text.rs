//! Text of a list: generated from a run, or rewritten without some entries, everything else
//! unchanged.

use std::fmt::Write as _;

use serde::de::Error as _;
use toml_edit::{Decor, DocumentMut, Item, RawString, Table, TomlError, Value};

use crate::evidence::ClauseVerdict;
use crate::judge::verdict::{Failure, Verdict};
use crate::known_deviations::{Deviation, Kind, KnownError, PLACEHOLDER};

/// Maximum length of a failure in a comment, in characters.
const MAX_EXCERPT_CHARS: usize = 200;

/// Generates a list of these rules, whose reasons are still to be written.
pub(crate) fn write_list<'a>(
    kind: Kind,
    failed: impl Iterator<Item = &'a ClauseVerdict>,
) -> String {
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
            quote(&judged.rule),
            quote(PLACEHOLDER),
            excerpt(judged.states.trim())
        );
        if let Verdict::Fail(failure) = &judged.verdict {
            let _ = writeln!(text, "# {}", excerpt(&headline(failure)));
        }
    }
    text
}

fn quote(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Formats one line of a comment, escaped because data from a server may contain anything.
fn excerpt(text: &str) -> String {
    let mut excerpt: String = text.chars().take(MAX_EXCERPT_CHARS).collect();
    if excerpt.len() < text.len() {
        excerpt.push('…');
    }
    excerpt.escape_debug().to_string().replace("\\\"", "\"")
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

/// Removes the entries for which `drop` returns true; everything else is unchanged. A comment above
/// an entry belongs to the entry; a paragraph of comments at the start belongs to the file.
///
/// # Errors
/// The list cannot be read.
pub(crate) fn without(
    text: &str,
    file: &str,
    should_drop: impl Fn(&Deviation) -> bool,
) -> Result<String, KnownError> {
    let kind = Kind::Failing;
    let dropped: Vec<bool> = kind.read(text, file)?.iter().map(should_drop).collect();
    let unread = |error: TomlError| {
        KnownError::Toml(file.to_owned(), Box::new(toml::de::Error::custom(error)))
    };
    let mut document: DocumentMut = text.parse().map_err(unread)?;
    let end = document.trailing().clone();
    let mut retained = dropped.iter().map(|is_dropped| !is_dropped);
    match document.get_mut(kind.names().0) {
        Some(Item::ArrayOfTables(tables)) => {
            let decors = tables.iter_mut().map(Table::decor_mut);
            let end = close_gaps(decors, &end, &dropped, 0);
            tables.retain(|_| retained.next().unwrap_or(true));
            document.set_trailing(end);
        }
        Some(Item::Value(Value::Array(array))) => {
            let end = array.trailing().clone();
            let decors = array.iter_mut().map(Value::decor_mut);
            let end = close_gaps(decors, &end, &dropped, 1);
            array.retain(|_| retained.next().unwrap_or(true));
            array.set_trailing(end);
        }
        _ => {}
    }
    let retained = document.to_string().trim_end().to_owned() + "\n";
    Ok(match text.contains("\r\n") {
        // Multi-line strings already contain `\r\n`.
        true => retained.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => retained,
    })
}

/// Removes the comments and empty lines of removed entries from the gaps between entries. The first
/// `rest` lines of each gap continue the last line of the entry before it. Returns the source after
/// the last remaining entry.
fn close_gaps<'d>(
    decors: impl Iterator<Item = &'d mut Decor>,
    end: &RawString,
    dropped: &[bool],
    rest: usize,
) -> String {
    let mut pending = String::new();
    let mut before = None;
    for (decor, is_dropped) in decors.zip(dropped) {
        let gap = decor.prefix().and_then(RawString::as_str);
        pending += &close_gap(gap.unwrap_or_default(), rest, before, Some(*is_dropped));
        if !is_dropped {
            decor.set_prefix(std::mem::take(&mut pending));
        }
        before = Some(*is_dropped);
    }
    pending + &close_gap(end.as_str().unwrap_or_default(), rest, before, None)
}

/// Returns the rest of a gap. `before` and `behind` say whether the adjacent entry is removed;
/// `None` means that there is no such entry.
fn close_gap(gap: &str, rest: usize, before: Option<bool>, after: Option<bool>) -> String {
    let lines: Vec<&str> = gap.split_inclusive('\n').collect();
    let is_comment = |line: &&&str| line.trim_start().starts_with('#');
    // The comments directly above an entry, and its indentation.
    let above = lines.iter().skip(rest).rev();
    let above = above.take_while(|line| is_comment(line) || !line.ends_with('\n'));
    let above = match (before, after) {
        (_, None) => 0,
        // A comment at the start of the file is about the whole file.
        (None, _) if above.clone().count() == lines.len() => 0,
        _ => above.count(),
    };
    let (lines, above) = lines.split_at(lines.len() - above);
    // The comments directly below an entry, and the empty lines after them.
    let comments = lines.iter().take_while(is_comment).count();
    let empty = lines.iter().skip(comments);
    let below = comments + empty.take_while(|line| line.trim().is_empty()).count();
    let below = if before == Some(true) { below } else { 0 };
    let above = if after == Some(true) { &[] } else { above };
    lines.get(below..).unwrap_or_default().concat() + &above.concat()
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::catalogue::Level;
    use crate::judge::verdict::Difference;

    #[test]
    fn entries_go_and_everything_else_stays() {
        let one = "[[deviation]]\nrule = 'a' # one\nreason = '''\n[[no entry]]\n'''\n\n";
        let two = "# About two.\n[[deviation]]\nrule = 'b'\nreason = 'r'\nwhen.target = 'x'\n";
        let text = format!("# The list.\n{one}{two}");
        for (removed, expected) in [
            ("", text.clone()),
            ("a", format!("# The list.\n{two}")),
            ("b", format!("# The list.\n{}\n", one.trim_end())),
            ("ab", "# The list.\n".to_owned()),
        ] {
            let found = without(&text, "x.toml", |entry| removed.contains(&entry.rule));
            assert_eq!(found.expect("a list"), expected, "without {removed:?}");
        }
        let section = "# ---- a part ----\n\n";
        let noted = "[[deviation]]\nrule = 'a'\nreason = 'r'\n# What it states.\n\n";
        let parts = format!("{noted}{section}{two}");
        let found = without(&parts, "x.toml", |entry| entry.rule == "a");
        assert_eq!(found.expect("a list"), format!("{section}{two}"));
    }

    #[rstest]
    #[case::inline_tables(
        "deviation = [{ rule = 'a', reason = 'r' }, { rule = 'b', reason = 'r' }]\n",
        "deviation = [{ rule = 'b', reason = 'r' }]\n"
    )]
    #[case::commented_inline_tables(
        "deviation = [\n  # The first.\n  { rule = 'a', reason = 'r' }, # one\n  # The \
         second.\n  { rule = 'b', reason = 'r' }, # two\n]\n",
        "deviation = [\n  # The second.\n  { rule = 'b', reason = 'r' }, # two\n]\n"
    )]
    #[case::text_like_an_entry(
        "[[deviation]]\nrule = 'a'\nreason = '''\n[[deviation]]\n'''\n",
        "\n"
    )]
    #[case::spaces_and_tables(
        "[[ deviation ]]\nrule = 'a'\nreason = 'r'\n[deviation.when]\ntarget = 'x'\n\n\
         # Two.\n[[ deviation ]] # 2\nrule = 'b'\nreason = 'r'\n",
        "# Two.\n[[ deviation ]] # 2\nrule = 'b'\nreason = 'r'\n"
    )]
    #[case::carriage_returns(
        "# All.\r\n\r\n[[deviation]]\r\nrule = 'a'\r\nreason = 'r'\r\n\r\n\
         [[deviation]]\r\nrule = 'b' # b\r\nreason = '''\r\nr'''\r\n",
        "# All.\r\n\r\n[[deviation]]\r\nrule = 'b' # b\r\nreason = '''\r\nr'''\r\n"
    )]
    fn entries_go_however_they_are_written(#[case] text: &str, #[case] expected: &str) {
        let found = without(text, "x.toml", |entry| entry.rule == "a");
        assert_eq!(found.expect(text), expected);
        let all = without(text, "x.toml", |_| false);
        assert_eq!(all.expect(text), text);
    }

    #[test]
    fn a_written_list_is_read_whatever_a_server_sent() {
        let hostile = "\"\n[[deviation]]\nrule = 'x'\r\u{1b}[2J\u{0}";
        let judged = ClauseVerdict {
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
            let text = write_list(kind, std::iter::once(&judged));
            let read = kind.read(&text, "x.toml").expect("a list");
            let rules: Vec<_> = read.iter().map(|entry| entry.rule.as_str()).collect();
            assert_eq!(rules, [judged.rule.as_str()]);
        }
    }
}

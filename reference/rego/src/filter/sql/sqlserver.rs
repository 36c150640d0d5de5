//! SQL Server. Its collations usually fold case, and its `=` ignores trailing spaces, so that
//! strings are compared in a binary collation with a full stop appended to both.

use super::type_guards::TypeGuards;
use super::{MatchPosition, Rendered, Scalar, literal, number, pattern};

pub(super) struct SqlServer;

/// Maximum number of digits of a decimal number.
const MOST_DIGITS: usize = 38;

/// Collation that compares by code points.
const EXACT: &str = "COLLATE Latin1_General_100_BIN2";

/// Collation that encodes strings in UTF-8.
const UTF8: &str = "COLLATE Latin1_General_100_BIN2_UTF8";

impl TypeGuards for SqlServer {
    fn is_text(&self, column: &str, expected: bool) -> String {
        let operator = if expected { "LIKE" } else { "NOT LIKE" };
        let json = format!("SELECT {column} AS v FOR JSON PATH, WITHOUT_ARRAY_WRAPPER");
        // An object without members represents a column without a value.
        format!("COALESCE(({json}), N'{{}}') {operator} N'{{\"v\":\"%'")
    }

    fn bytes(&self, column: &str) -> String {
        let text = format!("CAST({column} AS nvarchar(max)) {UTF8}");
        format!("CAST(CAST({text} AS varchar(max)) AS varbinary(max))")
    }

    fn bytes_of(&self, text: &str) -> String {
        let digits = text.bytes().map(|byte| format!("{byte:02X}"));
        format!("0x{}", digits.collect::<String>())
    }

    fn same_text(&self, column: &str, text: &str) -> String {
        let (value, ended) = (string(text), string(&format!("{text}.")));
        let exact = format!("CAST({column} AS nvarchar(max)) + N'.' = {ended} {EXACT}");
        format!("{column} = {value} AND {exact}")
    }

    fn one_of_texts(&self, column: &str, texts: &[&str]) -> String {
        let values: Vec<String> = texts.iter().map(|text| string(text)).collect();
        let ended = texts.iter().map(|text| string(&format!("{text}.")));
        let ended = ended.collect::<Vec<_>>().join(", ");
        let exact = format!("(CAST({column} AS nvarchar(max)) + N'.') {EXACT} IN ({ended})");
        format!("{column} IN ({}) AND {exact}", values.join(", "))
    }

    fn exact_text(&self, column: &str) -> String {
        format!("CAST({column} AS nvarchar(max)) {EXACT}")
    }

    fn pattern(&self, place: MatchPosition, text: &str) -> String {
        let (pattern, escape) = pattern::like(place, text, &['[', ']', '^', '-']);
        format!("{}{escape}", string(&pattern))
    }

    fn equal(&self, left: &str, right: &str) -> String {
        format!("({left} = {right} OR ({left} IS NULL AND {right} IS NULL))")
    }

    fn constant(&self, value: &Scalar) -> Rendered {
        match value {
            Scalar::Bool(value) => Ok(if *value { "1" } else { "0" }.to_owned()),
            Scalar::Number(value) => number::digits(value, MOST_DIGITS),
            Scalar::Text(text) => Ok(string(text)),
        }
    }
}

/// Formats a string. A backslash at the end of a line joins the line with the next, even between
/// quotes, so the backslash and the line break are written in separate literals.
fn string(text: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = text;
    let ends = text.match_indices('\\').map(|(at, _)| at + 1);
    let ends = ends.filter(|at| is_end_of_line(text, *at));
    for end in ends {
        let at = end - (text.len() - rest.len());
        let (part, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        parts.push(without_nul(part));
        rest = tail;
    }
    parts.push(without_nul(rest));
    match parts.as_slice() {
        [whole] => whole.clone(),
        several => format!("({})", several.join(" + ")),
    }
}

/// Whether a line ends at this position.
fn is_end_of_line(text: &str, at: usize) -> bool {
    text.get(at..)
        .is_some_and(|rest| rest.starts_with(['\n', '\r']))
}

fn without_nul(text: &str) -> String {
    literal::concatenated(text, "NCHAR(0)", "+", |part| {
        format!("N{}", literal::doubled(part))
    })
}

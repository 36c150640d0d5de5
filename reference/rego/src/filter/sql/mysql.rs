//! MySQL and MariaDB. Collations there fold case and accents and ignore spaces at the end, so
//! that strings are compared by their bytes in UTF-8; the comparison beside that is for an index.

use super::kinds::Kinds;
use super::{Place, Scalar, Written, literal, names, number, pattern};

pub(super) struct MySql;

/// Decimal numbers have so many digits.
const MOST_DIGITS: usize = 65;

impl Kinds for MySql {
    fn quoted(&self, name: &str) -> String {
        names::doubled(name, '`')
    }

    fn is_text(&self, column: &str, expected: bool) -> String {
        let operator = if expected { "LIKE" } else { "NOT LIKE" };
        format!("JSON_ARRAY({column}) {operator} '[\"%'")
    }

    fn bytes(&self, column: &str) -> String {
        format!("CAST(CONVERT({column} USING utf8mb4) AS BINARY)")
    }

    fn bytes_of(&self, text: &str) -> String {
        string(text)
    }

    fn same_text(&self, column: &str, text: &str) -> String {
        let value = string(text);
        format!("{column} = {value} AND {} = {value}", self.bytes(column))
    }

    fn one_of_texts(&self, column: &str, texts: &[&str]) -> String {
        let values: Vec<String> = texts.iter().map(|text| string(text)).collect();
        let values = values.join(", ");
        format!(
            "{column} IN ({values}) AND {} IN ({values})",
            self.bytes(column)
        )
    }

    fn exact_text(&self, column: &str) -> String {
        format!("CONVERT({column} USING utf8mb4) COLLATE utf8mb4_bin")
    }

    fn pattern(&self, place: Place, text: &str) -> String {
        let (pattern, escape) = pattern::like(place, text, &[]);
        format!("{}{escape}", string(&pattern))
    }

    fn equal(&self, left: &str, right: &str) -> String {
        format!("{left} <=> {right}")
    }

    fn constant(&self, value: &Scalar) -> Written {
        match value {
            Scalar::Bool(value) => Ok(if *value { "TRUE" } else { "FALSE" }.to_owned()),
            Scalar::Number(value) => number::digits(value, MOST_DIGITS),
            Scalar::Text(text) => Ok(string(text)),
        }
    }
}

fn string(text: &str) -> String {
    let escapes = [
        ('\n', "\\n"),
        ('\r', "\\r"),
        ('\t', "\\t"),
        ('\u{8}', "\\b"),
        ('\0', "\\0"),
        ('\u{1a}', "\\Z"),
    ];
    literal::backslashed(text, &escapes)
}

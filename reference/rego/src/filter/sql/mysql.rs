//! MySQL and MariaDB. Collations there fold case and accents and ignore trailing spaces, so that
//! strings are compared by their bytes in UTF-8; the additional plain comparison is for an index.

use super::type_guards::TypeGuards;
use super::{MatchPosition, Rendered, Scalar, literal, names, number, pattern};

pub(super) struct MySql;

/// Maximum number of digits of a decimal number.
const MOST_DIGITS: usize = 65;

impl TypeGuards for MySql {
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

    fn pattern(&self, place: MatchPosition, text: &str) -> String {
        let (pattern, escape) = pattern::like(place, text, &[]);
        format!("{}{escape}", string(&pattern))
    }

    fn equal(&self, left: &str, right: &str) -> String {
        format!("{left} <=> {right}")
    }

    fn constant(&self, value: &Scalar) -> Rendered {
        match value {
            Scalar::Bool(value) => Ok(if *value { "TRUE" } else { "FALSE" }.to_owned()),
            Scalar::Number(value) => number::digits(value, MOST_DIGITS),
            Scalar::Text(text) => Ok(string(text)),
        }
    }
}

/// Formats a string so that it does not depend on how the server reads a backslash, nor on its
/// double-byte characters: in GBK and Shift JIS, the second byte may be a backslash.
fn string(text: &str) -> String {
    let is_special = |c: char| c == '\\' || c.is_ascii_control();
    if !text.contains(is_special) {
        return literal::doubled(text);
    }
    let bytes: String = text.bytes().map(|byte| format!("{byte:02X}")).collect();
    format!("_utf8mb4 X'{bytes}'")
}

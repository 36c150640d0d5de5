//! SQLite, which orders types like Rego: numbers precede strings. Its booleans are the numbers 0
//! and 1.
//!
//! A comparison converts a literal to the type of the column, so that the string `'1'` equals the
//! number 1 in a numeric column. A `+` before the column's name prevents that; so does an
//! additional test with `typeof`, which permits the use of an index.

use super::{ColumnOperand, Comparison, MatchPosition, Rendered, Scalar, Writer, literal, number};

pub(super) struct Sqlite;

impl Writer for Sqlite {
    fn compare(&self, column: &ColumnOperand, comparison: Comparison, value: &Scalar) -> Rendered {
        let column = &column.name;
        let is_text = matches!(value, Scalar::Text(_));
        let is_boolean = matches!(value, Scalar::Bool(_));
        let (value, comparison) = match value {
            Scalar::Bool(value) => (boolean(*value).to_owned(), comparison),
            Scalar::Number(value) => match number::nearest(value, comparison) {
                Ok(nearest) => nearest,
                Err(holds) => return Ok(self.constant(holds).to_owned()),
            },
            Scalar::Text(text) => (format!("{} COLLATE BINARY", string(text)), comparison),
        };
        let as_it_is = is_text && !has_digit(&value);
        let plus = if as_it_is { "" } else { "+" };
        let operator = comparison.sql();
        Ok(match comparison {
            Comparison::Equal if as_it_is => format!("{column} = {value}"),
            Comparison::Equal => format!("({column} = {value} AND {})", kind(column, is_text)),
            // `IS NOT TRUE` would test the truth of any number.
            Comparison::NotEqual if is_boolean => {
                format!("({plus}{column} <> {value} OR {column} IS NULL)")
            }
            Comparison::NotEqual => format!("{plus}{column} IS NOT {value}"),
            Comparison::Less | Comparison::LessOrEqual => {
                format!("({plus}{column} {operator} {value} OR {column} IS NULL)")
            }
            Comparison::Greater | Comparison::GreaterOrEqual => {
                format!("{plus}{column} {operator} {value}")
            }
        })
    }

    fn columns(&self, left: &str, comparison: Comparison, right: &str) -> String {
        let compared = |operator| format!("+{left} {operator} +{right} COLLATE BINARY");
        match comparison {
            Comparison::Equal => compared("IS"),
            Comparison::NotEqual => compared("IS NOT"),
            Comparison::Less => {
                let below = compared("<");
                format!("({below} OR ({left} IS NULL AND {right} IS NOT NULL))")
            }
            Comparison::LessOrEqual => format!("({} OR {left} IS NULL)", compared("<=")),
            Comparison::Greater | Comparison::GreaterOrEqual => {
                self.columns(right, comparison.mirrored(), left)
            }
        }
    }

    fn among(&self, column: &ColumnOperand, values: &[&Scalar]) -> Rendered {
        let column = &column.name;
        let is_text = matches!(values, [Scalar::Text(_), ..]);
        let values: Vec<String> = values.iter().filter_map(|value| item(value)).collect();
        if values.is_empty() {
            return Ok(self.constant(false).to_owned());
        }
        let values = values.join(", ");
        Ok(if is_text && !has_digit(&values) {
            format!("{column} COLLATE BINARY IN ({values})")
        } else if is_text {
            let kind = kind(column, true);
            format!("({column} COLLATE BINARY IN ({values}) AND {kind})")
        } else {
            format!("({column} IN ({values}) AND {})", kind(column, false))
        })
    }

    fn text(&self, column: &ColumnOperand, place: MatchPosition, text: &str) -> Rendered {
        let column = &column.name;
        let kind = kind(column, true);
        if text.is_empty() {
            return Ok(kind);
        }
        Ok(format!("({} AND {kind})", find(column, place, text)))
    }

    fn exact(&self, value: &Scalar) -> Option<String> {
        item(value)
    }

    fn search(&self, column: &str, place: MatchPosition, text: &str) -> Option<String> {
        Some(find(column, place, text))
    }
}

/// Returns the test whether a column's text contains a string at a position.
fn find(column: &str, place: MatchPosition, text: &str) -> String {
    let value = string(text);
    // String functions stop at a NUL, those for bytes do not.
    let bytes = text.contains('\0');
    let of = if bytes {
        format!("CAST({column} AS BLOB)")
    } else {
        column.to_owned()
    };
    let length = if bytes {
        text.len()
    } else {
        text.chars().count()
    };
    let value = if bytes {
        format!("CAST({value} AS BLOB)")
    } else {
        value
    };
    match place {
        MatchPosition::Start => format!("substr({of}, 1, {length}) = {value}"),
        MatchPosition::End => format!("substr({of}, -{length}) = {value}"),
        MatchPosition::Anywhere => format!("instr({of}, {value}) > 0"),
    }
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

fn kind(column: &str, is_text: bool) -> String {
    let operator = if is_text { "=" } else { "<>" };
    format!("typeof({column}) {operator} 'text'")
}

fn boolean(value: bool) -> &'static str {
    if value { "TRUE" } else { "FALSE" }
}

/// Returns a value as an item of an `IN` list, unless no column can be equal to it.
fn item(value: &Scalar) -> Option<String> {
    match value {
        Scalar::Number(value) => {
            let near = number::nearest(value, Comparison::Equal);
            near.ok().map(|(value, _)| value)
        }
        Scalar::Text(text) => Some(string(text)),
        Scalar::Bool(value) => Some(boolean(*value).to_owned()),
    }
}

fn string(text: &str) -> String {
    literal::concatenated(text, "char(0)", "||", literal::doubled)
}

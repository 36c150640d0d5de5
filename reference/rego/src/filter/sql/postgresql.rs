//! PostgreSQL. It refuses to compare a number with a column of another type, so numbers are
//! compared with the unchanged column, for an index. A string takes the type of the column instead,
//! so one that could be a number or boolean is compared with the column's text, and the column's
//! type is tested. A column that is compared with several types is converted to JSON first.

use super::{
    ColumnOperand, Comparison, MatchPosition, Rendered, Scalar, Writer, literal, number, pattern,
};

pub(super) struct PostgreSql;

/// Maximum number of digits of a number in a column. Literals may have more.
const MOST_DIGITS: usize = 1_000;

impl Writer for PostgreSql {
    fn compare(&self, column: &ColumnOperand, comparison: Comparison, value: &Scalar) -> Rendered {
        let name = &column.name;
        if let Scalar::Text(text) = value {
            return Ok(match text.split_once('\0') {
                None => compare_text(column, comparison, text),
                // A column cannot contain a NUL, so that none is equal, and all that continue the
                // part before the NUL are greater.
                Some((before, _)) => match comparison {
                    Comparison::Equal => self.constant(false).to_owned(),
                    Comparison::NotEqual => self.constant(true).to_owned(),
                    Comparison::Less | Comparison::LessOrEqual => {
                        compare_text(column, Comparison::LessOrEqual, before)
                    }
                    Comparison::Greater | Comparison::GreaterOrEqual => {
                        compare_text(column, Comparison::Greater, before)
                    }
                },
            });
        }
        if column.mixed || needs_json(comparison, value) {
            return compare_json(name, comparison, value);
        }
        let value = constant(value)?;
        Ok(match comparison {
            Comparison::Equal => format!("{name} = {value}"),
            Comparison::NotEqual => format!("{name} IS DISTINCT FROM {value}"),
            Comparison::Less | Comparison::LessOrEqual => {
                format!("({name} {} {value} OR {name} IS NULL)", comparison.sql())
            }
            Comparison::Greater | Comparison::GreaterOrEqual => {
                format!("{name} {} {value}", comparison.sql())
            }
        })
    }

    fn columns(&self, left: &str, comparison: Comparison, right: &str) -> String {
        let (left_json, right_json) = (json(left), json(right));
        // JSON orders the types in reverse.
        let ordered = |operator: &str, across: &str| {
            format!(
                "CASE WHEN jsonb_typeof({left_json}) <> jsonb_typeof({right_json}) \
                 THEN {left_json} {across} {right_json} \
                 WHEN {} THEN {} {operator} {} ELSE {left_json} {operator} {right_json} END",
                kind(left, "= 'string'"),
                text(left),
                text(right),
            )
        };
        match comparison {
            Comparison::Equal => format!("{left_json} IS NOT DISTINCT FROM {right_json}"),
            Comparison::NotEqual => format!("{left_json} IS DISTINCT FROM {right_json}"),
            Comparison::Less => {
                let below = ordered("<", ">");
                format!("({below} OR ({left} IS NULL AND {right} IS NOT NULL))")
            }
            Comparison::LessOrEqual => format!("({} OR {left} IS NULL)", ordered("<=", ">")),
            Comparison::Greater | Comparison::GreaterOrEqual => {
                self.columns(right, comparison.mirrored(), left)
            }
        }
    }

    fn among(&self, column: &ColumnOperand, values: &[&Scalar]) -> Rendered {
        let name = &column.name;
        let texts: Option<Vec<&String>> = values
            .iter()
            .map(|value| match value {
                Scalar::Text(text) => Some(text),
                _ => None,
            })
            .collect();
        if let Some(texts) = texts {
            let texts: Vec<&String> = texts
                .into_iter()
                .filter(|text| !text.contains('\0'))
                .collect();
            if texts.is_empty() {
                return Ok(self.constant(false).to_owned());
            }
            let list: Vec<String> = texts.iter().map(|text| string(text)).collect();
            let list = list.join(", ");
            let is_unambiguous =
                !column.mixed && !texts.iter().any(|text| literal::is_ambiguous(text));
            return Ok(if is_unambiguous {
                format!("{name} IN ({list})")
            } else {
                format!(
                    "({name}::text IN ({list}) AND {})",
                    kind(name, "= 'string'")
                )
            });
        }
        let is_json = column.mixed
            || values
                .iter()
                .any(|value| needs_json(Comparison::Equal, value));
        let list = values.iter().map(|value| {
            let value = constant(value)?;
            Ok(if is_json { json(&value) } else { value })
        });
        let list = list.collect::<Result<Vec<_>, String>>()?.join(", ");
        Ok(if is_json {
            format!("{} IN ({list})", json(name))
        } else {
            format!("{name} IN ({list})")
        })
    }

    fn text(&self, column: &ColumnOperand, place: MatchPosition, part: &str) -> Rendered {
        if part.contains('\0') {
            return Ok(self.constant(false).to_owned());
        }
        let name = &column.name;
        let (pattern, escape) = pattern::like(place, part, &[]);
        let pattern = string(&pattern);
        Ok(if column.mixed {
            let kind = kind(name, "= 'string'");
            format!("({name}::text LIKE {pattern}{escape} AND {kind})")
        } else {
            format!("{name} LIKE {pattern}{escape}")
        })
    }

    fn exact(&self, value: &Scalar) -> Option<String> {
        match value {
            // A column of floats would round it.
            Scalar::Number(value) if !number::is_float(value) => None,
            Scalar::Text(text) if text.contains('\0') => None,
            value => constant(value).ok(),
        }
    }

    fn search(&self, column: &str, place: MatchPosition, text: &str) -> Option<String> {
        if text.contains('\0') {
            return None;
        }
        let (pattern, escape) = pattern::like(place, text, &[]);
        Some(format!("{column} LIKE {}{escape}", string(&pattern)))
    }
}

fn compare_text(column: &ColumnOperand, comparison: Comparison, value: &str) -> String {
    let name = &column.name;
    let is_unambiguous = !column.mixed && !literal::is_ambiguous(value);
    let value = string(value);
    match comparison {
        Comparison::Equal if is_unambiguous => format!("{name} = {value}"),
        Comparison::NotEqual if is_unambiguous => format!("{name} IS DISTINCT FROM {value}"),
        Comparison::Equal => format!("({name}::text = {value} AND {})", kind(name, "= 'string'")),
        Comparison::NotEqual => format!(
            "({name} IS NULL OR {name}::text <> {value} OR {})",
            kind(name, "<> 'string'")
        ),
        Comparison::Less | Comparison::LessOrEqual => format!(
            "({name} IS NULL OR {} OR {} {} {value})",
            kind(name, "IN ('boolean', 'number')"),
            text(name),
            comparison.sql()
        ),
        Comparison::Greater | Comparison::GreaterOrEqual => format!(
            "({} AND {} {} {value})",
            kind(name, "= 'string'"),
            text(name),
            comparison.sql()
        ),
    }
}

/// Whether a comparison with the unchanged column would be inexact or impossible: a number that
/// floats cannot represent would be rounded, and a value that is not true need not be a boolean.
fn needs_json(comparison: Comparison, value: &Scalar) -> bool {
    match value {
        Scalar::Bool(value) => !value || comparison != Comparison::Equal,
        Scalar::Number(value) => !number::is_float(value),
        Scalar::Text(_) => false,
    }
}

/// Compares a column with a boolean or number in the order of all types.
fn compare_json(name: &str, comparison: Comparison, value: &Scalar) -> Rendered {
    let (same, below, above) = match value {
        Scalar::Bool(_) => ("= 'boolean'", None, "IN ('number', 'string')"),
        _ => ("= 'number'", Some("= 'boolean'"), "= 'string'"),
    };
    let value = json(&constant(value)?);
    let column = json(name);
    let compared = format!("{column} {} {value}", comparison.sql());
    let same = kind(name, same);
    Ok(match comparison {
        Comparison::Equal => compared,
        Comparison::NotEqual => format!("{column} IS DISTINCT FROM {value}"),
        Comparison::Less | Comparison::LessOrEqual => {
            let below = below.map_or(String::new(), |below| format!("{} OR ", kind(name, below)));
            format!("({name} IS NULL OR {below}({same} AND {compared}))")
        }
        Comparison::Greater | Comparison::GreaterOrEqual => {
            format!("({} OR ({same} AND {compared}))", kind(name, above))
        }
    })
}

fn json(value: &str) -> String {
    format!("to_jsonb({value})")
}

/// Returns a test of the JSON type of a column's value.
fn kind(column: &str, test: &str) -> String {
    format!("jsonb_typeof(to_jsonb({column})) {test}")
}

/// Returns the text of a column's value, in a collation that compares bytes.
fn text(column: &str) -> String {
    format!("(to_jsonb({column}) #>> '{{}}') COLLATE \"C\"")
}

fn constant(value: &Scalar) -> Rendered {
    match value {
        Scalar::Bool(value) => Ok(if *value { "TRUE" } else { "FALSE" }.to_owned()),
        Scalar::Number(value) => number::digits(value, MOST_DIGITS),
        Scalar::Text(text) => Ok(string(text)),
    }
}

fn string(text: &str) -> String {
    let escapes = [
        ('\n', "\\n"),
        ('\r', "\\r"),
        ('\t', "\\t"),
        ('\u{8}', "\\b"),
    ];
    format!("E{}", literal::escaped(text, &escapes))
}

//! Functions of other databases that SQLite lacks.

use regex::RegexBuilder;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Connection, Error};

type Compute = fn(&Arguments) -> Result<Cell, String>;

/// Name, number of arguments, and implementation of each function. A null argument makes the result
/// null.
const FUNCTIONS: [(&str, i32, Compute); 7] = [
    ("other_like", 5, like),
    ("other_position", 4, position),
    ("other_substring", 4, substring),
    ("other_right", 2, right),
    ("other_lower", 1, |of| {
        Ok(Cell::Text(of.text(0).to_lowercase()))
    }),
    ("other_upper", 1, |of| {
        Ok(Cell::Text(of.text(0).to_uppercase()))
    }),
    ("other_reverse", 1, |of| {
        Ok(Cell::Text(of.text(0).chars().rev().collect()))
    }),
];

/// Registers the functions.
///
/// # Errors
/// SQLite rejects a function.
pub(in crate::judge::filter_rows) fn add(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, arguments, compute) in FUNCTIONS {
        connection.create_scalar_function(name, arguments, flags, move |context| {
            match Arguments::of(context) {
                Some(arguments) => {
                    compute(&arguments).map_err(|reason| Error::UserFunctionError(reason.into()))
                }
                None => Ok(Cell::Null),
            }
        })?;
    }
    Ok(())
}

/// Arguments of a call, none of which is null.
#[derive(Debug)]
struct Arguments(Vec<Cell>);

impl Arguments {
    fn of(context: &Context<'_>) -> Option<Self> {
        let cells = (0..context.len()).map(|place| match context.get_raw(place) {
            ValueRef::Null => None,
            other => Cell::try_from(other).ok(),
        });
        cells.collect::<Option<Vec<_>>>().map(Self)
    }

    fn text(&self, place: usize) -> String {
        match self.0.get(place) {
            Some(Cell::Text(text)) => text.clone(),
            Some(Cell::Integer(number)) => number.to_string(),
            Some(Cell::Real(number)) => number.to_string(),
            Some(Cell::Blob(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        }
    }

    fn number(&self, place: usize) -> i64 {
        match self.0.get(place) {
            Some(Cell::Integer(number)) => *number,
            _ => self.text(place).parse().unwrap_or_default(),
        }
    }

    fn is_set(&self, place: usize) -> bool {
        self.number(place) != 0
    }
}

/// LIKE. Arguments: string, pattern, escape character or empty, case-insensitive, database.
fn like(of: &Arguments) -> Result<Cell, String> {
    let escape = of.text(2).chars().next();
    let Some(pattern) = regex(&of.text(1), escape, &of.text(4))? else {
        return Ok(Cell::Integer(0));
    };
    let regex = RegexBuilder::new(&pattern)
        .case_insensitive(of.is_set(3))
        .build()
        .map_err(|reason| reason.to_string())?;
    Ok(Cell::Integer(regex.is_match(&of.text(0)).into()))
}

/// Converts a LIKE pattern to a regular expression; `None` if no string matches the pattern.
fn regex(pattern: &str, escape: Option<char>, database: &str) -> Result<Option<String>, String> {
    let literal = |letter: char| regex::escape(letter.encode_utf8(&mut [0; 4]));
    let mut regex = "(?s)^".to_owned();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            _ if Some(letter) == escape => match (letters.next(), database) {
                (Some(escaped), _) => regex += &literal(escaped),
                (None, "mysql") => regex += &literal(letter),
                (None, "sqlserver") => return Ok(None),
                (None, _) => {
                    return Err("the LIKE pattern ends with its escape character".to_owned());
                }
            },
            '%' => regex += ".*",
            '_' => regex.push('.'),
            '[' if database == "sqlserver" => {
                let Some((set, rest)) = letters.as_str().split_once(']') else {
                    return Ok(None);
                };
                if set.trim_start_matches('^').is_empty() {
                    return Ok(None);
                }
                let (not, set) = match set.strip_prefix('^') {
                    Some(set) => ("^", set),
                    None => ("", set),
                };
                let range = |letter: char| match letter {
                    '-' => "-".to_owned(),
                    other => literal(other),
                };
                let set: String = set.chars().map(range).collect();
                regex += &format!("[{not}{set}]");
                letters = rest.chars();
            }
            other => regex += &literal(other),
        }
    }
    Ok(Some(regex + "$"))
}

/// Position of a substring. Arguments: substring, string, start position, case-insensitive.
fn position(of: &Arguments) -> Result<Cell, String> {
    let (mut part, mut text) = (of.text(0), of.text(1));
    if of.is_set(3) {
        (part, text) = (part.to_lowercase(), text.to_lowercase());
    }
    let before = usize::try_from(of.number(2).max(1) - 1).unwrap_or(usize::MAX);
    let rest: String = text.chars().skip(before).collect();
    let found = rest.find(&part).and_then(|place| rest.get(..place));
    let place = found.map_or(0, |skipped| {
        before.saturating_add(skipped.chars().count() + 1)
    });
    Ok(Cell::Integer(i64::try_from(place).unwrap_or_default()))
}

/// Substring. Arguments: string, start, length, whether a negative start counts from the end.
fn substring(of: &Arguments) -> Result<Cell, String> {
    let letters: Vec<char> = of.text(0).chars().collect();
    let count = i64::try_from(letters.len()).unwrap_or_default();
    let (start, length) = (of.number(1), of.number(2));
    let start = match (of.is_set(3), start) {
        (true, 0) => return Ok(Cell::Text(String::new())),
        (true, start) if start < 0 => count.saturating_add(start).saturating_add(1),
        (_, start) => start,
    };
    let is_lost = of.is_set(3) && start < 1;
    let end = start.saturating_add(length).clamp(1, count + 1);
    let start = start.clamp(1, end);
    let (from, to) = (usize::try_from(start - 1), usize::try_from(end - 1));
    let found = match (from, to) {
        (Ok(from), Ok(to)) if !is_lost => letters.get(from..to),
        _ => None,
    };
    Ok(Cell::Text(found.unwrap_or_default().iter().collect()))
}

/// Last characters of a string. Arguments: string, number of characters.
fn right(of: &Arguments) -> Result<Cell, String> {
    let text = of.text(0);
    let length = usize::try_from(of.number(1)).unwrap_or_default();
    let skipped = text.chars().count().saturating_sub(length);
    Ok(Cell::Text(text.chars().skip(skipped).collect()))
}

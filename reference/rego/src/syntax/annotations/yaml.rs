//! YAML documents of METADATA blocks, and their error messages.

use super::Refusal;
use crate::Value;
use crate::hash::HashMap;
use crate::syntax::Comment;
use crate::value::{YamlError, from_yaml};

/// Known members of a block, and their types.
const KINDS: &[(&str, Kind)] = &[
    ("scope", Kind::Text),
    ("title", Kind::Text),
    ("entrypoint", Kind::Bool),
    ("description", Kind::Text),
    ("organizations", Kind::Texts),
    ("related_resources", Kind::List),
    ("authors", Kind::List),
    ("schemas", Kind::Objects),
    ("compile", Kind::Object),
    ("custom", Kind::Object),
    ("labels", Kind::Object),
];

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Bool,
    Texts,
    List,
    Objects,
    Object,
}

impl Kind {
    fn holds(self, value: &Value) -> bool {
        let scalar = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_));
        match (self, value) {
            (_, Value::Null) | (Self::Bool, Value::Bool(_)) | (Self::List, Value::Array(_)) => true,
            (Self::Text, value) => scalar(value),
            (Self::Texts, Value::Array(items)) => items.iter().all(scalar),
            (Self::Objects, Value::Array(items)) => {
                items.iter().all(|item| item.as_object().is_some())
            }
            (Self::Object, Value::Object(_)) => true,
            _ => false,
        }
    }

    /// Returns the name of the type in messages.
    fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Bool => "bool",
            Self::Texts => "[]string",
            Self::List => "[]interface {}",
            Self::Objects => "[]map[string]interface {}",
            Self::Object => "map[string]interface {}",
        }
    }
}

/// Parses the YAML text of a block, each line of which is one of these comments.
pub(super) fn read(text: &str, lines: &[Comment]) -> Result<Value, Refusal> {
    let document = match from_yaml(text.as_bytes()) {
        Ok(document) => document,
        Err(YamlError::Syntax(error)) => {
            let (line, message) = syntax_message(&error.to_string());
            return Err(refusal(line, message, lines));
        }
        Err(error) => return Err(refusal(None, format!("yaml: {error}"), lines)),
    };
    let errors = mismatches(text, &document);
    let Some((first, _)) = errors.first() else {
        return Ok(document);
    };
    let first = *first;
    let errors: Vec<String> = errors
        .iter()
        .map(|(line, mismatch)| format!("  line {line}: {mismatch}"))
        .collect();
    let message = format!("yaml: unmarshal errors:\n{}", errors.join("\n"));
    Err(refusal(Some(first), message, lines))
}

/// Returns an error, at the location of the comment that follows the line with this number.
fn refusal(line: Option<usize>, mut message: String, lines: &[Comment]) -> Refusal {
    let place = match line {
        Some(line) => lines.get(line).or(lines.last()),
        None => lines.first(),
    };
    for line in lines {
        let unspaced = unspaced(&line.text);
        if !unspaced.is_empty() {
            message.push_str(&format!(
                "\n  Hint: on line {}, symbol(s) [{}] immediately following a key/value separator ':' is not a legal yaml space character",
                line.location.row,
                unspaced.join(" ")
            ));
        }
    }
    Refusal {
        message,
        location: place.map(|place| place.location.clone()),
    }
}

/// Returns the characters that follow the colons of a line where a space is missing.
fn unspaced(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut parts = line.split(':').skip(1).peekable();
    while let Some(part) = parts.next() {
        match part.chars().next() {
            Some(' ' | '\t') => break,
            None if parts.peek().is_none() => break,
            None => found.push("'\\ufffd'".to_owned()),
            Some(c) if c.is_ascii() => found.push(format!("'{c}'")),
            Some(c) => found.push(format!("'\\u{:04x}'", u32::from(c))),
        }
    }
    found
}

/// Returns the line number in a message of the YAML parser, and the message prefixed with it.
fn syntax_message(message: &str) -> (Option<usize>, String) {
    let line_after = |text: &str| {
        let (_, rest) = text.split_once(" at line ")?;
        rest.split(' ').next()?.parse::<usize>().ok()
    };
    let (problem, context) = message.split_once(", ").unwrap_or((message, ""));
    let description = problem
        .split_once(" at line ")
        .map_or(problem, |(description, _)| description);
    // Grammar errors are reported a line earlier than token errors.
    let grammar = description.starts_with("did not find expected")
        && !description.contains("whitespace")
        && !description.contains("character");
    let from_zero = |line: Option<usize>| line.and_then(|line| line.checked_sub(1));
    let line = from_zero(line_after(context))
        .filter(|line| *line > 0)
        .or(from_zero(line_after(problem)).filter(|line| *line > 0))
        .map(|line| if grammar { line } else { line + 1 });
    match line {
        Some(line) => (Some(line), format!("yaml: line {line}: {description}")),
        None => (None, format!("yaml: {description}")),
    }
}

/// Returns the errors for members of the wrong type and for duplicate members, with line numbers.
fn mismatches(text: &str, document: &Value) -> Vec<(usize, String)> {
    if matches!(document, Value::Null) {
        return Vec::new();
    }
    let Some(members) = document.as_object() else {
        let description = format!("{} into ast.rawAnnotation", tagged(document));
        return vec![(1, format!("cannot unmarshal {description}"))];
    };
    let mut lines: HashMap<&str, usize> = HashMap::default();
    let mut errors = Vec::new();
    for (line, key) in text.lines().zip(1..).filter_map(|(line, number)| {
        let (key, _) = line.split_once(':')?;
        Some((number, key.trim_matches(['"', '\''])))
    }) {
        if !key.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        if let Some(first) = lines.get(key).filter(|_| members.contains_key(key)) {
            let description = format!("mapping key \"{key}\" already defined at line {first}");
            return vec![(line, description)];
        }
        lines.insert(key, line);
    }
    for (name, kind) in KINDS {
        if let Some(value) = members.get(name)
            && !kind.holds(value)
        {
            let line = lines.get(name).copied().unwrap_or(1);
            let description = format!("cannot unmarshal {} into {}", tagged(value), kind.name());
            errors.push((line, description));
        }
    }
    errors.sort_by_key(|(line, _)| *line);
    errors
}

/// Formats a value with its tag: `` !!str `text` ``.
fn tagged(value: &Value) -> String {
    let (tag, text) = match value {
        Value::Null => ("!!null", "null".to_owned()),
        Value::Bool(value) => ("!!bool", value.to_string()),
        Value::Number(number) if number.as_i64().is_some() => ("!!int", number.to_string()),
        Value::Number(number) => ("!!float", number.to_string()),
        Value::String(text) => ("!!str", text.to_string()),
        Value::Bytes(bytes) => ("!!str", bytes.to_lossy()),
        Value::Array(_) | Value::Set(_) => return "!!seq".to_owned(),
        Value::Object(_) => return "!!map".to_owned(),
    };
    match text.char_indices().nth(7) {
        Some((end, _)) if text.len() > 10 => {
            format!("{tag} `{}...`", text.get(..end).unwrap_or_default())
        }
        _ => format!("{tag} `{text}`"),
    }
}

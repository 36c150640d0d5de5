//! Writes values as JSON.

use std::fmt;

use super::Value;

impl Value {
    /// Appends the value as JSON on one line.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_at(out, None);
    }

    /// Appends the value as JSON for people, indented by two spaces.
    pub fn write_pretty(&self, out: &mut Vec<u8>) {
        self.write_at(out, Some(0));
    }

    /// Appends the value, with line breaks when the level of indentation is known.
    fn write_at(&self, out: &mut Vec<u8>, level: Option<usize>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Number(number) => out.extend_from_slice(number.text().as_bytes()),
            Self::String(text) => write_string(text, out),
            Self::Array(items) => write_items(items.iter(), out, level),
            Self::Set(members) => write_items(members.iter(), out, level),
            Self::Object(members) => {
                let inner = level.map(|level| level + 1);
                out.push(b'{');
                for (at, (name, member)) in members.iter().enumerate() {
                    separate(out, at, inner);
                    write_name(name, out);
                    out.extend_from_slice(if level.is_some() { b": " } else { b":" });
                    member.write_at(out, inner);
                }
                close(out, b'}', members.is_empty(), level);
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

/// A member's name: keys that are no strings are named by their JSON text.
fn write_name(key: &Value, out: &mut Vec<u8>) {
    match key {
        Value::String(name) => write_string(name, out),
        other => write_string(&named(other).to_string(), out),
    }
}

/// The value with the members of its objects in the order of their names, not of their keys.
fn named(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::from(items.iter().map(named).collect::<Vec<_>>()),
        Value::Set(members) => Value::from(members.iter().map(named).collect::<Vec<_>>()),
        Value::Object(members) => Value::object(members.iter().map(|(key, member)| {
            let name = match key {
                Value::String(name) => Value::String(name.clone()),
                other => Value::from(named(other).to_string()),
            };
            (name, named(member))
        })),
        scalar => scalar.clone(),
    }
}

fn write_items<'v>(
    items: impl ExactSizeIterator<Item = &'v Value>,
    out: &mut Vec<u8>,
    level: Option<usize>,
) {
    let inner = level.map(|level| level + 1);
    let empty = items.len() == 0;
    out.push(b'[');
    for (at, item) in items.enumerate() {
        separate(out, at, inner);
        item.write_at(out, inner);
    }
    close(out, b']', empty, level);
}

/// The comma before any item but the first, and the line break before each.
fn separate(out: &mut Vec<u8>, at: usize, level: Option<usize>) {
    if at > 0 {
        out.push(b',');
    }
    break_line(out, level);
}

fn close(out: &mut Vec<u8>, bracket: u8, empty: bool, level: Option<usize>) {
    if !empty {
        break_line(out, level);
    }
    out.push(bracket);
}

fn break_line(out: &mut Vec<u8>, level: Option<usize>) {
    if let Some(level) = level {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', 2 * level));
    }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
    {
        let (plain, behind) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((special, behind)) = behind.split_first() else {
            break;
        };
        match special {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            control => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

//! Serializes JSON in valid but unusual forms.

use serde_json::Value;

/// Serializes a value as JSON, on several lines if `pretty`.
pub(crate) fn json(value: &Value, pretty: bool) -> String {
    let mut out = String::new();
    write(value, pretty.then_some(0), &mut out);
    out.push_str("\r\n");
    out
}

/// Serializes a value at this indentation depth; without `depth`, on one line.
fn write(value: &Value, depth: Option<usize>, out: &mut String) {
    match value {
        Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
        Value::Number(number) => {
            let digits = number.to_string();
            let integer = !digits.contains(['.', 'e', 'E']);
            out.push_str(&digits);
            out.push_str(if integer { ".0" } else { "" });
        }
        Value::String(text) => string(text, out),
        Value::Array(elements) => {
            let mut lines = Lines::open('[', depth, out);
            for element in elements {
                lines.next(out);
                write(element, lines.depth, out);
            }
            lines.close(']', out);
        }
        Value::Object(members) => {
            let mut lines = Lines::open('{', depth, out);
            for (name, member) in members.iter().rev() {
                lines.next(out);
                string(name, out);
                out.push_str(" : ");
                write(member, lines.depth, out);
            }
            lines.close('}', out);
        }
    }
}

/// Commas and line breaks between the items of an array or the members of an object.
struct Lines {
    depth: Option<usize>,
    started: bool,
}

impl Lines {
    fn open(bracket: char, depth: Option<usize>, out: &mut String) -> Self {
        out.push(bracket);
        Self {
            depth: depth.map(|depth| depth + 1),
            started: false,
        }
    }

    fn next(&mut self, out: &mut String) {
        self.indent(0, out);
        out.push_str(if self.started { ", " } else { "  " });
        self.started = true;
    }

    fn close(&self, bracket: char, out: &mut String) {
        if self.started {
            self.indent(1, out);
        }
        out.push(bracket);
    }

    fn indent(&self, less: usize, out: &mut String) {
        if let Some(depth) = self.depth {
            out.push('\n');
            out.extend(std::iter::repeat_n('\t', depth - less));
        }
    }
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(b'/') => out.push_str("\\/"),
            Ok(byte) if byte == b' ' || byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte) => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("\\u{unit:04X}")),
        }
    }
    out.push('"');
}

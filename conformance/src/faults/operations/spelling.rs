//! Other spellings of the same JSON document.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;

/// Spelling of a JSON document.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(in crate::faults) struct Spelling {
    /// Writes the members in reverse order.
    reversed: bool,
    /// Escapes every character of a string that is not a letter or digit as `\uXXXX`.
    escaped: bool,
    /// Whitespace between the tokens.
    layout: Layout,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Layout {
    /// No whitespace.
    #[default]
    Compact,
    /// Spaces between the tokens.
    Spaced,
    /// One line per item or member, indented with tabs.
    Tabs,
    /// The same lines, ended with carriage return and line feed and indented with four spaces.
    CarriageReturns,
}

impl Spelling {
    pub(super) fn write(self, json: &Value) -> String {
        let mut out = String::new();
        self.value(json, 0, &mut out);
        out
    }

    fn value(self, json: &Value, depth: usize, out: &mut String) {
        match json {
            Value::Array(items) => {
                let items = items.iter().map(|item| (None, item));
                self.list(['[', ']'], items, depth, out);
            }
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| (Some(name), value));
                let mut members: Vec<_> = members.collect();
                if self.reversed {
                    members.reverse();
                }
                self.list(['{', '}'], members.into_iter(), depth, out);
            }
            Value::String(text) => self.text(text, out),
            scalar => out.push_str(&scalar.to_string()),
        }
    }

    fn list<'a>(
        self,
        [open, close]: [char; 2],
        items: impl ExactSizeIterator<Item = (Option<&'a String>, &'a Value)>,
        depth: usize,
        out: &mut String,
    ) {
        out.push(open);
        let is_empty = items.len() == 0;
        for (index, (name, value)) in items.enumerate() {
            if index > 0 {
                out.push(',');
            }
            self.between(depth + 1, out);
            if let Some(name) = name {
                self.text(name, out);
                let colon = if self.layout == Layout::Compact {
                    ":"
                } else {
                    " : "
                };
                out.push_str(colon);
            }
            self.value(value, depth + 1, out);
        }
        if !is_empty {
            self.between(depth, out);
        }
        out.push(close);
    }

    fn between(self, depth: usize, out: &mut String) {
        let (start, indent) = match self.layout {
            Layout::Compact => return,
            Layout::Spaced => return out.push(' '),
            Layout::Tabs => ("\n", "\t"),
            Layout::CarriageReturns => ("\r\n", "    "),
        };
        out.push_str(start);
        out.push_str(&indent.repeat(depth));
    }

    fn text(self, text: &str, out: &mut String) {
        if !self.escaped {
            out.push_str(&Value::from(text).to_string());
            return;
        }
        out.push('"');
        for character in text.chars() {
            if character.is_ascii_alphanumeric() {
                out.push(character);
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
        out.push('"');
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::reversed(json!({"reversed": true}), r#"{"c":{"d":null},"b é😀":"x\"\n","a":[1,{},[]]}"#)]
    #[case::escaped(
        json!({"escaped": true}),
        r#"{"a":[1,{},[]],"b\u0020\u00e9\ud83d\ude00":"x\u0022\u000a","c":{"d":null}}"#
    )]
    #[case::spaced(
        json!({"layout": "spaced"}),
        r#"{ "a" : [ 1, {}, [] ], "b é😀" : "x\"\n", "c" : { "d" : null } }"#
    )]
    #[case::tabs(
        json!({"layout": "tabs"}),
        "{\n\t\"a\" : [\n\t\t1,\n\t\t{},\n\t\t[]\n\t],\n\t\"b é😀\" : \"x\\\"\\n\",\n\t\"c\" : {\n\t\t\"d\" : null\n\t}\n}"
    )]
    fn a_document_is_the_same_in_every_spelling(#[case] text: Value, #[case] expected: &str) {
        let json = json!({"a": [1, {}, []], "b é😀": "x\"\n", "c": {"d": null}});
        let spelling: Spelling = serde_json::from_value(text).expect("a spelling");
        let written = spelling.write(&json);
        assert_eq!(written, expected);
        let read: Value = serde_json::from_str(&written).expect("JSON");
        assert_eq!(read, json);
    }
}

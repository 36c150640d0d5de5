//! Writes values as YAML in blocks, strings in the plainest form that means them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::LazyLock;

use regex::Regex;

use super::floats::{Style, shortest};
use super::strings::bound;
use super::{Call, Failure};
use crate::Value;

/// The value as a YAML document.
pub(super) fn marshalled(call: &Call<'_>, value: &Value) -> Result<String, Failure> {
    let mut writer = Writer {
        call,
        out: String::new(),
    };
    writer.value(value, 0)?;
    if !writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    Ok(writer.out)
}

struct Writer<'w> {
    call: &'w Call<'w>,
    out: String,
}

impl Writer<'_> {
    /// Writes a value from where the line is. What has parts begins at this indentation.
    fn value(&mut self, value: &Value, indent: usize) -> Result<(), Failure> {
        self.call.check()?;
        bound(self.out.len())?;
        match value {
            Value::Number(number) => {
                let text = number.text();
                let whole = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
                let float = number.as_f64();
                if whole {
                    self.out.push_str(&text);
                } else {
                    let sign = if float.is_sign_negative() { "-" } else { "" };
                    let style = Style {
                        lower: true,
                        far: false,
                    };
                    let digits = shortest(float.abs(), None, style);
                    self.out.push_str(&format!("{sign}{digits}"));
                }
            }
            Value::Null | Value::Bool(_) => self.out.push_str(&value.to_string()),
            Value::String(text) => self.string(text, indent),
            Value::Bytes(bytes) => self.string(&bytes.to_lossy(), indent),
            Value::Array(items) => self.items(items.iter(), indent)?,
            Value::Set(members) => self.items(members.iter(), indent)?,
            Value::Object(members) => {
                let named = members.iter().map(|(key, value)| {
                    let name = key.as_lossy();
                    (name.unwrap_or_else(|| key.to_string().into()), value)
                });
                let mut named: Vec<(Cow<'_, str>, &Value)> = named.collect();
                named.sort_by(|(left, _), (right, _)| natural(left, right));
                if named.is_empty() {
                    self.out.push_str("{}");
                }
                for (at, (name, value)) in named.iter().enumerate() {
                    if at > 0 {
                        self.line(indent);
                    }
                    self.member(name, value, indent)?;
                }
            }
        }
        Ok(())
    }

    fn member(&mut self, name: &str, value: &Value, indent: usize) -> Result<(), Failure> {
        if name.contains('\n') || name.len() > 128 {
            self.out.push_str("? ");
            self.string(name, indent + 2);
            self.line(indent);
        } else {
            self.string(name, indent);
        }
        self.out.push(':');
        let parts = match value {
            Value::Array(items) => items.len(),
            Value::Set(members) => members.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        };
        if parts > 0 {
            self.line(indent + 2);
        } else {
            self.out.push(' ');
        }
        self.value(value, indent + 2)
    }

    fn items<'v>(
        &mut self,
        items: impl ExactSizeIterator<Item = &'v Value>,
        indent: usize,
    ) -> Result<(), Failure> {
        if items.len() == 0 {
            self.out.push_str("[]");
        }
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.line(indent);
            }
            self.out.push_str("- ");
            self.value(item, indent + 2)?;
        }
        Ok(())
    }

    fn line(&mut self, indent: usize) {
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.push_str(&" ".repeat(indent));
    }

    fn string(&mut self, text: &str, indent: usize) {
        let special = text.chars().any(|c| c != '\n' && !printable(c));
        let quoted = means_other(text);
        if !quoted
            && !special
            && text.contains('\n')
            && !text.contains(" \n")
            && !text.ends_with(' ')
        {
            return self.block(text, indent.max(2));
        }
        if quoted || special || text.contains('\n') {
            return self.double(text);
        }
        if plain(text) {
            self.out.push_str(text);
        } else {
            self.out
                .push_str(&format!("'{}'", text.replace('\'', "''")));
        }
    }

    /// Writes lines as they are below a bar.
    fn block(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        if !text.ends_with('\n') {
            self.out.push('-');
        } else if text.ends_with("\n\n") || text == "\n" {
            self.out.push('+');
        }
        let lines = text.strip_suffix('\n').unwrap_or(text);
        for line in lines.split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.out.push_str(&" ".repeat(indent));
                self.out.push_str(line);
            }
        }
        if text.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn double(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            let escape = match character {
                '"' => "\\\"",
                '\\' => "\\\\",
                '\0' => "\\0",
                '\u{7}' => "\\a",
                '\u{8}' => "\\b",
                '\t' => "\\t",
                '\n' => "\\n",
                '\u{b}' => "\\v",
                '\u{c}' => "\\f",
                '\r' => "\\r",
                '\u{1b}' => "\\e",
                '\u{85}' => "\\N",
                '\u{a0}' => "\\_",
                '\u{2028}' => "\\L",
                '\u{2029}' => "\\P",
                other if printable(other) => {
                    self.out.push(other);
                    continue;
                }
                other => {
                    let code = u32::from(other);
                    self.out.push_str(&match code {
                        0..=0xff => format!("\\x{code:02X}"),
                        _ => format!("\\u{code:04X}"),
                    });
                    continue;
                }
            };
            self.out.push_str(escape);
        }
        self.out.push('"');
    }
}

fn printable(character: char) -> bool {
    matches!(character, ' '..='~' | '\u{a1}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}')
        || matches!(character, '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

/// Whether a string would be taken for something else if it stood without quotes.
fn means_other(text: &str) -> bool {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words = "|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|[yYnN]|yes|Yes|YES|no|No|NO\
            |on|On|ON|off|Off|OFF";
        let floats = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)";
        let integers = r"[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?0[xX][0-9a-fA-F_]+|[-+]?[0-9][0-9_]*";
        let sixties = r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?";
        let times = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ]+[0-9]{1,2}:[0-9]{2}:[0-9]{2}.*)?";
        Regex::new(&format!(
            "^(?:{words}|{floats}|{integers}|{sixties}|{times})$"
        ))
        .ok()
    });
    PATTERN
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

/// Whether a string of one line can stand without quotes.
fn plain(text: &str) -> bool {
    let second = text.chars().nth(1);
    let apart = second.is_none_or(|c| c == ' ');
    let begins = text.starts_with(|c: char| " #,[]{}&*!|>'\"%@`".contains(c))
        || (text.starts_with(['-', '?', ':']) && apart)
        || text.starts_with("---")
        || text.starts_with("...");
    let ends = text.ends_with([' ', ':']);
    let within = text.contains(": ") || text.contains(" #");
    !begins && !ends && !within
}

/// The order of names: numbers in them by their value.
fn natural(left: &str, right: &str) -> Ordering {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let same = left.iter().zip(&right).take_while(|(l, r)| l == r).count();
    let (Some(first), Some(second)) = (left.get(same), right.get(same)) else {
        return left.len().cmp(&right.len());
    };
    let after_digit = same
        .checked_sub(1)
        .and_then(|at| left.get(at))
        .is_some_and(char::is_ascii_digit);
    match (first.is_alphabetic(), second.is_alphabetic()) {
        (true, true) => return first.cmp(second),
        (true, false) if after_digit => return Ordering::Less,
        (false, true) if after_digit => return Ordering::Greater,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let run = |characters: &[char]| -> String {
        let rest = characters.get(same..).unwrap_or_default().iter();
        rest.take_while(|c| c.is_ascii_digit()).collect()
    };
    let (first_run, second_run) = (run(&left), run(&right));
    let size = |run: &str| run.trim_start_matches('0').len();
    let lead = if after_digit {
        first_run.len().cmp(&second_run.len())
    } else {
        size(&first_run).cmp(&size(&second_run))
    };
    let values = || {
        first_run
            .trim_start_matches('0')
            .cmp(second_run.trim_start_matches('0'))
    };
    let lengths = || first_run.len().cmp(&second_run.len());
    lead.then_with(values)
        .then_with(lengths)
        .then_with(|| first.cmp(second))
}

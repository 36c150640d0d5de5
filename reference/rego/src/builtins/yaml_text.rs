//! Writes values as YAML in block style, strings in the plainest style that preserves them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::LazyLock;

use regex::Regex;

use super::floats::{Style, shortest};
use super::marshal::last_of_each;
use super::operand::refuse;
use super::strings::bound;
use super::{Call, Failure};
use crate::Value;
use crate::value::Literal;

/// Serializes the value as a YAML document.
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
    /// Writes a value at the current position. A composite value begins at this indentation.
    fn value(&mut self, value: &Value, indent: usize) -> Result<(), Failure> {
        self.call.check()?;
        bound(self.out.len())?;
        match value {
            Value::Number(number) => {
                let text = number.text();
                let is_integer = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
                let float = number.as_f64();
                if is_integer {
                    self.out.push_str(&text);
                } else if float.is_infinite() {
                    // A number beyond the range of floats is a plain scalar.
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
            Value::String(text) => self.string(text, indent)?,
            Value::Bytes(bytes) => self.string(&bytes.to_lossy(), indent)?,
            Value::Array(items) => self.items(items.iter(), indent)?,
            Value::Set(members) => self.items(members.iter(), indent)?,
            Value::Object(members) => {
                let named = members.iter().map(|(key, value)| match key.as_lossy() {
                    Some(name) => Ok((name, (key, value))),
                    None => Ok((Cow::Owned(self.call.serialize(key)?), (key, value))),
                });
                let mut named = named.collect::<Result<Vec<_>, Failure>>()?;
                sort(&mut named);
                named.iter().try_for_each(|(name, _)| refuse_as_key(name))?;
                refuse_twice(&named)?;
                last_of_each(&mut named);
                if named.is_empty() {
                    self.out.push_str("{}");
                }
                for (at, (name, (_, value))) in named.iter().enumerate() {
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
        let is_apart = name.contains(is_break) || name.len() > 128;
        if is_apart {
            self.out.push_str("? ");
            self.string(name, indent + 2)?;
            self.line(indent);
        } else {
            self.string(name, indent)?;
        }
        self.out.push(':');
        let parts = match value {
            Value::Array(items) => items.len(),
            Value::Set(members) => members.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        };
        if parts > 0 && !is_apart {
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

    fn string(&mut self, text: &str, indent: usize) -> Result<(), Failure> {
        if text.contains(is_refused) {
            return refuse("yaml: control characters are not allowed");
        }
        let text = &*folded(text);
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        let length = text.len().saturating_add(lines.saturating_mul(indent));
        bound(self.out.len().saturating_add(length))?;
        self.call.make(length / 16)?;
        let has_lines = text.contains('\n');
        // Block scalars may contain unescaped tabs.
        let special = text
            .chars()
            .any(|c| !(printable(c) || has_lines && matches!(c, '\n' | '\t')));
        let quoted = means_other(text);
        if !quoted && !special && has_lines && !has_space_at_break(text) && !text.ends_with(' ') {
            self.block(text, indent.max(2));
            return Ok(());
        }
        if quoted || special || has_lines || has_space_at_break(text) {
            self.double(text);
            return Ok(());
        }
        if is_plain(text) {
            self.out.push_str(text);
        } else {
            self.single(text, indent);
        }
        Ok(())
    }

    /// Writes lines as a literal block scalar.
    fn block(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        if text.starts_with(|c: char| c == ' ' || is_break(c)) {
            self.out.push('2');
        }
        match text.strip_suffix('\n') {
            None => self.out.push('-'),
            Some(rest) if rest.chars().next_back().is_none_or(is_break) => self.out.push('+'),
            Some(_) => {}
        }
        let lines = text.strip_suffix('\n').unwrap_or(text);
        for line in lines.split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.indented(line, indent);
            }
        }
        if text.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Writes a line of a block. Line breaks in it other than `\n` are followed by the indentation.
    fn indented(&mut self, line: &str, indent: usize) {
        let mut is_after_break = true;
        for character in line.chars() {
            let breaks = is_break(character);
            if is_after_break && !breaks {
                self.out.push_str(&" ".repeat(indent));
            }
            is_after_break = breaks;
            self.out.push(character);
        }
    }

    /// Writes a single-quoted scalar. Characters after a line break are indented.
    fn single(&mut self, text: &str, indent: usize) {
        self.out.push('\'');
        let mut is_after_break = false;
        for character in text.chars() {
            let breaks = is_break(character);
            if is_after_break && !breaks {
                self.out.push_str(&" ".repeat(indent.max(2)));
            }
            is_after_break = breaks;
            if character == '\'' {
                self.out.push('\'');
            }
            self.out.push(character);
        }
        self.out.push('\'');
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
                        0x1_0000.. => format!("\\U{code:08X}"),
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
    matches!(character, ' '..='~' | '\u{a0}'..='\u{d7ff}')
        || matches!(character, '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Whether YAML forbids a character; other non-printable characters are escaped in JSON.
fn is_refused(character: char) -> bool {
    matches!(character, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a space is next to a line break, where it would be lost.
fn has_space_at_break(text: &str) -> bool {
    let is_other_break = |c: char| c != '\n' && is_break(c);
    let mut last = 'x';
    text.chars().any(|character| {
        let lost =
            (last == ' ' && is_break(character)) || (is_other_break(last) && character == ' ');
        last = character;
        lost
    })
}

/// Folds a string as if parsed from a line of JSON, in which NEL (U+0085) is a line break: one
/// becomes a space; of several, the first is dropped. Spaces around them are lost.
fn folded(text: &str) -> Cow<'_, str> {
    const NEXT_LINE: char = '\u{85}';
    if !text.contains(NEXT_LINE) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut parts = text.split(NEXT_LINE).peekable();
    let mut breaks = 0usize;
    while let Some(part) = parts.next() {
        let is_first = out.is_empty() && breaks == 0;
        // JSON escapes tabs, so that only spaces are blanks.
        let start = if is_first {
            part
        } else {
            part.trim_start_matches(' ')
        };
        let inner = match parts.peek() {
            Some(_) => start.trim_end_matches(' '),
            None => start,
        };
        let has_text = !inner.is_empty() || parts.peek().is_none();
        if breaks > 0 && has_text {
            out.push_str(if breaks == 1 { " " } else { "" });
            out.push_str(&"\n".repeat(breaks - 1));
            breaks = 0;
        }
        out.push_str(inner);
        breaks += 1;
    }
    Cow::Owned(out)
}

/// Whether a string would be parsed as another type if it were not quoted.
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
    let fits = PATTERN
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text));
    // A number beyond the range of floats is a string.
    fits && !text
        .parse::<f64>()
        .is_ok_and(|float| float.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Whether a single-line string can be a plain scalar.
fn is_plain(text: &str) -> bool {
    let second = text.chars().nth(1);
    let is_separated = second.is_none_or(|c| c == ' ');
    if text.contains(is_break) {
        return false;
    }
    let begins = text.starts_with(|c: char| " #,[]{}&*!|>'\"%@`".contains(c))
        || (text.starts_with(['-', '?', ':']) && is_separated)
        || text.starts_with("---")
        || text.starts_with("...");
    let ends = text.ends_with([' ', ':']);
    let within = text.contains(": ") || text.contains(" #");
    !begins && !ends && !within
}

/// Natural order of names: numbers in them compare by value.
fn natural(left: &str, right: &str) -> Ordering {
    compared(left, right, false)
}

/// Members of an object by serialized name, with their original keys.
type Named<'v> = [(Cow<'v, str>, (&'v Value, &'v Value))];

/// Maximum number of members that insertion sort sorts.
const FEW: usize = 12;

/// Sorts members by name. As in OPA, numbers of 19 and more digits overflow in comparisons. Many
/// names would then have no consistent order, so they are sorted by the actual numbers.
fn sort(named: &mut Named<'_>) {
    named.sort_by(|(left, _), (right, _)| natural(left, right));
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let is_long = |name: &str| {
        let mut runs = name.as_bytes().split(|byte| !is_digit(*byte));
        runs.any(|run| run.len() >= 19)
    };
    if named.len() > FEW || !named.iter().any(|(name, _)| is_long(name)) {
        return;
    }
    for end in 1..named.len() {
        for at in (1..=end).rev() {
            let Some([(left, _), (right, _)]) = named.get(at - 1..=at) else {
                break;
            };
            if compared(left, right, true) != Ordering::Greater {
                break;
            }
            named.swap(at - 1, at);
        }
    }
}

/// Maximum length of a member name, in characters of its JSON form.
const LONGEST_NAME: usize = 1024;

/// Fails for a name that OPA cannot parse from JSON as a mapping key: one that is too long, or has
/// a line break that JSON does not escape.
fn refuse_as_key(name: &str) -> Result<(), Failure> {
    let message = "did not find expected ',' or '}'";
    if name.contains('\u{85}') {
        return refuse(format!("yaml: line 1: {message}"));
    }
    let written_length = |character| match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => 6,
        _ => 1,
    };
    // The JSON form of a character has at most six characters per byte.
    let is_long = 6 * name.len() + 2 > LONGEST_NAME
        && name.chars().map(written_length).sum::<usize>() + 2 > LONGEST_NAME;
    match is_long {
        true => refuse(format!("yaml: {message}")),
        false => Ok(()),
    }
}

/// Fails if two different keys have the same name: bytes that are not UTF-8 are replaced in names.
fn refuse_twice(named: &Named<'_>) -> Result<(), Failure> {
    let mut pairs = named.windows(2).filter_map(|pair| match pair {
        [(one, (first, _)), (other, (second, _))] if one == other => {
            let is_bytes = |key: &Value| matches!(key, Value::Bytes(_));
            (is_bytes(first) || is_bytes(second)).then_some(one)
        }
        _ => None,
    });
    match pairs.next() {
        Some(name) => refuse(format!(
            "yaml: unmarshal errors:\n  line 1: mapping key {} already defined at line 1",
            Literal(&Value::from(&**name))
        )),
        None => Ok(()),
    }
}

/// Compares two names, optionally with overflow of long numbers.
fn compared(left: &str, right: &str, overflows: bool) -> Ordering {
    let pairs = left.char_indices().zip(right.chars());
    let differing = pairs.clone().find(|((_, one), other)| one != other);
    let Some(((same, first), second)) = differing else {
        return left.len().cmp(&right.len());
    };
    let (before, left) = left.split_at(same);
    let right = right.get(same..).unwrap_or_default();
    let after_digit = before.ends_with(|c: char| c.is_ascii_digit());
    match (first.is_alphabetic(), second.is_alphabetic()) {
        (true, true) => return first.cmp(&second),
        (true, false) if after_digit => return Ordering::Less,
        (false, true) if after_digit => return Ordering::Greater,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let first_run = digits(left);
    let second_run = digits(right);
    // Zeros count after other digits of a number, but not before them.
    let mut before = before.bytes().rev().take_while(u8::is_ascii_digit);
    let continues = before.any(|digit| digit != b'0');
    let (one, other) = match continues {
        true => (first_run, second_run),
        false => (
            first_run.trim_start_matches('0'),
            second_run.trim_start_matches('0'),
        ),
    };
    let by_value = match overflows {
        true => {
            let is_zero = first == '0' || second == '0';
            let lead = i64::from(continues && is_zero);
            let number = |run: &str| {
                run.bytes().fold(lead, |sum, digit| {
                    let digit = i64::from(digit) - i64::from(b'0');
                    sum.wrapping_mul(10).wrapping_add(digit)
                })
            };
            number(first_run).cmp(&number(second_run))
        }
        false => (one.len().cmp(&other.len())).then_with(|| one.cmp(other)),
    };
    by_value
        .then_with(|| first_run.len().cmp(&second_run.len()))
        .then_with(|| first.cmp(&second))
}

/// Returns the leading digits of a string.
fn digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::natural;

    #[test]
    fn names_have_one_order() {
        // Compares each name with its successor, and all names with each other.
        let ordered = [
            "-", "0", "00", "1", "01", "9", "10", "Z", "a", "k", "k-1", "k0", "k00", "k000", "k1",
            "k1a", "k1-", "k01", "k001", "k2", "k10", "k010", "k12", "k100", "k1005", "k1013",
            "ka", "l", "z",
        ];
        for (at, left) in ordered.iter().enumerate() {
            for (other, right) in ordered.iter().enumerate() {
                assert_eq!(natural(left, right), at.cmp(&other), "{left}, {right}");
            }
        }
        let mut names: Vec<_> = (0..5000).map(|number| format!("k{number}")).collect();
        names.sort_by(|left, right| natural(right, left));
        names.sort_by(|left, right| natural(left, right));
        let is_sorted = names.windows(2).all(|pair| match pair {
            [left, right] => natural(left, right) == Ordering::Less && left.len() <= right.len(),
            _ => false,
        });
        assert!(is_sorted);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn names_are_in_a_total_order(names in proptest::collection::vec("[a0-1-Zé٣]{0,4}", 3)) {
            let [first, second, third] = names.as_slice() else { return Ok(()) };
            prop_assert_eq!(natural(first, second), natural(second, first).reverse());
            if natural(first, second).is_le() && natural(second, third).is_le() {
                prop_assert!(natural(first, third).is_le(), "{:?}", names);
            }
        }
    }
}

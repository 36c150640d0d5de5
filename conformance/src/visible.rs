//! Escapes invisible, bidirectional and control characters in foreign strings.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Terminal colour sequences that reports use, the first of which resets the colour.
pub(crate) const COLOURS: [&str; 6] = [
    "\u{1b}[0m",
    "\u{1b}[32m",
    "\u{1b}[1;31m",
    "\u{1b}[33m",
    "\u{1b}[36m",
    "\u{1b}[2m",
];

/// Maximum length of a string in one line of output, in bytes.
const LONGEST: usize = 4_000;

/// Escapes invisible characters, except line ends and tabs. No line of the result begins with `::`,
/// and none contains `##[`: runners of GitHub Actions execute these as commands.
pub(crate) fn visible(text: &str) -> String {
    shown(text, true, &[])
}

/// Escapes a string for one line of output, truncated if it is longer than any message of
/// this program.
pub fn visible_line(text: &str) -> String {
    let start = text
        .get(..text.floor_char_boundary(LONGEST))
        .unwrap_or(text);
    let mut line = visible(start)
        .replace('\n', "\u{240a}")
        .replace('\t', "\u{2409}");
    if start.len() < text.len() {
        line.push('…');
    }
    line
}

/// Escapes a string as `visible` does, except colour sequences.
pub(crate) fn coloured(text: &str) -> String {
    shown(text, true, &COLOURS)
}

/// Replaces invisible characters in a JSON string with JSON escape sequences.
pub(crate) fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut units = [0; 2];
    for character in text.chars() {
        // Line ends occur between its tokens.
        if is_invisible(character) && !matches!(character, '\0'..='\u{1f}') {
            for unit in character.encode_utf16(&mut units) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// Splits a string into parts that may be written unchanged, and single characters that may not.
pub(crate) fn parts(text: &str) -> Vec<Result<&str, char>> {
    let mut parts = Vec::new();
    let (mut start, mut first) = (0, true);
    for (at, character) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let command = first && rest.starts_with("::") || rest.starts_with("##[");
        if command || is_invisible(character) && !matches!(character, '\n' | '\t') {
            parts.extend(text.get(start..at).filter(|part| !part.is_empty()).map(Ok));
            parts.push(Err(character));
            start = at + character.len_utf8();
        }
        first = character == '\n' || first && character.is_whitespace();
    }
    parts.extend(text.get(start..).filter(|part| !part.is_empty()).map(Ok));
    parts
}

/// Whether a character is invisible, or changes how other characters are displayed.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Escapes like [`visible`], except these sequences; `begins` means that the string begins a line.
fn shown(text: &str, begins: bool, kept: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Only blanks precede it on its line.
    let mut first = begins;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        let sequence = kept.iter().find(|sequence| rest.starts_with(**sequence));
        let command = first && rest.starts_with("::") || rest.starts_with("##[");
        match character {
            _ if let Some(sequence) = sequence => {
                out.push_str(sequence);
                length = sequence.len();
            }
            ':' | '#' if command => number(&mut out, character),
            '\n' | '\t' => out.push(character),
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(character))),
            '\u{7f}' => out.push('\u{2421}'),
            other if is_invisible(other) => number(&mut out, other),
            other => out.push(other),
        }
        first = character == '\n' || first && (character.is_whitespace() || sequence.is_some());
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

fn number(out: &mut String, character: char) {
    // Writing to a string cannot fail.
    let _ = write!(out, "⟨U+{:04X}⟩", u32::from(character));
}

/// A stream that escapes every line like [`coloured`].
pub(crate) struct Visible<'a> {
    out: &'a mut (dyn Write + Send),
    /// Incomplete last line, which is not written yet.
    pending: Vec<u8>,
    /// Whether the pending bytes begin a line.
    begins: bool,
}

impl<'a> Visible<'a> {
    pub(crate) fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Self {
            out,
            pending: Vec::new(),
            begins: true,
        }
    }

    /// Writes the pending bytes up to this index, escaped.
    fn write_until(&mut self, end: usize) -> io::Result<()> {
        let rest = self.pending.split_off(end);
        let whole = std::mem::replace(&mut self.pending, rest);
        if whole.is_empty() {
            return Ok(());
        }
        let text = shown(&String::from_utf8_lossy(&whole), self.begins, &COLOURS);
        self.begins = whole.ends_with(b"\n");
        self.out.write_all(text.as_bytes())
    }
}

impl Write for Visible<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        let line_end = self.pending.iter().rposition(|byte| *byte == b'\n');
        if let Some(end) = line_end {
            self.write_until(end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_until(self.pending.len())?;
        self.out.flush()
    }
}

impl Drop for Visible<'_> {
    fn drop(&mut self) {
        // An error can no longer be reported.
        let _ = self.write_until(self.pending.len());
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::line_ends("a\r\n\tb\u{85}", "a\u{240d}\n\tb⟨U+0085⟩")]
    #[case::control_characters("\u{1b}[31m\0\u{7f}", "\u{241b}[31m\u{2400}\u{2421}")]
    #[case::directions(
        "a\u{202e}b\u{2066}\u{200f}\u{61c}",
        "a⟨U+202E⟩b⟨U+2066⟩⟨U+200F⟩⟨U+061C⟩"
    )]
    #[case::command("::error::x", "⟨U+003A⟩:error::x")]
    #[case::command_after_spaces("a\n \t::error::x", "a\n \t⟨U+003A⟩:error::x")]
    #[case::colons("a ::b [::1]", "a ::b [::1]")]
    #[case::command_of_another_service("a ##[error]b", "a ⟨U+0023⟩#[error]b")]
    #[case::headings("## b", "## b")]
    fn what_is_invisible_is_shown(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(visible(text), expected);
    }

    #[test]
    fn colours_stay() {
        assert_eq!(
            coloured("\u{1b}[32ma\u{1b}[0m\u{1b}[8mb"),
            "\u{1b}[32ma\u{1b}[0m\u{241b}[8mb"
        );
        assert_eq!(coloured("\u{1b}[32m::a"), "\u{1b}[32m⟨U+003A⟩:a");
    }

    #[test]
    fn parts_hold_what_is_shown() {
        assert_eq!(parts(""), []);
        assert_eq!(
            parts("a\r\n ::b##[c\u{202e}"),
            [
                Ok("a"),
                Err('\r'),
                Ok("\n "),
                Err(':'),
                Ok(":b"),
                Err('#'),
                Ok("#[c"),
                Err('\u{202e}')
            ]
        );
    }

    #[test]
    fn a_line_is_one_and_not_endless() {
        let long = "é".repeat(LONGEST);
        for (text, expected) in [
            (
                "a\nb: c\t\u{1b}",
                "a\u{240a}b: c\u{2409}\u{241b}".to_owned(),
            ),
            ("a\u{202e}b", "a⟨U+202E⟩b".to_owned()),
            (&long, "é".repeat(LONGEST / 2) + "…"),
        ] {
            assert_eq!(visible_line(text), expected);
        }
    }

    #[test]
    fn json_says_the_same() -> Result<(), serde_json::Error> {
        let value = serde_json::json!("a\u{202e}\u{e0001}\u{85}é\n\u{1b}\u{200e}\u{7f}");
        let text = serde_json::to_string(&value)?;
        let escaped = json(&text);
        assert_eq!(
            escaped,
            r#""a\u202e\udb40\udc01\u0085é\n\u001b\u200e\u007f""#
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped)?, value);
        Ok(())
    }

    #[test]
    fn a_stream_shows_whole_lines() -> io::Result<()> {
        let mut out = Vec::new();
        let mut stream = Visible::new(&mut out);
        for piece in ["a\u{202e}", "\n:", ":error::x\n", "é ", "::b"] {
            // Characters split into two writes.
            for byte in piece.as_bytes() {
                stream.write_all(&[*byte])?;
            }
        }
        stream.flush()?;
        write!(stream, "::c")?;
        drop(stream);
        let text = String::from_utf8_lossy(&out).into_owned();
        assert_eq!(text, "a⟨U+202E⟩\n⟨U+003A⟩:error::x\né ::b::c");
        Ok(())
    }
}

//! Characters that would make a text look like other lines of the log, or change how a terminal
//! shows it.

use std::fmt::{self, Write};

/// Whether a character is one of these: a control character, the end of a line or paragraph, or a
/// mark that turns the direction of writing.
pub(super) fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Passes text on with these characters escaped as in Rust.
#[derive(Debug)]
pub(super) struct Escaped<W>(pub(super) W);

impl<W: Write> Write for Escaped<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(place) = rest.find(is_control) {
            let (plain, control) = rest.split_at(place);
            self.0.write_str(plain)?;
            let mut characters = control.chars();
            if let Some(control) = characters.next() {
                write!(self.0, "{}", control.escape_default())?;
            }
            rest = characters.as_str();
        }
        self.0.write_str(rest)
    }
}

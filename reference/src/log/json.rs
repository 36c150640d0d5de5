//! The log as JSON: serialized text keeps some of the characters that are escaped here.

use std::fmt::Write as _;
use std::io;

use tracing_subscriber::fmt::MakeWriter;

use super::escape::is_control;

/// Makes writers that escape.
#[derive(Debug)]
pub(super) struct MakeEscaping<M>(pub(super) M);

/// Passes JSON on, one object per line, with control characters escaped as in JSON.
#[derive(Debug)]
pub(super) struct Escaping<W>(W);

impl<'w, M: MakeWriter<'w>> MakeWriter<'w> for MakeEscaping<M> {
    type Writer = Escaping<M::Writer>;

    fn make_writer(&'w self) -> Self::Writer {
        Escaping(self.0.make_writer())
    }
}

impl<W: io::Write> io::Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What ends a line is not within a string: serialized, such a character is escaped.
        let escapes = |c: char| c != '\n' && is_control(c);
        let text = String::from_utf8_lossy(bytes);
        if !text.contains(escapes) {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        }
        let mut escaped = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            match escapes(c) {
                // All of them are below 0x10000.
                true => write!(escaped, "\\u{:04x}", u32::from(c)).map_err(io::Error::other)?,
                false => escaped.push(c),
            }
        }
        self.0.write_all(escaped.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

//! The server's log: what it shows, and in which form.

use std::fmt::Write;
use std::io::{self, IsTerminal};

use clap::{Args, ValueEnum};
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::debug_fn;
use tracing_subscriber::util::SubscriberInitExt;

mod escape;
mod json;

use escape::Escaped;
use json::MakeEscaping;

/// The log that the command line asks for.
#[derive(Debug, Clone, Args)]
pub struct LogOptions {
    /// What the log shows
    #[arg(short = 'l', long, value_enum, default_value = "info")]
    pub log_level: LogLevel,
    /// The form of the log
    #[arg(long, value_enum, default_value = "json")]
    pub log_format: LogFormat,
}

/// The least important events that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// Requests, warnings and errors.
    Info,
    /// Errors only.
    Error,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}

impl LogOptions {
    /// Writes the log of this process to standard error from now on.
    pub fn install(&self) {
        let level = match self.log_level {
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Error => LevelFilter::ERROR,
        };
        match self.log_format {
            LogFormat::Text => text(level, io::stderr().is_terminal(), io::stderr).init(),
            LogFormat::Json => json(level, io::stderr).init(),
        }
    }
}

/// A log of lines for people. Whatever an event says, it stays on its line.
fn text<W>(level: LevelFilter, colours: bool, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let fields = debug_fn(|writer, field, value| {
        let mut writer = Escaped(writer);
        match field.name() {
            "message" => write!(writer, "{value:?}"),
            // Where libraries say something, which is not shown of this program either.
            name if name.starts_with("log.") => Ok(()),
            name => write!(writer, "{name}={value:?}"),
        }
    });
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_target(false)
        .with_ansi(colours)
        .with_writer(writer)
        .fmt_fields(fields.delimited(" "))
        .finish()
}

/// A log of one JSON object per line.
fn json<W>(level: LevelFilter, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_target(false)
        .with_ansi(false)
        .with_writer(MakeEscaping(writer))
        .json()
        .flatten_event(true)
        .finish()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use tracing::subscriber::with_default;
    use tracing::{error, info, info_span};

    use super::*;

    /// What was written.
    #[derive(Debug, Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            written.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        fn text(&self) -> String {
            let written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            String::from_utf8_lossy(&written).into_owned()
        }
    }

    /// Text with every character that is escaped.
    fn hostile() -> String {
        let controls = (0..0xa0_u32).filter_map(char::from_u32);
        let marks = "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}";
        controls
            .filter(|c| c.is_control())
            .chain(marks.chars())
            .collect()
    }

    fn text_at<'v>(event: &'v serde_json::Value, pointer: &str) -> Option<&'v str> {
        event.pointer(pointer)?.as_str()
    }

    fn say(hostile: &str) {
        let why = io::Error::other(hostile.to_owned());
        let span = info_span!("span", own = %hostile, own_text = hostile);
        let _entered = span.enter();
        info!(%hostile, "{hostile}");
        error!(why = &why as &dyn std::error::Error, quoted = hostile, debug = ?hostile, "said");
    }

    #[test]
    fn nothing_that_is_logged_looks_like_another_line() {
        let hostile = hostile();
        for colours in [false, true] {
            let written = Written::default();
            let writer = written.clone();
            let log = text(LevelFilter::DEBUG, colours, move || writer.clone());
            with_default(log, || say(&hostile));
            let text = written.text();
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 2, "{text:?}");
            assert!(
                text.contains("\\n") && text.contains("\\u{202e}"),
                "{text:?}"
            );
            // With colours the log itself writes ESC, for nothing else.
            let plain = text.replace('\n', "");
            let escapes = |c: char| escape::is_control(c) && !(colours && c == '\u{1b}');
            assert!(!plain.contains(escapes), "{plain:?}");
            if colours {
                let own = plain.matches("\u{1b}[").count();
                assert_eq!(own, plain.matches('\u{1b}').count(), "{plain:?}");
                assert!(!plain.contains("\u{1b}\\"), "{plain:?}");
            }
        }
    }

    #[test]
    fn json_is_escaped_and_says_the_same() -> Result<(), serde_json::Error> {
        let hostile = hostile();
        let written = Written::default();
        let writer = written.clone();
        let log = json(LevelFilter::DEBUG, move || writer.clone());
        with_default(log, || say(&hostile));
        let text = written.text();
        assert!(
            !text.replace('\n', "").contains(escape::is_control),
            "{text:?}"
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text:?}");
        for line in &lines {
            let event: serde_json::Value = serde_json::from_str(line)?;
            assert_eq!(text_at(&event, "/span/own"), Some(&*hostile), "{line}");
        }
        let first: serde_json::Value = serde_json::from_str(lines.first().unwrap_or(&""))?;
        assert_eq!(text_at(&first, "/message"), Some(&*hostile));
        assert_eq!(text_at(&first, "/hostile"), Some(&*hostile));
        Ok(())
    }
}

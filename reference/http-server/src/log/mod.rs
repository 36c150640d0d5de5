//! Logging: levels, filters and formats.

use std::fmt::{self, Display};
use std::io;

use clap::{Args, ValueEnum};
use rego::value::TooLong;
use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

mod escape;
mod fields;
mod form;
mod layout;
mod queue;

use form::Form;
pub use layout::{Layout, LayoutError};
pub use queue::LogGuard;
use queue::Queue;
pub use queue::dropped_lines;

/// Target of events whose displayed fields are JSON, and are logged as such.
pub const STRUCTURED: &str = "structured";

/// Target of structured events that are logged whatever the level of the log: decisions and states
/// for the console.
pub const CONSOLE: &str = "console";

/// Environment variable with the layout of times, as in Open Policy Agent.
const TIMES: &str = "OPA_LOG_TIMESTAMP_FORMAT";

/// The log that the command line asks for.
#[derive(Debug, Clone, Args)]
pub struct LogOptions {
    /// Lowest level of logged messages
    #[arg(short = 'l', long, value_enum, default_value = "info")]
    pub log_level: LogLevel,
    /// Format of the log
    #[arg(long, value_enum, default_value = "json")]
    pub log_format: LogFormat,
    /// Time format of the log, in UTC, as a Go layout such as `2006-01-02 15:04:05.000`. Default:
    /// the environment variable OPA_LOG_TIMESTAMP_FORMAT
    #[arg(long, value_name = "LAYOUT")]
    pub log_timestamp_format: Option<Layout>,
}

/// Log level: the lowest level that is shown, or the level of some events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// Requests, warnings and errors.
    Info,
    /// Errors only.
    Error,
}

/// Format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum LogFormat {
    /// Human-readable text.
    Text,
    /// One JSON object per line.
    Json,
    /// Indented JSON objects.
    JsonPretty,
}

impl LogOptions {
    /// Writes the log of this process, including panics, to standard error from now on.
    ///
    /// # Errors
    /// The environment variable has an invalid layout; the writer thread cannot be started.
    pub fn install(&self) -> Result<LogGuard, LogError> {
        let times = match (&self.log_timestamp_format, std::env::var(TIMES)) {
            (Some(layout), _) => layout.clone(),
            (None, Ok(text)) if !text.is_empty() => text.parse()?,
            _ => Layout::default(),
        };
        let level = match self.log_level {
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Error => LevelFilter::ERROR,
        };
        let format = self.log_format;
        let queue = Queue::default();
        let guard = queue.clone().start(io::stderr())?;
        log(level, Form { format, times }, queue).init();
        // The default hook would block on the reader of standard error.
        std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
        Ok(guard)
    }
}

/// Error of a log that cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The environment variable has an invalid layout.
    #[error("{TIMES}: {0}")]
    Layout(#[from] LayoutError),
    /// The writer thread cannot be started.
    #[error("cannot start the log's writer thread: {0}")]
    Thread(#[from] io::Error),
}

/// Creates a log with this format. The contents of an event never look like another event.
fn log<W>(level: LevelFilter, form: Form, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let is_shown =
        move |metadata: &Metadata<'_>| *metadata.level() <= level || metadata.target() == CONSOLE;
    tracing_subscriber::fmt()
        .with_max_level(level.max(LevelFilter::INFO))
        .with_ansi(false)
        .with_writer(writer)
        .event_format(form)
        .finish()
        .with(filter_fn(is_shown))
}

impl<'w> MakeWriter<'w> for Queue {
    type Writer = &'w Self;

    fn make_writer(&'w self) -> &'w Self {
        self
    }
}

/// Value as JSON, for fields of events with the target [`STRUCTURED`].
#[derive(Debug, Default)]
pub struct Json(String);

impl Json {
    /// Encodes a value.
    ///
    /// # Errors
    /// When the JSON exceeds `limit` bytes. A small value can have long JSON, because values may
    /// share their parts.
    pub fn new(value: &rego::Value, limit: usize) -> Result<Self, TooLong> {
        let json = value.to_json(false, limit)?;
        Ok(Self(String::from_utf8_lossy(&json).into_owned()))
    }

    /// Length of the JSON in bytes.
    pub fn byte_count(&self) -> usize {
        self.0.len()
    }
}

impl Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex, PoisonError};

    use rstest::rstest;
    use serde_json::{Value, json};
    use tracing::subscriber::with_default;
    use tracing::{debug, error, info, warn};

    use super::*;

    /// Captured output.
    #[derive(Debug, Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            written.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the output of a log in a format.
    fn logged(format: LogFormat, times: &str, emit: impl FnOnce()) -> String {
        let written = Sink::default();
        let writer = written.clone();
        let times = times.parse().unwrap_or_default();
        let form = Form { format, times };
        with_default(log(LevelFilter::DEBUG, form, move || writer.clone()), emit);
        let written = written.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&written).into_owned()
    }

    /// Returns a string that contains every character that is escaped.
    fn hostile() -> String {
        let controls = (0..0xa0_u32).filter_map(char::from_u32);
        let marks = "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}";
        controls
            .filter(|c| c.is_control())
            .chain(marks.chars())
            .collect()
    }

    fn log_hostile(hostile: &str) {
        let error = io::Error::other(hostile.to_owned());
        info!(%hostile, "{hostile}");
        error!(why = &error as &dyn std::error::Error, quoted = hostile, debug = ?hostile, "said");
        let document = rego::Value::from(hostile);
        info!(target: STRUCTURED, document = %Json::new(&document, 1_000).unwrap_or_default(), "said");
    }

    #[rstest]
    #[case::text(LogFormat::Text)]
    #[case::json(LogFormat::Json)]
    #[case::pretty_json(LogFormat::JsonPretty)]
    fn nothing_that_is_logged_looks_like_another_event(
        #[case] format: LogFormat,
    ) -> Result<(), serde_json::Error> {
        let hostile = hostile();
        let text = logged(format, "", || log_hostile(&hostile));
        assert!(
            !text.replace('\n', "").contains(escape::is_control),
            "{text:?}"
        );
        if format == LogFormat::Text {
            let begin = |line: &&str| !line.is_empty() && !line.starts_with("  ");
            let heads: Vec<&str> = text.lines().filter(begin).collect();
            assert_eq!(heads.len(), 3, "{text:?}");
            assert!(text.contains("\\u{202e}"), "{text:?}");
            return Ok(());
        }
        let events = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        let events: Vec<Value> = events.collect::<Result<_, _>>()?;
        let at = |event: usize, name: &str| events.get(event).and_then(|event| event.get(name));
        for (event, name) in [
            (0, "msg"),
            (0, "hostile"),
            (1, "why"),
            (1, "quoted"),
            (2, "document"),
        ] {
            assert_eq!(at(event, name), Some(&json!(hostile)), "{event} {name}");
        }
        assert_eq!(events.len(), 3);
        Ok(())
    }

    /// Logs an event of every level, with fields of every kind.
    fn speak() {
        let labels = rego::Value::object([
            ("id", rego::Value::from("x")),
            ("n", rego::Value::from(1_u64)),
        ]);
        debug!("least");
        info!(target: STRUCTURED, labels = %Json::new(&labels, 1_000).unwrap_or_default(), "type" = "t", none = Option::<u64>::None, "Said.");
        warn!(count = 2, part = 0.5, fine = true, level = "own", "warned");
        error!(lines = "one\ntwo", name = %"n", "failed");
    }

    #[test]
    fn events_for_the_console_are_shown_at_every_level() {
        let written = Sink::default();
        let writer = written.clone();
        let form = Form {
            format: LogFormat::Json,
            times: Layout::default(),
        };
        let log = log(LevelFilter::ERROR, form, move || writer.clone());
        with_default(log, || {
            info!(target: CONSOLE, "a decision");
            info!(target: STRUCTURED, "something else");
            info!("a request");
            error!("an error");
        });
        let written = written.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&written);
        assert!(
            text.contains("a decision") && text.contains("an error"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    /// The formats equal those of OPA 1.22, except that text includes the time.
    #[test]
    fn each_form_has_the_keys_and_levels_of_opa() {
        let json = concat!(
            r#"{"level":"debug","msg":"least","time":"UTC"}"#,
            "\n",
            r#"{"labels":{"id":"x","n":1},"level":"info","msg":"Said.","time":"UTC","type":"t"}"#,
            "\n",
            r#"{"count":2,"fields.level":"own","fine":true,"level":"warning","msg":"warned","part":0.5,"time":"UTC"}"#,
            "\n",
            r#"{"level":"error","lines":"one\ntwo","msg":"failed","name":"n","time":"UTC"}"#,
            "\n",
        );
        assert_eq!(logged(LogFormat::Json, "MST", speak), json);
        let text = concat!(
            "[DEBUG] least\n  time = \"UTC\"\n\n",
            "[INFO] Said.\n  labels = |\n      {\n        \"id\": \"x\",\n        \"n\": 1\n      }\n",
            "  type = \"t\"\n  time = \"UTC\"\n\n",
            "[WARNING] warned\n  count = 2\n  fine = true\n  level = \"own\"\n  part = 0.5\n  time = \"UTC\"\n\n",
            "[ERROR] failed\n  lines = |\n      one\n      two\n  name = \"n\"\n  time = \"UTC\"\n\n",
        );
        assert_eq!(logged(LogFormat::Text, "MST", speak), text);
        let pretty = logged(LogFormat::JsonPretty, "MST", || info!(count = 1, "Said."));
        let expected = "{\n  \"count\": 1,\n  \"level\": \"info\",\n  \"msg\": \"Said.\",\n  \"time\": \"UTC\"\n}\n";
        assert_eq!(pretty, expected);
    }
}

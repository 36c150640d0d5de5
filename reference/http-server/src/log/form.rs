//! Log formats of Open Policy Agent.

use std::fmt::{self, Write as _};

use chrono::Utc;
use serde_json::Value;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::LogFormat;
use super::escape;
use super::fields::{FieldValue, Fields};
use super::layout::Layout;

/// Keys of every line. A field with the same name is prefixed by `fields.`.
const OF_LINES: [&str; 3] = ["level", "msg", "time"];

/// Indentation of multi-line values in text.
const INDENT: &str = "\n      ";

/// Formats events in one format, with their times in one layout.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) format: LogFormat,
    pub(super) times: Layout,
}

impl<S, N> FormatEvent<S, N> for Form
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    N: for<'f> FormatFields<'f> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let level = name(*event.metadata().level());
        let time = self.times.format(&Utc::now());
        let fields = Fields::of(event);
        let text = match self.format {
            LogFormat::Text => text(level, time, &fields)?,
            LogFormat::Json => json(level, &time, &fields)?,
            LogFormat::JsonPretty => pretty(json(level, &time, &fields)?),
        };
        writer.write_str(&text)
    }
}

/// Name of a level in the log.
fn name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warning",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

/// JSON object on one line, members sorted by name.
fn json(level: &str, time: &str, fields: &Fields) -> Result<String, fmt::Error> {
    let quoted = |text: &str| serde_json::to_string(text).map_err(|_| fmt::Error);
    let standard = [
        ("level", level),
        ("msg", fields.message.as_str()),
        ("time", time),
    ];
    let mut members = Vec::with_capacity(fields.by_name.len() + standard.len());
    for (name, text) in standard {
        members.push((name.to_owned(), quoted(text)?));
    }
    for (name, field) in &fields.by_name {
        let name = match OF_LINES.contains(name) {
            true => format!("fields.{name}"),
            false => (*name).to_owned(),
        };
        let value = match field {
            FieldValue::Text(text) => quoted(text)?,
            FieldValue::Json(json) => json.clone(),
        };
        members.push((name, value));
    }
    members.sort();
    let mut line = String::new();
    let mut separator = '{';
    for (name, value) in members {
        write!(line, "{separator}\"{name}\":{value}")?;
        separator = ',';
    }
    line.push_str("}\n");
    Ok(escape::json(line))
}

/// Indents JSON. JSON that is nested too deeply stays on one line.
fn pretty(json: String) -> String {
    let indented = serde_json::from_str::<Value>(&json);
    match indented.and_then(|value| serde_json::to_string_pretty(&value)) {
        Ok(text) => escape::json(text + "\n"),
        Err(_) => json,
    }
}

/// Text for humans: the level and the message, then each field on a separate line or on several
/// indented ones, then an empty line.
fn text(level: &str, time: String, fields: &Fields) -> Result<String, fmt::Error> {
    let level = level.to_uppercase();
    let mut lines = format!("[{level}] {}\n", escape::text(&fields.message));
    let time = FieldValue::Text(time);
    let all = fields.by_name.iter().map(|(name, field)| (*name, field));
    for (name, field) in all.chain([("time", &time)]) {
        let value = match field {
            FieldValue::Text(text) if text.contains('\n') => {
                let lines = text.lines().map(escape::text);
                lines.collect::<Vec<_>>().join("\n")
            }
            FieldValue::Text(text) => {
                escape::json(serde_json::to_string(text).map_err(|_| fmt::Error)?)
            }
            FieldValue::Json(json) => pretty(escape::json(json.clone())),
        };
        let value = value.trim_end();
        match value.contains('\n') {
            true => writeln!(lines, "  {name} = |{INDENT}{}", value.replace('\n', INDENT))?,
            false => writeln!(lines, "  {name} = {value}")?,
        }
    }
    lines.push('\n');
    Ok(lines)
}

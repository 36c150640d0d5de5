//! Fields of log events.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Debug;

use serde_json::to_string;
use tracing::Event;
use tracing::field::{Field, Visit};

use super::{CONSOLE, STRUCTURED};

/// Prefix of fields with the source locations of libraries, which are not shown.
const OF_LIBRARIES: &str = "log.";

/// Value of a field.
#[derive(Debug)]
pub(super) enum FieldValue {
    /// A string, to be shown as text.
    Text(String),
    /// A value that is already JSON.
    Json(String),
}

/// Message of an event, and its fields by name.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) message: String,
    pub(super) by_name: BTreeMap<&'static str, FieldValue>,
    structured: bool,
}

impl Fields {
    pub(super) fn of(event: &Event<'_>) -> Self {
        let mut fields = Self {
            structured: matches!(event.metadata().target(), STRUCTURED | CONSOLE),
            ..Self::default()
        };
        event.record(&mut fields);
        fields
    }

    fn put(&mut self, field: &Field, value: FieldValue) {
        match (field.name(), value) {
            ("message", FieldValue::Text(text) | FieldValue::Json(text)) => self.message = text,
            (name, _) if name.starts_with(OF_LIBRARIES) => {}
            (name, value) => drop(self.by_name.insert(name, value)),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, FieldValue::Text(value.to_owned()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, FieldValue::Json(value.to_string()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, FieldValue::Json(value.to_string()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, FieldValue::Json(value.to_string()));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // Numbers without a JSON representation become `null`.
        self.put(
            field,
            FieldValue::Json(to_string(&value).unwrap_or_default()),
        );
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.put(field, FieldValue::Text(value.to_string()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        let value = match self.structured && field.name() != "message" {
            true => FieldValue::Json(text),
            false => FieldValue::Text(text),
        };
        self.put(field, value);
    }
}

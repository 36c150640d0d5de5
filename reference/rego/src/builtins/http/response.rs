//! Responses and their object representation.

use crate::Value;
pub(super) use crate::host::HttpResponse as Response;
use crate::value::{Object, from_json, from_yaml};

/// Status codes of cacheable responses.
const CACHEABLE: [u16; 11] = [200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501];

impl Response {
    /// Returns the first header with a name.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(own, _)| own == name)?;
        Some(&found.1)
    }

    pub(super) fn cacheable(&self) -> bool {
        CACHEABLE.contains(&self.code)
    }

    /// Approximate memory in bytes.
    pub(super) fn size(&self) -> usize {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| name.len() + value.len());
        self.body.len() + headers.sum::<usize>()
    }

    /// Updates the headers from a newer response without a body.
    pub(super) fn renew(&mut self, newer: &Response) {
        self.headers
            .retain(|(name, _)| newer.header(name).is_none());
        self.headers.extend(newer.headers.iter().cloned());
    }

    /// Converts the response to an object. A body that cannot be parsed is null.
    pub(super) fn value(&self, json: bool, yaml: bool) -> Value {
        let kind = self.header("content-type").unwrap_or_default();
        let is_yaml = kind.contains("application/yaml") || kind.contains("application/x-yaml");
        let body = if json || is_json(kind) {
            from_json(&self.body).ok()
        } else if yaml || is_yaml {
            from_yaml(&self.body).ok()
        } else {
            None
        };
        let mut headers = Object::new();
        for (name, value) in &self.headers {
            let value = Value::from(value.as_str());
            let values = match headers.get(name).and_then(Value::as_array) {
                Some(values) => values.iter().cloned().chain([value]).collect(),
                None => vec![value],
            };
            headers.insert(name.as_str(), Value::from(values));
        }
        let status = format!("{} {}", self.code, self.reason);
        Value::object([
            ("status", Value::from(status.trim_end())),
            ("status_code", Value::from(u64::from(self.code))),
            ("body", body.unwrap_or(Value::Null)),
            ("raw_body", Value::string(&self.body)),
            ("headers", Value::from(headers)),
        ])
    }
}

fn is_json(kind: &str) -> bool {
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let kind = kind.strip_prefix("application/");
    kind.is_some_and(|kind| kind == "json" || kind.ends_with("+json"))
}

//! Changes of requests and responses.

pub(super) mod json;
pub(super) mod request;
pub(super) mod response;
mod spelling;

use std::collections::BTreeMap;

use serde::Deserialize;

/// Replacement of every occurrence of a substring.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Replacement {
    from: String,
    to: String,
}

impl Replacement {
    fn apply(&self, text: &str) -> String {
        text.replace(&self.from, &self.to)
    }
}

pub(super) fn drop_header(headers: &mut Vec<(String, String)>, name: &str) {
    headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
}

pub(super) fn set_header(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    drop_header(headers, name);
    headers.push((name.to_owned(), value.to_owned()));
}

fn set_headers(headers: &mut Vec<(String, String)>, values: &BTreeMap<String, String>) {
    for (name, value) in values {
        set_header(headers, name, value);
    }
}

//! `format`.

use std::net::IpAddr;

use super::super::url::Url;
use super::super::{re2, time};
use super::email;

/// A known format. Any string is valid for an unknown format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format(&'static str, fn(&str) -> bool);

/// Known formats. International variants are limited to ASCII.
const FORMATS: [Format; 17] = [
    Format("date", |text| time::matches("2006-01-02", text)),
    Format("time", is_time),
    Format("date-time", is_date_time),
    Format("hostname", is_hostname),
    Format("email", email::is_address),
    Format("idn-email", email::is_address),
    Format("ipv4", |text| is_address(text, '.')),
    Format("ipv6", |text| is_address(text, ':')),
    Format("uri", is_uri),
    Format("iri", is_uri),
    Format("uri-reference", |text| reference(text).is_some()),
    Format("iri-reference", |text| reference(text).is_some()),
    Format("uri-template", is_uri_template),
    Format("uuid", is_uuid),
    Format("regex", |text| re2::parse(text).is_ok()),
    Format("json-pointer", is_pointer),
    Format("relative-json-pointer", is_relative_pointer),
];

impl Format {
    /// Returns the format with this name, if it is known.
    pub(super) fn named(name: &str) -> Option<Self> {
        FORMATS.into_iter().find(|format| format.0 == name)
    }

    pub(super) fn name(self) -> &'static str {
        self.0
    }

    /// Whether a string has the format.
    pub(super) fn matches(self, text: &str) -> bool {
        (self.1)(text)
    }
}

fn is_time(text: &str) -> bool {
    let mut layouts = ["15:04:05Z07:00", "15:04:05"].into_iter();
    layouts.any(|layout| time::matches(layout, text))
}

/// Whether a string is a date, a time, or a date with a time.
fn is_date_time(text: &str) -> bool {
    is_time(text)
        || time::matches("2006-01-02", text)
        || time::matches("2006-01-02T15:04:05Z07:00", text)
}

/// Whether a string is an IP address that contains this separator: IPv6 may end in IPv4.
fn is_address(text: &str, mark: char) -> bool {
    text.contains(mark) && text.parse::<IpAddr>().is_ok()
}

fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() < 256 && text.split('.').all(is_label)
}

/// Parses a reference without backslashes, which URLs accept unescaped.
fn reference(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|_| !text.contains('\\'))
}

fn is_uri(text: &str) -> bool {
    reference(text).is_some_and(|url| !url.scheme.is_empty())
}

/// Whether a string is a reference in whose path every opened brace is closed.
fn is_uri_template(text: &str) -> bool {
    let Some(url) = reference(text) else {
        return false;
    };
    let mut bytes = url.path.iter();
    while bytes.any(|byte| *byte == b'{') {
        if !bytes.any(|byte| *byte == b'}') {
            return false;
        }
    }
    true
}

fn is_uuid(text: &str) -> bool {
    let parts = text.split('-').map(|part| {
        let is_hexadecimal = part.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hexadecimal.then_some(part.len())
    });
    parts.eq([8, 4, 4, 4, 12].map(Some))
}

fn is_pointer(text: &str) -> bool {
    if !text.is_empty() && !text.starts_with('/') {
        return false;
    }
    let mut escapes = text.split('~').skip(1);
    escapes.all(|rest| rest.starts_with(['0', '1']))
}

fn is_relative_pointer(text: &str) -> bool {
    let end = text.find(|character: char| !character.is_ascii_digit());
    let (number, pointer) = text.split_at(end.unwrap_or(text.len()));
    let is_number = number == "0" || (!number.is_empty() && !number.starts_with('0'));
    is_number && (pointer == "#" || is_pointer(pointer))
}

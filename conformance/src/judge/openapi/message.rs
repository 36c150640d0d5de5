//! Headers and body of one message.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::Content;
use crate::http_client::answer::BODY_LIMIT;

/// Headers and body of a request or a response, as on the wire.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// Names in any case, in order.
    pub headers: &'a [(String, String)],
    /// The bytes, still encoded if a Content-Encoding says so.
    pub body: &'a [u8],
}

impl Message<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(found.1.as_str())
    }

    /// Returns the body, decoded if it is gzip.
    fn decoded(&self) -> Result<Vec<u8>, String> {
        match self.header("content-encoding") {
            Some(coding) if coding.eq_ignore_ascii_case("gzip") => {
                let mut decompressed = Vec::new();
                MultiGzDecoder::new(self.body)
                    .take(BODY_LIMIT)
                    .read_to_end(&mut decompressed)
                    .map_err(|error| format!("the body is not gzip: {error}"))?;
                Ok(decompressed)
            }
            _ => Ok(self.body.to_vec()),
        }
    }
}

/// Normalizes a media type: lower case, no parameters, the target's vendor replaced by `engine`.
pub fn media_type(content_type: &str, vendor: &str) -> String {
    let name = content_type.split(';').next().unwrap_or_default();
    let name = name.trim().to_ascii_lowercase();
    match name.strip_prefix(&format!("application/vnd.{vendor}.")) {
        Some(rest) => format!("application/vnd.engine.{rest}"),
        None => name,
    }
}

/// Returns a violation in a message whose body is documented, if any. A request may omit its media
/// type; a response may omit it, or name any, if `*/*` is documented.
pub(super) fn finding(
    content: &Content,
    message: Message<'_>,
    vendor: &str,
    request: bool,
) -> Option<String> {
    let supplied = message
        .header("content-type")
        .map(|value| media_type(value, vendor));
    let any = content.iter().find(|(name, _)| name == "*/*");
    let (name, schema) = match &supplied {
        Some(supplied) => match content.iter().find(|(name, _)| name == supplied).or(any) {
            Some((name, schema)) => (name.as_str(), schema),
            None => return Some(format!("media type `{supplied}` is not documented")),
        },
        None if request || message.body.is_empty() => {
            let (name, schema) = content.first()?;
            (name.as_str(), schema)
        }
        None => match any {
            Some((name, schema)) => (name.as_str(), schema),
            None => return Some("the answer has a body and no Content-Type".to_owned()),
        },
    };
    let body = match message.decoded() {
        Ok(body) => body,
        Err(finding) => return Some(finding),
    };
    match parse(name, &body) {
        Ok(value) => schema.finding(&value, "body"),
        Err(finding) => Some(finding),
    }
}

fn parse(media_type: &str, body: &[u8]) -> Result<Value, String> {
    // If any media type is accepted, the schema describes JSON.
    if media_type == "*/*" || media_type.ends_with("/json") || media_type.ends_with("+json") {
        serde_json::from_slice(body).map_err(|error| format!("the body is not JSON: {error}"))
    } else if media_type.ends_with("yaml") {
        serde_yaml::from_slice(body).map_err(|error| format!("the body is not YAML: {error}"))
    } else {
        Ok(Value::String(String::from_utf8_lossy(body).into_owned()))
    }
}

/// Names and values of a query string, decoded; a name without `=` has no value.
pub(super) fn query_pairs(query: &str) -> Vec<(String, Option<String>)> {
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        percent_decode_str(&text).decode_utf8_lossy().into_owned()
    };
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) => (decode(name), Some(decode(value))),
            None => (decode(pair), None),
        })
        .collect()
}

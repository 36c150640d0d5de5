//! Responses of servers, and errors of requests without a response.

use std::io::Read as _;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

/// Maximum length of a body that is read or decompressed, in bytes: it may be endless, and a small
/// compressed body may expand to a huge one.
pub(crate) const BODY_LIMIT: u64 = 64 * 1024 * 1024;

/// Number of characters shown of a page's title.
const MAX_TITLE_CHARS: usize = 60;

/// A response as received.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    /// Number of items of each page, if this response is joined from several.
    pub(crate) pages: Vec<usize>,
    /// Duration in milliseconds.
    pub(crate) milliseconds: f64,
    /// Duration of the requests until the response was as expected.
    pub(crate) wait: Wait,
    decoded: OnceLock<Bytes>,
    json: OnceLock<Option<Value>>,
}

/// Times of a request that was repeated until its response was as expected, in milliseconds.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Wait {
    /// Duration of the slowest single request.
    pub(crate) longest: f64,
    /// Total duration up to the last response, including pauses between requests.
    pub(crate) whole: f64,
}

/// Error of a request without a response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub(crate) struct NoAnswer {
    pub(crate) what: String,
    /// Whether the timeout expired.
    pub(crate) slow: bool,
}

/// Checks that a body of this length is within the limit.
///
/// # Errors
/// The body is longer than this suite reads, which does not mean that the server is wrong.
pub(crate) fn within_limit(length: usize) -> Result<(), NoAnswer> {
    if length as u64 <= BODY_LIMIT {
        return Ok(());
    }
    let limit = BODY_LIMIT / 1024 / 1024;
    let what = format!("its body exceeds {limit} MiB, the most that this suite reads");
    Err(NoAnswer::new(what))
}

impl NoAnswer {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            slow: false,
        }
    }

    /// Explains the error, if the HTTP library's message is known; otherwise returns the message.
    pub(crate) fn description(&self) -> &str {
        const CLOSED: [&str; 4] = [
            "connection closed before message completed",
            "connection reset",
            "unexpected end of file",
            "broken pipe",
        ];
        let what = self.what.to_ascii_lowercase();
        match CLOSED.iter().any(|words| what.contains(words)) {
            true => "the server closed the connection",
            false => &self.what,
        }
    }

    pub(crate) fn slow(limit: Duration) -> Self {
        Self {
            what: format!("no answer within {} s", limit.as_secs_f32()),
            slow: true,
        }
    }
}

impl Answer {
    pub(crate) fn new(status: u16, headers: Vec<(String, String)>, body: Bytes) -> Self {
        Self {
            status,
            headers,
            body,
            ..Self::default()
        }
    }

    /// Returns this response if its decompressed body is within the limit.
    ///
    /// # Errors
    /// As [`within_limit`].
    pub(crate) fn unpacked_within_limit(self) -> Result<Self, NoAnswer> {
        within_limit(self.plain().len())?;
        Ok(self)
    }

    /// Returns this response, the last page of a list, with the content of all its pages.
    pub(crate) fn joined(&self, text: String, value: Value, pages: Vec<usize>) -> Self {
        let headers = self.headers.iter().filter(|(name, _)| {
            // The joined body is not encoded.
            !name.eq_ignore_ascii_case("content-encoding")
        });
        let answer = Self {
            pages,
            ..Self::new(self.status, headers.cloned().collect(), Bytes::from(text))
        };
        let _ = answer.json.set(Some(value));
        answer
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the values of a header, joined by commas.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self
            .headers
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Returns the body without its content encoding.
    pub(crate) fn plain(&self) -> &Bytes {
        let gzip = self.headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("content-encoding") && value.eq_ignore_ascii_case("gzip")
        });
        if !gzip {
            return &self.body;
        }
        self.decoded.get_or_init(|| {
            let mut decompressed = Vec::new();
            let decoder = flate2::read::MultiGzDecoder::new(self.body.as_ref());
            // One byte beyond the limit shows that there is more.
            let limit = BODY_LIMIT + 1;
            match decoder.take(limit).read_to_end(&mut decompressed) {
                Ok(_) => Bytes::from(decompressed),
                // A body that does not match its header is judged as received.
                Err(_) => self.body.clone(),
            }
        })
    }

    /// The body as a string, with replacement characters for invalid UTF-8.
    pub(crate) fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.plain())
    }

    /// The body as JSON, if valid.
    pub(crate) fn json(&self) -> Option<&Value> {
        self.json
            .get_or_init(|| serde_json::from_slice(self.plain()).ok())
            .as_ref()
    }

    /// Summarizes a markup body: its media type, and the title of a page.
    pub(crate) fn markup(&self) -> Option<String> {
        let declared = self.header("content-type").unwrap_or_default();
        let declared = declared.split(';').next().unwrap_or_default().trim();
        let text = self.text();
        let starts = text.trim_start().starts_with('<');
        if !starts || self.json().is_some() {
            return None;
        }
        let media_type = match declared {
            "" => "markup without a media type",
            declared => declared,
        };
        let lower = text.to_ascii_lowercase();
        let title = lower.find("<title").and_then(|start| {
            let start = start + lower.get(start..)?.find('>')? + 1;
            let end = start + lower.get(start..)?.find('<')?;
            text.get(start..end)
        });
        let words: Vec<&str> = title.unwrap_or_default().split_whitespace().collect();
        let title: String = words.join(" ").chars().take(MAX_TITLE_CHARS).collect();
        Some(match title.is_empty() {
            true => media_type.to_owned(),
            false => format!("{media_type}: {title}"),
        })
    }

    /// The value at a JSON pointer into the body.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        self.json()?.pointer(pointer)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::title(
        "text/html; charset=utf-8",
        "<!DOCTYPE html>\n<html><head><TITLE lang=en>Not\n  found</TITLE></head>",
        Some("text/html: Not found")
    )]
    #[case::no_title("text/html", "<h1>Hello</h1>", Some("text/html"))]
    #[case::xml(
        "application/xml",
        "<?xml version='1.0'?><a/>",
        Some("application/xml")
    )]
    #[case::no_media_type("", " <p>\u{130}<title>x", Some("markup without a media type"))]
    #[case::json("text/html", "{}", None)]
    #[case::text("text/plain", "404 page not found", None)]
    #[case::no_body("application/json", "", None)]
    fn of_markup_the_media_type_and_the_title_are_told(
        #[case] media_type: &str,
        #[case] body: &'static str,
        #[case] expected: Option<&str>,
    ) {
        let headers = vec![("Content-Type".to_owned(), media_type.to_owned())];
        let answer = Answer::new(501, headers, Bytes::from(body));
        assert_eq!(answer.markup().as_deref(), expected);
    }
}

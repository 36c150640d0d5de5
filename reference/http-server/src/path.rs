//! Request path, decoded once.
//!
//! Routing, the authorization policy, handlers and caches use the same segments. The path as sent
//! is only shown in logs.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode_str;

use super::error::ApiError;

/// Meaning of an escaped slash in the open segments of a route, which its placeholders match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EscapedSlash {
    /// A literal character in its segment.
    Literal,
    /// Segment separator, equivalent to an unescaped slash.
    Separator,
}

/// Path of a request.
#[derive(Debug, Clone, Default)]
pub struct RequestPath {
    sent: String,
    /// Canonical spelling, if it differs.
    canonical: Option<String>,
    /// Error of a path that cannot be decoded.
    broken: Option<ApiError>,
    /// Fixed part of the route's pattern, before the first placeholder.
    fixed: &'static str,
    /// Segments that the placeholders of the route match, or all segments if there is no route.
    open: Vec<String>,
}

impl RequestPath {
    /// Parses a path as sent.
    pub fn parse(sent: &str) -> Self {
        let (canonical, broken) = match canonical(sent) {
            Ok(Cow::Borrowed(_)) => (None, None),
            Ok(Cow::Owned(canonical)) => (Some(canonical), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            sent: sent.to_owned(),
            canonical,
            broken,
            ..Self::default()
        }
    }

    /// Canonical spelling: only slashes, percent signs and dot segments are escaped. A path with a
    /// malformed escape is its own canonical spelling.
    pub fn canonical(&self) -> &str {
        self.canonical.as_deref().unwrap_or(&self.sent)
    }

    /// Fails if an escape is malformed, or the decoded path is not UTF-8.
    ///
    /// # Errors
    /// `invalid_parameter`.
    pub fn check(&self) -> Result<(), ApiError> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    /// Whether a segment is literally `.` or `..`: path normalization redirects such a request, but
    /// preserves escaped dots.
    pub fn has_dot_segment(&self) -> bool {
        self.sent
            .split('/')
            .any(|segment| matches!(segment, "." | ".."))
    }

    /// Sets the open segments after the fixed part of a route.
    pub fn set_route(&mut self, fixed: &'static str, open: Vec<String>) {
        self.fixed = fixed;
        self.open = open;
    }

    /// Sets the segments of a path without a route.
    pub fn set_unrouted(&mut self, slash: EscapedSlash) {
        let path = self.canonical();
        let segments = path.strip_prefix('/').unwrap_or(path).split('/');
        self.open = decode(segments, slash);
    }

    /// Open segments, which the placeholders of the route match.
    pub fn open(&self) -> &[String] {
        &self.open
    }

    /// All segments, the open ones after the fixed ones; one empty segment for the root.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        let fixed = self.fixed.strip_prefix('/').unwrap_or(self.fixed);
        let fixed = fixed.split('/').filter(|segment| !segment.is_empty());
        let is_root = self.fixed == "/" && self.open.is_empty();
        let open = self.open.iter().map(String::as_str);
        fixed.chain(is_root.then_some("")).chain(open)
    }

    /// Decoded path, for humans: a segment that contains a slash looks like two.
    pub fn decoded(&self) -> String {
        let path = self.canonical();
        percent_decode_str(path).decode_utf8_lossy().into_owned()
    }

    /// Cache key of the path: equal for all spellings of the same segments.
    pub fn cache_key(&self) -> &str {
        self.canonical()
    }

    /// Whether the path equals `start` or is below it. Nothing is below the root.
    pub fn is_below(&self, start: &str) -> bool {
        let rest = self.canonical().strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || (start != "/" && rest.starts_with('/')))
    }
}

/// Formats the path as sent, for logs.
impl fmt::Display for RequestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sent)
    }
}

/// Canonical spelling of a path.
fn canonical(sent: &str) -> Result<Cow<'_, str>, ApiError> {
    if !sent.contains('%') {
        return Ok(Cow::Borrowed(sent));
    }
    let segments = sent.split('/').map(|segment| match segment.contains('%') {
        true => decode_segment(segment).map(|decoded| Cow::Owned(encode_segment(&decoded))),
        false => Ok(Cow::Borrowed(segment)),
    });
    let segments = segments.collect::<Result<Vec<_>, ApiError>>()?;
    Ok(Cow::Owned(segments.join("/")))
}

fn encode_segment(decoded: &str) -> String {
    match decoded {
        "." | ".." => decoded.replace('.', "%2E"),
        _ => decoded.replace('%', "%25").replace('/', "%2F"),
    }
}

/// Decodes the segments of a canonical path.
pub(super) fn decode<'p>(
    segments: impl Iterator<Item = &'p str>,
    slash: EscapedSlash,
) -> Vec<String> {
    let decoded = segments.map(|segment| match segment.contains('%') {
        true => percent_decode_str(segment).decode_utf8_lossy(),
        false => Cow::Borrowed(segment),
    });
    match slash {
        EscapedSlash::Literal => decoded.map(Cow::into_owned).collect(),
        EscapedSlash::Separator => decoded
            .flat_map(|segment| {
                let parts = segment.split('/').map(str::to_owned);
                parts.collect::<Vec<_>>()
            })
            .collect(),
    }
}

/// Decodes the percent-escapes of one path segment.
///
/// # Errors
/// `invalid_parameter` when an escape is malformed or the result is not UTF-8.
pub fn decode_segment(segment: &str) -> Result<String, ApiError> {
    unescape(segment).ok_or_else(|| {
        ApiError::invalid_parameter(format!("invalid escape in path segment `{segment}`"))
    })
}

/// Percent-decodes a string, unless an escape is malformed or the result is not UTF-8.
pub(super) fn unescape(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if !bytes.contains(&b'%') {
        return Some(text.to_owned());
    }
    let broken = bytes.iter().enumerate().any(|(at, byte)| {
        *byte == b'%'
            && !bytes
                .get(at + 1..at + 3)
                .is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
    });
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    (!broken).then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy as _, prop, proptest};

    use super::{EscapedSlash, RequestPath};

    /// A segment with an arbitrary choice of escaped bytes.
    fn spelled(segment: &str, escapes: u64) -> String {
        let mut spelling = String::new();
        for (at, byte) in segment.bytes().enumerate() {
            let must = !byte.is_ascii() || matches!(byte, b'/' | b'%');
            let is_dots = matches!(segment, "." | "..");
            match must || is_dots || escapes >> (at % 64) & 1 == 1 {
                true if escapes & 1 == 0 => spelling.push_str(&format!("%{byte:02x}")),
                true => spelling.push_str(&format!("%{byte:02X}")),
                false => spelling.push(char::from(byte)),
            }
        }
        spelling
    }

    fn path(segments: &[String], escapes: u64) -> RequestPath {
        let spelled = segments.iter().map(|segment| spelled(segment, escapes));
        let sent: Vec<String> = spelled.collect();
        RequestPath::parse(&format!("/{}", sent.join("/")))
    }

    proptest! {
        /// All spellings of the same segments are the same path, and no others are.
        #[test]
        fn spellings_of_the_same_segments_are_one_path(
            segments in prop::collection::vec("[a-c/%.;+é ~\u{0}-]{1,4}", 1..4),
            others in prop::collection::vec("[a-c/%.;+é ~\u{0}-]{1,4}", 1..4),
            escapes: u64,
            again: u64,
        ) {
            let (mut one, two) = (path(&segments, escapes), path(&segments, again));
            assert_eq!(one.canonical(), two.canonical());
            let other = path(&others, again);
            assert_eq!(one.canonical() == other.canonical(), segments == others);
            one.set_unrouted(EscapedSlash::Literal);
            assert_eq!(one.open(), segments);
            one.set_unrouted(EscapedSlash::Separator);
            assert_eq!(one.open().join("/"), segments.join("/"));
        }

        #[test]
        fn no_path_makes_it_panic(sent in "[/%0-9a-fA-F.é]{0,12}".prop_map(|text| text)) {
            let mut path = RequestPath::parse(&sent);
            path.set_unrouted(EscapedSlash::Separator);
            assert_eq!(path.to_string(), sent);
        }
    }
}

//! References between schemas: URIs, resolved against their base.
//!
//! They are resolved as in RFC 3986, section 5.2. Schemas are found by the string of a reference,
//! so each reference has one canonical string, regardless of its notation.

use std::fmt::Write as _;

use super::super::url::Url;
use crate::value::lossy;

/// URI reference.
#[derive(Debug, Clone, Default)]
pub(super) struct Reference {
    scheme: String,
    opaque: String,
    /// User name and password, still escaped, then the host with its port.
    userinfo: Option<String>,
    host: Vec<u8>,
    /// Whether the scheme is followed by a path without an authority.
    omits_host: bool,
    /// The escaped path.
    path: String,
    /// The query without its question mark.
    query: Option<String>,
    /// The fragment, unescaped and in its original form.
    fragment: String,
    written_fragment: String,
}

impl Reference {
    /// Parses a reference.
    ///
    /// # Errors
    /// Returns the message that clients see.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text)?;
        let (before, written_fragment) = text.split_once('#').unwrap_or((text, ""));
        let after_scheme = before.split_once(':').map_or("", |(_, rest)| rest);
        Ok(Self {
            path: url.escaped_path(),
            host: url.host().to_vec(),
            omits_host: !url.scheme.is_empty()
                && after_scheme.starts_with('/')
                && !after_scheme.starts_with("//"),
            query: (!url.query.is_empty() || before.ends_with('?')).then_some(url.query),
            fragment: lossy(&url.fragment).into_owned(),
            written_fragment: written_fragment.to_owned(),
            scheme: url.scheme,
            opaque: url.opaque,
            userinfo: url.userinfo,
        })
    }

    /// Resolves another reference against this one.
    pub(super) fn resolve(&self, other: &Self) -> Self {
        let mut resolved = other.clone();
        if other.scheme.is_empty() {
            resolved.scheme.clone_from(&self.scheme);
        }
        if !other.scheme.is_empty() || !other.host.is_empty() || other.userinfo.is_some() {
            resolved.path = without_dots(&other.path);
            return resolved;
        }
        if other.path.is_empty() && other.query.is_none() {
            resolved.query.clone_from(&self.query);
        }
        if other.path.is_empty() && !self.opaque.is_empty() {
            resolved.opaque.clone_from(&self.opaque);
            return resolved;
        }
        resolved.host.clone_from(&self.host);
        resolved.userinfo.clone_from(&self.userinfo);
        resolved.path = match (other.path.as_str(), self.path.rsplit_once('/')) {
            ("", _) => without_dots(&self.path),
            (path, Some((folder, _))) if !path.starts_with('/') => {
                without_dots(&format!("{folder}/{path}"))
            }
            (path, _) => without_dots(path),
        };
        resolved
    }

    /// Returns the reference without its fragment.
    pub(super) fn without_fragment(&self) -> Self {
        Self {
            fragment: String::new(),
            written_fragment: String::new(),
            ..self.clone()
        }
    }

    /// Whether the reference identifies a document independently of a base.
    pub(super) fn is_canonical(&self) -> bool {
        match self.scheme.as_str() {
            "file" => self.path.starts_with('/'),
            scheme => !scheme.is_empty() && !self.host.is_empty(),
        }
    }

    /// Returns the tokens of the JSON pointer to a part of the document; none for the whole.
    pub(super) fn pointer(&self) -> impl Iterator<Item = &str> {
        let pointer = self.fragment.strip_prefix('/');
        pointer.into_iter().flat_map(|pointer| pointer.split('/'))
    }

    /// Returns the string of the reference.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if !self.scheme.is_empty() {
            text.extend([self.scheme.as_str(), ":"]);
        }
        match self.opaque.is_empty() {
            true => self.write_hierarchy(&mut text),
            false => text.push_str(&self.opaque),
        }
        if let Some(query) = &self.query {
            text.extend(["?", query]);
        }
        if !self.fragment.is_empty() {
            text.push('#');
            write_escaped(&mut text, &self.written_fragment);
        }
        text
    }

    fn write_hierarchy(&self, text: &mut String) {
        let has_authority = !self.host.is_empty() || self.userinfo.is_some();
        if has_authority || (!self.scheme.is_empty() && !self.omits_host && !self.path.is_empty()) {
            text.push_str("//");
        }
        if let Some(userinfo) = &self.userinfo {
            text.extend([userinfo, "@"]);
        }
        for byte in &self.host {
            match byte.is_ascii() {
                true => text.push(char::from(*byte)),
                false => escape_byte(text, *byte),
            }
        }
        if !self.path.starts_with('/') && !self.path.is_empty() && !self.host.is_empty() {
            text.push('/');
        }
        let first = self.path.split('/').next().unwrap_or_default();
        if text.is_empty() && first.contains(':') {
            text.push_str("./");
        }
        text.push_str(&self.path);
    }
}

fn escape_byte(text: &mut String, byte: u8) {
    // Writing to a string does not fail.
    let _ = write!(text, "%{byte:02X}");
}

/// Writes a fragment and escapes the characters that it must not contain.
fn write_escaped(text: &mut String, fragment: &str) {
    for byte in fragment.bytes() {
        let is_literal = byte.is_ascii_alphanumeric() || b"-_.~$&+,;=:/?@!()*%'[]".contains(&byte);
        match is_literal {
            true => text.push(char::from(byte)),
            false => escape_byte(text, byte),
        }
    }
}

/// Removes the segments `.` and `..` from a path. The result is absolute unless it is empty.
fn without_dots(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    let mut segments: Vec<&str> = Vec::new();
    let mut ends_in_dots = false;
    for segment in path.strip_prefix('/').unwrap_or(path).split('/') {
        ends_in_dots = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    if ends_in_dots && !segments.is_empty() {
        segments.push("");
    }
    format!("/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::Reference;

    #[rstest]
    #[case::nothing("", "", "")]
    #[case::empty_fragment("", "#", "")]
    #[case::fragment("", "#/a/b", "#/a/b")]
    #[case::file("", "b.json", "/b.json")]
    #[case::file_here_with_an_empty_fragment("", "./b.json#", "/b.json")]
    #[case::file_beside("http://a.example/b/c.json", "d.json", "http://a.example/b/d.json")]
    #[case::file_above_with_a_fragment(
        "http://a.example/b/c.json",
        "../d.json#e",
        "http://a.example/d.json#e"
    )]
    #[case::absolute_path("http://a.example/b/c.json", "/d", "http://a.example/d")]
    #[case::other_host("http://a.example/b/c.json", "//b.example/d", "http://b.example/d")]
    #[case::query("http://a.example/b/c.json", "?q", "http://a.example/b/c.json?q")]
    #[case::fragment_of_a_file("http://a.example/b/c.json", "#x", "http://a.example/b/c.json#x")]
    #[case::file_of_a_host("http://a.example", "d.json", "http://a.example/d.json")]
    #[case::fragment_of_a_name("urn:a:b", "#x", "urn:a:b#x")]
    #[case::dots("http://a.example/b/", "c/./d/..", "http://a.example/b/c/")]
    #[case::space("", "#a b", "#a%20b")]
    fn references_are_resolved_and_have_one_text(
        #[case] base: &str,
        #[case] reference: &str,
        #[case] resolved: &str,
    ) {
        let texts = Reference::parse(base)
            .and_then(|base| Ok(base.resolve(&Reference::parse(reference)?).text()));
        assert_eq!(texts.as_deref(), Ok(resolved));
    }
}

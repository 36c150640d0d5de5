//! Source data: JSON documents and their paths.

use super::{ValidationError, deserialize};

/// Maximum length of a document's path, in bytes. The path is part of an index entry, which
/// PostgreSQL limits to 2704 bytes.
const MAX_PATH_BYTES: usize = 2048;

/// JSON document as a string, without white space between tokens. Numbers have the digits of the
/// request, because the string is never converted to values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document(String);

impl Document {
    /// Parses the document of a request body.
    ///
    /// # Errors
    /// When the body is not one JSON value, or is nested too deeply.
    pub(crate) fn read(body: &[u8]) -> Result<Self, ValidationError> {
        deserialize::json(body)?;
        let text = std::str::from_utf8(body);
        let text = text.map_err(|failure| ValidationError::new(failure.to_string()))?;
        let mut compact = String::with_capacity(text.len());
        let mut in_string = false;
        let mut escaped = false;
        for character in text.chars() {
            if in_string {
                in_string = escaped || character != '"';
                escaped = !escaped && character == '\\';
            } else if character.is_ascii_whitespace() {
                continue;
            } else {
                in_string = character == '"';
            }
            compact.push(character);
        }
        Ok(Self(compact))
    }

    /// Returns the JSON string.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// Returns the path under which a document is stored: the segments of the API path, split again at
/// encoded slashes, and the file name `data.json`.
///
/// Serves `control/v1/sources/data/get/read-without-suffix`.
///
/// # Errors
/// When a segment is `..`, or the path is too long or contains a NUL.
pub(crate) fn stored_path(segments: &[String]) -> Result<String, ValidationError> {
    let joined = segments.join("/");
    let non_empty = joined.split('/').filter(|segment| !segment.is_empty());
    let mut path = String::with_capacity(joined.len() + "/data.json".len());
    for segment in non_empty {
        match segment {
            "." => continue,
            ".." => return Err(ValidationError::new("a path cannot hold the segment `..`")),
            _ => path.push_str(segment),
        }
        path.push('/');
    }
    path.push_str("data.json");
    if path.len() > MAX_PATH_BYTES {
        let message = format!("a path has at most {MAX_PATH_BYTES} bytes");
        return Err(ValidationError::new(message));
    }
    if path.contains('\0') {
        return Err(ValidationError::new("a path cannot hold a NUL character"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::object_with_spaces(
        " { \"a\" : [ 1.0 , 1e2, 1E+2 ] } \n",
        Ok(r#"{"a":[1.0,1e2,1E+2]}"#)
    )]
    #[case::long_integer("9007199254740993", Ok("9007199254740993"))]
    #[case::long_fraction("0.1000000000000000000055", Ok("0.1000000000000000000055"))]
    #[case::large_exponent("1e400", Ok("1e400"))]
    #[case::string_with_escapes(r#" " a \" b \\" "#, Ok(r#"" a \" b \\""#))]
    #[case::null("null", Ok("null"))]
    #[case::empty("", Err(()))]
    #[case::two_documents("{} {}", Err(()))]
    #[case::leading_zero("01", Err(()))]
    #[case::single_quotes("{'a':1}", Err(()))]
    fn documents_keep_their_text(#[case] body: &str, #[case] expected: Result<&str, ()>) {
        let read = Document::read(body.as_bytes());
        let text = read.as_ref().map(Document::text).map_err(|_| ());
        assert_eq!(text, expected);
    }

    #[test]
    fn documents_are_neither_other_bytes_nor_deep() {
        assert!(Document::read(b"\"\xff\"").is_err());
        let deep = "[".repeat(100_000);
        assert!(Document::read(deep.as_bytes()).is_err());
    }

    #[rstest]
    #[case::two_segments(&["x", "y"], Some("x/y/data.json"))]
    #[case::escaped_slash(&["x/y"], Some("x/y/data.json"))]
    #[case::empty_end(&["x", "y", ""], Some("x/y/data.json"))]
    #[case::dot(&["x", ".", "y"], Some("x/y/data.json"))]
    #[case::one_empty(&[""], Some("data.json"))]
    #[case::none(&[], Some("data.json"))]
    #[case::percent_sign(&["100%"], Some("100%/data.json"))]
    #[case::dots(&["a", ".."], None)]
    #[case::dots_in_a_segment(&["a/../b"], None)]
    #[case::nul(&["a\0b"], None)]
    fn paths_are_cleaned(#[case] segments: &[&str], #[case] expected: Option<&str>) {
        let segments: Vec<String> = segments
            .iter()
            .map(|segment| (*segment).to_owned())
            .collect();
        let path = stored_path(&segments).ok();
        assert_eq!(path.as_deref(), expected);
    }
}

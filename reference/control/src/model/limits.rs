//! Limits on the length and number of values in a definition.
//!
//! Every definition is checked before it is stored, because large values cost processing time and
//! memory, which builds of other owners need.

use super::ValidationError;

/// Maximum length of names of buckets, regions and labels, of label values and similar strings, in
/// bytes.
const NAME_BYTES: usize = 255;

/// Maximum length of an object key, in bytes, as in S3.
const KEY_BYTES: usize = 1024;

/// Maximum length of a URL, in bytes.
const URL_BYTES: usize = 2048;

/// Maximum numbers of bytes and segments in the path of a bundle file.
const STORAGE_PATH: (usize, usize) = (512, 32);

/// Maximum numbers of bytes and segments in a path of files or documents of a source.
const PATH: (usize, usize) = (1024, 64);

/// Maximum numbers of bytes and wildcards in a pattern.
const PATTERN: (usize, usize) = (256, 8);

/// Maximum number of file patterns, and of patterns for the values of one label.
pub(super) const PATTERNS: usize = 100;

/// Maximum number of labels.
pub(super) const LABELS: usize = 100;

/// Maximum number of patterns in the selector of a stack.
pub(super) const SELECTOR_PATTERNS: usize = 1000;

/// Maximum number of requirements, paths or datasources of one definition.
pub(super) const PARTS: usize = 1000;

/// Returns an error if a number exceeds its maximum.
pub(super) fn number(found: usize, max: usize, what: &str) -> Result<(), ValidationError> {
    match found > max {
        true => Err(ValidationError::new(format!(
            "at most {max} {what}, not {found}"
        ))),
        false => Ok(()),
    }
}

/// Returns an error if a name is too long.
pub(super) fn name(text: &str) -> Result<(), ValidationError> {
    bytes(text, NAME_BYTES)
}

/// Returns an error if an object key is too long.
pub(super) fn key(text: &str) -> Result<(), ValidationError> {
    bytes(text, KEY_BYTES)
}

/// Returns an error if a URL is too long.
pub(super) fn url(text: &str) -> Result<(), ValidationError> {
    bytes(text, URL_BYTES)
}

/// Returns an error if the path of a bundle file is too long or has too many segments.
pub(crate) fn storage_path(text: &str) -> Result<(), ValidationError> {
    segments(text, STORAGE_PATH, &['/'])
}

/// Returns an error if a path of files is too long or has too many segments.
pub(super) fn path(text: &str) -> Result<(), ValidationError> {
    segments(text, PATH, &['/'])
}

/// Returns an error if a path of documents is too long or has too many segments.
pub(super) fn document_path(text: &str) -> Result<(), ValidationError> {
    segments(text, PATH, &['/', '.', '['])
}

/// Returns an error if a pattern is too long, has too many wildcards, or is not a valid glob.
pub(super) fn pattern(text: &str) -> Result<(), ValidationError> {
    let (max_bytes, max_wildcards) = PATTERN;
    bytes(text, max_bytes)?;
    // Consecutive stars are one wildcard.
    let stars = text.split('*').skip(1);
    let stars = stars.filter(|rest| !rest.is_empty()).count() + usize::from(text.ends_with('*'));
    let others = text
        .bytes()
        .filter(|byte| matches!(byte, b'?' | b'[' | b'{'));
    number(stars + others.count(), max_wildcards, "wildcards")?;
    match globset::Glob::new(text) {
        Ok(_) => Ok(()),
        Err(failure) => {
            let message = format!("pattern `{text}`: {}", failure.kind());
            Err(ValidationError::new(message))
        }
    }
}

/// Returns an error if there are too many patterns, or [`pattern`] refuses one.
pub(super) fn patterns(patterns: Option<&[String]>, max: usize) -> Result<(), ValidationError> {
    let patterns = patterns.unwrap_or_default();
    number(patterns.len(), max, "patterns")?;
    patterns.iter().map(String::as_str).try_for_each(pattern)
}

/// Applies a check to an optional member, and adds its name to the path of an error.
pub(super) fn member(
    text: Option<&str>,
    member: &str,
    check: fn(&str) -> Result<(), ValidationError>,
) -> Result<(), ValidationError> {
    let checked = text.map_or(Ok(()), check);
    checked.map_err(|invalid| invalid.under(member))
}

fn bytes(text: &str, max_bytes: usize) -> Result<(), ValidationError> {
    number(text.len(), max_bytes, "bytes")
}

fn segments(
    text: &str,
    (max_bytes, max_segments): (usize, usize),
    separators: &[char],
) -> Result<(), ValidationError> {
    bytes(text, max_bytes)?;
    let segments = text.split(separators).filter(|segment| !segment.is_empty());
    number(segments.count(), max_segments, "segments")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    type Check = fn(&str) -> Result<(), ValidationError>;

    #[rstest]
    #[case::longest_name(name, "n", 255, "")]
    #[case::long_name(name, "n", 256, "at most 255 bytes, not 256")]
    #[case::longest_key(key, "/", 1024, "")]
    #[case::long_key(key, "k", 1025, "at most 1024 bytes, not 1025")]
    #[case::long_url(url, "u", 2049, "at most 2048 bytes, not 2049")]
    #[case::longest_storage_path(storage_path, "a/", 32, "")]
    #[case::long_storage_path_of_slashes(storage_path, "/", 512, "")]
    #[case::deep_storage_path(storage_path, "a/", 33, "at most 32 segments, not 33")]
    #[case::long_storage_path(storage_path, "a", 513, "at most 512 bytes, not 513")]
    #[case::longest_path(path, "a.b/", 64, "")]
    #[case::deep_path(path, "a/", 65, "at most 64 segments, not 65")]
    #[case::deep_document_path(document_path, "a.", 65, "at most 64 segments, not 65")]
    #[case::pattern(pattern, "**/vendor/**/*.[jt]s", 1, "")]
    #[case::most_wildcards(pattern, "*a", 8, "")]
    #[case::many_wildcards(pattern, "*a", 9, "at most 8 wildcards, not 9")]
    #[case::many_wildcards_with_one_at_the_end(
        pattern,
        "*a*a*a*a*a*a*a*a*",
        1,
        "at most 8 wildcards, not 9"
    )]
    #[case::many_question_marks(pattern, "?", 9, "at most 8 wildcards, not 9")]
    #[case::long_pattern(pattern, "a", 257, "at most 256 bytes, not 257")]
    fn what_is_too_long_or_too_much_is_refused(
        #[case] check: Check,
        #[case] part: &str,
        #[case] times: usize,
        #[case] expected: &str,
    ) {
        let message = check(&part.repeat(times))
            .err()
            .map(|invalid| invalid.to_string());
        assert_eq!(message.unwrap_or_default(), expected);
    }
}

//! Depth limit of YAML flow collections, checked before the source is parsed.
//!
//! The parser examines all open brackets again with each token, and detects their nesting depth
//! only at the end, so it must not receive a source that is nested deeper than anybody would write.

/// Whether more than `limit` brackets may be nested somewhere in the source. There are no false
/// negatives. There can be false positives if quotes and comments are ambiguous, so the limit
/// should have a margin.
///
/// Which brackets count depends on quotes, which depend on the preceding source. So all readings
/// are tracked at once, each with its depth, and the larger depth is used where two readings merge.
/// Outside of brackets, plain words may contain any bracket; there the true depth is zero, and the
/// computed one cannot be less.
pub(super) fn nests_deeper(text: &[u8], limit: usize) -> bool {
    let opening = text.iter().filter(|byte| matches!(byte, b'[' | b'{'));
    if opening.count() <= limit {
        return false;
    }
    let mut readings = Readings {
        outside: Some(0),
        ..Readings::default()
    };
    let mut before = b'\n';
    for byte in text {
        readings = readings.after(*byte, before);
        if readings.outside > Some(limit) {
            return true;
        }
        before = *byte;
    }
    false
}

/// Possible readings of a position in the source, each with its depth.
#[derive(Debug, Default)]
struct Readings {
    /// Depth if the position is outside of quotes, comments and tags.
    outside: Option<usize>,
    /// Depth if it is between double quotes.
    double: Option<usize>,
    /// Depth if it is between double quotes, after a backslash.
    escaped: Option<usize>,
    /// Depth if it is between single quotes.
    single: Option<usize>,
    /// Depth if it is in a comment.
    comment: Option<usize>,
    /// Depth if it is in a tag that begins with `!<`.
    tag: Option<usize>,
}

impl Readings {
    /// Returns the possible readings of the position after a byte.
    fn after(&self, byte: u8, before: u8) -> Self {
        let mut next = self.begun(byte, before);
        let within = match byte {
            b'"' => &mut next.outside,
            b'\\' => &mut next.escaped,
            _ => &mut next.double,
        };
        *within = self.double.max(*within);
        next.double = self.escaped.max(next.double);
        let within = match byte {
            b'\'' => &mut next.outside,
            _ => &mut next.single,
        };
        *within = self.single.max(*within);
        // Some non-ASCII characters end a line too.
        if !matches!(byte, b'\n' | b'\r') {
            next.comment = self.comment.max(next.comment);
        }
        if matches!(byte, b'\n' | b'\r' | 0x80..) {
            next.outside = self.comment.max(next.outside);
        }
        let within = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => &mut next.outside,
            _ => &mut next.tag,
        };
        *within = self.tag.max(*within);
        next
    }

    /// Returns the readings that a byte outside of quotes may begin. A word continues after letters
    /// and digits; after other bytes, a new token may begin.
    fn begun(&self, byte: u8, before: u8) -> Self {
        let mut next = Self {
            outside: self.outside,
            ..Self::default()
        };
        let within_word = before.is_ascii_alphanumeric();
        let space = matches!(before, b' ' | b'\t' | b'\n' | b'\r');
        match byte {
            b'[' | b'{' => next.outside = self.outside.map(|depth| depth + 1),
            b']' | b'}' => next.outside = self.outside.map(|depth| depth.saturating_sub(1)),
            // Adjacent scalars are an error, at which the parser stops, except for a doubled quote
            // within single quotes.
            b'"' if !within_word && !matches!(before, b'"' | b'\'') => next.double = self.outside,
            b'\'' if !within_word && before != b'"' => next.single = self.outside,
            // In a block scalar, `#` does not begin a comment, but there nothing else counts before
            // the line ends.
            b'#' if space => {
                next.outside = None;
                next.comment = self.outside;
            }
            b'#' if !within_word => next.comment = self.outside,
            b'<' if before == b'!' => next.tag = self.outside,
            _ => {}
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::nests_deeper;

    #[test]
    fn no_text_is_taken_to_be_flatter_than_it_is() {
        for (text, depth) in [
            ("[[[]]]", 3),
            ("{a: [1, {b: 2}], c: [3]}", 3),
            ("[ \"]\", ", 9),
            ("[ ']', ", 9),
            ("[ \"\\\"]\", ", 9),
            ("[ '''] ', ", 9),
            ("[ #]\n", 9),
            ("[#]\n", 9),
            ("[ # ' ]\n", 9),
            ("[ a # \u{85}, ", 9),
            ("[ !<]> a, ", 9),
            ("[ \"\", ']', ", 9),
        ] {
            let text = if depth == 9 {
                text.repeat(9)
            } else {
                text.to_owned()
            };
            for before in ["", "a: x 'y\nb: ", "a: it's \"\nb: ", "a: |\n  # '\nb: "] {
                let text = format!("{before}{text}");
                assert!(nests_deeper(text.as_bytes(), depth - 1), "{text}");
            }
        }
    }

    #[rstest]
    #[case::list("- [a, 'b', \"c\"]\n", 1)]
    #[case::comment_and_brackets_in_a_string("- {a: [x], b: \"it's [0-9]\"} # see [1]\n", 2)]
    #[case::pattern("- '[a-z]{3}'\n", 1)]
    #[case::strings("- {a: \"b c\", d: 'e', f: \"\", g: \"h \"}\n", 1)]
    #[case::apostrophe("- it's [not closed]\n", 1)]
    #[case::json("{\"a\": [{\"b\": \"c\"}, {\"d\": []}], \"e\": \"x]y\"}\n", 3)]
    fn usual_texts_are_taken_for_what_they_are(#[case] line: &str, #[case] depth: usize) {
        let text = line.repeat(500);
        assert!(!nests_deeper(text.as_bytes(), depth + 8));
    }
}

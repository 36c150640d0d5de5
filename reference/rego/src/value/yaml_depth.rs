//! Depth limit of YAML flow collections, checked before the text is parsed.
//!
//! The parser looks at all open brackets again with each token, and notices only at the end how
//! deep they nest, so it is not given a text that nests deeper than anybody would write.

/// Whether more than `limit` brackets may be open within each other somewhere in the text. That is
/// never denied of a text of which it is true. It may be said of one whose quotes and comments
/// could be read in several ways, so the limit should leave room.
///
/// Which brackets count depends on what is quoted, and that depends on all that stands before. So
/// all ways to read the text are followed at once, each with its depth, and where two of them meet
/// the larger depth stays. Where the text is not within brackets, plain words may hold any bracket;
/// there the true depth is zero, and the one that is found cannot fall below.
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

/// The ways in which a place of the text may have to be read, each with the depth at which it
/// stands then.
#[derive(Debug, Default)]
struct Readings {
    /// As itself.
    outside: Option<usize>,
    /// Between double quotes.
    double: Option<usize>,
    /// The same, behind a backslash.
    escaped: Option<usize>,
    /// Between single quotes.
    single: Option<usize>,
    /// In a comment.
    comment: Option<usize>,
    /// In a tag that begins with `!<`.
    tag: Option<usize>,
}

impl Readings {
    /// How the place behind a byte may have to be read.
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
        // Some characters beyond ASCII end a line too.
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

    /// What a byte that stands for itself may begin. A word goes on behind letters and digits;
    /// behind other bytes, something new may begin.
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
            // Two scalars without anything between them are a mistake, at which the parser stops,
            // but for the quote that is written twice within single quotes.
            b'"' if !within_word && !matches!(before, b'"' | b'\'') => next.double = self.outside,
            b'\'' if !within_word && before != b'"' => next.single = self.outside,
            // In the text of a block scalar it begins nothing, but there nothing else counts
            // before the line ends.
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

    #[test]
    fn usual_texts_are_taken_for_what_they_are() {
        for (line, depth) in [
            ("- [a, 'b', \"c\"]\n", 1),
            ("- {a: [x], b: \"it's [0-9]\"} # see [1]\n", 2),
            ("- '[a-z]{3}'\n", 1),
            ("- {a: \"b c\", d: 'e', f: \"\", g: \"h \"}\n", 1),
            ("- it's [not closed]\n", 1),
            (
                "{\"a\": [{\"b\": \"c\"}, {\"d\": []}], \"e\": \"x]y\"}\n",
                3,
            ),
        ] {
            let text = line.repeat(500);
            assert!(!nests_deeper(text.as_bytes(), depth + 8), "{line}");
        }
    }
}

//! How deep the brackets of a YAML text may nest, found before the text is parsed.
//!
//! The parser looks at all open brackets again with each token, and notices only at the end how
//! deep they nest, so it is not given a text that nests deeper than anybody would write.

/// Whether more than `limit` brackets may be open within each other somewhere in the text. That is
/// never denied of a text of which it is true. It may be said of one whose quotes and comments
/// could be read in several ways, so the limit should leave room.
///
/// Which brackets count depends on what is quoted, and that depends on all that stands before. So
/// all ways to read the text are followed at once: an opening bracket counts if it counts in any,
/// a closing one if it counts in all. Where the text is not within brackets, plain words may hold
/// any bracket; there the true depth is zero, and the one that is found cannot fall below.
pub(super) fn nests_deeper(text: &[u8], limit: usize) -> bool {
    let opening = text.iter().filter(|byte| matches!(byte, b'[' | b'{'));
    if opening.count() <= limit {
        return false;
    }
    let mut readings = Readings::OUTSIDE;
    let mut depth = 0_usize;
    let mut before = b'\n';
    for byte in text {
        match byte {
            b'[' | b'{' if readings.has(Readings::OUTSIDE) => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' if readings == Readings::OUTSIDE => depth = depth.saturating_sub(1),
            _ => {}
        }
        readings = readings.after(*byte, before);
        before = *byte;
    }
    false
}

/// The ways in which a place of the text may have to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Readings(u8);

impl Readings {
    /// As itself.
    const OUTSIDE: Self = Self(1);
    /// Between double quotes.
    const DOUBLE: Self = Self(2);
    /// The same, behind a backslash.
    const ESCAPED: Self = Self(4);
    /// Between single quotes.
    const SINGLE: Self = Self(8);
    /// In a comment.
    const COMMENT: Self = Self(16);
    /// In a tag that begins with `!<`.
    const TAG: Self = Self(32);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// How the place behind a byte may have to be read.
    fn after(self, byte: u8, before: u8) -> Self {
        let mut next = Self(0);
        if self.has(Self::OUTSIDE) {
            next = next.and(Self::begun(byte, before));
        }
        if self.has(Self::DOUBLE) {
            next = next.and(match byte {
                b'"' => Self::OUTSIDE,
                b'\\' => Self::ESCAPED,
                _ => Self::DOUBLE,
            });
        }
        if self.has(Self::ESCAPED) {
            next = next.and(Self::DOUBLE);
        }
        if self.has(Self::SINGLE) {
            next = next.and(match byte {
                b'\'' => Self::OUTSIDE,
                _ => Self::SINGLE,
            });
        }
        if self.has(Self::COMMENT) {
            next = next.and(match byte {
                b'\n' | b'\r' => Self::OUTSIDE,
                // Some characters beyond ASCII end a line too.
                0x80.. => Self::OUTSIDE.and(Self::COMMENT),
                _ => Self::COMMENT,
            });
        }
        if self.has(Self::TAG) {
            next = next.and(match byte {
                b' ' | b'\t' | b'\n' | b'\r' => Self::OUTSIDE,
                _ => Self::TAG,
            });
        }
        next
    }

    /// What a byte may begin. A word goes on behind letters and digits; behind other bytes,
    /// something new may begin.
    fn begun(byte: u8, before: u8) -> Self {
        let within_word = before.is_ascii_alphanumeric();
        let space = matches!(before, b' ' | b'\t' | b'\n' | b'\r');
        match byte {
            // Two scalars without anything between them are a mistake, at which the parser stops,
            // but for the quote that is written twice within single quotes.
            b'"' if !within_word && !matches!(before, b'"' | b'\'') => {
                Self::OUTSIDE.and(Self::DOUBLE)
            }
            b'\'' if !within_word && before != b'"' => Self::OUTSIDE.and(Self::SINGLE),
            // In the text of a block scalar it begins nothing, but there nothing else counts
            // before the line ends.
            b'#' if space => Self::COMMENT,
            b'#' if !within_word => Self::OUTSIDE.and(Self::COMMENT),
            b'<' if before == b'!' => Self::OUTSIDE.and(Self::TAG),
            _ => Self::OUTSIDE,
        }
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
            let text = if depth == 9 { text.repeat(9) } else { text.to_owned() };
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
            ("- {a: [x], b: \"it's [\"} # see [1]\n", 2),
            ("- {a: \"b c\", d: 'e', f: \"\", g: \"h \"}\n", 1),
            ("- it's [not closed]\n", 1),
            ("{\"a\": [{\"b\": \"c\"}, {\"d\": []}], \"e\": \"x]y\"}\n", 3),
        ] {
            let text = line.repeat(500);
            assert!(!nests_deeper(text.as_bytes(), depth + 8), "{line}");
        }
    }
}

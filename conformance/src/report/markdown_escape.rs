//! Escaping of Markdown, only where Markdown or GitHub would interpret the text as markup.

/// Escapes prose on one line. Text between two backticks becomes a code span.
pub(super) fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // The last of an even number of parts follows an unclosed backtick.
    let open = parts.len().is_multiple_of(2).then(|| parts.len() - 1);
    let mut out = String::with_capacity(text.len());
    for (index, part) in parts.iter().enumerate() {
        if Some(index) == open {
            out.push_str("\\`");
        }
        if index % 2 == 1 && Some(index) != open && !part.is_empty() {
            out.push_str(&code(part));
        } else if index % 2 == 1 && Some(index) != open {
            out.push_str("\\`\\`");
        } else {
            escape_text(&mut out, part);
        }
    }
    out
}

/// Appends a string without backticks, escaped.
fn escape_text(out: &mut String, text: &str) {
    let mut before = None;
    let mut characters = text.chars().peekable();
    // A number with a dot begins a list.
    let mut number = out.is_empty();
    while let Some(character) = characters.next() {
        let after = characters.peek().copied();
        let first = out.is_empty();
        let is_word_character = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        match character {
            '\n' | '\r' | '\t' => out.push(' '),
            control if control.is_control() => out.extend(control.escape_unicode()),
            '<' => out.push_str("&lt;"),
            '&' if is_word_character(after) || after == Some('#') => out.push_str("&amp;"),
            // Unescaped, it would start a mention or a link.
            '@' if is_word_character(after) => out.push_str("&#64;"),
            ':' if is_word_character(after) || matches!(after, Some('/' | '+' | '-' | '_')) => {
                out.push_str("&#58;");
            }
            '.' if out.ends_with("www") => out.push_str("&#46;"),
            other if is_markup(other, before, after, first, number) => out.extend(['\\', other]),
            other => out.push(other),
        }
        number = number && character.is_ascii_digit();
        before = Some(character);
    }
}

/// Whether a character, between these two others, would be interpreted as markup. `first`: it
/// begins the string; `number`: only digits precede it.
fn is_markup(
    mark: char,
    before: Option<char>,
    after: Option<char>,
    first: bool,
    number: bool,
) -> bool {
    let is_word_character = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    match mark {
        '*' | '[' | '|' | '~' | '$' => true,
        '_' => !(is_word_character(before) && is_word_character(after)),
        '\\' => after.is_none_or(|after| after.is_ascii_punctuation()),
        // A heading, or the number of an issue.
        '#' => first || after.is_some_and(|after| after.is_ascii_digit()),
        '>' | '-' | '+' | '=' => first,
        '.' | ')' => number && before.is_some() && after.is_none_or(char::is_whitespace),
        _ => false,
    }
}

/// Formats a code span, delimited by more backticks than the text contains in a row.
pub(super) fn code(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    let ticks = "`".repeat(longest_ticks(&escaped) + 1);
    let padding = if escaped.starts_with('`') || escaped.ends_with('`') || escaped.is_empty() {
        " "
    } else {
        ""
    };
    format!("{ticks}{padding}{escaped}{padding}{ticks}")
}

/// Formats a block of shell commands, delimited by more backticks than they contain in a row.
pub(super) fn code_fence(text: &str) -> String {
    let ticks = "`".repeat(longest_ticks(text).max(2) + 1);
    format!("{ticks}sh\n{text}\n{ticks}")
}

fn longest_ticks(text: &str) -> usize {
    let runs = text.split(|character| character != '`');
    runs.map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("a <b> @me http://x # *y*", r"a &lt;b> &#64;me http&#58;//x # \*y\*")]
    #[case("# one\n# two", r"\# one # two")]
    #[case("status: expected 200 | got 404", r"status: expected 200 \| got 404")]
    #[case("a_b _c_ 1. 2) e.g. {x}?!", r"a_b \_c\_ 1. 2) e.g. {x}?!")]
    #[case("1. one", r"1\. one")]
    #[case("0.1.0", "0.1.0")]
    #[case("- one - two", r"\- one - two")]
    #[case("> one > two", r"\> one > two")]
    #[case(
        "see #12, :tada: and www.example.org",
        "see \\#12, &#58;tada: and www&#46;example.org"
    )]
    #[case("&lt; a & b", "&amp;lt; a & b")]
    #[case(r"\d \* \", r"\d \\\* \\")]
    #[case("`PUT /v1/*` answered 404", "`PUT /v1/*` answered 404")]
    #[case("a `b` `c *d*", r"a `b` \`c \*d\*")]
    #[case("``<b>", r"\`\`&lt;b>")]
    #[case("", "")]
    fn markup_in_answers_stays_text(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(prose(text), expected);
    }

    #[rstest]
    #[case::word("a", "`a`")]
    #[case::grave_accents("a`b``c", "```a`b``c```")]
    #[case::one_grave_accent("`", "`` ` ``")]
    #[case::control_characters("a\nb\u{1b}", r"`a\nb\u{1b}`")]
    #[case::empty("", "`  `")]
    fn code_stays_code(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(code(text), expected);
    }

    #[test]
    fn fences_are_longer_than_those_within() {
        assert_eq!(code_fence("```\nx"), "````sh\n```\nx\n````");
    }
}

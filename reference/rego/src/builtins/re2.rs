//! From the syntax of RE2 to that of the library, and its complaints back.

use regex_syntax::ast::{ErrorKind, parse::Parser};

/// The pattern in the library's syntax: classes like `\d` are of ASCII, braces that are no
/// repetition stand for themselves, `\Q…\E` quotes.
///
/// # Errors
/// What is wrong with the pattern.
pub(super) fn translated(pattern: &str) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    let mut class: Option<usize> = None;
    // The repetition that has just been read, behind which there must be none.
    let mut repeated = String::new();
    while let Some(character) = rest.chars().next() {
        let behind = rest.get(character.len_utf8()..).unwrap_or_default();
        let before = std::mem::take(&mut repeated);
        match (character, class) {
            ('\\', _) => rest = escape(behind, class.is_some(), &mut out),
            ('[', None) => {
                class = Some(out.len());
                rest = open_class(behind, &mut out);
            }
            ('[', Some(_)) => match behind
                .strip_prefix(':')
                .and_then(|name| name.split_once(":]"))
            {
                Some((name, after)) => {
                    out.push_str(&format!("[:{name}:]"));
                    rest = after;
                }
                None => {
                    out.push_str("\\[");
                    rest = behind;
                }
            },
            (']', Some(_)) => {
                class = None;
                out.push(']');
                rest = behind;
            }
            ('&' | '~', Some(_)) => {
                out.push('\\');
                out.push(character);
                rest = behind;
            }
            ('-', Some(_)) if behind.starts_with('-') => {
                out.push_str("\\-");
                rest = behind;
            }
            ('{', None) => match repetition(behind) {
                Some((counts, after)) => {
                    check_counts(counts, &before)?;
                    out.push_str(&format!("{{{counts}}}"));
                    rest = after
                        .strip_prefix('?')
                        .inspect(|_| out.push('?'))
                        .unwrap_or(after);
                    repeated = format!("{{{counts}}}");
                }
                None => {
                    out.push_str("\\{");
                    rest = behind;
                }
            },
            ('*' | '+' | '?', None) => {
                if !before.is_empty() {
                    return Err(nested(&before, &character.to_string()));
                }
                out.push(character);
                let lazy = behind.strip_prefix('?');
                rest = lazy.inspect(|_| out.push('?')).unwrap_or(behind);
                if !out.ends_with("(?") {
                    repeated = character.to_string();
                }
            }
            _ => {
                out.push(character);
                rest = behind;
            }
        }
    }
    match Parser::new().parse(&out) {
        Ok(_) => Ok(out),
        Err(error) => Err(complaint(&out, &error)),
    }
}

/// Copies the beginning of a class, where a bracket stands for itself.
fn open_class<'t>(text: &'t str, out: &mut String) -> &'t str {
    out.push('[');
    let mut rest = text;
    if let Some(behind) = rest.strip_prefix('^') {
        out.push('^');
        rest = behind;
    }
    if let Some(behind) = rest.strip_prefix(']') {
        out.push_str("\\]");
        rest = behind;
    }
    rest
}

/// Translates what follows a backslash.
fn escape<'t>(text: &'t str, in_class: bool, out: &mut String) -> &'t str {
    let Some(character) = text.chars().next() else {
        out.push('\\');
        return text;
    };
    let behind = text.get(character.len_utf8()..).unwrap_or_default();
    let class = match character {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        's' => "[\\t\\n\\f\\r ]",
        'S' => "[^\\t\\n\\f\\r ]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        'b' if !in_class => "(?-u:\\b)",
        'Q' if !in_class => {
            let (plain, after) = behind.split_once("\\E").unwrap_or((behind, ""));
            out.push_str(&regex::escape(plain));
            return after;
        }
        _ if character.is_ascii_punctuation() => {
            out.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
            return behind;
        }
        _ => {
            out.push('\\');
            out.push(character);
            return behind;
        }
    };
    out.push_str(class);
    behind
}

/// The counts of a repetition, and what follows it.
fn repetition(text: &str) -> Option<(&str, &str)> {
    let (counts, after) = text.split_once('}')?;
    let (least, most) = counts.split_once(',').unwrap_or((counts, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (!least.is_empty() && digits(least) && digits(most)).then_some((counts, after))
}

fn nested(before: &str, operator: &str) -> String {
    format!("error parsing regexp: invalid nested repetition operator: `{before}{operator}`")
}

fn check_counts(counts: &str, before: &str) -> Result<(), String> {
    let number = |text: &str| match text {
        "" => 0,
        digits => digits.parse().unwrap_or(u32::MAX),
    };
    let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
    let upside_down = !most.is_empty() && number(most) < number(least);
    if number(least) > 1000 || number(most) > 1000 || upside_down {
        return Err(format!(
            "error parsing regexp: invalid repeat count: `{{{counts}}}`"
        ));
    }
    if before.is_empty() {
        return Ok(());
    }
    Err(nested(before, &format!("{{{counts}}}")))
}

/// What is wrong with a translated pattern that is well-formed.
pub(super) fn explained(pattern: &str, error: &regex::Error) -> String {
    let parsed = regex_syntax::Parser::new().parse(pattern);
    let Err(regex_syntax::Error::Translate(error)) = parsed else {
        return format!("error parsing regexp: {error}");
    };
    let span = error.span();
    let part = pattern
        .get(span.start.offset..span.end.offset)
        .unwrap_or_default();
    format!("error parsing regexp: invalid character class range: `{part}`")
}

/// What is wrong with a pattern, in the words of clients.
fn complaint(pattern: &str, error: &regex_syntax::ast::Error) -> String {
    let span = error.span();
    let part = pattern
        .get(span.start.offset..span.end.offset)
        .unwrap_or_default();
    let from = pattern.get(span.start.offset..).unwrap_or_default();
    let perl = "invalid or unsupported Perl syntax";
    let (what, part) = match error.kind() {
        ErrorKind::ClassUnclosed => ("missing closing ]", from),
        ErrorKind::GroupUnclosed => ("missing closing )", pattern),
        ErrorKind::GroupUnopened => ("unexpected )", pattern),
        ErrorKind::RepetitionMissing => {
            let operator = from.chars().next().map_or(0, char::len_utf8);
            let operator = from.get(..operator).unwrap_or_default();
            ("missing argument to repetition operator", operator)
        }
        ErrorKind::EscapeUnexpectedEof => ("trailing backslash at end of expression", ""),
        ErrorKind::EscapeUnrecognized | ErrorKind::UnsupportedBackreference => {
            ("invalid escape sequence", part)
        }
        ErrorKind::ClassRangeInvalid | ErrorKind::ClassRangeLiteral => {
            ("invalid character class range", part)
        }
        ErrorKind::UnsupportedLookAround => (perl, part),
        ErrorKind::GroupNameDuplicate { .. } => ("duplicate capture group name", part),
        ErrorKind::GroupNameEmpty
        | ErrorKind::GroupNameInvalid
        | ErrorKind::GroupNameUnexpectedEof => ("invalid named capture", pattern),
        ErrorKind::NestLimitExceeded(_) => ("expression nests too deeply", pattern),
        _ => (perl, part),
    };
    format!("error parsing regexp: {what}: `{part}`")
}

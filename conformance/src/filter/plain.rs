//! Clauses for other databases, as SQLite reads them.
//!
//! Comparisons, lists, LIKE and what joins them mean the same everywhere; only constants, names
//! and the escape of LIKE are written in other ways. A clause with anything else (a function, a
//! cast, an operator that joins texts) is not plain: it is not guessed at.

use super::Language;

/// A part of a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// A text, without its quotes and escapes.
    Text(String),
    /// A name between quotes, without them.
    Name(String),
    /// A number.
    Number(String),
    /// A word, as it stands.
    Word(String),
    /// A sign.
    Sign(&'static str),
}

/// The signs that a plain clause has, longer ones first.
const SIGNS: [&str; 13] = [
    "<=", ">=", "<>", "!=", "=", "<", ">", "(", ")", ",", ".", "-", "+",
];

/// The words that may stand before an opening parenthesis.
const BEFORE_PARENTHESIS: [&str; 6] = ["WHERE", "AND", "OR", "NOT", "IN", "LIKE"];

/// The clause for SQLite; absent if it is not plain.
pub(super) fn for_sqlite(clause: &str, language: Language) -> Option<String> {
    let parts = parts(clause, language)?;
    let escapes = matches!(language, Language::Postgresql | Language::Mysql);
    let mut written = Vec::new();
    let mut before: Option<&Part> = None;
    for (place, part) in parts.iter().enumerate() {
        let calls = *part == Part::Sign("(")
            && match before {
                Some(Part::Word(word)) => !is_one_of(word, &BEFORE_PARENTHESIS),
                Some(Part::Name(_)) => true,
                _ => false,
            };
        let computes = matches!(part, Part::Sign("-" | "+"))
            && !(matches!(parts.get(place + 1), Some(Part::Number(_))) && stands_alone(before));
        if calls || computes {
            return None;
        }
        written.push(shown(part));
        let like = before.is_some_and(|word| is(word, "LIKE"));
        let pattern = matches!(part, Part::Text(_)) && like;
        // Brackets in patterns of SQL Server stand for one of several letters.
        let brackets = matches!(part, Part::Text(text) if text.contains('['));
        if like && brackets && language == Language::Sqlserver {
            return None;
        }
        let escaped = parts.get(place + 1).is_some_and(|word| is(word, "ESCAPE"));
        if pattern && escapes && !escaped {
            written.push(r"ESCAPE '\'".to_owned());
        }
        before = Some(part);
    }
    Some(written.join(" "))
}

/// Whether a sign behind this part belongs to the number that follows.
fn stands_alone(before: Option<&Part>) -> bool {
    match before {
        None => true,
        Some(Part::Sign(sign)) => *sign != ")",
        Some(Part::Word(word)) => is_one_of(word, &["IN", "AND", "OR", "NOT", "BETWEEN"]),
        Some(_) => false,
    }
}

fn is(part: &Part, keyword: &str) -> bool {
    matches!(part, Part::Word(word) if word.eq_ignore_ascii_case(keyword))
}

fn is_one_of(word: &str, keywords: &[&str]) -> bool {
    keywords
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
}

fn shown(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Part::Name(name) => format!("\"{}\"", name.replace('"', "\"\"")),
        Part::Number(text) | Part::Word(text) => text.clone(),
        Part::Sign(sign) => (*sign).to_owned(),
    }
}

fn parts(clause: &str, language: Language) -> Option<Vec<Part>> {
    let mut rest = clause.trim_start();
    let mut parts = Vec::new();
    while let Some(first) = rest.chars().next() {
        // What a text that has left its quotes hides the rest with.
        if first == ';' {
            break;
        }
        if rest.starts_with("--") || (language == Language::Mysql && first == '#') {
            rest = rest
                .split_once('\n')
                .map_or("", |(_, after)| after)
                .trim_start();
            continue;
        }
        let (part, after) = if let Some((quote, kind)) = opening(rest, language) {
            quoted(quote, kind)?
        } else if first.is_alphabetic() || first == '_' {
            let (word, after) = taken(rest, |c| c.is_alphanumeric() || c == '_');
            (Part::Word(word.to_owned()), after)
        } else if first.is_ascii_digit() {
            number(rest)
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            (Part::Sign(sign), rest.get(sign.len()..)?)
        };
        parts.push(part);
        rest = after.trim_start();
    }
    Some(parts)
}

/// What a quote begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    /// A text in which only the quote is doubled.
    Text,
    /// A text with escapes as PostgreSQL or MySQL have them.
    Escaped(Language),
    /// A name.
    Name,
}

/// What begins here, if it is a quote, and the text from that quote on.
fn opening(rest: &str, language: Language) -> Option<(&str, Quoted)> {
    let behind = |letter: char| {
        let after = rest.strip_prefix([letter, letter.to_ascii_lowercase()])?;
        after.starts_with('\'').then_some(after)
    };
    match (language, rest.chars().next()?) {
        (Language::Mysql, '\'' | '"') => Some((rest, Quoted::Escaped(language))),
        (Language::Mysql, '`') => Some((rest, Quoted::Name)),
        (_, '\'') => Some((rest, Quoted::Text)),
        (_, '"') => Some((rest, Quoted::Name)),
        (Language::Sqlserver, '[') => Some((rest, Quoted::Name)),
        (Language::Postgresql, 'E' | 'e') => Some((behind('E')?, Quoted::Escaped(language))),
        (Language::Sqlserver, 'N' | 'n') => Some((behind('N')?, Quoted::Text)),
        _ => None,
    }
}

/// The text or name between quotes, and what follows.
fn quoted(rest: &str, kind: Quoted) -> Option<(Part, &str)> {
    let mut letters = rest.chars();
    let close = match letters.next()? {
        '[' => ']',
        quote => quote,
    };
    let mut text = String::new();
    loop {
        match (letters.next()?, kind) {
            (letter, _) if letter == close => {
                let mut ahead = letters.clone();
                if ahead.next() != Some(close) {
                    break;
                }
                letters = ahead;
                text.push(close);
            }
            ('\\', Quoted::Escaped(language)) => escape(letters.next()?, language, &mut text)?,
            (letter, _) => text.push(letter),
        }
    }
    let part = match kind {
        Quoted::Name => Part::Name(text),
        Quoted::Text | Quoted::Escaped(_) => Part::Text(text),
    };
    Some((part, letters.as_str()))
}

/// What a letter behind a backslash stands for; absent for escapes by number.
fn escape(letter: char, language: Language, text: &mut String) -> Option<()> {
    match (letter, language) {
        ('n', _) => text.push('\n'),
        ('r', _) => text.push('\r'),
        ('t', _) => text.push('\t'),
        ('b', _) => text.push('\u{8}'),
        ('Z', Language::Mysql) => text.push('\u{1a}'),
        // These stay escaped, for LIKE.
        ('%' | '_', Language::Mysql) => text.extend(['\\', letter]),
        ('f', Language::Postgresql) => text.push('\u{c}'),
        ('x' | 'u' | 'U' | '0'..='9', Language::Postgresql) | ('0', _) => return None,
        _ => text.push(letter),
    }
    Some(())
}

/// A number without its sign, and what follows.
fn number(rest: &str) -> (Part, &str) {
    let mut before = ' ';
    let (text, after) = taken(rest, |letter| {
        let exponent = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E');
        before = letter;
        exponent || letter.is_ascii_alphanumeric() || letter == '.'
    });
    (Part::Number(text.to_owned()), after)
}

fn taken(rest: &str, mut belongs: impl FnMut(char) -> bool) -> (&str, &str) {
    let end = rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
    rest.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_clauses_are_written_for_sqlite() {
        use Language::{Mysql, Postgresql, Sqlserver};
        for (language, clause, expected) in [
            (
                Postgresql,
                r"WHERE t.s = E'O\'B\\r\n'",
                "WHERE t . s = 'O''B\\r\n'",
            ),
            (
                Postgresql,
                r#"WHERE "a b" = 'x\n''y'"#,
                r#"WHERE "a b" = 'x\n''y'"#,
            ),
            (
                Postgresql,
                r"s LIKE E'50\\%%'",
                r"s LIKE '50\%%' ESCAPE '\'",
            ),
            (
                Postgresql,
                "s LIKE E'!%' ESCAPE '!'",
                "s LIKE '!%' ESCAPE '!'",
            ),
            (
                Mysql,
                r#"`a``b` <> "q\"" OR s = '\%\Z'"#,
                "\"a`b\" <> 'q\"' OR s = '\\%\u{1a}'",
            ),
            (
                Mysql,
                "NOT (n IN (-1, 2.5e-3))",
                "NOT ( n IN ( - 1 , 2.5e-3 ) )",
            ),
            (Sqlserver, r"[a b].N <= N'x\''y'", "\"a b\" . N <= 'x\\''y'"),
            (Sqlserver, "(n IS NOT NULL)", "( n IS NOT NULL )"),
            (Mysql, r"s = '\'' OR 1 = 1 -- '", "s = '''' OR 1 = 1"),
            (Mysql, "s = '' # '\nOR n = 1", "s = '' OR n = 1"),
            (Sqlserver, "n = 1; DROP TABLE t", "n = 1"),
            (Sqlserver, "", ""),
        ] {
            let found = for_sqlite(clause, language);
            assert_eq!(found.as_deref(), Some(expected), "{clause}");
        }
    }

    #[test]
    fn other_clauses_are_not_guessed_at() {
        use Language::{Mysql, Postgresql, Sqlserver};
        for (language, clause) in [
            (Postgresql, "s::text = 'x'"),
            (Postgresql, "starts_with(s, 'x')"),
            (Postgresql, r#""f"(s)"#),
            (Postgresql, r"s = E'\x41'"),
            (Postgresql, "s = 'open"),
            (Postgresql, "s = $1"),
            (Mysql, "s = 'a' || 'b'"),
            (Mysql, r"s = 'a\"),
            (Sqlserver, "CAST(s AS int) = 1"),
            (Sqlserver, "s + N'.' = N'x.'"),
            (Sqlserver, "n - 1 = 2"),
            (Sqlserver, "(n) -1 = 2"),
            (Sqlserver, "[open = 1"),
            (Sqlserver, "s LIKE N'[ab]%'"),
            (Sqlserver, "n = 1 /* and */"),
        ] {
            assert_eq!(for_sqlite(clause, language), None, "{clause}");
        }
    }
}

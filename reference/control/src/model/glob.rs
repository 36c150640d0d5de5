//! Glob: a pattern for the values of a label.
//!
//! Syntax and semantics are those of `globset`. That library compiles each pattern, which is slow
//! for stacks: they have many patterns, and few values to match. Here a pattern is only parsed.
//! Matching tracks the set of all offsets that the preceding parts can reach. It takes at most one
//! step for each part of the pattern and byte of the value, whatever the wildcards are.
//! wildcards are.

use std::iter::Peekable;
use std::str::Chars;

/// A parsed pattern.
#[derive(Debug, Clone)]
pub(super) struct Glob(Vec<Part>);

/// Part of a pattern.
#[derive(Debug, Clone)]
enum Part {
    /// `a`: this byte.
    Byte(u8),
    /// `?`: any byte.
    Any,
    /// `[a-z]`: a byte in the ranges; `[!a-z]`: a byte outside of them.
    Class {
        negated: bool,
        ranges: Vec<(u8, u8)>,
    },
    /// `*`: any number of bytes.
    Many,
    /// `**/` at the beginning: any number of folders.
    Prefix,
    /// `/**` at the end: anything within the folder.
    Suffix,
    /// `/**/`: a slash, then any number of folders.
    Between,
    /// `{a,b}`: one of these alternatives.
    Either(Vec<Vec<Part>>),
}

impl Part {
    /// Returns true if the part is an alternation with only empty alternatives.
    fn is_blank(&self) -> bool {
        match self {
            Self::Either(branches) => branches.iter().all(|branch| is_blank(branch)),
            _ => false,
        }
    }

    /// Returns true if the part matches the byte; false for parts that do not match single bytes.
    fn matches_byte(&self, byte: u8) -> bool {
        match self {
            Self::Byte(literal) => *literal == byte,
            Self::Any => true,
            Self::Class { negated, ranges } => {
                let mut ranges = ranges.iter();
                ranges.any(|(from, to)| (*from..=*to).contains(&byte)) != *negated
            }
            _ => false,
        }
    }

    /// Returns the offsets that are reachable after the part from the offsets `before` it.
    fn after(&self, before: &Offsets, text: &[u8]) -> Offsets {
        match self {
            Self::Byte(_) | Self::Any | Self::Class { .. } => {
                before.shifted(text, |byte| self.matches_byte(byte))
            }
            Self::Many => before.with_all_later(),
            Self::Prefix => before.union(&before.after_slashes(text)),
            Self::Suffix => before.shifted(text, is_slash).with_all_later(),
            Self::Between => {
                let shifted = before.shifted(text, is_slash);
                shifted.union(&shifted.after_slashes(text))
            }
            Self::Either(branches) => {
                let branches = branches.iter().filter(|branch| !is_blank(branch));
                let results = branches.map(|branch| advance(branch, before.clone(), text));
                let all = results.reduce(|all, offsets| all.union(&offsets));
                all.unwrap_or_else(|| before.clone())
            }
        }
    }
}

fn is_blank(parts: &[Part]) -> bool {
    parts.iter().all(Part::is_blank)
}

fn is_slash(byte: u8) -> bool {
    byte == b'/'
}

/// Returns the offsets that are reachable after all parts from the offsets `before` them.
fn advance(parts: &[Part], before: Offsets, text: &[u8]) -> Offsets {
    let mut offsets = before;
    for part in parts {
        if offsets.first().is_none() {
            break;
        }
        offsets = part.after(&offsets, text);
    }
    offsets
}

/// Set of offsets in a byte string: an entry for each byte and one for the end.
#[derive(Debug, Clone)]
struct Offsets(Vec<bool>);

impl Offsets {
    /// Returns the lowest offset.
    fn first(&self) -> Option<usize> {
        self.0.iter().position(|reachable| *reachable)
    }

    /// Returns the offsets after each byte that is at an offset of the set and satisfies `matches`.
    fn shifted(&self, text: &[u8], matches: impl Fn(u8) -> bool) -> Self {
        let moved = self.0.iter().zip(text);
        let moved = moved.map(|(reachable, byte)| *reachable && matches(*byte));
        Self(std::iter::once(false).chain(moved).collect())
    }

    /// Returns all offsets from the lowest one to the end.
    fn with_all_later(&self) -> Self {
        let first = self.first().unwrap_or(self.0.len());
        Self((0..self.0.len()).map(|offset| offset >= first).collect())
    }

    /// Returns the offsets after each slash at or after the lowest offset.
    fn after_slashes(&self, text: &[u8]) -> Self {
        self.with_all_later().shifted(text, is_slash)
    }

    /// Returns the union of two sets.
    fn union(&self, others: &Self) -> Self {
        let both = self.0.iter().zip(&others.0);
        Self(both.map(|(one, other)| *one || *other).collect())
    }
}

impl Glob {
    /// Parses a pattern; `None` if it is invalid.
    pub(super) fn read(pattern: &str) -> Option<Self> {
        let mut parser = Parser {
            chars: pattern.chars().peekable(),
            branches: vec![Vec::new()],
            open: Vec::new(),
            previous: None,
            current: None,
        };
        parser.parse()?;
        match parser.branches.pop() {
            Some(parts) if parser.branches.is_empty() => match parts.as_slice() {
                // The pattern `**` alone matches everything.
                [Part::Prefix] => Some(Self(vec![Part::Many])),
                _ => Some(Self(parts)),
            },
            _ => None,
        }
    }

    /// Returns true if the pattern matches the whole string.
    pub(super) fn is_match(&self, text: &str) -> bool {
        let text = text.as_bytes();
        let start = std::iter::once(true).chain(text.iter().map(|_| false));
        let ends = advance(&self.0, Offsets(start.collect()), text);
        ends.0.last().copied().unwrap_or_default()
    }
}

/// Parser of patterns, compatible with `globset`.
struct Parser<'p> {
    chars: Peekable<Chars<'p>>,
    /// Parsed parts of each open alternative; the first entry contains the parts outside of braces.
    branches: Vec<Vec<Part>>,
    /// Number of branches at each open `{`.
    open: Vec<usize>,
    previous: Option<char>,
    current: Option<char>,
}

impl Parser<'_> {
    fn bump(&mut self) -> Option<char> {
        self.previous = self.current;
        self.current = self.chars.next();
        self.current
    }

    fn branch(&mut self) -> Option<&mut Vec<Part>> {
        self.branches.last_mut()
    }

    fn push(&mut self, part: Part) -> Option<()> {
        self.branch()?.push(part);
        Some(())
    }

    fn parse(&mut self) -> Option<()> {
        while let Some(next) = self.bump() {
            match next {
                '?' => self.push(Part::Any)?,
                '*' => self.star()?,
                '[' => self.class()?,
                '{' => {
                    self.open.push(self.branches.len());
                    self.branches.push(Vec::new());
                }
                '}' => {
                    let branches = self.branches.split_off(self.open.pop()?);
                    self.push(Part::Either(branches))?;
                }
                ',' if !self.open.is_empty() => self.branches.push(Vec::new()),
                '\\' => {
                    let escaped = self.bump()?;
                    self.literal(escaped)?;
                }
                other => self.literal(other)?,
            }
        }
        Some(())
    }

    fn literal(&mut self, literal: char) -> Option<()> {
        let bytes = encoded(literal).into_iter().map(Part::Byte);
        self.branch()?.extend(bytes);
        Some(())
    }

    fn star(&mut self) -> Option<()> {
        let previous = self.previous;
        if self.chars.next_if_eq(&'*').is_none() {
            return self.push(Part::Many);
        }
        (self.previous, self.current) = (self.current, Some('*'));
        if self.branch()?.is_empty() {
            return match self.chars.peek() {
                None | Some('/') => {
                    self.bump();
                    self.push(Part::Prefix)
                }
                Some(_) => self.push(Part::Many),
            };
        }
        let in_alternation = self.branches.len() > 1;
        let starts_branch = in_alternation && matches!(previous, Some(',' | '{'));
        let is_suffix = match self.chars.peek() {
            _ if previous != Some('/') && !starts_branch => return self.push(Part::Many),
            None => true,
            Some(',' | '}') if in_alternation => true,
            Some('/') => false,
            Some(_) => return self.push(Part::Many),
        };
        if !matches!(self.chars.peek(), Some(',' | '}')) {
            self.bump();
        }
        let part = match self.branch()?.pop()? {
            part @ (Part::Prefix | Part::Suffix) => part,
            _ if is_suffix => Part::Suffix,
            _ => Part::Between,
        };
        self.push(part)
    }

    fn class(&mut self) -> Option<()> {
        let negated = matches!(self.chars.peek(), Some('!' | '^'));
        if negated {
            self.bump();
        }
        let mut ranges: Vec<(char, char)> = Vec::new();
        let (mut first, mut in_range) = (true, false);
        loop {
            match self.bump()? {
                ']' if !first => break,
                '-' if !first && !in_range => in_range = true,
                end if in_range => {
                    let last = ranges.last_mut()?;
                    if end < last.0 {
                        return None;
                    }
                    last.1 = end;
                    in_range = false;
                }
                character => ranges.push((character, character)),
            }
            first = false;
        }
        if in_range {
            ranges.push(('-', '-'));
        }
        let ranges = ranges.into_iter().flat_map(byte_ranges).collect();
        self.push(Part::Class { negated, ranges })
    }
}

/// Returns the UTF-8 bytes of a character.
fn encoded(character: char) -> Vec<u8> {
    character.encode_utf8(&mut [0; 4]).as_bytes().to_vec()
}

/// Returns the byte ranges of a character range. As in `globset`, only the last byte of its first
/// character and the first byte of its last character form a range; the other bytes are separate.
fn byte_ranges((from, to): (char, char)) -> Vec<(u8, u8)> {
    let mut bytes = encoded(from);
    let mut ranges = Vec::new();
    if from != to {
        let end = encoded(to);
        if let (Some(from), Some((to, rest))) = (bytes.pop(), end.split_first()) {
            ranges.push((from, *to));
            bytes.extend(rest);
        }
    }
    ranges.extend(bytes.into_iter().map(|byte| (byte, byte)));
    ranges
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    /// Matches with `globset`; `None` if it refuses the pattern.
    fn expected(pattern: &str, text: &str) -> Option<bool> {
        let glob = globset::Glob::new(pattern).ok()?;
        Some(glob.compile_matcher().is_match(text))
    }

    #[test]
    fn patterns_match_as_those_of_globset() {
        for pattern in [
            "",
            "a",
            "*",
            "**",
            "a*",
            "*a",
            "**/a",
            "a/**",
            "a/**/b",
            "**/**/a",
            "a/**/**",
            "/**",
            "**a",
            "a**",
            "{**/a,b}",
            "a{/**,b}",
            "{a,b}",
            "{,a}",
            "{}",
            "{{a,}b,c}",
            "[a-b]*",
            "[!a]",
            "[^]]",
            "[]-]",
            "[a-]",
            "?",
            "??",
            "\\*",
            "\\{a",
            "é",
            "?é",
            "[é-ü]",
            "a,b",
            "}",
            "{a",
            "[",
            "[b-a]",
            "\\",
            "{a,**}",
            "{a/**/b,**/c}",
            "{a,b}/**",
        ] {
            for text in [
                "", "a", "b", "ab", "ba", "a/b", "a/a/b", "/a", "a/", "x/a", "*", "{a", "é", "c",
                "a/b/c", "-", "]", "a,b", "aé", "\n",
            ] {
                let found = Glob::read(pattern).map(|glob| glob.is_match(text));
                assert_eq!(found, expected(pattern, text), "`{pattern}` `{text}`");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_pattern_matches_as_that_of_globset(
            pattern in "[ab/*?{},!\\[\\]\\\\é-]{0,10}", text in "[ab/é*,-]{0,6}",
        ) {
            let found = Glob::read(&pattern).map(|glob| glob.is_match(&text));
            // Definitions with a pattern that `globset` refuses are refused, so only other patterns
            // are compared.
            if let Some(expected) = expected(&pattern, &text) {
                prop_assert_eq!(found, Some(expected), "`{}` `{}`", pattern, text);
            }
        }
    }

    #[test]
    fn wildcards_cost_no_more_than_letters() -> Result<(), String> {
        let started = Instant::now();
        for pattern in ["*a".repeat(128), "{a,a*}".repeat(42), "?*".repeat(128)] {
            let glob = Glob::read(&pattern).ok_or("no pattern")?;
            for _ in 0..50 {
                glob.is_match(&"a".repeat(254));
            }
        }
        let elapsed = started.elapsed();
        assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
        Ok(())
    }
}

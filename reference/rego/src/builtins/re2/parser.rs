//! Parser of expressions: sequences, alternatives, groups and repetitions.

use regex_syntax::hir::{Capture, Class, ClassUnicode, Dot, Hir, Look, Repetition};

use super::error::{Kind, ParseError};
use super::flags::{self, Flags, Start};
use super::{Parsed, class, escape, named};

/// Maximum count of a repetition, and maximum product of nested counts.
pub(super) const MAX_COUNT: u32 = 1000;

/// Maximum nesting depth of groups.
pub(super) const MAX_DEPTH: usize = 1000;

/// Maximum number of instructions of a compiled expression in Go: 128 MiB of 40 bytes each.
pub(super) const MAX_SIZE: u64 = (128 << 20) / 40;

/// Parses an expression from left to right.
#[derive(Debug)]
pub(super) struct Parser<'t> {
    pattern: &'t str,
    rest: &'t str,
    flags: Flags,
    /// Open groups, outermost first.
    open: Vec<Group>,
    /// Current group, or the whole expression.
    group: Group,
    names: Vec<Option<String>>,
}

/// State of a group that is being parsed.
#[derive(Debug, Default)]
struct Group {
    /// Number of a capturing group.
    number: Option<u32>,
    /// Flags that apply after the group.
    flags: Flags,
    alternatives: Vec<Hir>,
    /// Maximum product of nested counted repetitions in the completed alternatives.
    count: u32,
    /// Number of instructions of the completed alternatives.
    size: u64,
    parts: Vec<Part>,
}

/// Part of a sequence.
#[derive(Debug)]
struct Part {
    meaning: Hir,
    /// Maximum product of nested counted repetitions in the part.
    count: u32,
    /// Estimated number of instructions in Go, which decides whether the expression is too large.
    size: u64,
}

/// Repetition operator.
#[derive(Debug, Clone, Copy)]
struct Operator {
    minimum: u32,
    maximum: Option<u32>,
    /// Whether the operator is written as a count, such as `{2,3}`.
    is_counted: bool,
}

impl Operator {
    /// Number of instructions of the repetition of a part of this size.
    fn size(self, part: u64) -> u64 {
        let (minimum, maximum) = (u64::from(self.minimum), self.maximum.map(u64::from));
        let size = match maximum {
            // `x*`.
            None if minimum == 0 => part.saturating_add(2),
            // `x{2,}`, as `xx+`.
            None => part.saturating_mul(minimum).saturating_add(1),
            // `x{2,4}`, as `xx(x(x)?)?`.
            Some(maximum) => part
                .saturating_mul(maximum)
                .saturating_add(maximum - minimum),
        };
        size.max(1)
    }
}

impl Group {
    /// Completes an alternative.
    fn end_alternative(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        let counts = parts.iter().map(|part| part.count);
        self.count = counts.fold(self.count, u32::max);
        let sizes = parts.iter().map(|part| part.size);
        let size = sizes.fold(0, u64::saturating_add).max(1);
        // Each further alternative takes a branch.
        let branch = u64::from(!self.alternatives.is_empty());
        self.size = self.size.saturating_add(size).saturating_add(branch);
        let parts = parts.into_iter().map(|part| part.meaning);
        self.alternatives.push(Hir::concat(parts.collect()));
    }
}

impl<'t> Parser<'t> {
    pub(super) fn new(pattern: &'t str) -> Self {
        Self {
            pattern,
            rest: pattern,
            flags: Flags::default(),
            open: Vec::new(),
            group: Group::default(),
            names: vec![None],
        }
    }

    pub(super) fn parse(mut self) -> Result<Parsed, ParseError> {
        // Start of the last repetition, if nothing follows it.
        let mut repeated = None;
        while let Some(character) = self.rest.chars().next() {
            let at = self.rest;
            let before = repeated.take();
            match character {
                '*' | '+' | '?' => {
                    self.skip(character);
                    let operator = Operator {
                        minimum: u32::from(character == '+'),
                        maximum: (character == '?').then_some(1),
                        is_counted: false,
                    };
                    repeated = Some(self.repeat(operator, at, before)?);
                }
                '{' => match count(at) {
                    Some((operator, rest)) => {
                        self.rest = rest;
                        repeated = Some(self.repeat(operator, at, before)?);
                    }
                    None => self.literal(character),
                },
                _ => self.part(character)?,
            }
        }
        if !self.open.is_empty() {
            return Err(Kind::OpenGroup.at(self.pattern));
        }
        self.group.end_alternative();
        self.check_size(self.group.size)?;
        Ok(Parsed {
            meaning: Hir::alternation(self.group.alternatives),
            names: self.names,
        })
    }

    /// Parses a part that is not a repetition.
    fn part(&mut self, character: char) -> Result<(), ParseError> {
        match character {
            '(' => return self.open_group(),
            ')' => return self.close_group(),
            '[' => {
                let (class, rest) = class::read(self.rest, self.flags.ignores_case)?;
                self.rest = rest;
                self.push_class(class);
                return Ok(());
            }
            '\\' => return self.escape(),
            '|' => self.group.end_alternative(),
            '^' if self.flags.is_multiline => self.push(Hir::look(Look::StartLF)),
            '^' => self.push(Hir::look(Look::Start)),
            '$' if self.flags.is_multiline => self.push(Hir::look(Look::EndLF)),
            '$' => self.push(Hir::look(Look::End)),
            '.' if self.flags.dot_matches_newline => self.push(Hir::dot(Dot::AnyChar)),
            '.' => self.push(Hir::dot(Dot::AnyCharExceptLF)),
            _ => {
                self.literal(character);
                return Ok(());
            }
        }
        self.skip(character);
        Ok(())
    }

    fn skip(&mut self, character: char) {
        self.rest = self.rest.get(character.len_utf8()..).unwrap_or_default();
    }

    fn push(&mut self, meaning: Hir) {
        self.group.parts.push(Part {
            meaning,
            count: 1,
            size: 1,
        });
    }

    fn push_class(&mut self, class: ClassUnicode) {
        self.push(Hir::class(Class::Unicode(class)));
    }

    /// Parses a literal character.
    fn literal(&mut self, character: char) {
        self.skip(character);
        self.push_character(character);
    }

    fn push_character(&mut self, character: char) {
        if self.flags.ignores_case {
            return self.push_class(named::of_ranges(&[(character, character)], true, false));
        }
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        self.push(Hir::literal(bytes));
    }

    fn open_group(&mut self) -> Result<(), ParseError> {
        let (start, rest) = flags::start(self.rest, self.flags)?;
        self.rest = rest;
        let outer = self.flags;
        let number = match start {
            Start::Set(flags) => {
                self.flags = flags;
                return Ok(());
            }
            Start::Flagged(flags) => {
                self.flags = flags;
                None
            }
            Start::Capture => Some(self.name(None)),
            Start::Named(name) => Some(self.name(Some(name.to_owned()))),
        };
        if self.open.len() >= MAX_DEPTH {
            return Err(Kind::TooDeep.at(self.pattern));
        }
        let group = Group {
            number,
            flags: outer,
            ..Group::default()
        };
        self.open.push(std::mem::replace(&mut self.group, group));
        Ok(())
    }

    /// Registers a capturing group and returns its number.
    fn name(&mut self, name: Option<String>) -> u32 {
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name);
        number
    }

    fn close_group(&mut self) -> Result<(), ParseError> {
        let Some(outer) = self.open.pop() else {
            return Err(Kind::ClosingGroup.at(self.pattern));
        };
        self.skip(')');
        let mut group = std::mem::replace(&mut self.group, outer);
        group.end_alternative();
        self.flags = group.flags;
        let meaning = Hir::alternation(group.alternatives);
        let meaning = match group.number {
            Some(index) => Hir::capture(Capture {
                index,
                name: None,
                sub: Box::new(meaning),
            }),
            None => meaning,
        };
        let size = match group.number {
            Some(_) => group.size.saturating_add(2),
            None => group.size,
        };
        self.check_size(size)?;
        self.group.parts.push(Part {
            meaning,
            count: group.count.max(1),
            size,
        });
        Ok(())
    }

    /// Repeats the last part. Returns the input from the repetition operator on.
    fn repeat(
        &mut self,
        operator: Operator,
        at: &'t str,
        before: Option<&'t str>,
    ) -> Result<&'t str, ParseError> {
        let largest = operator.maximum.unwrap_or(operator.minimum);
        let is_upside_down = operator
            .maximum
            .is_some_and(|maximum| maximum < operator.minimum);
        if operator.is_counted && (largest.max(operator.minimum) > MAX_COUNT || is_upside_down) {
            return Err(Kind::RepeatCount.at(escape::part(at, self.rest)));
        }
        let mut is_greedy = !self.flags.is_lazy;
        if let Some(rest) = self.rest.strip_prefix('?') {
            self.rest = rest;
            is_greedy = !is_greedy;
        }
        if let Some(before) = before {
            return Err(Kind::NestedRepetition.at(escape::part(before, self.rest)));
        }
        let Some(Part {
            meaning,
            count,
            size,
        }) = self.group.parts.pop()
        else {
            return Err(Kind::NothingToRepeat.at(escape::part(at, self.rest)));
        };
        let size = operator.size(size);
        self.check_size(size)?;
        let count = match operator.maximum {
            // Parts that are repeated zero times are not counted.
            Some(0) => 1,
            _ if operator.is_counted => count.saturating_mul(largest.max(1)),
            _ => count,
        };
        if operator.is_counted && count > MAX_COUNT {
            return Err(Kind::RepeatCount.at(escape::part(at, self.rest)));
        }
        let meaning = Hir::repetition(Repetition {
            min: operator.minimum,
            max: operator.maximum,
            greedy: is_greedy,
            sub: Box::new(meaning),
        });
        self.group.parts.push(Part {
            meaning,
            count,
            size,
        });
        Ok(at)
    }

    fn check_size(&self, size: u64) -> Result<(), ParseError> {
        if size > MAX_SIZE {
            return Err(Kind::TooLarge.at(self.pattern));
        }
        Ok(())
    }

    /// Parses an escape.
    fn escape(&mut self) -> Result<(), ParseError> {
        let mut characters = self.rest.chars();
        characters.next();
        let letter = characters.next();
        let tail = characters.as_str();
        let look = match letter {
            Some('A') => Look::Start,
            Some('z') => Look::End,
            Some('b') => Look::WordAscii,
            Some('B') => Look::WordAsciiNegate,
            Some('Q') => {
                self.quoted(tail);
                return Ok(());
            }
            Some(letter) => return self.class_or_character(letter, tail),
            None => return Err(Kind::TrailingBackslash.at("")),
        };
        self.rest = tail;
        self.push(Hir::look(look));
        Ok(())
    }

    fn class_or_character(&mut self, letter: char, tail: &'t str) -> Result<(), ParseError> {
        if let Some(read) = named::unicode(self.rest, self.flags.ignores_case) {
            let (class, rest) = read?;
            self.rest = rest;
            self.push_class(class);
        } else if let Some(class) = named::perl(letter, self.flags.ignores_case) {
            self.rest = tail;
            self.push_class(class);
        } else {
            let (character, rest) = escape::character(self.rest)?;
            self.rest = rest;
            self.push_character(character);
        }
        Ok(())
    }

    /// Parses literal characters up to `\E` or the end.
    fn quoted(&mut self, text: &'t str) {
        let (literal, rest) = text.split_once("\\E").unwrap_or((text, ""));
        for character in literal.chars() {
            self.push_character(character);
        }
        self.rest = rest;
    }
}

/// Parses `{n}`, `{n,}` or `{n,m}`, if the input begins with it, and returns the rest.
fn count(text: &str) -> Option<(Operator, &str)> {
    let (counts, rest) = text.strip_prefix('{')?.split_once('}')?;
    let (minimum, maximum) = match counts.split_once(',') {
        Some((minimum, "")) => (number(minimum)?, None),
        Some((minimum, maximum)) => (number(minimum)?, Some(number(maximum)?)),
        None => (number(counts)?, Some(number(counts)?)),
    };
    let operator = Operator {
        minimum,
        maximum,
        is_counted: true,
    };
    Some((operator, rest))
}

/// Parses a number without leading zeros. A number that is too large saturates.
fn number(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_count = is_number && !digits.is_empty() && (digits == "0" || !digits.starts_with('0'));
    is_count.then(|| digits.parse().unwrap_or(u32::MAX))
}

//! Compiled regular expressions whose searches are interruptible however long they take.

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};

use super::stepping_search::{Slots, SteppingSearch};
use super::{Call, Failure, Prepared};

/// Maximum memory of a pattern in bytes.
pub(super) const MAX_SIZE: usize = 10 << 20;

/// Maximum length of a character in bytes.
const CHARACTER: usize = 4;

/// Memory of an automaton state in bytes.
const STATE: usize = 24;

/// Maximum nesting depth of groups in a pattern.
const MAX_DEPTH: u32 = 500;

/// Maximum product of simultaneous search states and input bytes for the library's search, which
/// takes at most as many steps. Larger searches run in steps that are charged.
const MAX_AT_ONCE: usize = 1 << 23;

/// Input bytes searched per unit of the meter.
const SEARCHED: usize = 256;

/// A compiled regular expression.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    meaning: Hir,
    nfa: OnceLock<Option<NFA>>,
    /// Names of the groups, which may repeat. The first is that of the whole match.
    names: Vec<Option<String>>,
    /// Upper bound on the number of automaton states that a search is in simultaneously.
    states: usize,
    /// Approximate memory in bytes.
    bytes: usize,
}

impl Prepared for Pattern {
    fn bytes(&self, _text: usize) -> usize {
        self.bytes
    }
}

/// Error of an expression that is invalid in the library's syntax, or takes too much memory.
#[derive(Debug, thiserror::Error)]
#[error("error parsing regexp: expression too large")]
pub(super) struct NotCompiled;

/// Spans of a match by group number. The first is that of the whole match.
#[derive(Debug)]
pub(super) struct Groups<'p> {
    pattern: &'p Pattern,
    slots: Slots,
}

/// Callback for each match.
type Each<'e> = dyn FnMut(Groups<'_>) -> Result<ControlFlow<()>, Failure> + 'e;

impl Pattern {
    /// Compiles an expression in the library's syntax.
    ///
    /// # Errors
    /// When it is invalid or too large.
    pub(super) fn new(expression: &str) -> Result<Self, NotCompiled> {
        Self::of(parse(expression).ok_or(NotCompiled)?, Vec::new())
    }

    /// Compiles a parsed expression, whose groups have these names.
    ///
    /// # Errors
    /// When it is too large.
    pub(super) fn of(meaning: Hir, names: Vec<Option<String>>) -> Result<Self, NotCompiled> {
        let config = meta::Config::new().nfa_size_limit(Some(MAX_SIZE));
        let built = stacker::maybe_grow(1 << 20, 4 << 20, || {
            let mut builder = meta::Builder::new();
            builder.configure(config).build_from_hir(&meaning).ok()
        });
        let regex = built.ok_or(NotCompiled)?;
        Ok(Self {
            states: states(&meaning),
            bytes: bytes(&meaning),
            nfa: OnceLock::new(),
            regex,
            meaning,
            names,
        })
    }

    /// Whether the pattern matches anywhere in a string.
    ///
    /// # Errors
    /// When the evaluation has to end.
    pub(super) fn is_match(&self, call: &Call<'_>, text: &str) -> Result<bool, Failure> {
        if self.is_quick(text) {
            call.spend(text.len() / SEARCHED)?;
            return Ok(self.regex.is_match(text));
        }
        let found = match self.nfa() {
            Some(nfa) => SteppingSearch::new(call, nfa, text, 2)?.find(call, 0)?,
            None => return Err(too_large()),
        };
        Ok(found.is_some())
    }

    /// Whether the pattern matches anywhere in a string, without interruption.
    pub(super) fn is_match_at_once(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Visits the non-overlapping matches in a string from left to right.
    ///
    /// # Errors
    /// When the evaluation has to end, or the callback fails.
    pub(super) fn each_match(
        &self,
        call: &Call<'_>,
        text: &str,
        each: &mut Each<'_>,
    ) -> Result<(), Failure> {
        if !self.is_quick(text) {
            return self.each_in_steps(call, text, 2, each);
        }
        for found in self.regex.find_iter(text) {
            searched(call, text, found.start())?;
            let slots = vec![Some(found.start()), Some(found.end())];
            if each(Groups {
                pattern: self,
                slots,
            })?
            .is_break()
            {
                break;
            }
        }
        Ok(())
    }

    /// Visits the non-overlapping matches in a string, each with the spans of all groups.
    ///
    /// # Errors
    /// When the evaluation has to end, or the callback fails.
    pub(super) fn each_groups(
        &self,
        call: &Call<'_>,
        text: &str,
        each: &mut Each<'_>,
    ) -> Result<(), Failure> {
        let slots = 2 * self.groups();
        if !self.is_quick(text) {
            return self.each_in_steps(call, text, slots, each);
        }
        for found in self.regex.captures_iter(text) {
            call.make(slots / 2)?;
            let slots = found.iter().flat_map(|span| {
                let start = span.map(|span| span.start);
                [start, span.map(|span| span.end)]
            });
            let mut slots: Slots = slots.collect();
            slots.resize(2 * self.groups(), None);
            let groups = Groups {
                pattern: self,
                slots,
            };
            searched(call, text, groups.full_match().start)?;
            if each(groups)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn each_in_steps(
        &self,
        call: &Call<'_>,
        text: &str,
        slots: usize,
        each: &mut Each<'_>,
    ) -> Result<(), Failure> {
        let nfa = self.nfa().ok_or_else(too_large)?;
        let mut search = SteppingSearch::new(call, nfa, text, slots)?;
        let (mut from, mut last) = (0, None);
        while let Some(slots) = search.find(call, from)? {
            call.make(slots.len() / 2)?;
            let groups = Groups {
                pattern: self,
                slots,
            };
            let span = groups.full_match();
            // Skips empty matches right after the last match and within a character.
            let is_behind = last == Some(span.end);
            if span.is_empty() && (is_behind || !text.is_char_boundary(span.end)) {
                from = span.end + 1;
                if from > text.len() {
                    break;
                }
                continue;
            }
            (from, last) = (span.end, Some(span.end));
            if each(groups)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Number of groups, including the whole match. The library does not count a group that is
    /// repeated zero times.
    fn groups(&self) -> usize {
        self.regex.captures_len().max(self.names.len())
    }

    /// Whether a search by the library is short, whatever strategy the library uses.
    fn is_quick(&self, text: &str) -> bool {
        self.states.saturating_mul(text.len()) <= MAX_AT_ONCE
    }

    /// Returns the NFA, compiled on first use.
    fn nfa(&self) -> Option<&NFA> {
        let compile = || {
            let config = thompson::Config::new()
                .nfa_size_limit(Some(MAX_SIZE))
                .which_captures(WhichCaptures::All);
            let mut compiler = thompson::Compiler::new();
            let compiler = compiler.configure(config);
            stacker::maybe_grow(1 << 20, 4 << 20, || {
                compiler.build_from_hir(&self.meaning).ok()
            })
        };
        self.nfa.get_or_init(compile).as_ref()
    }
}

impl Groups<'_> {
    /// Returns the span of the whole match.
    pub(super) fn full_match(&self) -> Range<usize> {
        self.get(0).unwrap_or_default()
    }

    /// Returns the span of a group, if it took part in the match.
    pub(super) fn get(&self, number: usize) -> Option<Range<usize>> {
        let slot = |at: usize| self.slots.get(at).copied().flatten();
        let first = number.checked_mul(2)?;
        Some(slot(first)?..slot(first + 1)?)
    }

    /// Returns the span of the first group of this name that took part in the match.
    pub(super) fn name(&self, name: &str) -> Option<Range<usize>> {
        let names = self.pattern.names.iter().enumerate();
        let mut named = names.filter(|(_, other)| other.as_deref() == Some(name));
        named.find_map(|(number, _)| self.get(number))
    }

    /// Iterates over the spans of all groups.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<Range<usize>>> {
        (0..self.slots.len() / 2).map(|number| self.get(number))
    }
}

/// Charges the search that found a match at an offset. This search may have scanned to the end of
/// the input, and so may the next one.
fn searched(call: &Call<'_>, text: &str, start: usize) -> Result<(), Failure> {
    call.spend(1 + text.len().saturating_sub(start) / SEARCHED)
}

fn too_large() -> Failure {
    Failure::Value("the pattern is too large for this text".to_owned())
}

fn parse(expression: &str) -> Option<Hir> {
    let mut parser = ParserBuilder::new().nest_limit(MAX_DEPTH).build();
    parser.parse(expression).ok()
}

/// Approximate memory of a compiled expression: two automata, one for each direction.
pub(super) fn bytes(parsed: &Hir) -> usize {
    let ranges = |class: &ClassUnicode| class.ranges().len().saturating_mul(CHARACTER);
    let states = count(parsed, &ranges);
    (2 * STATE)
        .saturating_mul(states)
        .clamp(1 << 10, 2 * MAX_SIZE)
}

/// Approximate upper bound on the automaton states that a search is in simultaneously. Of the many
/// states of a class, a search is in one for each byte of a character.
fn states(parsed: &Hir) -> usize {
    count(parsed, &|_| CHARACTER)
}

/// Approximate number of automaton states, with `of_class` states for a class.
fn count(parsed: &Hir, of_class: &dyn Fn(&ClassUnicode) -> usize) -> usize {
    stacker::maybe_grow(64 << 10, 1 << 20, || match parsed.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Unicode(class)) => of_class(class),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1));
            let times = usize::try_from(times).unwrap_or(usize::MAX);
            count(&repetition.sub, of_class)
                .saturating_add(1)
                .saturating_mul(times)
        }
        HirKind::Capture(capture) => count(&capture.sub, of_class).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            let parts = parts.iter().map(|part| count(part, of_class));
            parts.fold(1usize, |sum, part| {
                sum.saturating_add(part).saturating_add(1)
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use std::ops::{ControlFlow, Range};

    use proptest::prelude::*;
    use rstest::rstest;

    use super::super::{BuiltinContext, Call, Session, re2};
    use super::{Groups, Pattern};
    use crate::eval::no_location;
    use crate::meter::Meter;

    type Spans = Vec<Option<Range<usize>>>;

    fn expressions() -> impl Strategy<Value = String> {
        let atoms = [
            "a", "b", "ä", ".", "[ab]", "[^a]", "^", "$", r"\b", r"\B", r"\A", r"\z", r"\w", "",
            "(?i)A",
        ];
        let atom = proptest::sample::select(atoms.map(str::to_owned).to_vec());
        atom.prop_recursive(4, 24, 4, |inner| {
            let repeated =
                proptest::sample::select(vec!["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}"]);
            prop_oneof![
                proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
                proptest::collection::vec(inner.clone(), 2..4)
                    .prop_map(|parts| format!("(?:{})", parts.join("|"))),
                inner.clone().prop_map(|inner| format!("({inner})")),
                (inner, repeated).prop_map(|(inner, times)| format!("(?:{inner}){times}")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn searches_in_steps_find_what_the_library_finds(
            expression in expressions(),
            text in "[abä \n]{0,12}",
        ) {
            let Ok(parsed) = re2::parse(&expression) else { return Ok(()) };
            let Ok(pattern) = Pattern::of(parsed.meaning, parsed.names) else { return Ok(()) };
            let (location, mut session, meter) = (no_location(), Session::default(), Meter::default());
            let call = Call { location: &location, session: &mut session, meter: &meter, outside: BuiltinContext::default() };
            let slots = 2 * pattern.groups();
            let mut found: Vec<Spans> = Vec::new();
            let mut each = |groups: Groups<'_>| {
                found.push(groups.iter().collect());
                Ok(ControlFlow::Continue(()))
            };
            prop_assert!(pattern.each_in_steps(&call, &text, slots, &mut each).is_ok());
            let expected: Vec<Spans> = pattern
                .regex
                .captures_iter(&text)
                .map(|groups| groups.iter().map(|group| group.map(|group| group.range())).collect())
                .collect();
            prop_assert_eq!(found, expected, "{}", expression);
        }
    }

    #[rstest]
    #[case::character("a")]
    #[case::alternatives("ab|c")]
    #[case::class("[a-z]+")]
    #[case::repetitions_of_repetitions("((a{1,50}){1,50})b")]
    #[case::letters_of_any_case("(?i)k")]
    #[case::optional_group("(a?){20}")]
    #[case::no_repetition("x{0}")]
    #[case::any_character(".")]
    fn a_pattern_of_bytes_has_at_most_as_many_states_as_estimated(#[case] expression: &str) {
        let pattern = Pattern::new(expression);
        let states = pattern
            .ok()
            .and_then(|pattern| Some((pattern.nfa()?.states().len(), pattern.states)));
        let estimated = states.is_some_and(|(states, estimated)| states <= 8 + 2 * estimated);
        assert!(estimated, "{states:?}");
    }
}

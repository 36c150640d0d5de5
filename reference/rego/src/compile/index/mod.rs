//! Rule index: finds the candidate rules of a path by their comparisons with `input`, base
//! documents and parameters. A rule that is omitted has no result; a candidate may have none.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::rule_tree::{CompiledRule, Node, RuleSet};
use crate::Value;
use crate::syntax::Rule;
use crate::syntax::terms::constant;
use crate::value::Text;

mod extract;
mod glob;

/// Subject of comparisons in rules.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IndexKey {
    /// Root of the subject.
    pub(crate) root: Root,
    /// Steps from the root.
    pub(crate) steps: Vec<Value>,
}

/// Root of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    /// `input`
    Input,
    /// `data`, without rules at the path or above.
    Data,
    /// Parameter of the function, by its position.
    Argument(usize),
}

/// Value of a subject during a lookup.
#[derive(Debug)]
pub(crate) enum Resolved<'v> {
    /// The subject has this value.
    Value(Cow<'v, Value>),
    /// The subject is undefined.
    Undefined,
    /// The value is not known yet, so that every rule is a candidate.
    Unknown,
}

/// A rule, or an `else` branch of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match {
    /// Position of the rule in [`RuleSet::rules`].
    pub(crate) rule: usize,
    /// Index of the `else` branch; 0 for the rule itself.
    pub(crate) branch: usize,
    /// Number of leading expressions of its body that are known to be satisfied.
    pub(crate) proven: usize,
}

/// Index of the rules of one path.
#[derive(Debug)]
pub(crate) struct Index {
    subjects: Vec<IndexKey>,
    entries: Vec<Entry>,
    /// The most selective subject: the entries for each constant that it is compared with, and all
    /// entries that do not compare it with one.
    primary: Option<Primary>,
    /// Whether one rule may not be enough, so that it pays to check the key conditions.
    needs_all: bool,
}

#[derive(Debug)]
struct Primary {
    subject: usize,
    by_value: BTreeMap<Value, Vec<usize>>,
    others: Vec<usize>,
}

/// A rule or `else` branch and its conditions.
#[derive(Debug)]
struct Entry {
    rule: usize,
    branch: usize,
    /// Alternatives, of which one must be satisfied.
    alternatives: Vec<Conjunction<usize>>,
    /// Additional key conditions.
    keys: Vec<Key<usize>>,
    value: KnownValue,
    /// Number of leading expressions of the rule's body that its only alternative implies.
    proven: usize,
}

/// Condition that one subject is a key of another subject (an object) or a member of it (a set).
#[derive(Debug)]
struct Key<S> {
    key: S,
    collection: S,
}

/// Conjunction of subjects, each with its tests, of which one must be satisfied.
type Conjunction<S> = Vec<(S, Vec<Test>)>;

/// Value of a rule, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
enum KnownValue {
    /// The value depends on variables, or is only a part of the document.
    Various,
    /// The value is this constant.
    Constant(Value),
}

/// Test of a subject.
#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// The subject is defined.
    Defined,
    /// The subject has this value.
    Equals(Value),
    /// The subject is an array of these items; `None` matches any item.
    Items(Vec<Option<Value>>),
    /// The subject is a collection that contains this member.
    Has(Value),
    /// The subject, or one of its items, starts with this string.
    Prefix(Text),
    /// The subject, or one of its items, ends with this string.
    Suffix(Text),
    /// The subject, split at these characters, has these parts; `None` matches any part.
    Parts(Text, Vec<Option<Value>>),
}

impl RuleSet {
    /// Returns the index of the rules, which is built on first use.
    pub(crate) fn index(&self, root: &Node) -> &Index {
        self.index.get_or_init(|| Index::new(&self.rules, root))
    }

    /// Whether the index exists, and scans at most this number of rules per lookup.
    pub(crate) fn is_ready(&self, most: usize) -> bool {
        let index = self.index.get();
        index.is_some_and(|index| index.scan_length() <= most)
    }
}

impl Index {
    fn new(rules: &[Arc<CompiledRule>], root: &Node) -> Self {
        let mut subjects: BTreeMap<IndexKey, usize> = BTreeMap::new();
        let mut entries = Vec::new();
        for (position, rule) in rules.iter().enumerate() {
            let branches =
                std::iter::successors(Some(rule.ast()), |rule| rule.else_rule.as_deref());
            for (branch, rule) in branches.enumerate() {
                let mut number = |subject: IndexKey| {
                    let next = subjects.len();
                    *subjects.entry(subject).or_insert(next)
                };
                let (alternatives, keys) = extract::rule(rule, root);
                let proven = extract::implied_expressions(rule, &alternatives);
                let alternatives = alternatives.into_iter().map(|alternative| {
                    let tests = alternative.into_iter();
                    tests
                        .map(|(subject, tests)| (number(subject), tests))
                        .collect()
                });
                let alternatives = alternatives.collect();
                let keys = keys.into_iter().map(|Key { key, collection }| Key {
                    key: number(key),
                    collection: number(collection),
                });
                entries.push(Entry {
                    rule: position,
                    branch,
                    alternatives,
                    keys: keys.collect(),
                    value: known_value(rule),
                    proven,
                });
            }
        }
        let mut ordered: Vec<_> = subjects.into_iter().collect();
        ordered.sort_by_key(|(_, number)| *number);
        let primary = Primary::new(&entries, ordered.len());
        let same = entries.windows(2).all(|pair| match pair {
            [left, right] => left.value == right.value,
            _ => true,
        });
        let various = entries
            .iter()
            .any(|entry| entry.value == KnownValue::Various);
        Self {
            subjects: ordered.into_iter().map(|(subject, _)| subject).collect(),
            entries,
            primary,
            needs_all: various || !same,
        }
    }

    /// Whether some rule has a constant value, so that one candidate may be enough.
    pub(crate) fn has_constants(&self) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| entry.value != KnownValue::Various)
    }

    /// Whether one rule is enough, whichever rules are candidates.
    pub(crate) fn one_rule_suffices(&self) -> bool {
        !self.needs_all
    }

    /// Returns the number of rules that each lookup scans.
    pub(crate) fn scan_length(&self) -> usize {
        match &self.primary {
            Some(primary) => primary.others.len(),
            None => self.entries.len(),
        }
    }

    /// Passes the candidate rules for the current values of the subjects to `take`, in rule order;
    /// branches of one rule are adjacent. Returns whether all candidates have the same value, so
    /// that one is enough.
    pub(crate) fn matching<'v>(
        &self,
        resolve: impl Fn(&IndexKey) -> Resolved<'v>,
        mut take: impl FnMut(Match),
    ) -> bool {
        let mut known = ResolvedKeys {
            subjects: &self.subjects,
            values: SmallVec::new(),
            resolve,
            is_vague: false,
        };
        let mut common_value: Option<&KnownValue> = None;
        let mut early_exit = true;
        let mut keep = |known: &mut ResolvedKeys<'_, 'v, _>, entry: usize| {
            let Some(entry) = self.entries.get(entry) else {
                return;
            };
            let is_open = entry
                .alternatives
                .iter()
                .any(|alternative| known.allow(alternative));
            if !is_open || self.needs_all && !known.has(&entry.keys) {
                return;
            }
            let same = common_value.is_none_or(|common_value| *common_value == entry.value);
            early_exit &= same && entry.value != KnownValue::Various;
            common_value = Some(&entry.value);
            take(Match {
                rule: entry.rule,
                branch: entry.branch,
                proven: if known.is_vague { 0 } else { entry.proven },
            });
        };
        let some = match &self.primary {
            None => None,
            Some(primary) => match known.get(primary.subject) {
                Resolved::Unknown => None,
                Resolved::Undefined => Some((primary, None)),
                Resolved::Value(value) => Some((primary, primary.by_value.get(value.as_ref()))),
            },
        };
        match some {
            None => {
                for entry in 0..self.entries.len() {
                    keep(&mut known, entry);
                }
            }
            Some((primary, equal)) => {
                let mut equal = equal
                    .map(Vec::as_slice)
                    .unwrap_or_default()
                    .iter()
                    .peekable();
                for other in &primary.others {
                    while let Some(entry) = equal.next_if(|entry| *entry < other) {
                        keep(&mut known, *entry);
                    }
                    keep(&mut known, *other);
                }
                for entry in equal {
                    keep(&mut known, *entry);
                }
            }
        }
        early_exit
    }
}

/// Values of the subjects, each resolved once.
struct ResolvedKeys<'i, 'v, R> {
    subjects: &'i [IndexKey],
    values: SmallVec<[Option<Resolved<'v>>; 4]>,
    resolve: R,
    /// Whether the value of some subject is unknown.
    is_vague: bool,
}

impl<'v, R: Fn(&IndexKey) -> Resolved<'v>> ResolvedKeys<'_, 'v, R> {
    /// Whether a test of each subject is satisfied.
    fn allow(&mut self, alternative: &Conjunction<usize>) -> bool {
        alternative
            .iter()
            .all(|(subject, tests)| match self.get(*subject) {
                Resolved::Unknown => true,
                Resolved::Undefined => false,
                Resolved::Value(value) => tests.iter().any(|test| test.holds(value)),
            })
    }

    /// Whether each key exists, as far as it is known.
    fn has(&mut self, keys: &[Key<usize>]) -> bool {
        keys.iter().all(|Key { key, collection }| {
            let key = match self.get(*key) {
                Resolved::Value(key) => key.clone(),
                Resolved::Undefined => return false,
                Resolved::Unknown => return true,
            };
            match self.get(*collection) {
                // Documents are also searched for the text of a number.
                Resolved::Value(value) => match (value.as_ref(), key.as_ref()) {
                    (Value::Object(members), Value::Number(number)) => {
                        members.contains_key(&number.text()) || members.get_value(&key).is_some()
                    }
                    (Value::Object(members), key) => members.get_value(key).is_some(),
                    (Value::Set(members), key) => members.contains(key),
                    _ => true,
                },
                Resolved::Unknown => true,
                Resolved::Undefined => false,
            }
        })
    }

    fn get(&mut self, number: usize) -> &Resolved<'v> {
        while self.values.len() <= number {
            self.values.push(None);
        }
        let (Some(place), Some(subject)) = (self.values.get_mut(number), self.subjects.get(number))
        else {
            return &Resolved::Unknown;
        };
        place.get_or_insert_with(|| {
            let found = (self.resolve)(subject);
            self.is_vague |= matches!(found, Resolved::Unknown);
            found
        })
    }
}

impl Primary {
    /// Selects the subject that most entries compare with a constant, if at least two do.
    fn new(entries: &[Entry], subjects: usize) -> Option<Self> {
        let mut counts = vec![0usize; subjects];
        for (subject, _) in entries.iter().flat_map(equalities) {
            if let Some(count) = counts.get_mut(subject) {
                *count += 1;
            }
        }
        let (subject, count) = counts
            .into_iter()
            .enumerate()
            .max_by_key(|(_, count)| *count)?;
        if count < 2 {
            return None;
        }
        let mut by_value: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
        let mut others = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            match equalities(entry).find(|(other, _)| *other == subject) {
                Some((_, values)) => {
                    for value in values {
                        let of_value = by_value.entry(value.clone()).or_default();
                        if of_value.last() != Some(&number) {
                            of_value.push(number);
                        }
                    }
                }
                None => others.push(number),
            }
        }
        Some(Self {
            subject,
            by_value,
            others,
        })
    }
}

/// Returns the subjects that an entry with one alternative compares only with constants.
fn equalities(entry: &Entry) -> impl Iterator<Item = (usize, Vec<&Value>)> {
    let only = match entry.alternatives.as_slice() {
        [only] => only.as_slice(),
        _ => &[],
    };
    only.iter().filter_map(|(subject, tests)| {
        let values = tests.iter().map(|test| match test {
            Test::Equals(value) => Some(value),
            _ => None,
        });
        Some((*subject, values.collect::<Option<Vec<_>>>()?))
    })
}

impl Test {
    fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Defined => true,
            Self::Equals(other) => value == other,
            Self::Items(items) => are_items(items, value),
            Self::Has(member) => match value {
                Value::Array(items) => items.contains(member),
                Value::Set(items) => items.contains(member),
                Value::Object(members) => members.values().any(|value| value == member),
                _ => false,
            },
            Self::Prefix(text) => any_text(value, |value| value.starts_with(text.as_bytes())),
            Self::Suffix(text) => any_text(value, |value| value.ends_with(text.as_bytes())),
            Self::Parts(delimiters, parts) => match value {
                Value::String(text) => glob::matches(text, delimiters, parts),
                Value::Bytes(bytes) => glob::matches(&bytes.to_lossy(), delimiters, parts),
                // The call fails, which must be reported.
                _ => are_items(parts, value),
            },
        }
    }
}

/// Whether a value is an array of these items; `None` matches any.
fn are_items(items: &[Option<Value>], value: &Value) -> bool {
    let Value::Array(values) = value else {
        return false;
    };
    let mut pairs = items.iter().zip(values.iter());
    values.len() == items.len()
        && pairs.all(|(item, value)| item.as_ref().is_none_or(|item| item == value))
}

/// Whether a string, or one of several, satisfies a predicate.
fn any_text(value: &Value, matches_bytes: impl Fn(&[u8]) -> bool) -> bool {
    let is_match = |value: &Value| value.as_bytes().is_some_and(&matches_bytes);
    match value {
        Value::Array(items) => items.iter().any(is_match),
        Value::Set(items) => items.iter().any(is_match),
        Value::Object(members) => members.values().any(is_match),
        text => is_match(text),
    }
}

fn known_value(rule: &Rule) -> KnownValue {
    let head = &rule.head;
    let is_part = head.args.is_empty() && (head.key.is_some() || head.reference.len() > 1);
    match &head.value {
        Some(value) if !is_part || head.key.is_none() && is_ground(rule) => {
            constant(value).map_or(KnownValue::Various, KnownValue::Constant)
        }
        _ => KnownValue::Various,
    }
}

fn is_ground(rule: &Rule) -> bool {
    rule.head
        .reference
        .iter()
        .skip(1)
        .all(|step| constant(step).is_some())
}

//! Rule lookup: the candidate rules for the documents and operands of a call or reference.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::machine::Machine;
use super::rules::{Candidate, Candidates};
use super::value_ref::{member, stored};
use crate::Value;
use crate::compile::index::{IndexKey, Resolved, Root};
use crate::compile::rule_tree::{Node, RuleKind, RuleSet};

impl<'p> Machine<'p> {
    /// Returns the rules of a document that can apply. If rules below it extend a partial object by
    /// references with variables, those are included.
    pub(super) fn matching(
        &self,
        node: &'p Node,
        set: &'p RuleSet,
        args: Option<&[Value]>,
    ) -> Candidates<'p> {
        let mut matched = Candidates {
            candidates: SmallVec::new(),
            default: set.default.as_deref().map(|rule| Candidate {
                rule,
                branch: 0,
                proven: 0,
            }),
            early_exit: false,
        };
        if set.kind == RuleKind::PartialObject && !node.is_leaf() {
            for set in node.extent() {
                self.choose(set, args, &mut matched);
            }
            matched.early_exit = false;
        } else {
            self.choose(set, args, &mut matched);
        }
        matched
    }

    fn choose(&self, set: &'p RuleSet, args: Option<&[Value]>, matched: &mut Candidates<'p>) {
        let meter = &self.meter;
        if meter.is_inline() && !set.is_ready(INLINE_RULES) {
            meter.invalidate();
            return;
        }
        let index = set.index(self.policy.module_set().root());
        meter.count(index.scan_length() / 16);
        matched.early_exit = index.matching(
            |subject| self.resolve(subject, args),
            |found| {
                meter.count(1);
                if let Some(rule) = set.rules.get(found.rule) {
                    matched.candidates.push(Candidate {
                        rule,
                        branch: found.branch,
                        proven: found.proven,
                    });
                }
            },
        );
    }

    fn resolve<'v>(&'v self, subject: &IndexKey, args: Option<&'v [Value]>) -> Resolved<'v> {
        let found = match subject.root {
            Root::Input => below(self.input.get(), &subject.steps).map(Cow::Borrowed),
            Root::Argument(place) => match args.and_then(|args| args.get(place)) {
                Some(arg) => below(Some(arg), &subject.steps).map(Cow::Borrowed),
                None => return Resolved::Unknown,
            },
            Root::Data => self.base_document(&subject.steps),
        };
        match found {
            // A search in a long value may take long, so it is left to the evaluation of the rules.
            Some(value) if self.meter.is_inline() && is_long(&value) => Resolved::Unknown,
            Some(value) => Resolved::Value(value),
            None => Resolved::Undefined,
        }
    }

    /// Returns the base document at a path, or its replacement by `with`.
    fn base_document(&self, path: &[Value]) -> Option<Cow<'_, Value>> {
        let overlay = below(self.overlay.as_ref(), path);
        if self
            .replaced
            .iter()
            .any(|replaced| path.starts_with(replaced))
        {
            return overlay.map(Cow::Borrowed);
        }
        let base = path
            .iter()
            .try_fold(self.documents, |value, key| stored(value, key));
        match (overlay, base) {
            (Some(overlay), Some(base)) => {
                let meter = &self.meter;
                meter.make_value(base);
                meter
                    .admits(base)
                    .then(|| Cow::Owned(super::data_ref::merge(overlay, base)))
            }
            (overlay, base) => overlay.or(base).map(Cow::Borrowed),
        }
    }
}

/// Maximum number of rules that a lookup scans in an inline evaluation, through an existing index.
const INLINE_RULES: usize = 1024;

/// Number of items above which a value counts as long.
const LONG_VALUE: usize = 64;

/// Whether a value has many items.
fn is_long(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() > LONG_VALUE,
        Value::Object(members) => members.len() > LONG_VALUE,
        Value::Set(members) => members.len() > LONG_VALUE,
        Value::String(text) => text.len() > 16 * LONG_VALUE,
        Value::Bytes(bytes) => bytes.as_bytes().len() > 16 * LONG_VALUE,
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the value that the steps reach.
fn below<'v>(value: Option<&'v Value>, steps: &[Value]) -> Option<&'v Value> {
    steps
        .iter()
        .try_fold(value?, |value, key| member(value, key))
}

//! Which rules of a place can matter for the documents and operands that there are.

use std::convert::Infallible;

use super::machine::Machine;
use super::reference::{member, stored};
use super::rules::{Candidate, Matched};
use crate::Value;
use crate::compile::index::{Resolved, Root, Subject};
use crate::compile::tree::{Node, RuleKind, RuleSet};

impl<'p> Machine<'p> {
    /// The rules of a place that can matter. Where references have variables, the rules below
    /// count as well.
    pub(super) fn matching(
        &self,
        node: &'p Node,
        set: &'p RuleSet,
        args: Option<&[Value]>,
    ) -> Matched<'p> {
        let mut matched = Matched {
            candidates: Vec::new(),
            default: set
                .default
                .as_deref()
                .map(|rule| Candidate { rule, branch: 0 }),
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

    fn choose(&self, set: &'p RuleSet, args: Option<&[Value]>, matched: &mut Matched<'p>) {
        let index = set.index(self.policy.world().root());
        let Ok::<_, Infallible>(found) =
            index.matching(&mut |subject| Ok(self.resolve(subject, args)));
        let candidates = found.all.iter().filter_map(|found| {
            Some(Candidate {
                rule: set.rules.get(found.rule)?,
                branch: found.branch,
            })
        });
        matched.candidates.extend(candidates);
        matched.early_exit = found.early_exit;
    }

    fn resolve(&self, subject: &Subject, args: Option<&[Value]>) -> Resolved {
        let found = match subject.root {
            Root::Input => below(self.input.as_ref(), &subject.steps).cloned(),
            Root::Argument(place) => match args.and_then(|args| args.get(place)) {
                Some(arg) => below(Some(arg), &subject.steps).cloned(),
                None => return Resolved::Unknown,
            },
            Root::Data => self.base_document(&subject.steps),
        };
        found.map_or(Resolved::Undefined, Resolved::Value)
    }

    /// The base document at a path, or what `with` put in its place.
    fn base_document(&self, path: &[Value]) -> Option<Value> {
        let overlay = below(self.overlay.as_ref(), path);
        if self
            .replaced
            .iter()
            .any(|replaced| path.starts_with(replaced))
        {
            return overlay.cloned();
        }
        let base = path
            .iter()
            .try_fold(self.documents, |value, key| stored(value, key));
        match (overlay, base) {
            (Some(overlay), Some(base)) => Some(super::document::merge(overlay, base)),
            (overlay, base) => overlay.or(base).cloned(),
        }
    }
}

/// What the steps lead to.
fn below<'v>(value: Option<&'v Value>, steps: &[Value]) -> Option<&'v Value> {
    steps
        .iter()
        .try_fold(value?, |value, key| member(value, key))
}

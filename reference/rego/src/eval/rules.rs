//! Complete rules, and the choice of the rules to evaluate.

use std::sync::Arc;

use smallvec::SmallVec;

use super::conflicts::conflict;
use super::data_ref::DataPath;
use super::machine::{Flow, Frame, Interrupt, Machine, PendingExits, exit_query};
use super::partial_rules::Rules;
use super::trace::Subject;
use super::value_ref::{OnValue, Walk};
use crate::Value;
use crate::compile::rule_tree::{CompiledRule, Node, RuleKind, RuleSet};
use crate::ir::Program;
use crate::ir::lower::{self, Lowered};
use crate::syntax::{Location, Rule};
use crate::trace::Op;

/// A rule, or an `else` branch of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'p> {
    pub(super) rule: &'p CompiledRule,
    /// Index of the `else` branch; 0 for the rule itself.
    pub(super) branch: usize,
    /// Number of leading expressions of the rule's body that are known to be satisfied.
    pub(super) proven: usize,
}

/// Rules that can apply.
#[derive(Debug)]
pub(super) struct Candidates<'p> {
    /// Rules, each directly followed by its `else` branches that can apply.
    pub(super) candidates: SmallVec<[Candidate<'p>; 4]>,
    /// Default rule.
    pub(super) default: Option<Candidate<'p>>,
    /// Whether all candidates have the same value, so that one is enough.
    pub(super) early_exit: bool,
}

impl<'p> Candidate<'p> {
    /// Returns the lowered form of the rule, which is created on first use.
    fn program(self) -> Option<&'p Program> {
        let lowered: &Arc<Lowered> = self
            .rule
            .lowered
            .get_or_init(|| Arc::new(lower::rule(self.rule.ast(), &self.rule.reference)));
        lowered.0.get(self.branch)
    }

    /// Whether the lowered form of the rule exists.
    fn is_ready(self) -> bool {
        self.rule.lowered.get().is_some()
    }

    /// Returns an identifier that is shared by all branches of a rule.
    pub(super) fn address(self) -> usize {
        std::ptr::from_ref(self.rule).addr()
    }

    /// Returns the source location of the rule or branch.
    pub(super) fn location(self) -> &'p Location {
        self.ast()
            .map_or(&self.rule.ast().location, |rule| &rule.location)
    }

    /// Returns the syntax tree of the rule or branch.
    pub(super) fn ast(self) -> Option<&'p Rule> {
        let mut rule = self.rule.ast();
        for _ in 0..self.branch {
            rule = rule.else_rule.as_deref()?;
        }
        Some(rule)
    }
}

impl<'p> Candidates<'p> {
    /// Whether no rule can apply.
    pub(super) fn is_empty(&self) -> bool {
        self.candidates.is_empty() && self.default.is_none()
    }

    /// Whether the first value that is found is the only one.
    pub(super) fn one_rule_suffices(&self) -> bool {
        self.early_exit || self.candidates.is_empty()
    }

    /// Returns the first candidate of each rule.
    pub(super) fn rules(&self) -> impl Iterator<Item = Candidate<'p>> + '_ {
        let mut last = None;
        let candidates = self.candidates.iter().copied();
        candidates
            .filter(move |candidate| last.replace(candidate.address()) != Some(candidate.address()))
    }
}

impl<'p> Machine<'p> {
    /// Returns the lowered form of a rule. An inline evaluation does not create it.
    pub(super) fn program(&self, candidate: Candidate<'p>) -> Option<&'p Program> {
        if self.meter.is_inline() && !candidate.is_ready() {
            self.meter.invalidate();
            return None;
        }
        candidate.program()
    }

    /// Visits the values that a reference reaches through rules.
    pub(super) fn rules(
        &mut self,
        frame: &Frame<'_>,
        walk: Walk<'_>,
        place: &DataPath<'_>,
        (node, set): (&'p Node, &'p RuleSet),
        each: OnValue<'_, 'p>,
    ) -> Flow {
        if set.kind == RuleKind::Complete && !self.watched() {
            match self.memos.complete(set) {
                Some(None) => return Ok(()),
                Some(Some(value)) => {
                    let value = value.clone();
                    return self.walk(frame, walk, &value, each);
                }
                None => {}
            }
        }
        let matched = self.matching(node, set, None);
        if self.watched() {
            self.trace_index(frame, &matched, &place.path());
        }
        match set.kind {
            RuleKind::Function => Ok(()),
            RuleKind::Complete => self.complete(frame, walk, set, &matched, each),
            RuleKind::PartialSet | RuleKind::PartialObject => {
                let rules = Rules {
                    set,
                    matched: &matched,
                    depth: place.depth(),
                };
                self.partial(frame, walk, rules, each)
            }
        }
    }

    /// Visits the value of complete rules.
    fn complete(
        &mut self,
        frame: &Frame<'_>,
        walk: Walk<'_>,
        set: &'p RuleSet,
        matched: &Candidates<'p>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        if matched.is_empty() {
            return Ok(());
        }
        match self.memos.complete(set) {
            Some(None) => return Ok(()),
            Some(Some(value)) => {
                let value = value.clone();
                return self.walk(frame, walk, &value, each);
            }
            None => {}
        }
        exit_query(self.first_value(frame, walk, set, matched, each))
    }

    /// Computes and memoizes the value of complete rules, unless several have to be evaluated; see
    /// [`sole_value`](Self::sole_value).
    pub(super) fn memoize_sole_value(
        &mut self,
        frame: &Frame<'_>,
        node: &'p Node,
        set: &'p RuleSet,
    ) -> Result<bool, Interrupt> {
        let Some(value) = self.sole_value(frame, node, set)? else {
            return Ok(false);
        };
        self.memos.put_complete(set, value);
        Ok(true)
    }

    /// Returns the value of a single unconditional complete rule by reference, because threads
    /// would contend for the reference counter of a clone.
    pub(super) fn unconditional(&self, set: &'p RuleSet) -> Option<&'p Value> {
        match (set.kind, set.rules.as_slice()) {
            (RuleKind::Complete, [rule]) if !self.notes_exits => {
                rule.lowered.get()?.0.first()?.constant(0)
            }
            _ => None,
        }
    }

    /// Returns the value of complete rules, or `Some(None)` if they are undefined. Returns `None`
    /// if the value requires the evaluation of several of these rules, or of several rules that
    /// they read, because the continuation must run between those.
    pub(super) fn sole_value(
        &mut self,
        frame: &Frame<'_>,
        node: &'p Node,
        set: &'p RuleSet,
    ) -> Result<Option<Option<Value>>, Interrupt> {
        if set.kind != RuleKind::Complete || !set.one_rule_may_suffice() {
            return Ok(None);
        }
        let matched = self.matching(node, set, None);
        if !matched.one_rule_suffices() {
            return Ok(None);
        }
        let first = matched.candidates.first().copied().or(matched.default);
        if !self.notes_exits
            && let Some(first) = first
            && let Some(program) = self.program(first)
            && let Some(value) = program.constant(first.proven)
        {
            self.next_id();
            return Ok(Some(Some(value.clone())));
        }
        if !self.is_independent(set) {
            return Ok(None);
        }
        self.first_defined_value(frame, &matched).map(Some)
    }

    /// Returns the first defined value of several rules.
    fn first_defined_value(
        &mut self,
        frame: &Frame<'_>,
        matched: &Candidates<'p>,
    ) -> Result<Option<Value>, Interrupt> {
        let default = matched.default.as_slice();
        for candidate in matched.candidates.iter().chain(default).copied() {
            let Some(program) = self.program(candidate) else {
                continue;
            };
            let child = self.open(Some(frame), program, matched.early_exit);
            child.index.set(candidate.proven);
            let mut value = None;
            let flow = self.body(&child, &mut |machine| {
                if machine.notes_exits {
                    machine.note_exit(&child, candidate);
                }
                value = machine.head_value(&child, program);
                Ok(())
            });
            self.close(&child);
            exit_query(flow)?;
            if value.is_some() {
                return Ok(value);
            }
        }
        Ok(None)
    }

    /// Whether the rules depend on no others, or only on rules of which it always suffices to
    /// evaluate one.
    pub(super) fn is_independent(&self, set: &RuleSet) -> bool {
        let is_inline = self.meter.is_inline();
        self.mocks.is_empty() && set.is_independent(self.policy.module_set(), is_inline)
    }

    fn first_value(
        &mut self,
        frame: &Frame<'_>,
        walk: Walk<'_>,
        set: &'p RuleSet,
        matched: &Candidates<'p>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let find_one = matched.early_exit;
        let mut value = None;
        let mut deferred = PendingExits::default();
        let mut done = None;
        for candidate in &matched.candidates {
            if done == Some(candidate.address()) {
                continue;
            }
            let mut attempt = Attempt {
                value: &mut value,
                produced: false,
            };
            let flow = self.attempt(frame, walk, set, *candidate, find_one, &mut attempt, each);
            if attempt.produced {
                done = Some(candidate.address());
            }
            if let Err(stop) = deferred.defer(find_one, flow) {
                return Err(self.all_conflicts(frame, stop, matched, *candidate, None));
            }
        }
        if value.is_some() {
            return deferred.propagate();
        }
        if let Some(default) = matched.default {
            let mut attempt = Attempt {
                value: &mut value,
                produced: false,
            };
            return self.attempt(frame, walk, set, default, find_one, &mut attempt, each);
        }
        self.memos.put_complete(set, None);
        deferred.propagate()
    }

    /// Evaluates one of several complete rules.
    #[expect(
        clippy::too_many_arguments,
        reason = "a search has this much state, and a struct for it would have no other use"
    )]
    fn attempt(
        &mut self,
        frame: &Frame<'_>,
        walk: Walk<'_>,
        set: &'p RuleSet,
        candidate: Candidate<'p>,
        find_one: bool,
        attempt: &mut Attempt<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let Some(program) = self.program(candidate) else {
            return Ok(());
        };
        let child = self.open(Some(frame), program, find_one);
        if self.watched() {
            self.report_enter_rule(&child, candidate);
        } else {
            child.index.set(candidate.proven);
        }
        let flow = self.body(&child, &mut |machine| {
            if machine.notes_exits {
                machine.note_exit(&child, candidate);
            }
            let Some(value) = machine.head_value(&child, program) else {
                return Ok(());
            };
            attempt.produced = true;
            match attempt.value {
                Some(earlier) if !machine.equal(earlier, &value) => {
                    return Err(conflict(&child, candidate, false));
                }
                Some(_) => {}
                None => {
                    *attempt.value = Some(value.clone());
                    machine.memos.put_complete(set, Some(value.clone()));
                    machine.walk(frame, walk, &value, each)?;
                }
            }
            if machine.watched() {
                machine.report(&child, Op::Redo, Subject::Rule(candidate));
            }
            Ok(())
        });
        self.close(&child);
        flow
    }
}

/// State while the rules of one document are evaluated.
struct Attempt<'a> {
    /// Value of the document.
    value: &'a mut Option<Value>,
    /// Whether the current rule has a value.
    produced: bool,
}

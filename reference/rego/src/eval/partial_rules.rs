//! Partial rules: sets, and objects of any depth, that several rules define together.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::machine::{Flow, Frame, Interrupt, Machine};
use super::memo::PartKey;
use super::rules::{Candidate, Candidates};
use super::trace::Subject;
use super::value_ref::{OnValue, Walk, member};
use crate::Value;
use crate::compile::rule_tree::{RuleKind, RuleSet};
use crate::error::EvalCode;
use crate::ir::{Operand, Program, Step};
use crate::meter::AbortReason;
use crate::trace::Op;
use crate::value::{Object, Set};

/// Rules of one document.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a, 'p> {
    pub(super) set: &'p RuleSet,
    pub(super) matched: &'a Candidates<'p>,
    /// Number of steps from the root to the document.
    pub(super) depth: usize,
}

/// Document under construction.
struct DocumentBuilder {
    document: Value,
    /// Paths that have a value, if rules have paths of different lengths: none of them may extend
    /// another.
    ends: Option<BTreeSet<Vec<Value>>>,
}

/// Two rules define different values at one path.
struct Conflict;

impl<'p> Machine<'p> {
    /// Visits the values that a reference reaches through partial rules.
    pub(super) fn partial(
        &mut self,
        frame: &Frame<'_>,
        walk: Walk<'_>,
        rules: Rules<'_, 'p>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let whole = PartKey::default();
        let is_open = match walk.steps.first() {
            None => true,
            Some(_) if rules.matched.candidates.is_empty() => return Ok(()),
            Some(Step::Any(_)) => true,
            Some(Step::One(Operand::Var(slot))) => self.slot(frame, *slot).is_none(),
            Some(Step::One(_)) => false,
        };
        if let Some(document) = self.memos.partial(rules.set, &whole) {
            return self.walk(frame, walk, &document, each);
        }
        if is_open {
            let document = self.all_members(frame, rules)?;
            self.memos.put_partial(rules.set, whole, document.clone());
            return self.walk(frame, walk, &document, each);
        }
        let part = self.part(frame, walk, rules);
        if let Some(part) = &part
            && let Some((steps, document)) = self.known_part(rules.set, part)
        {
            return self.walk(frame, walk.skip(steps), &document, each);
        }
        let document = self.some_members(frame, walk, rules)?;
        if let Some(part) = part {
            let mut found = Some(&document);
            for key in &part.0 {
                found = found.and_then(|value| member(value, key));
            }
            if let Some(found) = found {
                self.meter.make(8);
                self.memos.put_partial(rules.set, part, found.clone());
            }
        }
        self.walk(frame, walk, &document, each)
    }

    /// Returns the memo key of the part that the steps select; `None` if no key can express them.
    fn part(&self, frame: &Frame<'_>, walk: Walk<'_>, rules: Rules<'_, 'p>) -> Option<PartKey> {
        let mut longest = 0;
        for program in rules.candidates().filter_map(|rule| self.program(rule)) {
            let is_set = usize::from(program.head.value.is_none());
            let steps = program.head.path.len() + is_set;
            longest = longest.max(steps.saturating_sub(rules.depth));
        }
        let mut part = PartKey::default();
        for step in walk.steps.iter().take(longest) {
            match self.key(frame, step) {
                Some(key) if part.1.is_empty() => part.0.push(key),
                Some(key) => part.1.push(Some(key)),
                None if part.0.is_empty() => return None,
                None if matches!(step, Step::Any(_) | Step::One(Operand::Var(_))) => {
                    part.1.push(None)
                }
                None => return None,
            }
        }
        let mut keys = part.0.iter().chain(part.1.iter().flatten());
        if !keys.all(|key| self.meter.admits(key)) {
            return None;
        }
        while matches!(part.1.last(), Some(None)) {
            part.1.pop();
        }
        Some(part)
    }

    /// Returns a memoized part that contains the given part, and the number of steps to the former.
    fn known_part(&self, set: &RuleSet, part: &PartKey) -> Option<(usize, Value)> {
        let (steps, limits) = part;
        let above = (1..=steps.len()).map(|count| (count, 0));
        let bounded = (1..=limits.len()).map(|count| (steps.len(), count));
        for (count, limit) in above.chain(bounded) {
            let part = (steps.get(..count)?.to_vec(), limits.get(..limit)?.to_vec());
            if let Some(document) = self.memos.partial(set, &part) {
                return Some((count, document));
            }
        }
        None
    }

    /// Evaluates all rules, and returns the whole document that they define.
    fn all_members(&mut self, frame: &Frame<'_>, rules: Rules<'_, 'p>) -> Result<Value, Interrupt> {
        let mut making = DocumentBuilder::new(rules);
        for candidate in rules.candidates() {
            let Some(program) = self.program(candidate) else {
                continue;
            };
            let child = self.open(Some(frame), program, false);
            if self.watched() {
                self.report_enter_rule(&child, candidate);
            }
            let flow = self.body(&child, &mut |machine| {
                if machine.notes_exits {
                    machine.note_exit(&child, candidate);
                }
                machine.add(&child, candidate, program, rules.depth, &mut making)?;
                if machine.watched() {
                    machine.report(&child, Op::Redo, Subject::Rule(candidate));
                }
                Ok(())
            });
            self.close(&child);
            flow?;
        }
        Ok(making.document)
    }

    /// Evaluates the rules that match the known steps, and returns that part of the document.
    fn some_members(
        &mut self,
        frame: &Frame<'_>,
        walk: Walk<'_>,
        rules: Rules<'_, 'p>,
    ) -> Result<Value, Interrupt> {
        let mut making = DocumentBuilder::new(rules);
        for candidate in rules.candidates() {
            let Some(program) = self.program(candidate) else {
                continue;
            };
            let child = self.open(Some(frame), program, false);
            if self.watched() {
                self.report_enter_rule(&child, candidate);
            }
            let mark = self.trail.len();
            let is_match = self.matches_head(frame, &child, walk, program, rules.depth);
            let flow = if is_match {
                self.body(&child, &mut |machine| {
                    if machine.watched() {
                        machine.report(&child, Op::Exit, Subject::Rule(candidate));
                    }
                    let is_new =
                        machine.add(&child, candidate, program, rules.depth, &mut making)?;
                    if machine.watched() {
                        if !is_new {
                            machine.report(&child, Op::Duplicate, Subject::Rule(candidate));
                        }
                        machine.report(&child, Op::Redo, Subject::Rule(candidate));
                    }
                    Ok(())
                })
            } else {
                if self.watched() {
                    self.report(&child, Op::Fail, Subject::Rule(candidate));
                }
                Ok(())
            };
            self.trail.truncate(mark);
            self.close(&child);
            flow?;
        }
        Ok(making.document)
    }

    /// Whether the known steps match the head of a rule, whose variables they bind.
    fn matches_head(
        &mut self,
        frame: &Frame<'_>,
        child: &Frame<'_>,
        walk: Walk<'_>,
        program: &Program,
        depth: usize,
    ) -> bool {
        let head = &program.head;
        let path = head.path.get(depth..).unwrap_or_default();
        let key = if head.value.is_none() && path.len() < walk.steps.len() {
            head.key.as_ref()
        } else {
            None
        };
        walk.steps
            .iter()
            .zip(path.iter().chain(key))
            .all(|(step, operand)| match self.key(frame, step) {
                Some(key) => self.matches(child, &key, operand),
                None => true,
            })
    }

    /// Adds the value of a rule for a solution of its body. Returns whether it was new.
    fn add(
        &mut self,
        child: &Frame<'_>,
        candidate: Candidate<'p>,
        program: &Program,
        depth: usize,
        making: &mut DocumentBuilder,
    ) -> Result<bool, Interrupt> {
        let head = &program.head;
        let path = head.path.get(depth..).unwrap_or_default();
        let path = path.iter().map(|step| self.value(child, step));
        let member = match &head.value {
            Some(value) => self.value(child, value),
            None => head.key.as_ref().and_then(|key| self.value(child, key)),
        };
        let (Some(path), Some(member)) = (path.collect::<Option<Vec<_>>>(), member) else {
            return Ok(true);
        };
        let meter = &self.meter;
        meter.make(2 + path.len());
        // The path and the member are compared with the existing ones, so both must be small in an
        // inline evaluation.
        if meter.is_inline()
            && !path
                .iter()
                .chain([&member])
                .all(|value| meter.admits(value))
        {
            return Err(Interrupt::aborted(AbortReason::NotInline));
        }
        making
            .add(&path, member, head.value.is_none())
            .map_err(|Conflict| {
                let location = candidate.ast().map(|rule| &rule.head.location);
                let location = location.unwrap_or(&candidate.rule.ast().location);
                Interrupt::failed_at(
                    child,
                    EvalCode::Conflict,
                    location,
                    "object keys must be unique",
                )
            })
    }
}

impl<'a, 'p> Rules<'a, 'p> {
    fn candidates(self) -> impl Iterator<Item = Candidate<'p>> + use<'a, 'p> {
        self.matched.rules()
    }
}

impl DocumentBuilder {
    fn new(rules: Rules<'_, '_>) -> Self {
        let lengths = rules
            .candidates()
            .map(|candidate| candidate.rule.reference.len());
        let lengths: BTreeSet<_> = lengths.collect();
        Self {
            document: match rules.set.kind {
                RuleKind::PartialSet => Value::from(Set::new()),
                _ => Value::from(Object::new()),
            },
            ends: (lengths.len() > 1).then(BTreeSet::new),
        }
    }

    fn add(&mut self, path: &[Value], member: Value, to_set: bool) -> Result<bool, Conflict> {
        if let Some(ends) = &mut self.ends {
            let mut above = (0..path.len()).filter_map(|length| path.get(..length));
            if above.any(|above| ends.contains(above)) {
                return Err(Conflict);
            }
            ends.insert(path.to_vec());
        }
        let mut place = &mut self.document;
        let Some((last, above)) = path.split_last() else {
            return insert(place, member);
        };
        for key in above {
            let members = place.as_object_mut().ok_or(Conflict)?;
            members.insert_if_missing(key.clone(), || Value::from(Object::new()));
            place = members.get_value_mut(key).ok_or(Conflict)?;
        }
        let members = place.as_object_mut().ok_or(Conflict)?;
        if to_set {
            members.insert_if_missing(last.clone(), || Value::from(Set::new()));
            let set = members.get_value_mut(last).ok_or(Conflict)?;
            return insert(set, member);
        }
        match members.get_value(last) {
            Some(earlier) if *earlier == member => Ok(false),
            Some(_) => Err(Conflict),
            None => {
                members.insert(last.clone(), member);
                Ok(true)
            }
        }
    }
}

fn insert(set: &mut Value, member: Value) -> Result<bool, Conflict> {
    match set {
        Value::Set(members) => Ok(Arc::make_mut(members).insert(member)),
        _ => Err(Conflict),
    }
}

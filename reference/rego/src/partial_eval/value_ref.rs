//! References: into `input`, into documents and rules, into values and into what is unknown.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::bindings::Frame;
use super::solver::{Expectation, Flow, OnValue, Solver};
use super::support::PartialDocument;
use super::terms::{self, Sym};
use super::unknowns::Root;
use crate::Value;
use crate::compile::rule_tree::Node;
use crate::eval::{member, stored};
use crate::meter::Meter;
use crate::syntax::terms::{constant, is_var};
use crate::syntax::{Location, Term, TermValue};

/// Remaining steps of a reference, and the expectation of its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk<'w> {
    pub(super) steps: &'w [Sym],
    pub(super) expected: Option<&'w Expectation>,
    pub(super) location: &'w Location,
}

impl<'w> Walk<'w> {
    pub(super) fn split(self) -> Option<(&'w Sym, Self)> {
        let (first, steps) = self.steps.split_first()?;
        Some((first, Self { steps, ..self }))
    }

    /// Returns the steps as terms.
    fn terms(self, meter: &'w Meter) -> impl Iterator<Item = Term> + 'w {
        let steps = self.steps.iter().cloned();
        steps.map(|step| step.into_term(self.location, meter))
    }

    /// Whether a value satisfies the expectation; always true if steps remain.
    pub(super) fn accepts(self, value: &Sym) -> bool {
        match (value, self.expected) {
            (Sym::Known(value), Some(expected)) if self.steps.is_empty() => expected.accepts(value),
            _ => true,
        }
    }
}

impl<'p> Solver<'p> {
    /// Visits the values of a reference.
    pub(super) fn reference(
        &mut self,
        frame: Frame,
        reference: &'p [Term],
        expected: Option<&Expectation>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        if let Some(known) = self.unknown_input(reference) {
            return each(self, Sym::Term(Term::clone(&known)));
        }
        let Some((head, steps)) = reference.split_first() else {
            return Ok(());
        };
        let steps: Vec<_> = steps.iter().map(|step| self.plug(frame, step)).collect();
        let walk = Walk {
            steps: &steps,
            expected,
            location: &head.location,
        };
        if is_var(head, "data") {
            let root = self.policy.module_set().root();
            let documents = self.documents;
            return self.data(&mut Vec::new(), Some(root), Some(documents), walk, each);
        }
        if is_var(head, "input") {
            let input = self.input.clone();
            return self.input(&mut Vec::new(), input.as_ref(), walk, each);
        }
        let base = self.plug(frame, head);
        self.walk(base, walk, each)
    }

    /// Returns the residual term for a constant reference into an unknown part of the input.
    fn unknown_input(&mut self, reference: &'p [Term]) -> Option<Arc<Term>> {
        let place = (reference.as_ptr().addr(), reference.len());
        if let Some(known) = self.analysis.inputs.get(&place) {
            return known.clone();
        }
        let convert = || {
            let (head, steps) = reference.split_first()?;
            let path = constants(steps);
            let is_constant = path.len() == steps.len();
            if !is_constant || !is_var(head, "input") || !self.unknowns.cover(Root::Input, &path) {
                return None;
            }
            let location = &head.location;
            let steps = path
                .iter()
                .map(|step| terms::value(step, location, self.meter));
            Some(Arc::new(terms::reference("input", steps, location)))
        };
        let converted = convert();
        self.analysis.inputs.insert(place, converted.clone());
        converted
    }

    /// Follows steps into a value.
    pub(super) fn walk(&mut self, base: Sym, walk: Walk<'_>, each: OnValue<'_, 'p>) -> Flow {
        let Some((step, rest)) = walk.split() else {
            return each(self, base);
        };
        let term = match base {
            Sym::Known(value) => return self.walk_value(&value, step, rest, each),
            Sym::Term(term) => term,
        };
        match &term.value {
            TermValue::Var(name) if self.bindings.is_free(name) => Ok(()),
            TermValue::Array(items) => {
                let items: Vec<_> = items.iter().enumerate().collect();
                for (index, item) in items {
                    self.if_unified(step, Sym::Known(Value::from(index)), walk.location, |s| {
                        s.walk(Sym::from(item.clone()), rest, each)
                    })?;
                }
                Ok(())
            }
            TermValue::Object(members) => {
                for (key, item) in members {
                    self.if_unified(step, Sym::from(key.clone()), walk.location, |s| {
                        s.walk(Sym::from(item.clone()), rest, each)
                    })?;
                }
                Ok(())
            }
            TermValue::Set(members) => {
                for item in members {
                    let item = Sym::from(item.clone());
                    self.if_unified(step, item.clone(), walk.location, |s| {
                        s.walk(item.clone(), rest, each)
                    })?;
                }
                Ok(())
            }
            _ => {
                let extended = terms::extended(term.clone(), walk.terms(self.meter), walk.location);
                each(self, Sym::Term(extended))
            }
        }
    }

    fn walk_value(
        &mut self,
        value: &Value,
        step: &Sym,
        rest: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        if let Sym::Known(key) = self.bindings.resolved(step.clone()) {
            return match member(value, &key) {
                Some(found) => self.walk(Sym::Known(found.clone()), rest, each),
                None => Ok(()),
            };
        }
        for (key, item) in members(value) {
            self.step()?;
            self.if_unified(&Sym::Known(key), step.clone(), rest.location, |solver| {
                solver.walk(Sym::Known(item.clone()), rest, each)
            })?;
        }
        Ok(())
    }

    /// Calls the continuation for the case that a step is equal to a key, if it can be.
    pub(super) fn if_unified(
        &mut self,
        step: &Sym,
        key: Sym,
        location: &Location,
        next: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        let mark = self.bindings.checkpoint();
        let flow = match self.unify(step.clone(), key, location) {
            true => next(self),
            false => Ok(()),
        };
        self.bindings.undo(mark);
        flow
    }

    /// Follows steps from a path below `data`.
    fn data(
        &mut self,
        path: &mut Vec<Value>,
        node: Option<&'p Node>,
        base: Option<&'p Value>,
        walk: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        if self.unknowns.cover(Root::Data, path) {
            return self.unknown("data", path, walk, each);
        }
        if let Some(node) = node
            && let Some(set) = &node.rules
        {
            return self.rules(path, node, set, walk, each);
        }
        let below = self.unknowns.below(Root::Data, path);
        let Some((step, rest)) = walk.split() else {
            return self.extent(path, node, base, below, walk, each);
        };
        if node.is_none() && !below {
            return match base {
                Some(base) if path.is_empty() || !base_is_object(base) => {
                    self.walk(Sym::Known(base.clone()), walk, each)
                }
                Some(base) => self.stored(base, step, rest, each),
                None => Ok(()),
            };
        }
        if let Sym::Known(key) = self.bindings.resolved(step.clone()) {
            let base = base.and_then(|base| stored(base, &key));
            let node = node.and_then(|node| node.child(&key)).map(AsRef::as_ref);
            path.push(key);
            let flow = match (node, base) {
                (None, None) if !self.unknowns.overlap(Root::Data, path) => Ok(()),
                _ => self.data(path, node, base, rest, each),
            };
            path.pop();
            return flow;
        }
        for key in self.keys(path, node, base) {
            self.step()?;
            let base = base.and_then(|base| stored(base, &key));
            let node = node.and_then(|node| node.child(&key)).map(AsRef::as_ref);
            path.push(key.clone());
            let flow = self.if_unified(&Sym::Known(key), step.clone(), walk.location, |solver| {
                solver.data(path, node, base, rest, each)
            });
            path.pop();
            flow?;
        }
        Ok(())
    }

    /// Follows steps into a base document, where a number also finds the member named by its text.
    fn stored(
        &mut self,
        base: &'p Value,
        step: &Sym,
        rest: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        match self.bindings.resolved(step.clone()) {
            Sym::Known(key) => match (stored(base, &key), rest.steps) {
                (Some(found), []) => each(self, Sym::Known(found.clone())),
                (Some(found), [step, steps @ ..]) if base_is_object(found) => {
                    self.stored(found, step, Walk { steps, ..rest }, each)
                }
                (Some(found), _) => self.walk(Sym::Known(found.clone()), rest, each),
                (None, _) => Ok(()),
            },
            Sym::Term(_) => self.walk_value(base, step, rest, each),
        }
    }

    /// Returns the keys of all documents below a path.
    pub(super) fn keys(
        &self,
        path: &[Value],
        node: Option<&Node>,
        base: Option<&Value>,
    ) -> Vec<Value> {
        let mut keys: Vec<_> = base
            .into_iter()
            .flat_map(members)
            .map(|(key, _)| key)
            .collect();
        let rules = node.into_iter().flat_map(|node| node.children());
        let others = rules.map(|(key, _)| key);
        add_new(
            &mut keys,
            others.chain(self.unknowns.under(Root::Data, path)),
        );
        keys.retain(|key| !path.is_empty() || key.as_str() != Some("system"));
        keys
    }

    /// Visits the whole document at a path without rules.
    fn extent(
        &mut self,
        path: &[Value],
        node: Option<&'p Node>,
        base: Option<&'p Value>,
        below: bool,
        walk: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let location = walk.location;
        let depends = below
            || node.is_some_and(|node| {
                let sets = node.extent();
                sets.into_iter().any(|set| self.depends.rules(node, set))
            });
        if !depends {
            if node.is_none() && !path.is_empty() {
                return match base {
                    Some(base) => each(self, Sym::Known(base.clone())),
                    None => Ok(()),
                };
            }
            return match self.document(path, location)? {
                Some(value) => each(self, Sym::Known(value)),
                None => Ok(()),
            };
        }
        let whole = self.partial_document(PartialDocument::Document, path, location);
        each(self, Sym::Term(whole))
    }

    /// Returns the document at a path that does not depend on unknowns.
    pub(super) fn document(
        &mut self,
        path: &[Value],
        location: &Location,
    ) -> Result<Option<Value>, Box<crate::EvalError>> {
        let steps = path
            .iter()
            .map(|step| terms::value(step, location, self.meter));
        let reference = terms::reference("data", steps, location);
        let value = terms::var(&crate::syntax::Var("$value".into()), location);
        let expr = terms::call("eq", [value, reference], location);
        Ok(self.values_of(&expr, &[])?.pop())
    }

    /// Calls the continuation with a reference into something unknown.
    fn unknown(
        &mut self,
        root: &str,
        path: &[Value],
        walk: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let steps = path
            .iter()
            .map(|step| terms::value(step, walk.location, self.meter));
        let reference = terms::reference(root, steps.chain(walk.terms(self.meter)), walk.location);
        each(self, Sym::Term(reference))
    }

    /// Follows steps from a path of the input.
    fn input(
        &mut self,
        path: &mut Vec<Value>,
        value: Option<&Value>,
        walk: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        if self.unknowns.cover(Root::Input, path) {
            return self.unknown("input", path, walk, each);
        }
        if !self.unknowns.below(Root::Input, path) {
            return match value {
                Some(value) => self.walk(Sym::Known(value.clone()), walk, each),
                None => Ok(()),
            };
        }
        let Some((step, rest)) = walk.split() else {
            let whole = self.partial_document(PartialDocument::Input, path, walk.location);
            return each(self, Sym::Term(whole));
        };
        if let Sym::Known(key) = self.bindings.resolved(step.clone()) {
            let value = value.and_then(|value| member(value, &key));
            path.push(key);
            let flow = self.input(path, value, rest, each);
            path.pop();
            return flow;
        }
        for key in self.input_keys(path, value) {
            let value = value.and_then(|value| member(value, &key));
            path.push(key.clone());
            let flow = self.if_unified(step, Sym::Known(key), walk.location, |solver| {
                solver.input(path, value, rest, each)
            });
            path.pop();
            flow?;
        }
        Ok(())
    }

    /// Returns the keys of all documents below a path of the input.
    pub(super) fn input_keys(&self, path: &[Value], value: Option<&Value>) -> Vec<Value> {
        let base_keys = value.into_iter().flat_map(members).map(|(key, _)| key);
        let mut keys: Vec<_> = base_keys.collect();
        add_new(&mut keys, self.unknowns.under(Root::Input, path));
        keys
    }
}

/// Adds the keys of `others` that are missing, in time that hardly depends on the number of keys.
fn add_new<'k>(keys: &mut Vec<Value>, others: impl Iterator<Item = &'k Value>) {
    let mut known: BTreeSet<Value> = keys.iter().cloned().collect();
    for key in others {
        if known.insert(key.clone()) {
            keys.push(key.clone());
        }
    }
}

fn base_is_object(value: &Value) -> bool {
    value.as_object().is_some() || value.as_array().is_some()
}

/// Returns the members of a value with their keys.
pub(super) fn members(value: &Value) -> Vec<(Value, Value)> {
    if let Some(items) = value.as_array() {
        let items = items.iter().enumerate();
        return items
            .map(|(index, item)| (Value::from(index), item.clone()))
            .collect();
    }
    if let Some(members) = value.as_object() {
        let members = members.iter();
        return members
            .map(|(key, item)| (key.clone(), item.clone()))
            .collect();
    }
    let members = value.as_set().into_iter().flat_map(|set| set.iter());
    members.map(|item| (item.clone(), item.clone())).collect()
}

/// Returns the constant steps at the beginning of a list of steps.
pub(super) fn constants(steps: &[Term]) -> Vec<Value> {
    steps.iter().map_while(constant).collect()
}

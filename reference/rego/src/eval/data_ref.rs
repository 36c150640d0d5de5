//! Resolution of references into `data`: base documents, `with` overrides and virtual documents,
//! seen as one tree.

use super::machine::{Flow, Frame, Interrupt, Machine, PendingExits};
use super::value_ref::{OnValue, Walk, member, stored};
use crate::Value;
use crate::compile::rule_tree::Node;
use crate::meter::AbortReason;
use crate::value::Object;

/// Name of the document below `data` that `data` itself and iteration over `data` omit: only a
/// reference with this name reaches it.
const HIDDEN_DOCUMENT: &str = "system";

/// Path below `data`, as a linked list from its last step.
#[derive(Debug, Clone, Copy)]
pub(super) struct DataPath<'a> {
    above: Option<&'a DataPath<'a>>,
    key: &'a Value,
    depth: usize,
}

/// Rules and documents at a path.
#[derive(Debug, Clone, Copy)]
struct Position<'a, 'p> {
    rules: Option<&'p Node>,
    base: Option<&'p Value>,
    overlay: Option<&'a Value>,
}

impl<'a> DataPath<'a> {
    fn below(above: Option<&'a DataPath<'a>>, key: &'a Value) -> Self {
        let depth = above.map_or(0, |above| above.depth) + 1;
        Self { above, key, depth }
    }

    /// Returns the number of steps.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the steps from `data`.
    pub(super) fn path(&self) -> Vec<Value> {
        let mut path = Vec::with_capacity(self.depth);
        let mut current = Some(self);
        while let Some(place) = current {
            path.push(place.key.clone());
            current = place.above;
        }
        path.reverse();
        path
    }

    /// Whether this path has exactly the given steps.
    fn is(&self, path: &[Value]) -> bool {
        let mut current = Some(self);
        path.len() == self.depth
            && path.iter().rev().all(|step| {
                let found = current.is_some_and(|place| place.key == step);
                current = current.and_then(|place| place.above);
                found
            })
    }
}

impl<'p> Machine<'p> {
    /// Visits each value of a reference into `data`.
    pub(super) fn documents(
        &mut self,
        frame: &Frame<'_>,
        walk: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let overlay = self.overlay.clone();
        let at = Position {
            rules: Some(self.policy.module_set().root()),
            base: Some(self.documents),
            overlay: overlay.as_ref(),
        };
        self.descend(frame, walk, None, at, each)
    }

    /// Follows steps from a path without rules.
    fn descend(
        &mut self,
        frame: &Frame<'_>,
        walk: Walk<'_>,
        place: Option<&DataPath<'_>>,
        at: Position<'_, 'p>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let Some((step, rest)) = walk.split() else {
            return match self.extent(frame, place, at)? {
                Some(value) => each(self, &value),
                None => Ok(()),
            };
        };
        if let crate::ir::Step::One(crate::ir::Operand::Known(key)) = step {
            return self.enter(frame, rest, place, at, key, each);
        }
        match self.key(frame, step) {
            Some(key) => self.enter(frame, rest, place, at, &key, each),
            None => self.enumerate(frame, walk, place, at, each),
        }
    }

    /// Follows the steps after the current one.
    fn enter(
        &mut self,
        frame: &Frame<'_>,
        rest: Walk<'_>,
        place: Option<&DataPath<'_>>,
        at: Position<'_, 'p>,
        key: &Value,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let place = DataPath::below(place, key);
        let overlay = at.overlay.and_then(|overlay| member(overlay, key));
        if self.is_replaced(&place) {
            return match overlay {
                Some(value) => self.walk(frame, rest, value, each),
                None => Ok(()),
            };
        }
        let rules = at.rules.and_then(|node| node.child(key)).map(AsRef::as_ref);
        if let Some(node) = rules
            && let Some(set) = &node.rules
        {
            return self.rules(frame, rest, &place, (node, set), each);
        }
        let base = at.base.and_then(|base| stored(base, key));
        match (rules, base, overlay) {
            (None, Some(value), None) => {
                let rest = Walk {
                    stored: true,
                    ..rest
                };
                self.walk(frame, rest, value, each)
            }
            (None, None, Some(value)) => self.walk(frame, rest, value, each),
            (None, None, None) => Ok(()),
            _ => {
                let at = Position {
                    rules,
                    base,
                    overlay,
                };
                self.descend(frame, rest, Some(&place), at, each)
            }
        }
    }

    /// Follows the first step to each matching document and rule, then the remaining steps.
    fn enumerate(
        &mut self,
        frame: &Frame<'_>,
        walk: Walk<'_>,
        place: Option<&DataPath<'_>>,
        at: Position<'_, 'p>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let Some((step, rest)) = walk.split() else {
            return Ok(());
        };
        let document = self.merged(place, at)?;
        let mut deferred = PendingExits::default();
        match &document {
            Some(Value::Array(items)) => {
                for index in 0..items.len() {
                    let key = Value::from(index as u64);
                    let flow = self.step(frame, step, || key.clone(), &mut |machine| {
                        machine.enter(frame, rest, place, at, &key, each)
                    });
                    deferred.defer(frame.find_one, flow)?;
                }
            }
            Some(Value::Object(members)) => {
                for key in members.keys() {
                    let flow = self.step(frame, step, || key.clone(), &mut |machine| {
                        machine.enter(frame, rest, place, at, key, each)
                    });
                    deferred.defer(frame.find_one, flow)?;
                }
            }
            Some(Value::Set(members)) => {
                for key in members.iter() {
                    let flow = self.step(frame, step, || key.clone(), &mut |machine| {
                        machine.enter(frame, rest, place, at, key, each)
                    });
                    deferred.defer(frame.find_one, flow)?;
                }
            }
            _ => {}
        }
        deferred.propagate()?;
        let Some(node) = at.rules else {
            return Ok(());
        };
        for (key, _) in node.children() {
            if document
                .as_ref()
                .is_some_and(|document| member(document, key).is_some())
            {
                continue;
            }
            self.step(frame, step, || key.clone(), &mut |machine| {
                machine.enter(frame, rest, place, at, key, each)
            })?;
        }
        Ok(())
    }

    /// Returns the whole document at a path.
    fn extent(
        &mut self,
        frame: &Frame<'_>,
        place: Option<&DataPath<'_>>,
        at: Position<'_, 'p>,
    ) -> Result<Option<Value>, Interrupt> {
        let base = self.merged(place, at)?;
        let computed = match at.rules {
            Some(node) => Some(self.leaves(frame, place, node, at.overlay)?),
            None => None,
        };
        Ok(match (base, computed) {
            (Some(base), Some(computed)) => Some(merge(&base, &computed)),
            (base, computed) => base.or(computed),
        })
    }

    /// Returns the documents that rules define at a path and below.
    fn leaves(
        &mut self,
        frame: &Frame<'_>,
        place: Option<&DataPath<'_>>,
        node: &'p Node,
        overlay: Option<&Value>,
    ) -> Result<Value, Interrupt> {
        let mut result = Object::new();
        for (key, child) in node.children() {
            self.meter.make(2);
            self.tick()?;
            if place.is_none() && key.as_str() == Some(HIDDEN_DOCUMENT) {
                continue;
            }
            let here = DataPath::below(place, key);
            let overlay = overlay.and_then(|overlay| member(overlay, key));
            let value = match &child.rules {
                Some(_) if self.is_covered(&here) => overlay.cloned(),
                Some(set) => {
                    let mut taken = None;
                    let walk = Walk {
                        steps: &[],
                        target: None,
                        stored: false,
                    };
                    self.rules(frame, walk, &here, (child, set), &mut |_, value| {
                        taken = Some(value.clone());
                        Ok(())
                    })?;
                    taken
                }
                None => Some(self.leaves(frame, Some(&here), child, overlay)?),
            };
            if let Some(value) = value {
                result.insert(key.clone(), value);
            }
        }
        Ok(Value::from(result))
    }

    /// Returns the document at a path without those that rules define.
    fn merged(
        &self,
        place: Option<&DataPath<'_>>,
        at: Position<'_, '_>,
    ) -> Result<Option<Value>, Interrupt> {
        let mut base = at.base.cloned();
        if place.is_none()
            && let Some(root) = base.as_mut()
            && root.get(HIDDEN_DOCUMENT).is_some()
            && let Some(members) = root.as_object_mut()
        {
            members.remove(HIDDEN_DOCUMENT);
        }
        Ok(match (at.overlay, base) {
            (Some(overlay), Some(base)) => {
                if !self.meter.admits(&base) {
                    return Err(Interrupt::aborted(AbortReason::NotInline));
                }
                self.meter.make_value(&base);
                Some(merge(overlay, &base))
            }
            (overlay, base) => overlay.cloned().or(base),
        })
    }

    /// Whether `with` replaced the document at this path.
    fn is_replaced(&self, place: &DataPath<'_>) -> bool {
        let mut replaced = self.replaced.iter();
        replaced.any(|path| path.is_empty() || place.is(path))
    }

    /// Whether `with` replaced the document at this path or an ancestor of it.
    fn is_covered(&self, place: &DataPath<'_>) -> bool {
        let mut current = Some(place);
        !self.replaced.is_empty()
            && std::iter::from_fn(|| {
                let place = current?;
                current = place.above;
                Some(place)
            })
            .any(|place| self.is_replaced(place))
    }
}

/// Merges two documents. Where both have a value and they are not both objects, the first counts.
pub(super) fn merge(first: &Value, second: &Value) -> Value {
    let (Value::Object(left), Value::Object(right)) = (first, second) else {
        return first.clone();
    };
    if right.is_empty() {
        return first.clone();
    }
    let mut result = left.clone();
    for (key, value) in right.iter() {
        match result.get_value_mut(key) {
            Some(existing) => *existing = merge(existing, value),
            None => {
                result.insert(key.clone(), value.clone());
            }
        }
    }
    Value::from(result)
}

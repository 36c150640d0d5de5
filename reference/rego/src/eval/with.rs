//! `with`: evaluation with documents and functions replaced.

use std::sync::Arc;

use super::binding::Binding;
use super::machine::{Continuation, Flow, Frame, Interrupt, Machine};
use super::mocks::Mock;
use crate::Value;
use crate::error::EvalCode;
use crate::ir::{Expr, FunctionName, Replacement, Target};
use crate::value::Object;

/// State that `with` changes while its expression is evaluated.
struct ModifiedState<'p> {
    input: Binding<'p>,
    overlay: Option<Value>,
    replaced: Vec<Arc<[Value]>>,
    mocks: Vec<(FunctionName, Mock)>,
    /// Whether a document cannot be inserted at the requested path.
    is_misplaced: bool,
}

/// State before `with` changed it.
struct SavedState<'p> {
    input: Binding<'p>,
    overlay: Option<Value>,
    replaced: usize,
    mocks: usize,
}

impl<'p> Machine<'p> {
    /// Evaluates an expression under its modifiers, and the continuation outside of them.
    pub(super) fn with(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let Some(changed) = self.changed(frame, expr) else {
            return Ok(());
        };
        if changed.is_misplaced {
            let message = "bad document path".to_owned();
            return Err(Interrupt::failed_at(
                frame,
                EvalCode::Conflict,
                &expr.location,
                message,
            ));
        }
        let mut before = Some(self.change(&changed));
        let flow = self.solve(frame, expr, &mut |machine| {
            if let Some(before) = before.take() {
                machine.restore(before);
            }
            let flow = machine.advance(frame, next);
            before = Some(machine.change(&changed));
            flow
        });
        if let Some(before) = before {
            self.restore(before);
        }
        flow
    }

    fn changed(&self, frame: &Frame<'_>, expr: &Expr) -> Option<ModifiedState<'p>> {
        let mut changed = ModifiedState {
            input: self.input.clone(),
            overlay: self.overlay.clone(),
            replaced: Vec::new(),
            mocks: Vec::new(),
            is_misplaced: false,
        };
        for with in &expr.with {
            let value = match &with.value {
                Replacement::Value(operand) => Mock::Value(self.value(frame, operand)?),
                Replacement::Function(name) => Mock::Function(name.clone()),
            };
            match &with.target {
                Target::Function(name) => changed.mocks.push((name.clone(), value)),
                Target::Data(path) if self.is_function(path) => {
                    changed
                        .mocks
                        .push((FunctionName::Policy(path.clone()), value));
                    changed.replaced.push(path.as_slice().into());
                }
                Target::Input(path) => {
                    changed.is_misplaced |= !is_path(path);
                    if let Mock::Value(value) = value {
                        let mut input = changed.input.get().cloned();
                        replace(&mut input, path, value);
                        changed.input = input.into();
                    }
                }
                Target::Data(path) => {
                    changed.is_misplaced |= !is_path(path);
                    if let Mock::Value(value) = value {
                        replace(&mut changed.overlay, path, value);
                        changed.replaced.push(path.as_slice().into());
                    }
                }
            }
        }
        Some(changed)
    }

    fn change(&mut self, changed: &ModifiedState<'p>) -> SavedState<'p> {
        let before = SavedState {
            input: std::mem::replace(&mut self.input, changed.input.clone()),
            overlay: std::mem::replace(&mut self.overlay, changed.overlay.clone()),
            replaced: self.replaced.len(),
            mocks: self.mocks.len(),
        };
        self.replaced.extend(changed.replaced.iter().cloned());
        for (name, mock) in &changed.mocks {
            self.mocks.push(name.clone(), mock.clone());
        }
        self.memos.push();
        before
    }

    fn restore(&mut self, before: SavedState<'p>) {
        self.memos.pop();
        self.mocks.truncate(before.mocks);
        self.replaced.truncate(before.replaced);
        self.overlay = before.overlay;
        self.input = before.input;
    }
}

/// Whether a document can be inserted at a path: only objects are created on the way, and only
/// their members with string keys are replaced.
fn is_path(path: &[Value]) -> bool {
    path.iter().all(Value::is_string)
}

/// Inserts a value into a document. Objects are created on the path to the value where there is
/// nothing, and where there is a value that is not an object.
fn replace(document: &mut Option<Value>, path: &[Value], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *document = Some(value);
        return;
    };
    let whole = document.get_or_insert_with(|| Value::from(Object::new()));
    if !matches!(whole, Value::Object(_)) {
        *whole = Value::from(Object::new());
    }
    let mut member = None;
    if let Some(members) = whole.as_object_mut() {
        if !rest.is_empty() {
            member = members.remove_value(first);
        }
        replace(&mut member, rest, value);
        if let Some(member) = member {
            members.insert(first.clone(), member);
        }
    }
}

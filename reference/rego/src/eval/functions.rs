//! Calls of functions that policies define.

use std::sync::Arc;

use super::conflicts::conflict;
use super::machine::{Continuation, Flow, Frame, Interrupt, Machine, PendingExits, exit_query};
use super::mocks::Mock;
use super::rules::{Candidate, Candidates};
use super::trace::Subject;
use crate::Value;
use crate::compile::rule_tree::RuleSet;
use crate::ir::Program;
use crate::ir::{FunctionCall, FunctionName, Operand};
use crate::trace::Op;

/// Operands and expected result of a call, which the rules of the function are evaluated with.
pub(super) struct Args {
    /// The operands.
    args: Arc<[Value]>,
    /// The value that the result must have, if it is known.
    expected: Option<Value>,
}

/// A call with known operands.
struct Call<'c, 'p> {
    set: &'p RuleSet,
    arguments: Args,
    /// Term that the value is unified with; if absent, the value must not be `false`.
    output: Option<&'c Operand>,
    find_one: bool,
}

/// Decision on the evaluation that a call requires.
enum CallRequest<'c, 'p> {
    Undefined,
    /// No evaluation: the value is memoized. Also contains the number of operands.
    Known(Value, usize),
    /// These rules must be evaluated.
    Open(Call<'c, 'p>, Candidates<'p>),
}

/// Result of a call that was evaluated without the continuation.
pub(super) enum CallOutcome {
    Undefined,
    /// The value, and the number of operands.
    Value(Value, usize),
    /// The call was not evaluated.
    Open,
}

/// State while the rules of a function are evaluated.
struct Attempt {
    /// Value of the call.
    value: Option<Value>,
    /// Whether the current rule has a value.
    produced: bool,
}

impl<'p> Machine<'p> {
    /// Calls a function, and for its result the continuation.
    pub(super) fn call(
        &mut self,
        frame: &Frame<'_>,
        call: &FunctionCall,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        if !self.mocks.is_empty()
            && let Some(mock) = self.mocks.policy(&call.path)
        {
            return self.mocked(frame, mock, self.arity(&call.path), &call.args, next);
        }
        self.call_policy(frame, &call.path, &call.args, next)
    }

    /// Calls the replacement of a function that has `arity` parameters.
    pub(super) fn mocked(
        &mut self,
        frame: &Frame<'_>,
        mock: Mock,
        arity: usize,
        args: &[Operand],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let callee = match mock {
            Mock::Value(value) => return self.result(frame, &value, args.get(arity), next),
            Mock::Function(callee) => callee,
        };
        match (&callee.name, args.get(arity)) {
            (FunctionName::Policy(path), output) if !self.is_function(path) => match output {
                Some(output) => self.unify(frame, output, &callee.operand, next),
                None => next(self),
            },
            (name, _) => self.call_mock(frame, name, args, next),
        }
    }

    /// Calls the function that replaces another. During the call, no function is replaced.
    fn call_mock(
        &mut self,
        frame: &Frame<'_>,
        name: &FunctionName,
        args: &[Operand],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let mut hidden = std::mem::take(&mut self.mocks);
        let mut resume = |machine: &mut Self| {
            let inner = std::mem::replace(&mut machine.mocks, std::mem::take(&mut hidden));
            let flow = next(machine);
            hidden = std::mem::replace(&mut machine.mocks, inner);
            flow
        };
        let flow = match name {
            FunctionName::Policy(path) => self.call_policy(frame, path, args, &mut resume),
            FunctionName::Builtin(name) => self.call_named(frame, name, args, &mut resume),
        };
        self.mocks = hidden;
        flow
    }

    fn arity(&self, path: &[Value]) -> usize {
        let rules = self
            .policy
            .module_set()
            .find(path)
            .and_then(|node| node.rules.as_ref());
        rules.map_or(0, |rules| rules.arity)
    }

    /// Whether a path names a function.
    pub(super) fn is_function(&self, path: &[Value]) -> bool {
        self.arity(path) > 0
    }

    /// Unifies the result of a call with its output; without an output, tests that the result is
    /// not `false`.
    pub(super) fn result(
        &mut self,
        frame: &Frame<'_>,
        value: &Value,
        output: Option<&Operand>,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        match output {
            Some(output) => self.accept(frame, value, output, next),
            _ if *value == Value::Bool(false) => Ok(()),
            _ => next(self),
        }
    }

    fn call_policy(
        &mut self,
        frame: &Frame<'_>,
        path: &[Value],
        args: &[Operand],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        match self.prepare_call(frame, path, args)? {
            CallRequest::Undefined => Ok(()),
            CallRequest::Known(value, arity) => self.result(frame, &value, args.get(arity), next),
            CallRequest::Open(call, matched) => {
                exit_query(self.first_result(frame, &call, &matched, next))
            }
        }
    }

    /// Returns the value of a call and the number of its operands, if the value can be computed
    /// before the continuation runs, which is impossible if several rules have to be evaluated.
    pub(super) fn call_value(
        &mut self,
        frame: &Frame<'_>,
        call: &FunctionCall,
    ) -> Result<CallOutcome, Interrupt> {
        let node = self.policy.module_set().find(&call.path);
        let set = node.and_then(|node| node.rules.as_ref());
        if !set.is_some_and(|set| set.one_rule_may_suffice() && self.is_independent(set)) {
            return Ok(CallOutcome::Open);
        }
        Ok(match self.prepare_call(frame, &call.path, &call.args)? {
            CallRequest::Undefined => CallOutcome::Undefined,
            CallRequest::Known(value, arity) => CallOutcome::Value(value, arity),
            CallRequest::Open(_, matched) if !matched.one_rule_suffices() => CallOutcome::Open,
            CallRequest::Open(call, matched) => {
                exit_query(self.first_result(frame, &call, &matched, &mut |_| Ok(())))?;
                match self.memos.call(call.set, &call.arguments.args) {
                    Some(value) => CallOutcome::Value(value, call.set.arity),
                    None => CallOutcome::Undefined,
                }
            }
        })
    }

    /// Determines which evaluation a call requires.
    fn prepare_call<'c>(
        &mut self,
        frame: &Frame<'_>,
        path: &[Value],
        args: &'c [Operand],
    ) -> Result<CallRequest<'c, 'p>, Interrupt> {
        let policy = self.policy;
        let node = policy.module_set().find(path);
        let Some((node, set)) = node.and_then(|node| Some((node, node.rules.as_ref()?))) else {
            return Ok(CallRequest::Undefined);
        };
        let operands = args
            .iter()
            .take(set.arity)
            .map(|arg| self.value(frame, arg));
        let Some(operands) = operands.collect::<Option<Vec<_>>>() else {
            return Ok(CallRequest::Undefined);
        };
        let matched = self.matching(node, set, Some(&operands));
        if self.watched() {
            self.trace_index(frame, &matched, path);
        }
        if matched.is_empty() {
            return Ok(CallRequest::Undefined);
        }
        // The lookup compares the operands with those of memoized calls.
        let is_known = self.memos.knows_calls(set);
        if is_known && !operands.iter().all(|operand| self.meter.admits(operand)) {
            self.tick()?;
            return Ok(CallRequest::Undefined);
        }
        if let Some(value) = self.memos.call(set, &operands) {
            return Ok(CallRequest::Known(value, set.arity));
        }
        let output = args.get(set.arity);
        let call = Call {
            set,
            arguments: Args {
                args: operands.into(),
                expected: output.and_then(|output| self.value(frame, output)),
            },
            output,
            find_one: matched.early_exit,
        };
        Ok(CallRequest::Open(call, matched))
    }

    fn first_result(
        &mut self,
        frame: &Frame<'_>,
        call: &Call<'_, 'p>,
        matched: &Candidates<'p>,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let mut attempt = Attempt {
            value: None,
            produced: false,
        };
        let mut deferred = PendingExits::default();
        let mut done = None;
        for candidate in &matched.candidates {
            if done == Some(candidate.address()) {
                continue;
            }
            attempt.produced = false;
            let flow = self.attempt_call(frame, call, *candidate, &mut attempt, next);
            if attempt.produced {
                done = Some(candidate.address());
            }
            if let Err(stop) = deferred.defer(call.find_one, flow) {
                let arguments = Some(&call.arguments);
                return Err(self.all_conflicts(frame, stop, matched, *candidate, arguments));
            }
        }
        match matched.default {
            Some(default) if attempt.value.is_none() => {
                self.attempt_call(frame, call, default, &mut attempt, next)
            }
            _ => deferred.propagate(),
        }
    }

    fn attempt_call(
        &mut self,
        frame: &Frame<'_>,
        call: &Call<'_, 'p>,
        candidate: Candidate<'p>,
        attempt: &mut Attempt,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let Some(program) = self.program(candidate) else {
            return Ok(());
        };
        let child = self.open(Some(frame), program, call.find_one);
        if self.watched() {
            self.report_enter_rule(&child, candidate);
        }
        let mark = self.trail.len();
        let flow = if self.unify_parameters(&child, program, &call.arguments) {
            self.body(&child, &mut |machine| {
                if machine.notes_exits {
                    machine.note_exit(&child, candidate);
                }
                let Some(value) = machine.head_value(&child, program) else {
                    return Ok(());
                };
                attempt.produced = true;
                let is_first = match &attempt.value {
                    Some(earlier) if !machine.equal(earlier, &value) => {
                        return Err(conflict(&child, candidate, true));
                    }
                    Some(_) => false,
                    None => true,
                };
                if is_first {
                    attempt.value = Some(value.clone());
                    machine.meter.make(6 + call.arguments.args.len());
                    machine
                        .memos
                        .put_call(call.set, &call.arguments.args, value.clone());
                }
                if call.output.is_none() && value == Value::Bool(false) {
                    return Ok(());
                }
                if is_first {
                    match call.output {
                        Some(output) => machine.accept(frame, &value, output, next)?,
                        None => next(machine)?,
                    }
                }
                if machine.watched() {
                    machine.report(&child, Op::Redo, Subject::Rule(candidate));
                }
                Ok(())
            })
        } else {
            Ok(())
        };
        self.trail.truncate(mark);
        self.close(&child);
        flow
    }

    /// Unifies the parameters of a rule with these operands. Returns whether that is possible.
    pub(super) fn unify_parameters(
        &mut self,
        child: &Frame<'_>,
        program: &Program,
        arguments: &Args,
    ) -> bool {
        let head = &program.head;
        let mut operands = head.args.iter().zip(arguments.args.iter());
        operands.all(|(parameter, arg)| self.matches(child, arg, parameter))
            && match (&arguments.expected, &head.value) {
                (Some(expected), Some(value)) => self.matches(child, expected, value),
                _ => true,
            }
    }
}

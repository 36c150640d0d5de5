//! Calls of built-in functions.

use smallvec::SmallVec;

use super::machine::{Continuation, Flow, Frame, Interrupt, Machine};
use crate::Value;
use crate::builtins::{Call, Cost, Failure, Function, SmallResult};
use crate::error::{EvalCode, EvalError};
use crate::ir::{Builtin, BuiltinCall, Expr, Operand, Operator};
use crate::meter::AbortReason;
use crate::value::Array;

/// Result of a call.
type Outcome = Result<Option<Value>, Failure>;

impl<'p> Machine<'p> {
    /// Calls a built-in function, and the continuation for each result.
    pub(super) fn builtin(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        call: &BuiltinCall,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        if !self.mocks.is_empty()
            && let Some(mock) = self.mocks.builtin(call.builtin.name)
        {
            return self.mocked(frame, mock, call.builtin.arity, &call.args, next);
        }
        self.call_builtin(frame, expr, call.builtin, &call.args, next)
    }

    /// Calls a built-in function that replaces another function.
    pub(super) fn call_named(
        &mut self,
        frame: &Frame<'_>,
        name: &str,
        args: &[Operand],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let expr = frame.body.exprs.get(frame.index.get());
        match (expr, Builtin::named(name)) {
            (Some(expr), Some(builtin)) => self.call_builtin(frame, expr, builtin, args, next),
            _ => Ok(()),
        }
    }

    fn call_builtin(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        builtin: Builtin,
        args: &[Operand],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let output = args.get(builtin.arity);
        let args = args.get(..builtin.arity).unwrap_or(args);
        if let (Operator::Walk, [document, ..]) = (builtin.operator, args) {
            let Some(document) = self.value(frame, document) else {
                return Ok(());
            };
            return self.visit_tree(frame, &document, output, next);
        }
        match self.computed(frame, expr, builtin, args)? {
            Some(_) if builtin.void => next(self),
            Some(value) => self.result(frame, &value, output, next),
            None => Ok(()),
        }
    }

    /// Computes a call with two small operands on the fast path of the function, if it has one.
    #[inline]
    pub(super) fn fast_path(
        &self,
        frame: &Frame<'_>,
        builtin: Builtin,
        args: &[Operand],
    ) -> Option<SmallResult> {
        match (builtin.quick, args) {
            (Some(quick), [first, second, ..]) => quick(
                self.borrow_value(frame, first)?,
                self.borrow_value(frame, second)?,
            ),
            _ => None,
        }
    }

    /// Returns the result of a call with at most one result. A void function returns `null`.
    pub(super) fn computed(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        builtin: Builtin,
        args: &[Operand],
    ) -> Result<Option<Value>, Interrupt> {
        let outcome = match (builtin.operator, args) {
            (Operator::Print, [parts, ..]) => {
                let parts = self.value(frame, parts);
                self.print(frame, expr, parts.as_ref().and_then(Value::as_array))?;
                Ok(None)
            }
            (Operator::Note, [text, ..]) => {
                let text = self.value(frame, text);
                self.note(frame, text)
            }
            (Operator::Function(cost, function), [first, second]) => {
                let (Some(first), Some(second)) =
                    (self.value(frame, first), self.value(frame, second))
                else {
                    return Ok(None);
                };
                self.apply(expr, builtin, (cost, function), &[first, second])
            }
            (Operator::Function(cost, function), args) => {
                let args = args.iter().map(|arg| self.value(frame, arg));
                let Some(args) = args.collect::<Option<SmallVec<[Value; 4]>>>() else {
                    return Ok(None);
                };
                self.apply(expr, builtin, (cost, function), &args)
            }
            _ => {
                let message = format!("unsupported built-in: {}", builtin.name);
                return Err(Interrupt::failed_at(
                    frame,
                    EvalCode::Internal,
                    &expr.location,
                    message,
                ));
            }
        };
        match outcome {
            Ok(_) if builtin.void => Ok(Some(Value::Null)),
            Ok(result) => Ok(result),
            Err(failure) => {
                self.failed(frame, expr, builtin.name, failure)?;
                Ok(None)
            }
        }
    }

    fn apply(
        &mut self,
        expr: &Expr,
        builtin: Builtin,
        (cost, function): (Cost, Function),
        args: &[Value],
    ) -> Outcome {
        let key = builtin
            .nondeterministic
            .then(|| (builtin.name, args.to_vec()));
        if let Some(key) = &key
            && key.1.iter().all(|arg| self.meter.admits(arg))
            && let Some(answer) = self.session.answers.get(key)
        {
            return Ok(answer.clone());
        }
        let mut context = Call {
            location: &expr.location,
            session: &mut self.session,
            meter: self.meter,
            outside: self.outside,
        };
        context.afford(cost, args)?;
        let answer = function(&mut context, args)?;
        let meter = &self.meter;
        if let Some(value) = answer.as_ref().filter(|_| builtin.makes) {
            meter.make_value(value);
            if value.is_composite() {
                // A value parsed from a string is allocated with all of its parts, whose number is
                // estimated from the length of the string.
                let texts = args.iter().filter_map(Value::as_str);
                meter.make(texts.map(|text| text.len() / 8).sum());
            }
        }
        if let Some(key) = key {
            self.meter.make(4 + key.1.len());
            self.session.answers.insert(key, answer.clone());
        }
        Ok(answer)
    }

    /// Handles a failed call: it is undefined, and an error only in strict evaluations.
    fn failed(&mut self, frame: &Frame<'_>, expr: &Expr, name: &str, failure: Failure) -> Flow {
        let (code, message) = match failure {
            Failure::Type(message) => (EvalCode::Type, message),
            Failure::Value(message) => (EvalCode::Builtin, message),
            Failure::Halt(message) => {
                let message = format!("{name}: {message}");
                return Err(Interrupt::failed_at(
                    frame,
                    EvalCode::Builtin,
                    &expr.location,
                    message,
                ));
            }
            Failure::Aborted(ended) => return Err(Interrupt::aborted(ended)),
        };
        if self.strict && self.builtin_error.is_none() {
            self.builtin_error = Some(Box::new(EvalError {
                code,
                message: format!("{name}: {message}"),
                location: Some(expr.location.clone()),
                stack: frame.stack(),
            }));
        }
        Ok(())
    }

    fn note(&mut self, frame: &Frame<'_>, text: Option<Value>) -> Outcome {
        match text {
            Some(text) if text.is_string() => {
                self.trace_note(frame, &text.as_lossy().unwrap_or_default());
                Ok(Some(Value::Bool(true)))
            }
            Some(other) => Err(Failure::Type(format!(
                "operand 1 must be string but got {}",
                other.kind()
            ))),
            None => Ok(None),
        }
    }

    /// Prints one line for each combination of one member of each part, joined by spaces.
    /// Each part is the set of the values of one printed expression.
    fn print(&mut self, frame: &Frame<'_>, expr: &Expr, parts: Option<&Array>) -> Flow {
        let (Some(print), Some(parts)) = (&mut self.print, parts) else {
            return Ok(());
        };
        if self.meter.is_inline() {
            return Err(Interrupt::aborted(AbortReason::NotInline));
        }
        let mut lines = vec![String::new()];
        for (index, part) in parts.iter().enumerate() {
            self.meter.unfold(part).map_err(Interrupt::aborted)?;
            let choices: Vec<String> = match part {
                Value::Set(members) if members.is_empty() => vec!["<undefined>".to_owned()],
                Value::Set(members) => members.iter().map(printed).collect(),
                Value::Array(_) | Value::Object(_) => {
                    let message = format!("illegal argument type: {}", part.kind());
                    let location = &expr.location;
                    return Err(Interrupt::failed_at(
                        frame,
                        EvalCode::Internal,
                        location,
                        message,
                    ));
                }
                scalar => vec![printed(scalar)],
            };
            let space = if index == 0 { "" } else { " " };
            let longer = lines.iter().flat_map(|line| {
                choices
                    .iter()
                    .map(move |choice| format!("{line}{space}{choice}"))
            });
            lines = longer.take(MAX_LINES).collect();
        }
        for line in lines {
            self.meter.make(1 + line.len() / 16);
            print(&expr.location, &line);
        }
        Ok(())
    }
}

/// Maximum number of lines that one call prints.
const MAX_LINES: usize = 10_000;

/// Formats a value for `print`: strings without quotes.
fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => super::unparse::value(other).to_string(),
    }
}

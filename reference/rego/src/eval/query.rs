//! Queries of a policy.

use std::fmt;
use std::sync::Arc;

use thin_vec::{ThinVec, thin_vec};

use super::binding::Binding;
use super::evaluation::{Evaluation, Solution};
use super::labels::Labels;
use super::machine::{Machine, Values};
use super::scratch::Scratch;
use super::trace::TraceContext;
use crate::Value;
use crate::compile::rule_tree::SourceNames;
use crate::compile::{self, Policy};
use crate::error::{Code, Errors, EvalError, LanguageError};
use crate::hash::HashMap;
use crate::ir::lower;
use crate::ir::{Program, Slot};
use crate::syntax::{self, Body, Expr, ExprTerms, Location, Term, TermValue, Var, Version};

/// Options for compiling a query.
#[derive(Debug, Clone, Default)]
pub struct QueryOptions<'o> {
    /// Names of the built-in functions that the query must not call.
    pub forbidden: &'o [&'o str],
}

/// Query of a policy: compiled once, evaluated any number of times, also concurrently. Contains a
/// clone of the policy that it was compiled for.
pub struct Query {
    policy: Policy,
    body: Body,
    program: Program,
    written: SourceNames,
    /// Variables in solutions, by their source names.
    visible: Vec<(Arc<str>, Slot)>,
    /// For each source expression, the variable that captures its value.
    values: Vec<Option<Slot>>,
}

impl Query {
    /// Parses and compiles a query.
    ///
    /// # Errors
    /// All errors of the first compilation step that fails.
    pub fn parse(policy: &Policy, text: &str, options: &QueryOptions<'_>) -> Result<Self, Errors> {
        Self::compile(policy, Self::read(text)?, options)
    }

    /// Parses a query in Rego v1.
    ///
    /// # Errors
    /// Syntax errors.
    pub fn read(text: &str) -> Result<Body, Errors> {
        syntax::parse_query(text)
    }

    /// Parses a query in a given version of the language.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_as(text: &str, version: Version) -> Result<Body, Errors> {
        syntax::parse_query_as(text, version)
    }

    /// Compiles a query.
    ///
    /// # Errors
    /// All errors of the first compilation step that fails: unsafe variables, undefined or
    /// forbidden functions, type errors.
    pub fn compile(
        policy: &Policy,
        body: Body,
        options: &QueryOptions<'_>,
    ) -> Result<Self, Errors> {
        let unit = compile::query(policy, body)?;
        let program = lower::query(&unit.body);
        let forbidden = forbidden(&unit.body, options);
        if !forbidden.is_empty() {
            return Err(Errors(forbidden));
        }
        let written: HashMap<Var, Var> = unit.written.into_iter().collect();
        let names = program.names.iter().enumerate();
        let visible = names.filter_map(|(slot, name)| {
            let name = written.get(name).unwrap_or(name);
            (!name.is_generated()).then(|| (name.0.clone(), slot))
        });
        let mut visible: Vec<_> = visible.collect();
        visible.sort();
        let exprs = unit.body.iter().filter(|expr| !expr.generated);
        let values = exprs.map(|expr| capturing(&program, expr)).collect();
        Ok(Self {
            policy: policy.clone(),
            body: unit.body,
            program,
            written: Arc::new(written),
            visible,
            values,
        })
    }

    /// Compiles the query for the document at a path below `data`. That document is its only
    /// answer, if there is one: see [`Solution::into_document`].
    ///
    /// # Errors
    /// Compile errors that show that there can be no document at the path.
    pub fn document(policy: &Policy, path: &[Value]) -> Result<Self, Errors> {
        let mut text = String::from("data");
        for step in path {
            match step {
                Value::String(name) if is_name(name) => {
                    text.push('.');
                    text.push_str(name);
                }
                step => text.push_str(&format!("[{step}]")),
            }
        }
        let location = Location {
            file: "".into(),
            row: 1,
            col: 1,
            offset: 0,
            length: text.len().try_into().unwrap_or(u32::MAX),
        };
        let head = TermValue::Var(Var("data".into()));
        let steps = path.iter().map(super::unparse::value);
        let terms = std::iter::once(head).chain(steps).map(|value| Term {
            value,
            location: location.clone(),
        });
        let term = Term {
            value: TermValue::Ref(terms.collect()),
            location: location.clone(),
        };
        let expr = Expr {
            terms: ExprTerms::Term(Box::new(term)),
            negated: false,
            with: ThinVec::new(),
            index: 0,
            generated: false,
            assigned: false,
            location,
        };
        Self::compile(policy, thin_vec![expr], &QueryOptions::default())
    }

    /// Returns the solutions of the query, in the order in which they are found.
    ///
    /// # Errors
    /// A conflict between rules, a failure of a built-in function if those are errors, or the
    /// cancellation of the evaluation.
    pub fn evaluate(&self, evaluation: &mut Evaluation<'_>) -> Result<Vec<Solution>, EvalError> {
        let mut solutions = Vec::new();
        let mut answer = |value: Values<'_>| {
            let bindings = self
                .visible
                .iter()
                .filter_map(|(name, slot)| Some((name.clone(), value(*slot)?)));
            let values = self.values.iter().map(|slot| captured(*slot, value));
            solutions.push(Solution {
                bindings: bindings.collect(),
                values: values.collect(),
            });
        };
        self.evaluated(evaluation, |machine| {
            machine.for_each_solution(&self.program, &mut answer)
        })?;
        Ok(solutions)
    }

    /// Evaluates a query created by [`Self::document`]. Returns the document, `None` if it is
    /// undefined.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn decide(&self, evaluation: &mut Evaluation<'_>) -> Result<Option<Value>, EvalError> {
        let target = self.values.first().copied();
        self.evaluated(evaluation, |machine| {
            if let Some(Some(target)) = target {
                return machine.document(&self.program, target);
            }
            let mut document = None;
            machine.for_each_solution(&self.program, &mut |_| {
                document = target.map(|_| Value::Bool(true));
            })?;
            Ok(document)
        })
    }

    /// Runs `evaluate` with a new machine, and stores what the machine has recorded.
    fn evaluated<T>(
        &self,
        evaluation: &mut Evaluation<'_>,
        evaluate: impl FnOnce(&mut Machine<'_>) -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        let input = evaluation.input.take();
        let meter = evaluation.meter();
        let mut machine = Machine::new(&self.policy, evaluation, &meter);
        machine.input = input.as_ref().map_or(Binding::Unbound, Binding::Borrowed);
        machine.print = match &mut evaluation.print {
            Some(print) => Some(&mut **print),
            None => None,
        };
        machine.watch = match &mut evaluation.tracer {
            Some(tracer) => {
                let tracer = &mut **tracer;
                let first = self.body.first();
                let start = first.map_or_else(super::no_location, |expr| expr.location.clone());
                let watch =
                    TraceContext::new(tracer, &self.body, &self.program, &self.written, start);
                Some(Box::new(watch))
            }
            None => None,
        };
        let is_requested = evaluation.rule_labels.is_some();
        let labels = is_requested && self.policy.module_set().has_labels();
        machine.labels = labels.then(Box::<Labels>::default);
        machine.notes_exits = labels || machine.watch.is_some();
        let evaluated = evaluate(&mut machine);
        // Destructured in place, because moving the machine costs as much as a lookup.
        let Machine {
            labels,
            session,
            slots,
            trail,
            memos,
            watch,
            ..
        } = machine;
        drop(watch);
        if let Some(labels) = labels {
            evaluation.rule_labels = Some(labels.found());
        }
        Scratch {
            slots,
            trail,
            memos,
        }
        .recycle();
        evaluation.input = input;
        evaluation.take_calls(session.answers);
        evaluated
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.body).finish()
    }
}

/// Returns the value of an expression: `true`, unless a variable captures it.
fn captured(slot: Option<Slot>, value: Values<'_>) -> Value {
    match slot {
        Some(slot) => value(slot).unwrap_or(Value::Null),
        None => Value::Bool(true),
    }
}

/// Returns the variable that captures the value of an expression, if there is one.
fn capturing(program: &Program, expr: &Expr) -> Option<Slot> {
    let ExprTerms::Call(terms) = &expr.terms else {
        return None;
    };
    let TermValue::Var(name) = &terms.last()?.value else {
        return None;
    };
    name.0.starts_with("$term").then_some(())?;
    program.names.iter().position(|other| other == name)
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns errors for calls of functions that the query must not call.
pub(crate) fn forbidden(body: &Body, options: &QueryOptions<'_>) -> Vec<LanguageError> {
    if options.forbidden.is_empty() {
        return Vec::new();
    }
    let nodes = super::source_map::SourceMap::of_query(body);
    let calls = nodes.exprs.iter().filter_map(|expr| {
        let ExprTerms::Call(terms) = &expr.terms else {
            return None;
        };
        let name = crate::syntax::terms::dotted(crate::syntax::terms::operator(terms)?)?;
        options.forbidden.contains(&&*name).then(|| {
            let message = format!("unsafe built-in function calls in expression: {name}");
            LanguageError::at(Code::Type, &expr.location, message)
        })
    });
    calls.collect()
}

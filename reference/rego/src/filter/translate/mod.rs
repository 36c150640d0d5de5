//! Translation of residual queries to conditions on columns.
//!
//! An expression that is not exactly a condition is rejected with its location. Variables are
//! resolved to the terms that they are unified with; rules of support modules are inlined where
//! they are referred to, with their defaults and `else` branches.

mod calls;
mod operand;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Unsupported;
use super::condition::{Comparison, Condition, Predicate, Test};
use crate::Value;
use crate::hash::HashMap;
use crate::syntax::terms::{Path, operator, rule_reference};
use crate::syntax::{
    Body, Connective, Expr, ExprTerms, Location, Logic, Module, Rule, TermValue, Var,
};
use crate::syntax::{format::Conjunction, terms};
use operand::Operand;

/// Maximum number of parts of a condition.
const MAX_PARTS: usize = 20_000;

/// Maximum nesting depth of rules of support modules and terms.
const MAX_DEPTH: usize = 64;

/// Bindings of the variables of a body.
type Scope = HashMap<Var, Operand>;

/// State of the translation.
pub(super) struct Translator<'r> {
    /// Rules of the support modules by their paths below `data`.
    rules: BTreeMap<Path, Vec<&'r Rule>>,
    short_names: &'r BTreeSet<Arc<str>>,
    /// Current nesting depth of rules and terms.
    depth: usize,
}

/// Translates residual queries to a condition.
pub(super) fn queries(
    queries: &[Body],
    support: &[Module],
    short_names: &BTreeSet<Arc<str>>,
) -> Result<Condition, Vec<Unsupported>> {
    let mut rules: BTreeMap<Path, Vec<&Rule>> = BTreeMap::new();
    for module in support {
        for rule in &module.rules {
            if let Some(path) = terms::data_path(&rule_reference(module, rule)) {
                rules.entry(path).or_default().push(rule);
            }
        }
    }
    let mut translator = Translator {
        rules,
        short_names,
        depth: 0,
    };
    let mut alternatives = Vec::new();
    let mut refusals = Vec::new();
    let mut size = 0;
    for body in queries {
        match translator.body(body, &mut Scope::default()) {
            Ok(condition) => {
                size += condition.size();
                alternatives.push(condition);
                if size > MAX_PARTS {
                    let place = body.first().map(|expr| &expr.location);
                    refusals.extend(place.map(too_large));
                    return Err(refusals);
                }
            }
            Err(more) => refusals.extend(more),
        }
    }
    if refusals.is_empty() {
        Ok(Condition::any(alternatives))
    } else {
        Err(refusals)
    }
}

impl Translator<'_> {
    /// Translates a body, whose variables are bound in the scope.
    fn body(&mut self, body: &[Expr], scope: &mut Scope) -> Result<Condition, Vec<Unsupported>> {
        // Equations that bind variables are translated first, wherever they occur.
        let is_equation = |expr: &Expr| !expr.negated && expr.with.is_empty() && is_equality(expr);
        let (first, then): (Vec<&Expr>, Vec<&Expr>) =
            body.iter().partition(|expr| is_equation(expr));
        let mut conditions = Vec::new();
        let mut refusals = Vec::new();
        for expr in first.into_iter().chain(then) {
            match self.expr(expr, scope) {
                Ok(condition) => conditions.push((expr.index, condition)),
                Err(refusal) => refusals.push((expr.index, refusal)),
            }
        }
        if !refusals.is_empty() {
            refusals.sort_by_key(|(index, _)| *index);
            return Err(refusals.into_iter().map(|(_, refusal)| refusal).collect());
        }
        conditions.sort_by_key(|(index, _)| *index);
        Ok(Condition::all(
            conditions.into_iter().map(|(_, condition)| condition),
        ))
    }

    fn expr(&mut self, expr: &Expr, scope: &mut Scope) -> Result<Condition, Unsupported> {
        if !expr.with.is_empty() {
            return Err(Unsupported::at(&expr.location, "\"with\" not permitted"));
        }
        if !expr.negated {
            return self.holds(expr, scope);
        }
        // Variables that occur only in a negation stay local to it.
        let condition = self.holds(expr, &mut scope.clone())?;
        Ok(condition.negated(&expr.location))
    }

    /// Returns the condition that an expression is neither undefined nor false.
    fn holds(&mut self, expr: &Expr, scope: &mut Scope) -> Result<Condition, Unsupported> {
        let location = &expr.location;
        let condition = match &expr.terms {
            ExprTerms::Term(term) => match &term.value {
                TermValue::Call(call) => self.call(call, scope, location)?,
                _ => {
                    let operand = self.operand(term, scope, None, location)?;
                    truthy(&operand, location).ok_or_else(|| {
                        Unsupported::at(location, format!("invalid statement \"{term}\""))
                            .advice(format!("try `{term} != false`"))
                    })?
                }
            },
            ExprTerms::Call(call) => self.call(call, scope, location)?,
            ExprTerms::Some(declaration) => {
                let only_names = |term: &crate::syntax::Term| terms::as_var(term).is_some();
                if !declaration.symbols.iter().all(only_names) {
                    let message = "invalid use of \"... in ...\"";
                    return Err(Unsupported::at(location, message));
                }
                Condition::Constant(true)
            }
            ExprTerms::Every(_) => {
                return Err(Unsupported::at(location, "\"every\" not permitted"));
            }
            ExprTerms::Logic(logic) => {
                self.deeper(location, |deeper| deeper.logic(logic, scope, location))?
            }
        };
        if condition.size() > MAX_PARTS {
            return Err(too_large(location));
        }
        Ok(condition)
    }

    /// Returns the condition for the bodies of `and`, `or` or `not { … }`.
    fn logic(
        &mut self,
        logic: &Logic,
        scope: &Scope,
        location: &Location,
    ) -> Result<Condition, Unsupported> {
        let bodies = logic.operands.iter().map(|operand| {
            let condition = self.body(&operand.body, &mut scope.clone());
            condition.map_err(|refusals| match refusals.into_iter().next() {
                Some(refusal) => refusal,
                None => too_large(location),
            })
        });
        let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
        Ok(match logic.connective {
            Connective::And => Condition::all(bodies),
            Connective::Or => Condition::any(bodies),
            Connective::Not => Condition::any(bodies).negated(location),
        })
    }

    /// Calls `then` one nesting level deeper; fails at the maximum depth.
    fn deeper<T>(
        &mut self,
        location: &Location,
        then: impl FnOnce(&mut Self) -> Result<T, Unsupported>,
    ) -> Result<T, Unsupported> {
        if self.depth == MAX_DEPTH {
            return Err(Unsupported::at(location, "the filter is nested too deep"));
        }
        self.depth += 1;
        let result = then(self);
        self.depth -= 1;
        result
    }
}

fn is_equality(expr: &Expr) -> bool {
    let ExprTerms::Call(call) = &expr.terms else {
        return false;
    };
    let name = operator(call).and_then(terms::dotted);
    name.and_then(|name| Comparison::of_builtin(&name)) == Some(Comparison::Equal)
}

fn too_large(location: &Location) -> Unsupported {
    Unsupported::at(location, "the filter has too many conditions")
}

fn test(column: &super::Column, predicate: Predicate, location: &Location) -> Condition {
    Condition::Test(Test {
        column: column.clone(),
        predicate,
        location: location.clone(),
    })
}

/// Returns the condition that an operand is defined and not false; `None` for an unbound variable.
fn truthy(operand: &Operand, location: &Location) -> Option<Condition> {
    Some(match operand {
        Operand::Constant(value) => Condition::Constant(*value != Value::Bool(false)),
        Operand::Column(column) => {
            let predicate = Predicate::Compare(Comparison::NotEqual, Value::Bool(false));
            test(column, predicate, location)
        }
        Operand::Choice(cases) => {
            let mut alternatives = Vec::new();
            for (value, when) in cases {
                alternatives.push(Condition::all([when.clone(), truthy(value, location)?]));
            }
            Condition::any(alternatives)
        }
        Operand::List(_) => present(operand),
        Operand::Free(_) => return None,
    })
}

/// Returns the condition that an operand is defined, assuming that every column has a value.
fn present(operand: &Operand) -> Condition {
    match operand {
        Operand::Constant(_) | Operand::Free(_) | Operand::Column(_) => Condition::Constant(true),
        Operand::Choice(cases) => Condition::any(
            cases
                .iter()
                .map(|(value, when)| Condition::all([when.clone(), present(value)])),
        ),
        Operand::List(items) => Condition::all(items.iter().map(present)),
    }
}

/// Returns the condition that an operand is defined, with tests that its columns exist.
fn defined(operand: &Operand, location: &Location) -> Condition {
    match operand {
        Operand::Constant(_) | Operand::Free(_) => Condition::Constant(true),
        Operand::Column(column) => test(column, Predicate::Exists, location),
        Operand::Choice(cases) => Condition::any(
            cases
                .iter()
                .map(|(value, when)| Condition::all([when.clone(), defined(value, location)])),
        ),
        Operand::List(items) => Condition::all(items.iter().map(|item| defined(item, location))),
    }
}

/// Formats a call for messages.
fn format_call(call: &[crate::syntax::Term]) -> String {
    match call.first() {
        Some(first) => crate::syntax::Term {
            value: TermValue::Call(call.into()),
            location: first.location.clone(),
        }
        .to_string(),
        None => Conjunction(&[]).to_string(),
    }
}

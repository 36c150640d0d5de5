//! Calls of functions that modules may no longer call, and of those that a query may not.

use super::Found;
use super::build::Build;
use super::terms::{dotted, operator};
use super::visit::{self, Visit};
use super::{QueryUnit, World};
use crate::builtins::signature;
use crate::error::{Code, LanguageError};
use crate::syntax::{Expr, ExprTerms, Term, TermValue};

/// Functions that queries of clients may not call.
const UNSAFE: &[&str] = &["http.send"];

/// Finds calls of deprecated functions in the units.
pub(super) fn run(build: &mut Build) -> Found {
    let mut calls = Deprecated(Found::new());
    for unit in &build.units {
        for rule in visit::all_rules(&unit.module.rules) {
            visit::rule(rule, &mut calls);
        }
    }
    calls.0
}

struct Deprecated(Found);

impl<'t> Visit<'t> for Deprecated {
    fn expr(&mut self, expr: &'t Expr) -> bool {
        if let ExprTerms::Call(call) = &expr.terms {
            self.call(call, &expr.location);
        }
        true
    }

    fn term(&mut self, term: &'t Term) -> bool {
        if let TermValue::Call(call) = &term.value
            && let Some(operator) = call.first()
        {
            self.call(call, &operator.location);
        }
        true
    }
}

impl Deprecated {
    fn call(&mut self, call: &[Term], location: &crate::syntax::Location) {
        let Some(name) = operator(call).and_then(dotted) else {
            return;
        };
        if signature(&name).is_some_and(|signature| signature.deprecated) {
            let message = format!("deprecated built-in function calls in expression: {name}");
            self.0
                .push(LanguageError::at(Code::Type, location, message));
        }
    }
}

/// Finds calls that a query may not make.
pub(super) fn query(unit: &mut QueryUnit, _: &World) -> Found {
    let mut calls = Unsafe(Found::new());
    visit::body(&unit.body, &mut calls);
    calls.0
}

struct Unsafe(Found);

impl<'t> Visit<'t> for Unsafe {
    fn expr(&mut self, expr: &'t Expr) -> bool {
        if let ExprTerms::Call(call) = &expr.terms
            && let Some(name) = operator(call).and_then(dotted)
            && UNSAFE.contains(&&*name)
        {
            let message = format!("unsafe built-in function calls in expression: {name}");
            self.0
                .push(LanguageError::at(Code::Type, &expr.location, message));
        }
        true
    }
}

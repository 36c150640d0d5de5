//! Calls of functions that modules may no longer call.

use super::Found;
use super::build::Build;
use super::terms::{dotted, operator};
use super::visit::{self, Visit};
use crate::builtins::signature;
use crate::error::{Code, LanguageError};
use crate::syntax::{Expr, ExprTerms, Term, TermValue};

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

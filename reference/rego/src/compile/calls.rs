//! Checks calls: undefined functions and wrong numbers of operands.

use std::sync::Arc;

use thin_vec::ThinVec;

use super::rule_tree::SourceNames;
use super::type_check::{Scope, argument_error};
use super::{CompilationUnit, Diagnostics, ModuleSet, QueryUnit};
use crate::error::{Code, LanguageError};
use crate::syntax::terms::{is_equality, operator, shown};
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Expr, ExprTerms, Term, Var};
use crate::types::Type;

/// Checks a module.
pub(super) fn run(unit: &mut CompilationUnit, module_set: &ModuleSet) -> Diagnostics {
    // Types of rules are not known yet, so only built-in functions have types.
    let mut calls = Calls::new(module_set, written(&unit.written), Scope::new(module_set));
    for rule in visit::all_rules(&unit.module.rules) {
        visit::rule(rule, &mut calls);
    }
    calls.found
}

/// Checks a query.
pub(super) fn query(unit: &mut QueryUnit, module_set: &ModuleSet) -> Diagnostics {
    let written = written(&unit.written);
    let scope = Scope::of_rules(module_set, module_set.types(), written.clone());
    let mut calls = Calls::new(module_set, written, scope);
    visit::body(&unit.body, &mut calls);
    calls.found
}

fn written(names: &[(Var, Var)]) -> SourceNames {
    Arc::new(names.iter().cloned().collect())
}

struct Calls<'w> {
    module_set: &'w ModuleSet,
    written: SourceNames,
    scope: Scope<'w>,
    found: Diagnostics,
}

impl<'w> Calls<'w> {
    fn new(module_set: &'w ModuleSet, written: SourceNames, scope: Scope<'w>) -> Self {
        Self {
            module_set,
            written,
            scope,
            found: Diagnostics::new(),
        }
    }

    fn name(&self, operator: &[Term]) -> String {
        shown(operator, &|var| self.written.get(var).cloned())
    }

    fn check(&mut self, expr: &Expr, call: &[Term]) -> Option<LanguageError> {
        let (target, operands) = (operator(call)?, call.get(1..)?);
        let Some(arity) = self.module_set.arity(target) else {
            let message = format!("undefined function {}", self.name(target));
            return Some(LanguageError::at(Code::Type, &expr.location, message));
        };
        let count = operands.len();
        let counted = if expr.generated {
            // The last operand is the variable that receives the result.
            if is_equality(expr) || count == arity + 1 {
                return None;
            }
            count.saturating_sub(1)
        } else {
            if count == arity || count == arity + 1 {
                return None;
            }
            count
        };
        let name = self.name(target);
        let of = self.scope.of_ref(&ThinVec::from(target));
        if let Some(function) = of.as_ref().and_then(Type::as_function) {
            let have = operands.iter().map(|operand| self.scope.of_term(operand));
            let have = have.collect();
            return Some(argument_error(
                &expr.location,
                &name,
                "arity mismatch",
                have,
                function,
                false,
            ));
        }
        let plural = if counted == 1 {
            "argument"
        } else {
            "arguments"
        };
        let message = format!("function {name} has arity {arity}, got {counted} {plural}");
        Some(LanguageError::at(Code::Type, &expr.location, message))
    }
}

impl<'t> Visit<'t> for Calls<'_> {
    fn expr(&mut self, expr: &'t Expr) -> bool {
        let ExprTerms::Call(call) = &expr.terms else {
            return true;
        };
        match self.check(expr, call) {
            Some(error) => {
                self.found.push(error);
                false
            }
            None => true,
        }
    }
}

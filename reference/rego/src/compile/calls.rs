//! Calls of what is no function, and calls with the wrong number of operands.

use super::build::Build;
use super::terms::{dotted, is_equality, operator, shown};
use super::types::{Scope, argument_error};
use super::visit::{self, Visit};
use super::{Found, QueryUnit, Unit, World};
use crate::builtins::signature;
use crate::error::{Code, LanguageError};
use crate::syntax::{Expr, ExprTerms, Term, Var};

/// Looks at a module.
pub(super) fn run(unit: &mut Unit, world: &World) -> Found {
    let mut calls = Calls::new(world, &unit.written);
    for rule in visit::all_rules(&unit.module.rules) {
        visit::rule(rule, &mut calls);
    }
    calls.found
}

/// Looks at a query.
pub(super) fn query(unit: &mut QueryUnit, world: &World) -> Found {
    let mut calls = Calls::new(world, &unit.written);
    visit::body(&unit.body, &mut calls);
    calls.found
}

struct Calls<'w> {
    world: &'w World,
    written: &'w [(Var, Var)],
    found: Found,
}

impl<'w> Calls<'w> {
    fn new(world: &'w World, written: &'w [(Var, Var)]) -> Self {
        Self {
            world,
            written,
            found: Found::new(),
        }
    }

    fn name(&self, operator: &[Term]) -> String {
        shown(operator, &|var| {
            let mut names = self.written.iter();
            names
                .find(|(generated, _)| generated == var)
                .map(|(_, written)| written.clone())
        })
    }

    fn check(&self, expr: &Expr, call: &[Term]) -> Option<LanguageError> {
        let (target, operands) = (operator(call)?, call.get(1..)?);
        let Some(arity) = self.world.arity(target) else {
            let message = format!("undefined function {}", self.name(target));
            return Some(LanguageError::at(Code::Type, &expr.location, message));
        };
        let given = operands.len();
        let counted = if expr.generated {
            // The last operand is the variable that takes the result.
            if is_equality(expr) || given == arity + 1 {
                return None;
            }
            given.saturating_sub(1)
        } else {
            if given == arity || given == arity + 1 {
                return None;
            }
            given
        };
        let name = self.name(target);
        let declared = dotted(target).as_deref().and_then(signature);
        if let Some(function) = declared.and_then(|signature| signature.of.as_function()) {
            let mut scope = Scope::new(self.world);
            let have = operands
                .iter()
                .map(|operand| scope.of_term(operand))
                .collect();
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

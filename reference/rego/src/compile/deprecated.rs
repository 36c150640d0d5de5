//! Refuses calls of deprecated functions in modules of version 1.

use super::Diagnostics;
use super::build::Build;
use crate::error::{Code, LanguageError};
use crate::parallel;
use crate::syntax::terms::{dotted, operator};
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Body, Expr, ExprTerms, Term, TermValue, Version};
use crate::types::signature;

/// Finds calls of deprecated functions in the units that must not call them. Calls in the bodies of
/// `every`, `not`, `and` and `or` are reported only if some unit has another such call elsewhere.
pub(super) fn run(build: &mut Build) -> Diagnostics {
    let calls = parallel::each(&mut build.units, |unit| {
        let mut calls = Deprecated {
            are_allowed: unit.module.version == Version::V0,
            ..Deprecated::default()
        };
        for rule in visit::all_rules(&unit.module.rules) {
            visit::rule(rule, &mut calls);
        }
        calls
    });
    match calls.iter().any(|calls| calls.noticed) {
        true => calls.into_iter().flat_map(|calls| calls.found).collect(),
        false => Diagnostics::new(),
    }
}

#[derive(Default)]
struct Deprecated {
    found: Diagnostics,
    /// Whether the module may call deprecated functions.
    are_allowed: bool,
    /// Whether a deprecated function is called outside of operands.
    noticed: bool,
    /// Whether the visitor is in a body that is an operand, but not in a comprehension within it.
    is_operand: bool,
}

impl<'t> Visit<'t> for Deprecated {
    fn expr(&mut self, expr: &'t Expr) -> bool {
        let bodies: Vec<&Body> = match &expr.terms {
            ExprTerms::Call(call) => {
                self.call(call, &expr.location);
                return true;
            }
            ExprTerms::Every(every) => {
                visit::term(&every.domain, self);
                vec![&every.body]
            }
            ExprTerms::Logic(logic) => logic.operands.iter().map(|part| &part.body).collect(),
            ExprTerms::Term(_) | ExprTerms::Some(_) => return true,
        };
        let around = std::mem::replace(&mut self.is_operand, true);
        for body in bodies {
            visit::deep(|| visit::body(body, self));
        }
        self.is_operand = around;
        false
    }

    fn term(&mut self, term: &'t Term) -> bool {
        match &term.value {
            TermValue::Call(call) => {
                if let Some(operator) = call.first() {
                    self.call(call, &operator.location);
                }
                true
            }
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_) => {
                let around = std::mem::replace(&mut self.is_operand, false);
                visit::inside(term, self);
                self.is_operand = around;
                false
            }
            _ => true,
        }
    }
}

impl Deprecated {
    fn call(&mut self, call: &[Term], location: &crate::syntax::Location) {
        let Some(name) = operator(call).and_then(dotted) else {
            return;
        };
        if signature(&name).is_some_and(|signature| signature.deprecated) {
            self.noticed |= !self.is_operand;
            if !self.are_allowed {
                let message = format!("deprecated built-in function calls in expression: {name}");
                self.found
                    .push(LanguageError::at(Code::Type, location, message));
            }
        }
    }
}

//! Rejects calls of functions without results where a value is needed.

use super::{CompilationUnit, Diagnostics, ModuleSet, QueryUnit};
use crate::error::{Code, LanguageError};
use crate::syntax::terms::{dotted, operator};
use crate::syntax::visit::{self, Visit, all_rules};
use crate::syntax::{Term, TermValue};
use crate::types::signature;

/// Checks a module.
pub(super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> Diagnostics {
    let mut calls = VoidCalls(Diagnostics::new());
    for rule in all_rules(&unit.module.rules) {
        visit::rule(rule, &mut calls);
    }
    calls.0
}

/// Checks a query.
pub(super) fn query(unit: &mut QueryUnit, _: &ModuleSet) -> Diagnostics {
    let mut calls = VoidCalls(Diagnostics::new());
    visit::body(&unit.body, &mut calls);
    calls.0
}

struct VoidCalls(Diagnostics);

impl<'t> Visit<'t> for VoidCalls {
    fn term(&mut self, term: &'t Term) -> bool {
        if let TermValue::Call(call) = &term.value {
            let name = operator(call).and_then(dotted);
            if name
                .and_then(|name| signature(&name))
                .is_some_and(|function| function.void)
            {
                let message = format!("{term} used as value");
                self.0
                    .push(LanguageError::at(Code::Type, &term.location, message));
            }
        }
        true
    }
}

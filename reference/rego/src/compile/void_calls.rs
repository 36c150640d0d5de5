//! Refuses calls of functions without results where a value is needed.

use super::terms::{dotted, operator};
use super::visit::{self, Visit, all_rules};
use super::{Found, QueryUnit, Unit, World};
use crate::builtins::signature;
use crate::error::{Code, LanguageError};
use crate::syntax::{Term, TermValue};

/// Looks at a module.
pub(super) fn run(unit: &mut Unit, _: &World) -> Found {
    let mut calls = VoidCalls(Found::new());
    for rule in all_rules(&unit.module.rules) {
        visit::rule(rule, &mut calls);
    }
    calls.0
}

/// Looks at a query.
pub(super) fn query(unit: &mut QueryUnit, _: &World) -> Found {
    let mut calls = VoidCalls(Found::new());
    visit::body(&unit.body, &mut calls);
    calls.0
}

struct VoidCalls(Found);

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

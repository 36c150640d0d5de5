//! Rejects rules, parameters and local variables named `input` or `data` in modules of version 1.

use super::vars::{call_of, is_root, root_document};
use super::{CompilationUnit, Diagnostics, ModuleSet};
use crate::error::{Code, LanguageError};
use crate::syntax::visit::{self, Visit, all_rules};
use crate::syntax::{Expr, Module, TermValue, Version};

/// Checks a module.
pub(super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> Diagnostics {
    match unit.module.version {
        Version::V0 => Diagnostics::new(),
        Version::V1 => find_overrides(&unit.module),
    }
}

fn find_overrides(module: &Module) -> Diagnostics {
    let mut found = Shadows(Diagnostics::new());
    for rule in &module.rules {
        if let Some(TermValue::Var(name)) = rule.head.reference.first().map(|term| &term.value)
            && is_root(name)
        {
            let message = format!(
                "rules must not shadow {} (use a different rule name)",
                name.0
            );
            found
                .0
                .push(LanguageError::at(Code::Compile, &rule.location, message));
        }
        for arg in &rule.head.args {
            if let Some(name) = root_document(arg) {
                let message = format!(
                    "args must not shadow {} (use a different variable name)",
                    name.0
                );
                found
                    .0
                    .push(LanguageError::at(Code::Compile, &arg.location, message));
            }
        }
    }
    for rule in all_rules(&module.rules) {
        visit::rule(rule, &mut found);
    }
    found.0
}

struct Shadows(Diagnostics);

impl<'t> Visit<'t> for Shadows {
    fn expr(&mut self, expr: &'t Expr) -> bool {
        let left = call_of(expr, "assign").and_then(|call| call.get(1));
        if let Some(name) = left.and_then(root_document) {
            let message = format!(
                "variables must not shadow {} (use a different variable name)",
                name.0
            );
            self.0
                .push(LanguageError::at(Code::Compile, &expr.location, message));
        }
        true
    }
}

//! Rejects rule heads with unsafe variables.

use super::super::locals::has_variables;
use super::super::vars::{ALL, NEEDED, display_name, is_local, steps};
use super::super::{CompilationUnit, Diagnostics, ModuleSet};
use super::report::Scopes;
use crate::error::{Code, LanguageError};
use crate::hash::HashMap;
use crate::syntax::visit::all_rules;

/// Checks a module.
pub(in super::super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> Diagnostics {
    let mut found = Diagnostics::new();
    let written: HashMap<_, _> = unit
        .written
        .iter()
        .map(|(local, name)| (local, name))
        .collect();
    let scopes = Scopes::of(&unit.module.rules);
    for rule in all_rules(&unit.module.rules) {
        if !has_variables(&rule.head) {
            continue;
        }
        let head = &rule.head;
        let mut known = NEEDED.of_body(&rule.body);
        known.extend(ALL.of_terms(&head.args));
        let mut open = HashMap::default();
        for term in head
            .key
            .iter()
            .chain(&head.value)
            .chain(steps(&head.reference))
        {
            ALL.term(term, &mut |var, at| {
                if !known.contains(var) {
                    open.insert(var, at);
                }
            });
        }
        for (var, at) in open {
            let name = written.get(var).copied().unwrap_or(var);
            if !is_local(name) {
                let message = format!(
                    "var {} is unsafe{}",
                    display_name(name),
                    scopes.of_rule(rule)
                );
                found.push(LanguageError::at(Code::UnsafeVar, at, message));
            }
        }
    }
    found
}

//! Moves expressions out of keys, values and parameters of rule heads into the bodies.

use super::names::Names;
use super::vars::{append, requires_evaluation};
use super::{CompilationUnit, Diagnostics, ModuleSet};
use crate::syntax::visit::each_rule;

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> Diagnostics {
    let mut names = Names::of_module(&mut unit.next_local);
    each_rule(&mut unit.module.rules, |rule| {
        let head = &mut rule.head;
        for term in head
            .key
            .iter_mut()
            .chain(&mut head.value)
            .chain(&mut head.args)
        {
            if requires_evaluation(term) {
                let expr = names.hoist(term);
                append(&mut rule.body, [expr]);
            }
        }
    });
    Diagnostics::new()
}

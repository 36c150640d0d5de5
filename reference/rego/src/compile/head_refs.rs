//! Moves expressions out of the references of rule heads: `p[x.y]` becomes `p[v]` with `v = x.y` in
//! the body.

use super::names::Names;
use super::vars::append;
use super::{CompilationUnit, Diagnostics, ModuleSet};
use crate::syntax::Rule;
use crate::syntax::terms::{as_var, is_scalar};

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> Diagnostics {
    let mut names = Names::of_module(&mut unit.next_local);
    for rule in &mut unit.module.rules {
        rewrite(rule, &mut names);
    }
    Diagnostics::new()
}

fn rewrite(rule: &mut Rule, names: &mut Names<'_>) {
    let head = &mut rule.head;
    let last = head.reference.len().saturating_sub(1);
    for (index, step) in head.reference.iter_mut().enumerate().skip(1) {
        if as_var(step).is_some() || is_scalar(step) {
            continue;
        }
        let is_key = index == last && head.key.as_ref() == Some(step);
        let expr = names.hoist(step);
        if is_key {
            head.key = Some(step.clone());
        }
        append(&mut rule.body, [expr]);
    }
}

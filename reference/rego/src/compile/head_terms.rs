//! Moves what must be evaluated out of the key, the value and the parameters of rule heads into
//! the bodies.

use super::names::Names;
use super::vars::{append, requires_evaluation};
use super::visit::each_rule;
use super::{Found, Unit, World};

/// Rewrites a module.
pub(super) fn run(unit: &mut Unit, _: &World) -> Found {
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
    Found::new()
}

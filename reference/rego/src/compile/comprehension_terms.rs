//! Moves expressions out of the terms of comprehensions into their bodies: `[x[0] | x = y]` becomes
//! `[a | x = y; a = x[0]]`.

use super::names::Names;
use super::vars::{append, requires_evaluation};
use super::{CompilationUnit, Diagnostics, ModuleSet, QueryUnit};
use crate::syntax::visit::{self, Rewrite, each_rule};
use crate::syntax::{Body, Term, TermValue};

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> Diagnostics {
    let mut rewrite = Comprehensions(Names::of_module(&mut unit.next_local));
    each_rule(&mut unit.module.rules, |rule| {
        visit::rewrite_head(&mut rule.head, &mut rewrite);
        visit::rewrite_body(&mut rule.body, &mut rewrite);
    });
    Diagnostics::new()
}

/// Rewrites a query.
pub(super) fn query(unit: &mut QueryUnit, _: &ModuleSet) -> Diagnostics {
    let names = Names::of_query(&mut unit.next_local, &unit.body);
    visit::rewrite_body(&mut unit.body, &mut Comprehensions(names));
    Diagnostics::new()
}

struct Comprehensions<'n>(Names<'n>);

impl Comprehensions<'_> {
    fn hoist(&mut self, term: &mut Term, body: &mut Body) {
        if requires_evaluation(term) {
            let expr = self.0.hoist(term);
            append(body, [expr]);
        }
    }
}

impl Rewrite for Comprehensions<'_> {
    fn term(&mut self, term: &mut Term) -> bool {
        match &mut term.value {
            TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of) => {
                self.hoist(&mut of.term, &mut of.body);
            }
            TermValue::ObjectComprehension(of) => {
                self.hoist(&mut of.key, &mut of.body);
                self.hoist(&mut of.value, &mut of.body);
            }
            _ => {}
        }
        true
    }
}

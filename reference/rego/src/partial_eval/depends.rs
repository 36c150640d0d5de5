//! Dependency analysis: expressions and rules that may depend on something unknown.

use super::unknowns::{References, Root};
use crate::compile::ModuleSet;
use crate::compile::rule_tree::{CompiledRule, Node, RuleKind, RuleSet};
use crate::hash::HashMap;
use crate::syntax::terms::{constant, dotted, is_var, operator};
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Expr, ExprTerms, Term, TermValue};
use crate::types::signature;

/// Dependency analysis by the constant steps of references. It is conservative: "depends" may be
/// wrong, "does not depend" never is.
#[derive(Debug)]
pub(super) struct Depends<'p> {
    module_set: &'p ModuleSet,
    unknowns: References,
    /// Whether functions that are not deterministic count as unknown.
    defer_nondeterministic: bool,
    /// Whether rules depend on something unknown, by the addresses of their rule sets.
    pub(super) rules: HashMap<usize, bool>,
}

struct DependencyVisitor<'d, 'p> {
    depends: &'d mut Depends<'p>,
    found: bool,
}

impl<'p> Depends<'p> {
    pub(super) fn new(
        module_set: &'p ModuleSet,
        unknowns: References,
        defer_nondeterministic: bool,
    ) -> Self {
        Self {
            module_set,
            unknowns,
            defer_nondeterministic,
            rules: HashMap::default(),
        }
    }

    /// Whether an expression, or anything that it calls or refers to, depends on an unknown.
    pub(super) fn expr(&mut self, expr: &Expr) -> bool {
        let mut visitor = DependencyVisitor {
            depends: self,
            found: false,
        };
        visit::expr(expr, &mut visitor);
        visitor.found
    }

    /// Whether a term depends on something unknown.
    pub(super) fn term(&mut self, term: &Term) -> bool {
        let mut visitor = DependencyVisitor {
            depends: self,
            found: false,
        };
        visit::term(term, &mut visitor);
        visitor.found
    }

    /// Whether the rules of a node depend on something unknown. Rules of descendants are included
    /// if references with variables extend a partial object.
    pub(super) fn rules(&mut self, node: &Node, set: &RuleSet) -> bool {
        if set.kind == RuleKind::PartialObject && !node.is_leaf() {
            return node.extent().into_iter().any(|set| self.set(set));
        }
        self.set(set)
    }

    fn set(&mut self, set: &RuleSet) -> bool {
        let address = std::ptr::from_ref(set).addr();
        if let Some(known) = self.rules.get(&address) {
            return *known;
        }
        self.rules.insert(address, false);
        let found = visit::deep(|| set.all().into_iter().any(|rule| self.rule(rule)));
        self.rules.insert(address, found);
        found
    }

    fn rule(&mut self, rule: &CompiledRule) -> bool {
        let chain = std::iter::successors(Some(rule.ast()), |rule| rule.else_rule.as_deref());
        let mut visitor = DependencyVisitor {
            depends: self,
            found: false,
        };
        for rule in chain {
            visit::rule(rule, &mut visitor);
        }
        visitor.found
    }

    fn reference(&mut self, reference: &[Term]) -> bool {
        let Some((head, steps)) = reference.split_first() else {
            return false;
        };
        let path: Vec<_> = steps.iter().map_while(constant).collect();
        if is_var(head, "input") {
            return self.unknowns.overlap(Root::Input, &path);
        }
        if !is_var(head, "data") {
            return false;
        }
        if self.unknowns.overlap(Root::Data, &path) {
            return true;
        }
        let mut node = self.module_set.root();
        for step in &path {
            let Some(child) = node.child(step) else {
                return false;
            };
            node = child;
            if let Some(set) = &node.rules {
                return self.rules(node, set);
            }
        }
        let below = node.extent();
        below.into_iter().any(|set| self.set(set))
    }

    fn call(&mut self, call: &[Term]) -> bool {
        let name = operator(call).unwrap_or_default();
        if name.first().is_some_and(|head| is_var(head, "data")) {
            return false;
        }
        self.defer_nondeterministic
            && dotted(name)
                .and_then(|name| signature(&name))
                .is_some_and(|of| of.nondeterministic)
    }
}

impl<'t> Visit<'t> for DependencyVisitor<'_, '_> {
    fn expr(&mut self, expr: &'t Expr) -> bool {
        if let ExprTerms::Call(call) = &expr.terms {
            self.found |= self.depends.call(call);
        }
        // A function that replaces another one may be called.
        for with in &expr.with {
            self.found |= self.depends.call(std::slice::from_ref(&with.value));
        }
        !self.found
    }

    fn term(&mut self, term: &'t Term) -> bool {
        if self.found {
            return false;
        }
        match &term.value {
            TermValue::Ref(reference) => {
                let found = visit::deep(|| self.depends.reference(reference));
                self.found |= found;
                // The head alone is not a reference to the whole root document.
                for step in reference.iter().skip(1) {
                    visit::term(step, self);
                }
                return false;
            }
            TermValue::Var(_) if is_var(term, "input") || is_var(term, "data") => {
                self.found |= self.depends.reference(std::slice::from_ref(term));
            }
            TermValue::Call(call) => self.found |= self.depends.call(call),
            _ => {}
        }
        !self.found
    }
}

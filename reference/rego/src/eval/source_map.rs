//! Source map: finds the nodes of the syntax tree by their numbers in the IR.

use crate::syntax::visit::deep;
use crate::syntax::{Body, Expr, ExprTerms, Rule, Term, TermValue};

/// Expressions and bodies of one query or rule, in the order in which lowering visits them: each
/// node precedes its children, and the parts of an expression are in source order.
#[derive(Debug, Default)]
pub(super) struct SourceMap<'s> {
    pub(super) exprs: Vec<&'s Expr>,
    pub(super) bodies: Vec<&'s Body>,
}

impl<'s> SourceMap<'s> {
    /// Collects the nodes of a query.
    pub(super) fn of_query(body: &'s Body) -> Self {
        let mut nodes = Self::default();
        nodes.body(body);
        nodes
    }

    /// Collects the nodes of a rule, without its `else`.
    pub(super) fn of_rule(rule: &'s Rule) -> Self {
        let mut nodes = Self::default();
        let head = &rule.head;
        nodes.terms(head.args.iter().chain(&head.key).chain(&head.value));
        nodes.body(&rule.body);
        nodes
    }

    fn body(&mut self, body: &'s Body) {
        self.bodies.push(body);
        for expr in body {
            self.exprs.push(expr);
            match &expr.terms {
                ExprTerms::Term(term) => self.term(term),
                ExprTerms::Call(terms) => self.terms(terms.iter().skip(1)),
                ExprTerms::Every(every) => {
                    self.term(&every.domain);
                    self.body(&every.body);
                }
                ExprTerms::Logic(logic) => {
                    for operand in &logic.operands {
                        deep(|| self.body(&operand.body));
                    }
                }
                ExprTerms::Some(_) => {}
            }
            self.terms(expr.with.iter().map(|with| &with.value));
        }
    }

    fn terms(&mut self, terms: impl IntoIterator<Item = &'s Term>) {
        for term in terms {
            self.term(term);
        }
    }

    fn term(&mut self, term: &'s Term) {
        match &term.value {
            TermValue::Ref(terms) | TermValue::Array(terms) | TermValue::Set(terms) => {
                self.terms(terms);
            }
            TermValue::Object(members) => {
                for (key, value) in members {
                    self.term(key);
                    self.term(value);
                }
            }
            TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of) => {
                self.term(&of.term);
                self.body(&of.body);
            }
            TermValue::ObjectComprehension(of) => {
                self.term(&of.key);
                self.term(&of.value);
                self.body(&of.body);
            }
            _ => {}
        }
    }
}

//! Source map: nodes of the syntax tree by their numbers in the IR.

use crate::syntax::visit::deep;
use crate::syntax::{Body, Expr, ExprTerms, Rule, Term, TermValue};

/// The expressions and bodies of one query or rule, in the order in which lowering meets them:
/// each before what it holds, the parts of an expression in the order they are written.
#[derive(Debug, Default)]
pub(super) struct SourceMap<'s> {
    pub(super) exprs: Vec<&'s Expr>,
    pub(super) bodies: Vec<&'s Body>,
}

impl<'s> SourceMap<'s> {
    /// The nodes of a query.
    pub(super) fn of_query(body: &'s Body) -> Self {
        let mut nodes = Self::default();
        nodes.body(body);
        nodes
    }

    /// The nodes of a rule, without the `else` behind it.
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

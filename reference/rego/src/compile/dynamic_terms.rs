//! Moves references and comprehensions out of terms, into separate expressions that precede the
//! term's expression: `f(data.x)` becomes `a = data.x; f(a)`.

use super::names::Names;
use super::vars::{equality, push};
use super::{CompilationUnit, Diagnostics, ModuleSet, QueryUnit};
use crate::syntax::visit::{deep, each_rule, sort_object, sort_set};
use crate::syntax::{Body, Expr, ExprTerms, Term, TermValue, With};

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> Diagnostics {
    let names = Names::of_module(&mut unit.next_local);
    let mut dynamics = Dynamics(names);
    each_rule(&mut unit.module.rules, |rule| dynamics.body(&mut rule.body));
    dynamics.0.finish()
}

/// Rewrites a query.
pub(super) fn query(unit: &mut QueryUnit, _: &ModuleSet) -> Diagnostics {
    let names = Names::of_query(&mut unit.next_local, &unit.body);
    let mut dynamics = Dynamics(names);
    dynamics.body(&mut unit.body);
    dynamics.0.finish()
}

struct Dynamics<'n>(Names<'n>);

impl Dynamics<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut result = Body::with_capacity(body.len());
        for mut expr in std::mem::take(body) {
            self.expr(&mut expr, &mut result);
            push(&mut result, expr);
        }
        result.shrink_to_fit();
        *body = result;
    }

    fn expr(&mut self, expr: &mut Expr, result: &mut Body) {
        let is_equality = equality(expr).is_some();
        let with = &expr.with;
        match &mut expr.terms {
            ExprTerms::Term(term) => self.outer(term, with, result),
            ExprTerms::Call(call) => {
                for operand in call.iter_mut().skip(1) {
                    if is_equality {
                        self.outer(operand, with, result);
                    } else {
                        self.inner(operand, with, result);
                    }
                }
            }
            ExprTerms::Every(every) => {
                self.inner(&mut every.domain, with, result);
                deep(|| self.body(&mut every.body));
            }
            ExprTerms::Logic(logic) => deep(|| {
                for operand in &mut logic.operands {
                    self.body(&mut operand.body);
                }
            }),
            ExprTerms::Some(_) => {}
        }
    }

    /// Rewrites a term that may itself remain a reference or a comprehension.
    fn outer(&mut self, term: &mut Term, with: &[With], result: &mut Body) {
        match &mut term.value {
            TermValue::Ref(parts) => self.steps(parts, with, result),
            TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of) => {
                deep(|| self.body(&mut of.body));
            }
            TermValue::ObjectComprehension(of) => deep(|| self.body(&mut of.body)),
            _ => self.inner(term, with, result),
        }
    }

    fn steps(&mut self, reference: &mut [Term], with: &[With], result: &mut Body) {
        for step in reference.iter_mut().skip(1) {
            self.inner(step, with, result);
        }
    }

    /// Rewrites a term that must not remain a reference or a comprehension.
    fn inner(&mut self, term: &mut Term, with: &[With], result: &mut Body) {
        deep(|| match &mut term.value {
            TermValue::Ref(_)
            | TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_) => {
                self.outer(term, with, result);
                let mut expr = self.0.hoist(term);
                expr.with = self.0.copy(with);
                push(result, expr);
            }
            TermValue::Array(items) => {
                for item in items {
                    self.inner(item, with, result);
                }
            }
            TermValue::Set(items) => {
                sort_set(items);
                for item in &mut *items {
                    self.inner(item, with, result);
                }
                sort_set(items);
            }
            TermValue::Object(members) => {
                sort_object(members);
                for (key, value) in &mut *members {
                    self.inner(key, with, result);
                    self.inner(value, with, result);
                }
                sort_object(members);
            }
            _ => {}
        });
    }
}

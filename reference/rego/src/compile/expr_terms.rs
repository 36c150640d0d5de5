//! Moves calls out of terms, into separate expressions that precede the term's expression:
//! `x = f(g(y))` becomes `g(y, a); f(a, b); x = b`. References into literal collections become
//! references into variables.

use thin_vec::ThinVec;

use super::names::{Names, equal, expression};
use super::vars::{append, push};
use super::{CompilationUnit, Diagnostics, ModuleSet, QueryUnit};
use crate::syntax::visit::{deep, each_rule, sort_object, sort_set};
use crate::syntax::{Body, Expr, ExprTerms, Location, Rule, Term, TermValue};

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> Diagnostics {
    let mut names = Names::of_module(&mut unit.next_local);
    each_rule(&mut unit.module.rules, |rule| rewrite(rule, &mut names));
    names.finish()
}

/// Rewrites a query.
pub(super) fn query(unit: &mut QueryUnit, _: &ModuleSet) -> Diagnostics {
    let mut names = Names::of_query(&mut unit.next_local, &unit.body);
    expand_body(&mut unit.body, &mut names);
    names.finish()
}

fn rewrite(rule: &mut Rule, names: &mut Names<'_>) {
    let head = &mut rule.head;
    for term in head
        .args
        .iter_mut()
        .chain(&mut head.key)
        .chain(&mut head.value)
    {
        let mut support = Body::new();
        expand(term, names, &mut support);
        append(&mut rule.body, support);
    }
    expand_body(&mut rule.body, names);
}

fn expand_body(body: &mut Body, names: &mut Names<'_>) {
    let mut result = Body::with_capacity(body.len());
    for expr in std::mem::take(body) {
        expand_expr(expr, names, &mut result);
    }
    *body = result;
}

/// Adds an expression to a body, preceded by the expressions that it needs.
fn expand_expr(mut expr: Expr, names: &mut Names<'_>, body: &mut Body) {
    let mut support = Body::new();
    for with in &mut expr.with {
        expand(&mut with.value, names, &mut support);
    }
    // Expressions for modifiers are evaluated without them, those for operands with them.
    let outside = support.len();
    match &mut expr.terms {
        ExprTerms::Term(term) => expand(term, names, &mut support),
        ExprTerms::Call(parts) => {
            for part in parts.iter_mut().skip(1) {
                expand(part, names, &mut support);
            }
        }
        ExprTerms::Every(every) => {
            let local = names.term(&every.domain.location);
            let domain = std::mem::replace(&mut every.domain, local.clone());
            let mut eq = equal(local, domain);
            eq.generated = true;
            eq.with = names.copy(&expr.with);
            deep(|| {
                expand_expr(eq, names, &mut support);
                expand_body(&mut every.body, names);
            });
        }
        ExprTerms::Logic(logic) => deep(|| {
            for operand in &mut logic.operands {
                expand_body(&mut operand.body, names);
            }
        }),
        ExprTerms::Some(_) => {}
    }
    for (index, mut part) in support.into_iter().enumerate() {
        if index >= outside {
            part.with = names.copy(&expr.with);
        }
        push(body, part);
    }
    push(body, expr);
}

/// Rewrites a term. The expressions that it needs are appended to `support`.
fn expand(term: &mut Term, names: &mut Names<'_>, support: &mut ThinVec<Expr>) {
    deep(|| expand_value(term, names, support));
}

fn expand_value(term: &mut Term, names: &mut Names<'_>, support: &mut ThinVec<Expr>) {
    match &mut term.value {
        TermValue::Call(parts) => {
            for part in parts.iter_mut().skip(1) {
                expand(part, names, support);
            }
            let local = names.term(&term.location);
            let mut call = std::mem::take(parts);
            call.push(local.clone());
            support.push(generated(ExprTerms::Call(call), &term.location));
            *term = local;
        }
        TermValue::Ref(parts) => {
            for part in &mut *parts {
                expand(part, names, support);
            }
            if let Some(head) = parts.first_mut()
                && !matches!(head.value, TermValue::Var(_))
                && is_collection(head)
            {
                support.push(names.hoist(head));
            }
        }
        TermValue::Array(items) => {
            for item in items {
                expand(item, names, support);
            }
        }
        TermValue::Set(items) => {
            sort_set(items);
            for item in &mut *items {
                expand(item, names, support);
            }
            sort_set(items);
        }
        TermValue::Object(members) => {
            sort_object(members);
            for (key, value) in &mut *members {
                expand(key, names, support);
                expand(value, names, support);
            }
            sort_object(members);
        }
        TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of) => {
            comprehension(&mut of.body, [&mut of.term], names);
        }
        TermValue::ObjectComprehension(of) => {
            comprehension(&mut of.body, [&mut of.key, &mut of.value], names);
        }
        _ => {}
    }
}

/// Rewrites a comprehension. Expressions that its terms need become part of its body.
fn comprehension<const N: usize>(body: &mut Body, terms: [&mut Term; N], names: &mut Names<'_>) {
    for term in terms {
        let mut support = Body::new();
        expand(term, names, &mut support);
        append(body, support);
    }
    expand_body(body, names);
}

fn is_collection(term: &Term) -> bool {
    matches!(
        term.value,
        TermValue::Array(_)
            | TermValue::Object(_)
            | TermValue::Set(_)
            | TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_)
            | TermValue::Call(_)
    )
}

fn generated(terms: ExprTerms, at: &Location) -> Expr {
    let mut expr = expression(terms, at.clone());
    expr.generated = true;
    expr
}

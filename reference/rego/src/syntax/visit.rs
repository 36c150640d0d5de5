//! Visitors of the syntax tree, in source order. A visitor decides at each node whether its
//! children are visited.

use thin_vec::ThinVec;

use crate::syntax::{Body, Expr, ExprTerms, Head, Rule, Term, TermValue, With};
pub(crate) use crate::syntax::{deep, deep_in};

/// Visits nodes. The methods return whether the children of a node are visited.
pub(crate) trait Visit<'t> {
    /// Visits a term.
    fn term(&mut self, _: &'t Term) -> bool {
        true
    }
    /// Visits an expression.
    fn expr(&mut self, _: &'t Expr) -> bool {
        true
    }
    /// Visits a modifier.
    fn with(&mut self, _: &'t With) -> bool {
        true
    }
}

/// Visits the expressions of a body.
pub(crate) fn body<'t>(body: &'t [Expr], visitor: &mut impl Visit<'t>) {
    for part in body {
        expr(part, visitor);
    }
}

/// Visits an expression.
pub(crate) fn expr<'t>(node: &'t Expr, visitor: &mut impl Visit<'t>) {
    if !visitor.expr(node) {
        return;
    }
    match &node.terms {
        ExprTerms::Term(part) => term(part, visitor),
        ExprTerms::Call(parts) => terms(parts, visitor),
        ExprTerms::Some(decl) => terms(&decl.symbols, visitor),
        ExprTerms::Every(every) => {
            if let Some(key) = &every.key {
                term(key, visitor);
            }
            term(&every.value, visitor);
            term(&every.domain, visitor);
            deep(|| body(&every.body, visitor));
        }
        ExprTerms::Logic(logic) => deep(|| {
            for operand in &logic.operands {
                body(&operand.body, visitor);
            }
        }),
    }
    for with in &node.with {
        if visitor.with(with) {
            term(&with.target, visitor);
            term(&with.value, visitor);
        }
    }
}

/// Visits terms.
pub(crate) fn terms<'t>(parts: &'t [Term], visitor: &mut impl Visit<'t>) {
    for part in parts {
        term(part, visitor);
    }
}

/// Visits a term.
pub(crate) fn term<'t>(node: &'t Term, visitor: &mut impl Visit<'t>) {
    if visitor.term(node) {
        inside(node, visitor);
    }
}

/// Visits the parts of a term.
pub(crate) fn inside<'t>(node: &'t Term, visitor: &mut impl Visit<'t>) {
    deep_in(node.value.nests(), || match &node.value {
        TermValue::Ref(parts)
        | TermValue::Array(parts)
        | TermValue::Set(parts)
        | TermValue::Call(parts) => terms(parts, visitor),
        TermValue::Object(members) => {
            for (key, value) in members {
                term(key, visitor);
                term(value, visitor);
            }
        }
        TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of) => {
            term(&of.term, visitor);
            body(&of.body, visitor);
        }
        TermValue::ObjectComprehension(of) => {
            term(&of.key, visitor);
            term(&of.value, visitor);
            body(&of.body, visitor);
        }
        TermValue::Template(template) => body(&template.parts, visitor),
        _ => {}
    });
}

/// Visits the terms of a head, including those of its reference after the name.
pub(crate) fn head<'t>(head: &'t Head, visitor: &mut impl Visit<'t>) {
    terms(head.reference.get(1..).unwrap_or_default(), visitor);
    terms(&head.args, visitor);
    for part in head.key.iter().chain(&head.value) {
        term(part, visitor);
    }
}

/// Visits a rule without its `else` branches.
pub(crate) fn rule<'t>(rule: &'t Rule, visitor: &mut impl Visit<'t>) {
    head(&rule.head, visitor);
    body(&rule.body, visitor);
}

/// Rewrites nodes in place. The methods return whether the children of a node are visited after its
/// rewriting.
pub(crate) trait Rewrite {
    /// Rewrites a term.
    fn term(&mut self, _: &mut Term) -> bool {
        true
    }
    /// Rewrites an expression.
    fn expr(&mut self, _: &mut Expr) -> bool {
        true
    }
    /// Rewrites a body of a rule, comprehension or `every`, or an operand of `not`, `and` or `or`.
    fn body(&mut self, _: &mut Body) -> bool {
        true
    }
}

/// Rewrites a body.
pub(crate) fn rewrite_body(node: &mut Body, rewrite: &mut impl Rewrite) {
    if rewrite.body(node) {
        for part in node {
            rewrite_expr(part, rewrite);
        }
    }
}

/// Rewrites an expression.
pub(crate) fn rewrite_expr(node: &mut Expr, rewrite: &mut impl Rewrite) {
    if !rewrite.expr(node) {
        return;
    }
    match &mut node.terms {
        ExprTerms::Term(part) => rewrite_term(part, rewrite),
        ExprTerms::Call(parts) => rewrite_terms(parts, rewrite),
        ExprTerms::Some(decl) => rewrite_terms(&mut decl.symbols, rewrite),
        ExprTerms::Every(every) => {
            if let Some(key) = &mut every.key {
                rewrite_term(key, rewrite);
            }
            rewrite_term(&mut every.value, rewrite);
            rewrite_term(&mut every.domain, rewrite);
            deep(|| rewrite_body(&mut every.body, rewrite));
        }
        ExprTerms::Logic(logic) => deep(|| {
            for operand in &mut logic.operands {
                rewrite_body(&mut operand.body, rewrite);
            }
        }),
    }
    for with in &mut node.with {
        rewrite_term(&mut with.target, rewrite);
        rewrite_term(&mut with.value, rewrite);
    }
}

/// Rewrites terms.
pub(crate) fn rewrite_terms(parts: &mut [Term], rewrite: &mut impl Rewrite) {
    for part in parts {
        rewrite_term(part, rewrite);
    }
}

/// Rewrites a term.
pub(crate) fn rewrite_term(node: &mut Term, rewrite: &mut impl Rewrite) {
    if !rewrite.term(node) {
        return;
    }
    // The replacement of a part may be nested deeper than the part was.
    deep_in(node.value.has_parts(), || match &mut node.value {
        TermValue::Ref(parts) | TermValue::Array(parts) | TermValue::Call(parts) => {
            rewrite_terms(parts, rewrite);
        }
        TermValue::Set(parts) => {
            rewrite_terms(parts, rewrite);
            sort_set(parts);
        }
        TermValue::Object(members) => {
            for (key, value) in &mut *members {
                rewrite_term(key, rewrite);
                rewrite_term(value, rewrite);
            }
            sort_object(members);
        }
        TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of) => {
            rewrite_term(&mut of.term, rewrite);
            rewrite_body(&mut of.body, rewrite);
        }
        TermValue::ObjectComprehension(of) => {
            rewrite_term(&mut of.key, rewrite);
            rewrite_term(&mut of.value, rewrite);
            rewrite_body(&mut of.body, rewrite);
        }
        TermValue::Template(template) => {
            for part in &mut template.parts {
                rewrite_expr(part, rewrite);
            }
        }
        _ => {}
    });
}

/// Rewrites a head, including its reference after the name.
pub(crate) fn rewrite_head(head: &mut Head, rewrite: &mut impl Rewrite) {
    rewrite_terms(head.reference.get_mut(1..).unwrap_or_default(), rewrite);
    rewrite_terms(&mut head.args, rewrite);
    for part in head.key.iter_mut().chain(&mut head.value) {
        rewrite_term(part, rewrite);
    }
}

/// Calls `run` for every rule of a module and, separately, for every `else` branch.
pub(crate) fn each_rule(rules: &mut [Rule], mut run: impl FnMut(&mut Rule)) {
    for first in rules {
        let mut next = Some(first);
        while let Some(rule) = next {
            run(rule);
            next = rule.else_rule.as_deref_mut();
        }
    }
}

/// Returns every rule and every `else` branch.
pub(crate) fn all_rules(rules: &[Rule]) -> impl Iterator<Item = &Rule> {
    rules
        .iter()
        .flat_map(|rule| std::iter::successors(Some(rule), |rule| rule.else_rule.as_deref()))
}

/// Sorts the members of a set, which is the order of rewriting and output, and removes duplicates.
pub(crate) fn sort_set(items: &mut ThinVec<Term>) {
    if !is_set_sorted(items) {
        items.sort();
        items.dedup();
    }
}

/// Whether the members of a set are sorted and unique.
pub(crate) fn is_set_sorted(items: &[Term]) -> bool {
    items.is_sorted_by(|left, right| left < right)
}

/// Sorts the members of an object by key; of equal keys the first is retained, with the last value.
pub(crate) fn sort_object(members: &mut ThinVec<(Term, Term)>) {
    if !is_object_sorted(members) {
        members.sort_by(|(left, _), (right, _)| left.cmp(right));
        members.dedup_by(|(key, value), (previous, previous_value)| {
            let same = key == previous;
            if same {
                std::mem::swap(value, previous_value);
            }
            same
        });
    }
}

/// Whether the members of an object are sorted by key and unique.
pub(crate) fn is_object_sorted(members: &[(Term, Term)]) -> bool {
    members.is_sorted_by(|(left, _), (right, _)| left < right)
}

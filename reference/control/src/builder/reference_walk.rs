//! Collects the references of a module.

use rego::syntax::{Expr, ExprTerms, Location, Module, Rule, Term, TermValue};

/// Visits every term of a module's rules that is not the head of a reference, in no particular
/// order. A tree may be deeper than the stack, so pending nodes are in lists.
pub(super) fn terms<'t>(module: &'t Module, visit: impl FnMut(&'t Term)) {
    let mut worklist = Worklist::default();
    let mut rules: Vec<&Rule> = module.rules.iter().collect();
    while let Some(rule) = rules.pop() {
        let head = &rule.head;
        rules.extend(rule.else_rule.as_deref());
        worklist.terms.extend(head.reference.iter().skip(1));
        worklist.terms.extend(&head.args);
        worklist.terms.extend(&head.key);
        worklist.terms.extend(&head.value);
        worklist.exprs.extend(&rule.body);
    }
    worklist.visit_all(visit);
}

/// Visits every term of a body that is not the head of a reference, in no particular order.
pub(super) fn body<'t>(body: &'t [Expr], visit: impl FnMut(&'t Term)) {
    let mut worklist = Worklist::default();
    worklist.exprs.extend(body);
    worklist.visit_all(visit);
}

/// Returns the byte ranges of the bodies of `else` branches that are one expression without braces.
/// The parser gives everything in such a body the location of the `else`.
pub(super) fn unbraced_branches(module: &Module) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for rule in &module.rules {
        let mut next = rule.else_rule.as_deref();
        while let Some(branch) = next {
            next = branch.else_rule.as_deref();
            let end = |location: &Location| location.offset as usize + location.length as usize;
            let body_end = next.map_or(end(&branch.location), |next| next.location.offset as usize);
            if let [expr] = branch.body.as_slice()
                && !expr.generated
                && expr.location.offset == branch.location.offset
            {
                found.push((end(&branch.head.location), body_end));
            }
        }
    }
    found
}

/// Pending nodes of a walk.
#[derive(Debug, Default)]
struct Worklist<'t> {
    terms: Vec<&'t Term>,
    exprs: Vec<&'t Expr>,
}

impl<'t> Worklist<'t> {
    fn visit_all(mut self, mut visit: impl FnMut(&'t Term)) {
        loop {
            if let Some(expr) = self.exprs.pop() {
                self.expr(expr);
            } else if let Some(term) = self.terms.pop() {
                visit(term);
                self.term(term);
            } else {
                return;
            }
        }
    }

    fn expr(&mut self, expr: &'t Expr) {
        match &expr.terms {
            ExprTerms::Term(term) => self.terms.push(term),
            ExprTerms::Call(parts) => self.terms.extend(parts),
            ExprTerms::Some(declaration) => self.terms.extend(&declaration.symbols),
            ExprTerms::Every(every) => {
                self.terms.extend(&every.key);
                self.terms.extend([&every.value, &every.domain]);
                self.exprs.extend(&every.body);
            }
            ExprTerms::Logic(logic) => {
                let bodies = logic.operands.iter().map(|operand| &operand.body);
                self.exprs.extend(bodies.flatten());
            }
        }
        for with in &expr.with {
            self.terms.extend([&with.target, &with.value]);
        }
    }

    fn term(&mut self, term: &'t Term) {
        match &term.value {
            TermValue::Ref(parts) => {
                let is_name = |part: &&Term| matches!(part.value, TermValue::Var(_));
                let head = parts.first().filter(|head| !is_name(head));
                self.terms.extend(head);
                self.terms.extend(parts.iter().skip(1));
            }
            TermValue::Array(parts) | TermValue::Set(parts) | TermValue::Call(parts) => {
                self.terms.extend(parts);
            }
            TermValue::Object(members) => {
                for (key, value) in members {
                    self.terms.extend([key, value]);
                }
            }
            TermValue::ArrayComprehension(comprehension)
            | TermValue::SetComprehension(comprehension) => {
                self.terms.push(&comprehension.term);
                self.exprs.extend(&comprehension.body);
            }
            TermValue::ObjectComprehension(comprehension) => {
                self.terms
                    .extend([&comprehension.key, &comprehension.value]);
                self.exprs.extend(&comprehension.body);
            }
            TermValue::Template(template) => self.exprs.extend(&template.parts),
            TermValue::Null
            | TermValue::Bool(_)
            | TermValue::Number(_)
            | TermValue::String(_)
            | TermValue::Bytes(_)
            | TermValue::Var(_) => {}
        }
    }
}

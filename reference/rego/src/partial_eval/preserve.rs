//! Preserved nodes: closures, expressions with modifiers and support rules are copied into the
//! residual without being evaluated. Known variables are replaced by their values, and references
//! to rules by references to the copies of the rules.

use thin_vec::{ThinVec, thin_vec};

use super::bindings::Frame;
use super::solver::{Continuation, Flow, Solver};
use super::support::PartialDocument;
use super::terms::{self, Sym, all_vars, is_composite};
use super::unknowns::Root;
use super::value_ref::constants;
use crate::Value;
use crate::eval::member;
use crate::meter::Meter;
use crate::syntax::terms::{constant, dotted, is_var, operator};
use crate::syntax::visit;
use crate::syntax::{
    Body, Comprehension, Every, Expr, ExprTerms, Location, Logic, ObjectComprehension, Operand,
    Term, TermValue, With,
};
use crate::types::signature;

impl<'p> Solver<'p> {
    /// Saves an expression unevaluated.
    pub(super) fn preserve_whole(
        &mut self,
        frame: Frame,
        expr: &'p Expr,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let mark = self.bindings.checkpoint();
        if !expr.with.is_empty() {
            self.save_equations(frame, expr);
        }
        let preserved = self.preserve_expr(frame, expr);
        self.bindings.save(preserved);
        let flow = next(self);
        self.bindings.undo(mark);
        flow
    }

    /// Saves equations, ahead of an expression, for its variables that are bound to unknown terms,
    /// which may have a different meaning within the expression.
    fn save_equations(&mut self, frame: Frame, expr: &Expr) {
        for var in all_vars(expr) {
            if self.bindings.assigned_name(frame, &var).is_none() {
                continue;
            }
            let Sym::Term(term) = self.bindings.lookup(frame, &var) else {
                continue;
            };
            if matches!(term.value, TermValue::Var(_)) {
                continue;
            }
            let name = self.bindings.fresh();
            let left = terms::var(&name, &expr.location);
            self.bindings
                .save(terms::call("eq", [left, term], &expr.location));
            self.bindings.assign_name(frame, &var, name);
        }
    }

    pub(super) fn preserve_body(&mut self, frame: Frame, body: &[Expr]) -> Body {
        let mut preserved: Body = ThinVec::with_capacity(body.len());
        for expr in body {
            if super::solver::is_print(expr) {
                continue;
            }
            let mut expr = self.preserve_expr(frame, expr);
            expr.index = preserved.len();
            preserved.push(expr);
        }
        if preserved.is_empty() {
            let location = body.first().map(|expr| expr.location.clone());
            let location = location.unwrap_or_else(terms::nowhere);
            preserved.push(terms::to_expr(terms::term(
                TermValue::Bool(true),
                &location,
            )));
        }
        preserved
    }

    pub(super) fn preserve_expr(&mut self, frame: Frame, expr: &Expr) -> Expr {
        let mut with = ThinVec::new();
        let replaces = |with: &With| matches!(target(with), Some((Root::Input, _)));
        let raw = expr.with.iter().any(replaces);
        if raw && !self.raw {
            with.extend(self.known_input(&expr.location));
        }
        for one in &expr.with {
            self.preserve_with(frame, one, &mut with);
        }
        let before = self.raw;
        self.raw |= raw;
        let terms = match &expr.terms {
            ExprTerms::Term(term) => ExprTerms::Term(Box::new(self.preserve_term(frame, term))),
            ExprTerms::Call(parts) => ExprTerms::Call(self.preserve_call(frame, parts)),
            ExprTerms::Some(decl) => ExprTerms::Some(decl.clone()),
            ExprTerms::Every(every) => self.closed_in(|solver| {
                ExprTerms::Every(Box::new(Every {
                    key: every
                        .key
                        .as_ref()
                        .map(|key| solver.preserve_term(frame, key)),
                    value: solver.preserve_term(frame, &every.value),
                    domain: solver.preserve_term(frame, &every.domain),
                    body: visit::deep(|| solver.preserve_body(frame, &every.body)),
                }))
            }),
            ExprTerms::Logic(logic) => {
                let operands = logic.operands.iter().map(|operand| {
                    let body = &operand.body;
                    let body = self.closed_in(|s| visit::deep(|| s.preserve_body(frame, body)));
                    // Expressions that the compiler moves ahead of an operand are part of it.
                    let explicit = operand.explicit || body.len() > 1;
                    Operand { body, explicit }
                });
                ExprTerms::Logic(Box::new(Logic {
                    connective: logic.connective,
                    operands: operands.collect(),
                }))
            }
        };
        self.raw = before;
        Expr {
            terms,
            with,
            negated: expr.negated,
            index: expr.index,
            generated: false,
            assigned: false,
            location: expr.location.clone(),
        }
    }

    fn preserve_call(&mut self, frame: Frame, parts: &[Term]) -> ThinVec<Term> {
        let Some((first, operands)) = parts.split_first() else {
            return ThinVec::new();
        };
        let name = operator(parts).unwrap_or_default();
        let first = match name.first() {
            Some(head) if is_var(head, "data") => self.preserve_term(frame, first),
            _ => first.clone(),
        };
        let operands = operands.iter().map(|term| self.preserve_term(frame, term));
        let mut call = thin_vec![first];
        call.extend(operands.collect::<Vec<_>>());
        call
    }

    /// Translates a modifier of a preserved expression: what replaces rules also replaces their
    /// copies.
    fn preserve_with(&mut self, frame: Frame, with: &With, preserved: &mut ThinVec<With>) {
        let value = match function(&with.value) {
            true => with.value.clone(),
            false => self.preserve_term(frame, &with.value),
        };
        let mut add = |target: Term| {
            preserved.push(With {
                target,
                value: value.clone(),
                location: with.location.clone(),
            });
        };
        let Some((Root::Data, path)) = target(with) else {
            return add(with.target.clone());
        };
        if self.unknowns.cover(Root::Data, &path) {
            return add(with.target.clone());
        }
        let mut node = self.policy.module_set().root();
        for (length, step) in path.iter().enumerate() {
            let Some(child) = node.child(step) else {
                return add(with.target.clone());
            };
            node = child;
            if node.rules.is_some() {
                let (prefix, rest) = path.split_at(length + 1);
                let base = self.supported(prefix, &with.location);
                let rest = rest
                    .iter()
                    .map(|step| terms::value(step, &with.location, self.meter));
                return add(terms::extended(base, rest, &with.location));
            }
        }
        add(with.target.clone());
        if !node.extent().is_empty() {
            let location = &with.location;
            let steps = self.copies().into_iter().chain(path);
            let steps = steps.map(|step| terms::value(&step, location, self.meter));
            add(terms::reference(
                "data",
                steps.collect::<Vec<_>>(),
                location,
            ));
        }
    }

    /// Returns modifiers that supply the known part of the input.
    fn known_input(&self, location: &Location) -> ThinVec<With> {
        let Some(input) = &self.input else {
            return ThinVec::new();
        };
        let mut found = ThinVec::new();
        let one = |path: &[Value], value: &Value| With {
            target: terms::reference(
                "input",
                path.iter()
                    .map(|step| terms::value(step, location, self.meter)),
                location,
            ),
            value: terms::value(value, location, self.meter),
            location: location.clone(),
        };
        if !self.unknowns.overlap(Root::Input, &[]) {
            found.push(one(&[], input));
        } else if !self.unknowns.cover(Root::Input, &[]) {
            for (key, value) in super::value_ref::members(input) {
                let path = [key];
                if !self.unknowns.overlap(Root::Input, &path) {
                    found.push(one(&path, &value));
                }
            }
        }
        found
    }

    /// Copies a term with the known values of its variables.
    pub(super) fn preserve_term(&mut self, frame: Frame, term: &Term) -> Term {
        let location = &term.location;
        visit::deep(|| match &term.value {
            TermValue::Var(_) if is_var(term, "input") || is_var(term, "data") => {
                self.preserve_reference(frame, std::slice::from_ref(term), location)
            }
            TermValue::Var(var) => self
                .bindings
                .lookup(frame, var)
                .into_term(location, self.meter),
            TermValue::Ref(parts) => self.preserve_reference(frame, parts, location),
            TermValue::Array(items) => terms::term(
                TermValue::Array(self.preserve_terms(frame, items)),
                location,
            ),
            TermValue::Set(items) => {
                let mut items = self.preserve_terms(frame, items);
                visit::sort_set(&mut items);
                terms::term(TermValue::Set(items), location)
            }
            TermValue::Object(members) => {
                let members = members.iter();
                let members = members.map(|(key, value)| {
                    (
                        self.preserve_term(frame, key),
                        self.preserve_term(frame, value),
                    )
                });
                let mut members: ThinVec<_> = members.collect();
                visit::sort_object(&mut members);
                terms::term(TermValue::Object(members), location)
            }
            TermValue::Call(parts) => {
                terms::term(TermValue::Call(self.preserve_call(frame, parts)), location)
            }
            TermValue::ArrayComprehension(of) => {
                let of = self.preserve_comprehension(frame, of);
                terms::term(TermValue::ArrayComprehension(of), location)
            }
            TermValue::SetComprehension(of) => {
                let of = self.preserve_comprehension(frame, of);
                terms::term(TermValue::SetComprehension(of), location)
            }
            TermValue::ObjectComprehension(of) => {
                let of = self.closed_in(|solver| {
                    let body = solver.preserve_body(frame, &of.body);
                    let key = solver.preserve_term(frame, &of.key);
                    let value = solver.preserve_term(frame, &of.value);
                    Box::new(ObjectComprehension { key, value, body })
                });
                terms::term(TermValue::ObjectComprehension(of), location)
            }
            _ => term.clone(),
        })
    }

    fn preserve_terms(&mut self, frame: Frame, items: &[Term]) -> ThinVec<Term> {
        let items = items.iter();
        items.map(|item| self.preserve_term(frame, item)).collect()
    }

    fn preserve_comprehension(&mut self, frame: Frame, of: &Comprehension) -> Box<Comprehension> {
        self.closed_in(|solver| {
            let body = solver.preserve_body(frame, &of.body);
            let term = solver.preserve_term(frame, &of.term);
            Box::new(Comprehension { term, body })
        })
    }

    /// Preserves a closure: variables that first occur in it are local to it. The caller preserves
    /// a body before the terms that are built from it, in the order of their evaluation.
    fn closed_in<T>(&mut self, translate: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.bindings.checkpoint();
        let result = translate(self);
        self.bindings.undo(mark);
        result
    }

    fn preserve_reference(&mut self, frame: Frame, parts: &[Term], location: &Location) -> Term {
        let Some((head, steps)) = parts.split_first() else {
            return terms::term(TermValue::Ref(ThinVec::new()), location);
        };
        let steps = self.preserve_terms(frame, steps);
        if is_var(head, "data") {
            return self.preserve_document(&steps, location);
        }
        if is_var(head, "input") {
            return self.preserve_input(&steps, location);
        }
        match Sym::from(self.preserve_term(frame, head)) {
            Sym::Known(value) => known(&value, &steps, location, self.meter),
            Sym::Term(base) => terms::extended(base, steps, location),
        }
    }

    /// Preserves a reference into `data`: a reference to rules becomes one to their copies; one to
    /// base documents or unknowns is unchanged.
    pub(super) fn preserve_document(&mut self, steps: &[Term], location: &Location) -> Term {
        let path = constants(steps);
        let mut node = Some(self.policy.module_set().root());
        for length in 0..=path.len() {
            let (prefix, _) = path.split_at(length);
            if self.unknowns.cover(Root::Data, prefix) {
                break;
            }
            let Some(here) = node else {
                break;
            };
            let rest = steps.get(length..).unwrap_or_default();
            if here.rules.is_some() {
                let base = self.supported(prefix, location);
                return terms::extended(base, rest.iter().cloned(), location);
            }
            let Some(step) = path.get(length) else {
                if here.extent().is_empty() {
                    break;
                }
                let base = self.partial_document(PartialDocument::Document, prefix, location);
                return terms::extended(base, rest.iter().cloned(), location);
            };
            node = here.child(step).map(AsRef::as_ref);
        }
        terms::reference("data", steps.iter().cloned(), location)
    }

    /// Preserves a reference into the input, with the known part substituted.
    pub(super) fn preserve_input(&mut self, steps: &[Term], location: &Location) -> Term {
        let input_reference = || terms::reference("input", steps.iter().cloned(), location);
        if self.raw {
            return input_reference();
        }
        let path = constants(steps);
        let mut value = self.input.clone();
        for length in 0..=path.len() {
            let (prefix, _) = path.split_at(length);
            let rest = steps.get(length..).unwrap_or_default();
            if self.unknowns.cover(Root::Input, prefix) {
                return input_reference();
            }
            if !self.unknowns.below(Root::Input, prefix) {
                return match value {
                    Some(_) => {
                        let base = self.partial_document(PartialDocument::Known, prefix, location);
                        terms::extended(base, rest.iter().cloned(), location)
                    }
                    None => undefined(location),
                };
            }
            let Some(step) = path.get(length) else {
                let base = self.partial_document(PartialDocument::Input, prefix, location);
                return terms::extended(base, rest.iter().cloned(), location);
            };
            value = value.and_then(|value| member(&value, step).cloned());
        }
        input_reference()
    }
}

/// Returns a reference into a known value.
fn known(value: &Value, steps: &[Term], location: &Location, meter: &Meter) -> Term {
    let mut value = value.clone();
    let mut steps = steps;
    while let Some((first, rest)) = steps.split_first()
        && let Some(key) = constant(first)
    {
        match member(&value, &key) {
            Some(found) => value = found.clone(),
            None => return undefined(location),
        }
        steps = rest;
    }
    let base = terms::value(&value, location, meter);
    match steps {
        [] => base,
        _ if is_composite(&base.value) => {
            let parts = std::iter::once(base).chain(steps.iter().cloned());
            terms::term(TermValue::Ref(parts.collect()), location)
        }
        _ => undefined(location),
    }
}

/// Returns a reference to a document that does not exist, which is always undefined.
fn undefined(location: &Location) -> Term {
    let steps = ["partial", "__undefined__"].map(|step| terms::string(step, location));
    terms::reference("data", steps, location)
}

/// Returns the document that a modifier replaces, if it replaces one.
pub(super) fn target(with: &With) -> Option<(Root, Vec<Value>)> {
    let parts = match &with.target.value {
        TermValue::Ref(parts) => parts.as_slice(),
        TermValue::Var(_) => std::slice::from_ref(&with.target),
        _ => return None,
    };
    let (head, steps) = parts.split_first()?;
    let root = if is_var(head, "input") {
        Root::Input
    } else if is_var(head, "data") {
        Root::Data
    } else {
        return None;
    };
    Some((root, constants(steps)))
}

/// Whether a term names a built-in function.
fn function(term: &Term) -> bool {
    let parts = match &term.value {
        TermValue::Ref(parts) => parts.as_slice(),
        TermValue::Var(_) => std::slice::from_ref(term),
        _ => return false,
    };
    dotted(parts).is_some_and(|name| signature(&name).is_some())
}

//! Renames variables in expressions and terms.

use thin_vec::{ThinVec, thin_vec};

use super::super::names::{expression, operator};
use super::super::outputs::of_equality_expr;
use super::super::vars::{ALL, PATTERN, Scan, display_name, is_operator, root_document};
use super::scopes::{Kind, Scopes};
use super::{Locals, MAX_REPEATS, called};
use crate::hash::HashSet;
use crate::syntax::visit::{deep, sort_object, sort_set};
use crate::syntax::{Body, Expr, ExprTerms, Location, Term, TermValue, Var, With};

impl Locals<'_> {
    /// Rewrites an expression; `None` if it must be removed, as declarations are.
    pub(super) fn expr(&mut self, mut expr: Expr) -> Option<Expr> {
        match &mut expr.terms {
            ExprTerms::Call(call)
                if call.first().is_some_and(|name| is_operator(name, "assign")) =>
            {
                self.assignment(&mut expr);
            }
            ExprTerms::Some(decl) => {
                let symbols = std::mem::take(&mut decl.symbols);
                let (left, right) = self.some(symbols, &mut expr.with, &expr.location)?;
                expr.terms =
                    ExprTerms::Call(thin_vec![operator("eq", &expr.location), left, right]);
                self.expr_without_declarations(&mut expr);
            }
            ExprTerms::Every(_) => {
                if !self.every(&mut expr) {
                    return None;
                }
            }
            ExprTerms::Logic(_) => self.logic(&mut expr, false),
            _ => self.expr_without_declarations(&mut expr),
        }
        Some(expr)
    }

    /// Rewrites an expression without declarations.
    pub(super) fn expr_without_declarations(&mut self, expr: &mut Expr) {
        match &mut expr.terms {
            ExprTerms::Term(term) => self.term(term),
            ExprTerms::Call(parts) => self.terms(parts),
            ExprTerms::Some(_) | ExprTerms::Every(_) | ExprTerms::Logic(_) => {}
        }
        for with in &mut expr.with {
            self.with(with);
        }
    }

    fn assignment(&mut self, expr: &mut Expr) {
        if expr.negated {
            self.refuse(
                &expr.location,
                "cannot assign vars inside negated expression",
            );
            return;
        }
        let ExprTerms::Call(call) = &mut expr.terms else {
            return;
        };
        let [name, left, right] = call.as_mut_slice() else {
            return;
        };
        let error_count = self.found.len();
        self.term(right);
        for with in &mut expr.with {
            self.term(&mut with.value);
        }
        self.target(left);
        if self.found.len() == error_count {
            *name = operator("eq", &name.location);
            expr.assigned = true;
        }
    }

    /// Declares the variables on the left side of `:=`.
    fn target(&mut self, term: &mut Term) {
        let root = root_document(term).cloned();
        match &mut term.value {
            TermValue::Var(var) => {
                if let Some(local) = self.declare(var.clone(), Kind::Assigned, &term.location) {
                    *var = local;
                }
            }
            TermValue::Array(items) => {
                for item in items {
                    deep(|| self.target(item));
                }
            }
            TermValue::Object(members) => {
                sort_object(members);
                for (_, value) in members {
                    deep(|| self.target(value));
                }
            }
            _ => match root {
                Some(root) => {
                    if let Some(local) = self.declare(root, Kind::Assigned, &term.location) {
                        term.value = TermValue::Var(local);
                    }
                }
                None => {
                    let message = format!("cannot assign to {}", kind(term));
                    self.refuse(&term.location, message);
                }
            },
        }
    }

    /// Declares the variables of `some`. For `some x in xs`, returns the sides of an equality.
    fn some(
        &mut self,
        symbols: ThinVec<Term>,
        with: &mut ThinVec<With>,
        at: &Location,
    ) -> Option<(Term, Term)> {
        for symbol in symbols {
            match symbol.value {
                TermValue::Var(var) => {
                    self.declare_at(var, at)?;
                }
                TermValue::Call(mut call) => {
                    let container = call.pop()?;
                    let member = call.pop()?;
                    let key = match call.len() {
                        1 => self.names.term(&container.location),
                        _ => call.pop()?,
                    };
                    return self.some_in((key, member), container, with, at);
                }
                _ => {}
            }
        }
        None
    }

    fn some_in(
        &mut self,
        (key, member): (Term, Term),
        container: Term,
        with: &mut ThinVec<With>,
        at: &Location,
    ) -> Option<(Term, Term)> {
        let domain = Scan {
            closures: false,
            ..ALL
        };
        let domain = domain.of_term(&container);
        let bound = PATTERN.of_terms(std::slice::from_ref(&key));
        let members = PATTERN.of_term(&member);
        let mut both: Vec<_> = bound
            .union(&members)
            .filter(|var| domain.contains(**var))
            .collect();
        both.retain(|var| !var.is_wildcard());
        both.sort();
        if !both.is_empty() {
            for var in both {
                self.refuse(at, format!("var {} assigned before", display_name(var)));
            }
            return None;
        }
        let bound_names: HashSet<Var> = bound.union(&members).map(|var| (*var).clone()).collect();
        let safe: HashSet<Var> = ALL.of_term(&container).into_iter().cloned().collect();
        let location = container.location.clone();
        let value = match container.value {
            TermValue::Ref(mut reference) => {
                reference.push(key);
                TermValue::Ref(reference)
            }
            other => {
                let head = Term {
                    value: other,
                    location: location.clone(),
                };
                TermValue::Ref(thin_vec![head, key])
            }
        };
        let right = Term { value, location };
        let safe = |var: &Var| safe.contains(var);
        let mut eq = expression(
            ExprTerms::Call(thin_vec![operator("eq", at), member, right]),
            at.clone(),
        );
        // Variables that the modifiers would bind count as well.
        eq.with = std::mem::take(with);
        let mut bound: Vec<Var> = of_equality_expr(&eq, &safe).into_iter().cloned().collect();
        bound.sort();
        *with = std::mem::take(&mut eq.with);
        for var in bound {
            match bound_names.contains(&var) {
                true => self.declare_at(var, at)?,
                false => self.declare_without_place(var, at)?,
            };
        }
        match eq.terms {
            ExprTerms::Call(call) => {
                let mut call = call.into_iter().skip(1);
                Some((call.next()?, call.next()?))
            }
            _ => None,
        }
    }

    fn declare_at(&mut self, var: Var, at: &Location) -> Option<Var> {
        let error_count = self.found.len();
        let local = self.declare(var, Kind::Declared, at);
        (self.found.len() == error_count).then_some(local).flatten()
    }

    /// Rewrites an `every`; returns false if it must be removed.
    fn every(&mut self, expr: &mut Expr) -> bool {
        let ExprTerms::Every(every) = &mut expr.terms else {
            return false;
        };
        let at = &expr.location;
        let error_count = self.found.len();
        self.term(&mut every.domain);
        self.scopes.open();
        let fine = 'declared: {
            match &mut every.key {
                None => every.key = Some(self.names.term(&every.value.location)),
                Some(key) => {
                    if !self.every_variable(key, at) {
                        break 'declared false;
                    }
                }
            }
            if !self.every_variable(&mut every.value, at) {
                break 'declared false;
            }
            let place = deep(|| self.exprs(&mut every.body));
            self.check_unused(place.as_ref(), &HashSet::default());
            // OPA visits domain and body once more: declarations of the scope shadow variables in
            // the domain, and in the part of the body that precedes them.
            let is_wrong = self.found.len() > error_count && self.repeats < MAX_REPEATS;
            let domain = ALL.of_term(&every.domain);
            if is_wrong || domain.into_iter().any(|var| self.declares(var)) {
                self.repeats += 1;
                self.term(&mut every.domain);
            }
            let body = ALL.of_body(&every.body);
            if is_wrong || body.into_iter().any(|var| self.declares(var)) {
                self.again(&mut every.body);
            }
            for with in &mut expr.with {
                self.with(with);
            }
            true
        };
        self.scopes.close();
        fine
    }

    /// Whether the innermost scope declares a variable.
    pub(super) fn declares(&self, var: &Var) -> bool {
        let kind = self.scopes.own_kind(var);
        kind.is_some_and(|kind| kind != Kind::Seen)
    }

    /// Visits the body of an `every` or `not` once more; errors in comprehensions there are
    /// reported again. Each nesting doubles the passes, so their number is limited.
    pub(super) fn again(&mut self, body: &mut Body) {
        for expr in body {
            if self.repeats >= MAX_REPEATS {
                return;
            }
            self.repeats += 1;
            match &mut expr.terms {
                ExprTerms::Every(every) => {
                    self.term(&mut every.domain);
                    deep(|| self.again(&mut every.body));
                    for with in &mut expr.with {
                        self.with(with);
                    }
                }
                _ => self.expr_without_declarations(expr),
            }
        }
    }

    fn every_variable(&mut self, term: &mut Term, at: &Location) -> bool {
        let TermValue::Var(var) = &mut term.value else {
            return true;
        };
        if var.is_wildcard() {
            return true;
        }
        let Some(local) = self.declare_without_place(var.clone(), at) else {
            return false;
        };
        *var = local;
        true
    }

    fn declare_without_place(&mut self, var: Var, at: &Location) -> Option<Var> {
        self.redeclared(&var, at)?;
        Some(self.declare_as(var, Kind::Declared, None))
    }

    /// Declares a variable in the innermost scope, or reports that it is already declared.
    fn declare(&mut self, var: Var, kind: Kind, at: &Location) -> Option<Var> {
        self.redeclared(&var, at)?;
        Some(self.declare_as(var, kind, Some(at.clone())))
    }

    fn redeclared(&mut self, var: &Var, at: &Location) -> Option<()> {
        let name = display_name(var);
        let message = match self.scopes.own_kind(var) {
            None => return Some(()),
            Some(Kind::Seen) => format!("var {name} referenced above"),
            Some(Kind::Assigned) => format!("var {name} assigned above"),
            Some(Kind::Declared) => format!("var {name} declared above"),
            Some(Kind::Parameter) => format!("arg {name} redeclared"),
        };
        self.refuse(at, message);
        None
    }

    /// Adds a variable to the innermost scope under a new name.
    pub(super) fn declare_as(&mut self, var: Var, kind: Kind, at: Option<Location>) -> Var {
        let local = self.names.fresh();
        self.scopes.insert(&var, local.clone(), kind, at);
        self.written.push((local.clone(), var));
        local
    }

    fn terms(&mut self, terms: &mut [Term]) {
        for term in terms {
            self.term(term);
        }
    }

    /// Renames the variables of a term.
    pub(super) fn term(&mut self, term: &mut Term) {
        deep(|| self.value(term));
    }

    fn value(&mut self, term: &mut Term) {
        if let Some(root) = root_document(term) {
            if self
                .scopes
                .kind(root)
                .is_some_and(|kind| kind != Kind::Seen)
                && let Some(local) = self.scopes.use_local(root)
            {
                term.value = TermValue::Var(local.clone());
            }
            return;
        }
        match &mut term.value {
            TermValue::Var(var) => match self.scopes.use_local(var) {
                Some(local) => {
                    if local != var {
                        *var = local.clone();
                    }
                }
                None => self.scopes.insert(var, var.clone(), Kind::Seen, None),
            },
            TermValue::Ref(parts) | TermValue::Array(parts) => self.terms(parts),
            TermValue::Call(call) => {
                let mut shadowed = false;
                if let Some(name) = call.first() {
                    ALL.term(name, &mut |var, _| {
                        shadowed |= self.scopes.local(var).is_some_and(|local| local != *var);
                    });
                }
                if shadowed {
                    let message = format!("called function {} shadowed", called(call));
                    self.refuse(&term.location, message);
                }
                self.terms(call);
            }
            TermValue::Set(items) => {
                sort_set(items);
                self.terms(items);
                sort_set(items);
            }
            TermValue::Object(members) => {
                sort_object(members);
                for (key, value) in &mut *members {
                    self.term(key);
                    self.term(value);
                }
                sort_object(members);
            }
            TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of) => {
                let used = |used: &mut HashSet<Var>| used.extend(variables(&of.term));
                self.comprehension(&mut of.body, used);
                self.term(&mut of.term);
                self.scopes.close();
            }
            TermValue::ObjectComprehension(of) => {
                let used = |used: &mut HashSet<Var>| {
                    used.extend(variables(&of.key).chain(variables(&of.value)));
                };
                self.comprehension(&mut of.body, used);
                self.term(&mut of.key);
                self.term(&mut of.value);
                self.scopes.close();
            }
            TermValue::Template(template) => {
                for part in &mut template.parts {
                    self.expr_without_declarations(part);
                }
            }
            _ => {}
        }
    }

    /// Opens the scope of a comprehension and rewrites its body. `used` collects the variables of
    /// its terms, which are rewritten later; it is called only if the body has unused variables.
    fn comprehension(&mut self, body: &mut Body, used: impl FnOnce(&mut HashSet<Var>)) {
        self.scopes.open();
        let at = self.exprs(body);
        if self.scopes.unused().is_empty() {
            return;
        }
        let mut in_terms = HashSet::default();
        used(&mut in_terms);
        self.check_unused(at.as_ref(), &in_terms);
    }

    pub(super) fn with(&mut self, with: &mut With) {
        let input = Var("input".into());
        self.term(&mut with.target);
        // A local variable may be named `input`, but the target of a modifier is the document.
        if let Some(local) = self.scopes.local(&input) {
            match &mut with.target.value {
                TermValue::Var(var) if *var == local => {
                    with.target.value = operator("input", &with.target.location).value;
                }
                TermValue::Ref(parts) => {
                    if let Some(TermValue::Var(var)) = parts.first_mut().map(|term| &mut term.value)
                        && *var == local
                    {
                        *var = input;
                    }
                }
                _ => {}
            }
        }
        self.term(&mut with.value);
    }

    /// Renames local declarations of comprehensions in a head.
    pub(super) fn head_term(&mut self, term: &mut Term) {
        match &mut term.value {
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_)
            | TermValue::Template(_) => {
                self.scopes = Scopes::default();
                self.before.1 = self.unused.len();
                self.term(term);
            }
            TermValue::Ref(parts) | TermValue::Array(parts) | TermValue::Call(parts) => {
                for part in parts {
                    deep(|| self.head_term(part));
                }
            }
            TermValue::Set(items) => {
                for item in &mut *items {
                    deep(|| self.head_term(item));
                }
                sort_set(items);
            }
            TermValue::Object(members) => {
                for (key, value) in &mut *members {
                    deep(|| self.head_term(key));
                    deep(|| self.head_term(value));
                }
                sort_object(members);
            }
            _ => {}
        }
    }
}

/// Returns the variables of a term, including those of its comprehensions.
fn variables(term: &Term) -> impl Iterator<Item = Var> {
    ALL.of_term(term).into_iter().cloned()
}

/// Returns the type of a term, for messages.
fn kind(term: &Term) -> &'static str {
    match &term.value {
        TermValue::Null => "null",
        TermValue::Bool(_) => "boolean",
        TermValue::Number(_) => "number",
        TermValue::String(_) | TermValue::Bytes(_) => "string",
        TermValue::Var(_) => "var",
        TermValue::Ref(_) => "ref",
        TermValue::Array(_) => "array",
        TermValue::Object(_) => "object",
        TermValue::Set(_) => "set",
        TermValue::ArrayComprehension(_) => "arraycomprehension",
        TermValue::SetComprehension(_) => "setcomprehension",
        TermValue::ObjectComprehension(_) => "objectcomprehension",
        TermValue::Call(_) => "call",
        TermValue::Template(_) => "templatestring",
    }
}

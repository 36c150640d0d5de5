//! Names for the variables that the compiler makes, and the expressions that give them values.

use std::collections::HashSet;
use std::sync::Arc;

use super::vars::ALL;
use super::visit::all_rules;
use crate::syntax::{Expr, ExprTerms, Location, Rule, Term, TermValue, Var};

/// Makes variables that a tree does not have.
#[derive(Debug)]
pub(super) struct Names<'n> {
    prefix: &'static str,
    next: &'n mut usize,
    taken: HashSet<Var>,
}

/// Numbers of variables that authors write count up to here, so that counting on cannot end.
const WRITTEN_LIMIT: usize = 1 << 32;

impl<'n> Names<'n> {
    /// Names for a module, of which this is the next number.
    pub(super) fn of_module(next: &'n mut usize) -> Self {
        Self {
            prefix: "__local",
            next,
            taken: HashSet::new(),
        }
    }

    /// Names for a query. Every stage counts anew and leaves out what is there.
    pub(super) fn of_query(next: &'n mut usize, body: &[Expr]) -> Self {
        let mut taken = HashSet::new();
        ALL.body(body, &mut |var, _| {
            if var.0.starts_with("__localq") {
                taken.insert(var.clone());
            }
        });
        *next = 0;
        Self {
            prefix: "__localq",
            next,
            taken,
        }
    }

    /// A new variable.
    pub(super) fn fresh(&mut self) -> Var {
        loop {
            let name: Arc<str> = format!("{}{}__", self.prefix, self.next).into();
            *self.next += 1;
            let var = Var(name);
            if !self.taken.contains(&var) {
                return var;
            }
        }
    }

    /// A new variable as a term.
    pub(super) fn term(&mut self, location: &Location) -> Term {
        Term {
            value: TermValue::Var(self.fresh()),
            location: location.clone(),
        }
    }

    /// Takes a term away, leaves a new variable in its place, and answers with the expression
    /// that makes them equal.
    pub(super) fn hoist(&mut self, term: &mut Term) -> Expr {
        let local = self.term(&term.location);
        let other = std::mem::replace(term, local.clone());
        let mut expr = equal(local, other);
        expr.generated = true;
        expr
    }
}

/// The number after all that the names of a module's authors look like.
pub(super) fn first_number(rules: &[Rule]) -> usize {
    let mut first = 0;
    let mut look = |var: &Var| {
        let digits = var
            .0
            .strip_prefix("__local")
            .and_then(|rest| rest.strip_suffix("__"));
        if let Some(number) = digits.and_then(|digits| digits.parse::<usize>().ok()) {
            first = first.max(number.min(WRITTEN_LIMIT) + 1);
        }
    };
    for rule in all_rules(rules) {
        let head = &rule.head;
        let parts = head
            .reference
            .iter()
            .chain(&head.args)
            .chain(&head.key)
            .chain(&head.value);
        for term in parts {
            ALL.term(term, &mut |var, _| look(var));
        }
        ALL.body(&rule.body, &mut |var, _| look(var));
    }
    first
}

/// `left = right`, at the place of the right side.
pub(super) fn equal(left: Term, right: Term) -> Expr {
    let location = right.location.clone();
    expression(
        ExprTerms::Call(vec![operator("eq", &location), left, right]),
        location,
    )
}

/// The name of a function as the operator of a call.
pub(super) fn operator(name: &str, location: &Location) -> Term {
    let mut parts = name.split('.');
    let head = TermValue::Var(Var(parts.next().unwrap_or_default().into()));
    let steps = parts.map(|step| TermValue::String(step.into()));
    let reference = std::iter::once(head).chain(steps).map(|value| Term {
        value,
        location: location.clone(),
    });
    Term {
        value: TermValue::Ref(reference.collect()),
        location: location.clone(),
    }
}

/// An expression without modifiers.
pub(super) fn expression(terms: ExprTerms, location: Location) -> Expr {
    Expr {
        terms,
        negated: false,
        with: Vec::new(),
        index: 0,
        generated: false,
        assigned: false,
        location,
    }
}

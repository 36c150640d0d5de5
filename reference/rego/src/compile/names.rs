//! Generated variables, and the expressions that assign to them.

use std::sync::Arc;

use thin_vec::{ThinVec, thin_vec};

use super::Diagnostics;
use super::vars::ALL;
use crate::error::{Code, LanguageError};
use crate::hash::HashSet;
use crate::syntax::visit::all_rules;
use crate::syntax::{Expr, ExprTerms, Location, Ref, Rule, Term, TermValue, Var, With};

/// Generator of variables that a tree does not contain.
#[derive(Debug)]
pub(super) struct Names<'n> {
    prefix: &'static str,
    next: &'n mut usize,
    taken: HashSet<Var>,
    /// Number of copied modifiers.
    copies: usize,
    /// Location of the expression whose modifiers exceeded the limit.
    excess: Option<Location>,
}

/// Maximum number of modifiers that a stage copies for one module, so that a source with many
/// modifiers on an expression with many parts cannot become a tree of the size of their product.
const MAX_COPIES: usize = 1 << 18;

/// Upper limit for numbers in source variables' names, so that generated ones cannot overflow.
const MAX_SOURCE_NUMBER: usize = 1 << 32;

impl<'n> Names<'n> {
    /// Generates names for a module, starting at this number.
    pub(super) fn of_module(next: &'n mut usize) -> Self {
        Self {
            prefix: "__local",
            next,
            taken: HashSet::default(),
            copies: 0,
            excess: None,
        }
    }

    /// Generates names for a query. Every stage restarts the numbers and skips existing variables.
    pub(super) fn of_query(next: &'n mut usize, body: &[Expr]) -> Self {
        let mut taken = HashSet::default();
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
            copies: 0,
            excess: None,
        }
    }

    /// Returns a new variable.
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

    /// Returns a new variable as a term.
    pub(super) fn term(&mut self, location: &Location) -> Term {
        Term {
            value: TermValue::Var(self.fresh()),
            location: location.clone(),
        }
    }

    /// Copies the modifiers of an expression to one that is generated from it.
    pub(super) fn copy(&mut self, with: &[With]) -> ThinVec<With> {
        self.copies = self.copies.saturating_add(with.len());
        if self.copies > MAX_COPIES {
            self.excess = with.first().map(|with| with.location.clone());
            return ThinVec::new();
        }
        with.into()
    }

    /// Reports an error if too many modifiers were copied.
    pub(super) fn finish(self) -> Diagnostics {
        let message = "too many with modifiers on expressions of many parts";
        let excess = self.excess.iter();
        excess
            .map(|at| LanguageError::at(Code::Compile, at, message))
            .collect()
    }

    /// Replaces a term by a new variable, and returns the expression that makes them equal.
    pub(super) fn hoist(&mut self, term: &mut Term) -> Expr {
        let local = self.term(&term.location);
        let other = std::mem::replace(term, local.clone());
        let mut expr = equal(local, other);
        expr.generated = true;
        expr
    }
}

/// Returns the number after those of all source variables that look like generated ones.
pub(super) fn first_number(rules: &[Rule]) -> usize {
    let mut first = 0;
    let mut note = |var: &Var| {
        let digits = var
            .0
            .strip_prefix("__local")
            .and_then(|rest| rest.strip_suffix("__"));
        if let Some(number) = digits.and_then(|digits| digits.parse::<usize>().ok()) {
            first = first.max(number.min(MAX_SOURCE_NUMBER) + 1);
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
            ALL.term(term, &mut |var, _| note(var));
        }
        ALL.body(&rule.body, &mut |var, _| note(var));
    }
    first
}

/// Returns `left = right`, at the location of the right side.
pub(super) fn equal(left: Term, right: Term) -> Expr {
    let location = right.location.clone();
    expression(
        ExprTerms::Call(thin_vec![operator("eq", &location), left, right]),
        location,
    )
}

/// Returns the operator of a call for the name of a function.
pub(super) fn operator(name: &str, location: &Location) -> Term {
    let mut parts = name.split('.');
    let head = TermValue::Var(Var(parts.next().unwrap_or_default().into()));
    let steps = parts.map(|step| TermValue::String(step.into()));
    let reference = std::iter::once(head).chain(steps).map(|value| Term {
        value,
        location: location.clone(),
    });
    let mut reference: Ref = reference.collect();
    reference.shrink_to_fit();
    Term {
        value: TermValue::Ref(reference),
        location: location.clone(),
    }
}

/// Returns an expression without modifiers.
pub(super) fn expression(terms: ExprTerms, location: Location) -> Expr {
    Expr {
        terms,
        negated: false,
        with: ThinVec::new(),
        index: 0,
        generated: false,
        assigned: false,
        location,
    }
}

//! Terms that can be evaluated, because their variables are bound.

use super::vars::NEEDED;
use crate::syntax::terms::as_var;
use crate::syntax::{Term, Var};

/// Predicate: whether a variable is already bound.
pub(super) type Safe<'s> = &'s dyn Fn(&Var) -> bool;

/// Whether the head of a reference can be evaluated.
pub(super) fn is_ref_safe(reference: &[Term], safe: Safe<'_>) -> bool {
    reference.first().is_some_and(|head| match as_var(head) {
        Some(var) => safe(var),
        None => is_safe_value(head, safe),
    })
}

/// Whether a term can be evaluated.
pub(super) fn is_safe_value(term: &Term, safe: Safe<'_>) -> bool {
    let mut all = true;
    NEEDED.term(term, &mut |var, _| all = all && safe(var));
    all
}

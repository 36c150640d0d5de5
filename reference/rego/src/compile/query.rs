//! Rewrites a query so that the values of its expressions are part of its results.

use thin_vec::thin_vec;

use super::names::{expression, operator};
use super::vars::{call_of, push, steps};
use super::{Diagnostics, ModuleSet, QueryUnit};
use crate::syntax::terms::{as_var, dotted, operator as called};
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Body, Expr, ExprTerms, Term, TermValue, Var};
use crate::types::signature;

/// Captures the value of each expression in a variable: the variable is unified with a lone term,
/// and receives the result of a call. If there can be several answers, an additional expression
/// requires that the value is not false, as the expression itself did.
pub(super) fn capture(unit: &mut QueryUnit, module_set: &ModuleSet) -> Diagnostics {
    let must_hold = unit.body.len() > 1 || iterates(&unit.body);
    let mut conditions = Body::new();
    let mut count = 0_usize;
    for expr in &mut unit.body {
        if expr.negated || call_of(expr, "assign").is_some() || call_of(expr, "eq").is_some() {
            continue;
        }
        let location = expr.location.clone();
        let captured = Term {
            value: TermValue::Var(Var(format!("$term{}", count + 1).into())),
            location: location.clone(),
        };
        match &mut expr.terms {
            ExprTerms::Term(term) => {
                let term = Term::clone(term);
                let eq = operator("eq", &term.location);
                expr.terms = ExprTerms::Call(thin_vec![eq, term, captured.clone()]);
            }
            ExprTerms::Call(call) if has_result(call, module_set) => call.push(captured.clone()),
            _ => continue,
        }
        count += 1;
        if must_hold {
            let mut condition = expression(ExprTerms::Term(Box::new(captured)), location);
            condition.generated = true;
            conditions.push(condition);
        }
    }
    for expr in conditions {
        push(&mut unit.body, expr);
    }
    Diagnostics::new()
}

/// Whether a call has a result that is not captured yet.
fn has_result(call: &[Term], module_set: &ModuleSet) -> bool {
    let Some(name) = called(call) else {
        return false;
    };
    let is_void = dotted(name)
        .and_then(|name| signature(&name))
        .is_some_and(|function| function.void);
    !is_void && module_set.arity(name) == Some(call.len().saturating_sub(1))
}

/// Whether a body can have several answers.
fn iterates(body: &[Expr]) -> bool {
    struct FindIteration(bool);
    impl<'t> Visit<'t> for FindIteration {
        fn term(&mut self, term: &'t Term) -> bool {
            match &term.value {
                TermValue::ArrayComprehension(_)
                | TermValue::SetComprehension(_)
                | TermValue::ObjectComprehension(_) => return false,
                TermValue::Ref(reference) => {
                    let function = dotted(reference).and_then(|name| signature(&name));
                    self.0 |= function.is_some_and(|function| function.relation)
                        || steps(reference).iter().any(|step| as_var(step).is_some());
                }
                _ => {}
            }
            !self.0
        }
    }
    let mut find = FindIteration(false);
    visit::body(body, &mut find);
    find.0
}

//! Which bodies cannot hold because of the types of what is in them. The compiler would refuse
//! them, since nobody writes them; here they come of values that were put into functions.

use super::solver::Solver;
use super::store::Saved;
use super::terms;
use crate::Value;
use crate::builtins::signature;
use crate::compile;
use crate::compile::terms::{constant, dotted, is_var, operator};
use crate::compile::types::{Type, fits};
use crate::compile::visit::{self, Rewrite};
use crate::error::Code;
use crate::syntax::{Body, Expr, ExprTerms, Term, TermValue};

/// What a glance at an expression shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Glance {
    Fits,
    Never,
    Unclear,
}

impl Solver<'_> {
    /// Whether what was saved can hold, as far as types show.
    pub(super) fn is_typed(&self, saved: &[Saved]) -> bool {
        let exprs = saved.iter().filter_map(|part| match part {
            Saved::Expr(expr) if !expr.negated && expr.with.is_empty() => Some(expr),
            _ => None,
        });
        let mut body = Body::new();
        let mut unclear = false;
        for expr in exprs {
            match glance(expr) {
                Glance::Never => return false,
                Glance::Fits => {}
                Glance::Unclear => unclear = true,
            }
            if is_judged(expr) {
                body.push(expr.clone());
            }
        }
        if !unclear {
            return true;
        }
        visit::rewrite_body(&mut body, &mut Open);
        match compile::partial_query(self.policy, body) {
            Ok(_) => true,
            Err(errors) => errors.0.iter().all(|error| error.code != Code::Type),
        }
    }
}

/// Whether the types in an expression say something. Of copied functions there are no types yet.
fn is_judged(expr: &Expr) -> bool {
    match &expr.terms {
        ExprTerms::Call(call) => {
            let name = operator(call).unwrap_or_default();
            !name.first().is_some_and(|head| is_var(head, "data"))
        }
        ExprTerms::Term(_) => true,
        _ => false,
    }
}

fn glance(expr: &Expr) -> Glance {
    let call = match &expr.terms {
        ExprTerms::Term(term) if matches!(term.value, TermValue::Ref(_) | TermValue::Var(_)) => {
            return Glance::Fits;
        }
        ExprTerms::Call(call) => call,
        _ => return Glance::Unclear,
    };
    let name = operator(call).and_then(dotted).unwrap_or_default();
    let operands = call.get(1..).unwrap_or_default();
    if &*name == "eq" {
        let plain = |term: &Term| matches!(term.value, TermValue::Ref(_) | TermValue::Var(_));
        let simple = |term: &Term| plain(term) || constant(term).is_some();
        return match operands {
            [left, right] if simple(left) && simple(right) => Glance::Fits,
            _ => Glance::Unclear,
        };
    }
    let Some(Type::Function(of)) = signature(&name).map(|signature| &signature.of) else {
        return Glance::Unclear;
    };
    for (place, operand) in operands.iter().enumerate() {
        if let Some(value) = constant(operand) {
            let wanted = of.args.get(place).or(of.result.as_ref());
            let wanted = wanted.and_then(|wanted| wanted.of.as_ref());
            if wanted.is_some() && !fits(Some(&Type::of(&value)), wanted) {
                return match value {
                    // The type of a value takes sets for arrays; the compiler tells them apart.
                    Value::Array(_) | Value::Object(_) | Value::Set(_) => Glance::Unclear,
                    _ => Glance::Never,
                };
            }
        } else if !matches!(operand.value, TermValue::Ref(_)) {
            return Glance::Unclear;
        }
    }
    Glance::Fits
}

/// Takes closures away, of which nothing is to be said.
struct Open;

impl Rewrite for Open {
    fn term(&mut self, term: &mut Term) -> bool {
        match &term.value {
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_) => {
                *term = terms::reference("input", [], &term.location);
                false
            }
            _ => true,
        }
    }
}

//! Renames variables in the operands of `not`, `and` and `or`.

use super::super::vars::{ALL, call_of};
use super::{HashSet, Locals, MAX_REPEATS};
use crate::syntax::visit::deep;
use crate::syntax::{Connective, Expr, ExprTerms, Logic, Operand};

impl Locals<'_> {
    /// Rewrites the operands (those in braces are separate scopes), then all that is in the
    /// enclosing scope. Variables that occur in operands in braces count as seen in the enclosing
    /// scope, but not those in a `not` that is an expression.
    pub(super) fn logic(&mut self, expr: &mut Expr, is_operand: bool) {
        deep(|| {
            let error_count = self.found.len();
            let ExprTerms::Logic(logic) = &mut expr.terms else {
                return;
            };
            let Logic {
                connective,
                operands,
            } = &mut **logic;
            if let (Connective::Not, [negated]) = (&connective, operands.as_mut_slice())
                && negated.explicit
            {
                self.scopes.open();
                self.scope_of(negated);
                // As with `every`, declarations of the scope also shadow variables in the part of
                // the body that precedes them.
                let is_wrong = self.found.len() > error_count && self.repeats < MAX_REPEATS;
                let body = ALL.of_body(&negated.body);
                if is_wrong || body.into_iter().any(|var| self.declares(var)) {
                    self.again(&mut negated.body);
                }
                for with in &mut expr.with {
                    self.with(with);
                }
                match is_operand {
                    true => self.scopes.close_seen(),
                    false => self.scopes.close(),
                }
                return;
            }
            for operand in &mut *operands {
                if operand.explicit {
                    self.scopes.open();
                    self.scope_of(operand);
                    self.scopes.close_seen();
                } else {
                    self.declares_nothing(operand, *connective);
                }
            }
            if self.found.len() > error_count {
                return;
            }
            for operand in operands.iter_mut().filter(|operand| !operand.explicit) {
                let is_not_logic = |expr: &&mut Expr| !matches!(expr.terms, ExprTerms::Logic(_));
                for expr in operand.body.iter_mut().filter(is_not_logic) {
                    self.expr_without_declarations(expr);
                }
            }
            for with in &mut expr.with {
                self.with(with);
            }
        });
    }

    fn scope_of(&mut self, operand: &mut Operand) {
        let at = self.exprs(&mut operand.body);
        self.check_unused(at.as_ref(), &HashSet::default());
    }

    /// Rejects declarations in an operand without braces, as they could not be used.
    fn declares_nothing(&mut self, operand: &mut Operand, of: Connective) {
        for expr in &mut operand.body {
            if call_of(expr, "assign").is_some() {
                let what = match of {
                    Connective::Not => "negated expression",
                    Connective::And => "implicit and operand",
                    Connective::Or => "implicit or operand",
                };
                self.refuse(&expr.location, format!("cannot assign vars inside {what}"));
            } else if matches!(expr.terms, ExprTerms::Logic(_)) {
                self.logic(expr, true);
            }
        }
    }
}

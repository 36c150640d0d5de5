//! Rewrites `print` so that undefined operands are printed: `print(x.y)` becomes
//! `internal.print([{a | a = x.y}])`.

use thin_vec::{ThinVec, thin_vec};

use super::names::{Names, equal, expression, operator};
use super::outputs::BoundVars;
use super::vars::{ALL, NEEDED, call_of, display_name, is_local};
use super::{CompilationUnit, Diagnostics, ModuleSet, QueryUnit};
use crate::error::{Code, LanguageError};
use crate::hash::HashSet;
use crate::syntax::visit::{self, Rewrite, Visit, deep, each_rule};
use crate::syntax::{Body, Comprehension, Expr, ExprTerms, Location, Rule, Term, TermValue, Var};

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, module_set: &ModuleSet) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut names = Names::of_module(&mut unit.next_local);
    each_rule(&mut unit.module.rules, |rule| {
        if prints(rule) {
            let mut prints = Prints {
                names: &mut names,
                module_set,
                written: &unit.written,
                bound: BoundVars::of_parameters(&rule.head.args),
                local: HashSet::default(),
                found: Diagnostics::new(),
            };
            visit::rewrite_head(&mut rule.head, &mut prints);
            prints.body(&mut rule.body);
            found.append(&mut prints.found);
        }
    });
    found
}

/// Rewrites a query.
pub(super) fn query(unit: &mut QueryUnit, module_set: &ModuleSet) -> Diagnostics {
    let mut names = Names::of_query(&mut unit.next_local, &unit.body);
    let mut prints = Prints {
        names: &mut names,
        module_set,
        written: &unit.written,
        bound: BoundVars::of_parameters(&[]),
        local: HashSet::default(),
        found: Diagnostics::new(),
    };
    prints.body(&mut unit.body);
    prints.found
}

/// Whether a rule has calls of `print`; most do not.
fn prints(rule: &Rule) -> bool {
    struct FindPrint(bool);
    impl<'t> Visit<'t> for FindPrint {
        fn expr(&mut self, expr: &'t Expr) -> bool {
            self.0 |= call_of(expr, "print").is_some();
            !self.0
        }
    }
    let mut find = FindPrint(false);
    visit::rule(rule, &mut find);
    find.0
}

struct Prints<'p, 'n> {
    names: &'p mut Names<'n>,
    module_set: &'p ModuleSet,
    written: &'p [(Var, Var)],
    bound: BoundVars,
    /// Generated variables of earlier expressions, which are bound before their use.
    local: HashSet<Var>,
    found: Diagnostics,
}

impl Rewrite for Prints<'_, '_> {
    /// Rewrites a body; called only for those of comprehensions and `every`.
    fn body(&mut self, body: &mut Body) -> bool {
        let mark = self.bound.mark();
        let before = self.found.len();
        let mut errors = Diagnostics::new();
        let around = std::mem::take(&mut self.local);
        for expr in body {
            let inner = self.bound.mark();
            if let ExprTerms::Every(every) = &expr.terms {
                for term in every.key.iter().chain([&every.value]) {
                    ALL.term(term, &mut |var, _| {
                        self.bound.insert(var.clone());
                    });
                }
            }
            deep(|| visit::rewrite_expr(expr, self));
            self.bound.leave(inner);
            if self.found.len() > before {
                // Errors inside of an expression hide those of the enclosing expressions.
                self.bound.leave(mark);
                self.local = around;
                return false;
            }
            if let ExprTerms::Call(call) = &mut expr.terms
                && call
                    .first()
                    .is_some_and(|name| super::vars::is_operator(name, "print"))
            {
                let operands = call.drain(1..).collect();
                let print_errors = self.print(expr, operands);
                if errors.is_empty() {
                    errors = print_errors;
                }
            }
            self.bound.evaluate(expr, self.module_set);
            ALL.expr(expr, &mut |var, _| {
                if is_local(var) {
                    self.local.insert(var.clone());
                }
            });
        }
        self.bound.leave(mark);
        self.local = around;
        self.found.append(&mut errors);
        false
    }
}

impl Prints<'_, '_> {
    fn print(&mut self, expr: &mut Expr, operands: ThinVec<Term>) -> Diagnostics {
        let mut found = Diagnostics::new();
        let at = expr.location.clone();
        let mut collected = ThinVec::with_capacity(operands.len());
        for operand in operands {
            let known = |var: &Var| self.bound.contains(var) || self.local.contains(var);
            let mut vars: Vec<_> = NEEDED.of_term(&operand).into_iter().collect();
            vars.retain(|var| !known(var));
            found.extend(undeclared(vars, self.written, Some(&operand.location)));
            let location = operand.location.clone();
            let local = self.names.term(&location);
            let comprehension = Comprehension {
                term: local.clone(),
                body: thin_vec![equal(local, operand)],
            };
            collected.push(Term {
                value: TermValue::SetComprehension(Box::new(comprehension)),
                location,
            });
        }
        let array = Term {
            value: TermValue::Array(collected),
            location: at.clone(),
        };
        let index = expr.index;
        let call = thin_vec![operator("internal.print", &at), array];
        *expr = expression(ExprTerms::Call(call), at);
        expr.index = index;
        found
    }
}

/// Returns an error for each of the variables, which are not bound where they are needed.
pub(super) fn undeclared<'v>(
    mut vars: Vec<&'v Var>,
    written: &'v [(Var, Var)],
    at: Option<&Location>,
) -> Diagnostics {
    vars.sort();
    let found = vars.into_iter().map(|var| {
        let name = written.iter().find(|(local, _)| local == var);
        let name = name.map_or(var, |(_, name)| name);
        LanguageError {
            code: Code::Compile,
            message: format!("var {} is undeclared", display_name(name)),
            location: at.cloned(),
            details: None,
        }
    });
    found.collect()
}

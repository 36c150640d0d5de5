//! Rewrites template strings to calls. Each expression becomes a separate comprehension, so that
//! undefined values can be shown in the string.

use thin_vec::{ThinVec, thin_vec};

use super::names::{Names, equal, operator};
use super::outputs::BoundVars;
use super::print_calls::undeclared;
use super::vars::{ALL, NEEDED};
use super::{CompilationUnit, Diagnostics, ModuleSet, QueryUnit};
use crate::error::{Code, LanguageError};
use crate::syntax::terms::{dotted, operator as called};
use crate::syntax::visit::{self, Rewrite, Visit, deep, each_rule};
use crate::syntax::{
    Body, Comprehension, Connective, Expr, ExprTerms, Location, Rule, Template, Term, TermValue,
    Var,
};
use crate::types::signature;

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, module_set: &ModuleSet) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut names = Names::of_module(&mut unit.next_local);
    each_rule(&mut unit.module.rules, |rule| {
        if has_templates(rule) {
            let mut templates = Templates {
                names: &mut names,
                module_set,
                written: &unit.written,
                bound: BoundVars::of_parameters(&rule.head.args),
                found: Diagnostics::new(),
            };
            templates.exprs(&mut rule.body);
            visit::rewrite_head(&mut rule.head, &mut templates);
            found.append(&mut templates.found);
        }
    });
    found
}

/// Rewrites a query.
pub(super) fn query(unit: &mut QueryUnit, module_set: &ModuleSet) -> Diagnostics {
    let mut names = Names::of_query(&mut unit.next_local, &unit.body);
    let mut templates = Templates {
        names: &mut names,
        module_set,
        written: &unit.written,
        bound: BoundVars::of_parameters(&[]),
        found: Diagnostics::new(),
    };
    templates.exprs(&mut unit.body);
    templates.found
}

/// Whether a rule has template strings; most have none.
fn has_templates(rule: &Rule) -> bool {
    struct FindTemplate(bool);
    impl<'t> Visit<'t> for FindTemplate {
        fn term(&mut self, term: &'t Term) -> bool {
            self.0 |= matches!(term.value, TermValue::Template(_));
            !self.0
        }
    }
    let mut find = FindTemplate(false);
    visit::rule(rule, &mut find);
    find.0
}

struct Templates<'p, 'n> {
    names: &'p mut Names<'n>,
    module_set: &'p ModuleSet,
    written: &'p [(Var, Var)],
    bound: BoundVars,
    found: Diagnostics,
}

impl Rewrite for Templates<'_, '_> {
    fn expr(&mut self, expr: &mut Expr) -> bool {
        let every = match &mut expr.terms {
            ExprTerms::Every(every) => every,
            ExprTerms::Logic(logic) => {
                for operand in &mut logic.operands {
                    let mark = self.bound.mark();
                    deep(|| self.exprs(&mut operand.body));
                    self.bound.leave(mark);
                }
                for with in &mut expr.with {
                    visit::rewrite_term(&mut with.value, self);
                }
                return false;
            }
            _ => return true,
        };
        visit::rewrite_term(&mut every.domain, self);
        let mark = self.bound.mark();
        for term in every.key.iter().chain([&every.value]) {
            ALL.term(term, &mut |var, _| {
                self.bound.insert(var.clone());
            });
        }
        deep(|| self.exprs(&mut every.body));
        self.bound.leave(mark);
        for with in &mut expr.with {
            visit::rewrite_term(&mut with.value, self);
        }
        false
    }

    fn term(&mut self, term: &mut Term) -> bool {
        match &mut term.value {
            TermValue::Template(template) => {
                let template = std::mem::replace(
                    &mut **template,
                    Template {
                        parts: ThinVec::new(),
                        literal: Vec::new(),
                        multi_line: false,
                    },
                );
                term.value = self.template(template, &term.location);
                true
            }
            TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of) => {
                let of = &mut **of;
                self.comprehension(&mut of.body, [&mut of.term]);
                false
            }
            TermValue::ObjectComprehension(of) => {
                let of = &mut **of;
                self.comprehension(&mut of.body, [&mut of.key, &mut of.value]);
                false
            }
            _ => true,
        }
    }
}

impl Templates<'_, '_> {
    /// Rewrites a body. Each of its variables counts as bound throughout the body.
    fn exprs(&mut self, body: &mut Body) {
        for expr in &*body {
            self.bound.evaluate(expr, self.module_set);
        }
        for expr in body {
            visit::rewrite_expr(expr, self);
        }
    }

    fn comprehension<const N: usize>(&mut self, body: &mut Body, terms: [&mut Term; N]) {
        let mark = self.bound.mark();
        deep(|| self.exprs(body));
        for term in terms {
            deep(|| visit::rewrite_term(term, self));
        }
        self.bound.leave(mark);
    }

    fn template(&mut self, template: Template, at: &Location) -> TermValue {
        let mut parts = ThinVec::with_capacity(template.parts.len());
        for (part, literal) in template.parts.into_iter().zip(template.literal) {
            let mut term = match part.terms {
                ExprTerms::Term(term) => *term,
                ExprTerms::Call(call) => {
                    if let Some(function) = called(&call)
                        .and_then(dotted)
                        .and_then(|name| signature(&name))
                        && function.relation
                    {
                        let message = format!(
                            "illegal call to relation built-in '{}' that may cause multiple outputs",
                            function.name
                        );
                        self.found.push(LanguageError {
                            code: Code::Compile,
                            message,
                            location: None,
                            details: None,
                        });
                        continue;
                    }
                    Term {
                        value: TermValue::Call(call),
                        location: part.location,
                    }
                }
                ExprTerms::Logic(logic) => {
                    let kind = match logic.connective {
                        Connective::Not => "Not",
                        Connective::And => "LogicalAnd",
                        Connective::Or => "LogicalOr",
                    };
                    let message =
                        format!("unexpected template-string expression type: *ast.{kind}");
                    self.found
                        .push(LanguageError::at(Code::Compile, &part.location, message));
                    continue;
                }
                ExprTerms::Some(_) | ExprTerms::Every(_) => continue,
            };
            let is_plain = literal
                || matches!(term.value, TermValue::Var(_))
                || matches!(&term.value, TermValue::Ref(path) if self.module_set.always_defined(path));
            if !is_plain {
                term = self.collect(term, part.with);
            } else if !literal {
                term = Term {
                    location: term.location.clone(),
                    value: TermValue::Set(thin_vec![term]),
                };
            }
            parts.push(term);
        }
        if parts.is_empty() {
            parts.push(Term {
                value: TermValue::String("".into()),
                location: at.clone(),
            });
        }
        let array = Term {
            value: TermValue::Array(parts),
            location: at.clone(),
        };
        TermValue::Call(thin_vec![operator("internal.template_string", at), array])
    }

    /// Wraps a term in a comprehension that collects its value, if it is defined.
    fn collect(&mut self, term: Term, with: ThinVec<crate::syntax::With>) -> Term {
        // Errors about a call in a template have no location.
        let at = (!matches!(term.value, TermValue::Call(_))).then_some(&term.location);
        let mut vars: Vec<_> = NEEDED.of_term(&term).into_iter().collect();
        vars.retain(|var| !self.bound.contains(var));
        self.found.extend(undeclared(vars, self.written, at));
        let location = term.location.clone();
        let local = self.names.term(&location);
        let mut capture = equal(local.clone(), term);
        capture.with = with;
        let comprehension = Comprehension {
            term: local,
            body: thin_vec![capture],
        };
        Term {
            value: TermValue::SetComprehension(Box::new(comprehension)),
            location,
        }
    }
}

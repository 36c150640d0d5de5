//! Local variables: renames variables declared by `:=`, `some`, `every` and parameters to unique
//! names, and removes `some`.

mod logic;
mod scopes;
mod terms;

use self::scopes::{Kind, Scopes};
use super::names::{Names, expression};
use super::vars::{ALL, NEEDED, Scan, declared, display_name, is_local, push, steps};
use super::{CompilationUnit, Diagnostics, ModuleSet, QueryUnit};
use crate::error::{Code, LanguageError};
use crate::hash::HashSet;
use crate::syntax::terms::{dotted, is_scalar, operator};
use crate::syntax::visit::{self, Rewrite, Visit};
use crate::syntax::{Body, ExprTerms, Head, Location, Rule, Term, TermValue, Var, With};
use crate::types::signature;

/// Maximum number of expressions of one module that are visited again.
const MAX_REPEATS: usize = 1 << 12;

/// Rewrites a module. Returns the errors in the order in which they are found, and whether any of
/// them prevents later stages.
pub(super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> (Diagnostics, bool) {
    let mut locals = Locals::new(Names::of_module(&mut unit.next_local), &mut unit.written);
    for rule in &mut unit.module.rules {
        locals.rule(rule);
    }
    (locals.all, locals.is_wrong)
}

/// Rewrites a query.
pub(super) fn query(unit: &mut QueryUnit, _: &ModuleSet) -> Diagnostics {
    let names = Names::of_query(&mut unit.next_local, &unit.body);
    let mut locals = Locals::new(names, &mut unit.written);
    let at = locals.exprs(&mut unit.body);
    locals.check_unused(at.as_ref(), &HashSet::default());
    let mut found = locals.found;
    found.append(&mut locals.unused);
    found
}

/// State of the rewriting of one module or query.
struct Locals<'n> {
    names: Names<'n>,
    written: &'n mut Vec<(Var, Var)>,
    scopes: Scopes,
    /// Errors in the part of a rule that is being rewritten, that prevent later stages.
    found: Diagnostics,
    /// Errors in that part of the rule that do not prevent later stages.
    unused: Diagnostics,
    /// Errors of both kinds in earlier parts.
    all: Diagnostics,
    /// Whether an error in an earlier part prevents later stages.
    is_wrong: bool,
    /// Number of expressions that have been visited again.
    repeats: usize,
    /// Numbers of errors of both kinds when the outermost scope was opened. Unused variables are
    /// reported only for the first such scope.
    before: (usize, usize),
}

impl<'n> Locals<'n> {
    fn new(names: Names<'n>, written: &'n mut Vec<(Var, Var)>) -> Self {
        Self {
            names,
            written,
            scopes: Scopes::default(),
            found: Diagnostics::new(),
            unused: Diagnostics::new(),
            all: Diagnostics::new(),
            is_wrong: false,
            repeats: 0,
            before: (0, 0),
        }
    }

    fn refuse(&mut self, at: &Location, message: impl Into<String>) {
        self.found
            .push(LanguageError::at(Code::Compile, at, message));
    }

    /// Rewrites a rule and every `else`, which share the parameters.
    fn rule(&mut self, first: &mut Rule) {
        self.scopes = Scopes::default();
        for arg in &mut first.head.args {
            self.parameter(arg);
        }
        let parameters = std::mem::take(&mut self.scopes);
        let mut next = Some(first);
        while let Some(rule) = next {
            self.finish();
            if has_variables(&rule.head) {
                for part in rule
                    .head
                    .args
                    .iter_mut()
                    .chain(&mut rule.head.key)
                    .chain(&mut rule.head.value)
                {
                    self.head_term(part);
                }
            }
            self.scopes = parameters.clone();
            self.finish();
            self.rule_without_else(rule);
            next = rule.else_rule.as_deref_mut();
        }
        self.finish();
    }

    /// Ends a part of a rule, so that its errors do not suppress those of the next part.
    fn finish(&mut self) {
        self.is_wrong |= !self.found.is_empty();
        self.all.append(&mut self.found);
        self.all.append(&mut self.unused);
        self.before = (0, 0);
    }

    fn parameter(&mut self, term: &mut Term) {
        match &mut term.value {
            TermValue::Var(var) => {
                let local = match self.scopes.local(var) {
                    Some(local) => local,
                    None => self.declare_as(var.clone(), Kind::Parameter, None),
                };
                *var = local;
            }
            TermValue::Ref(parts) | TermValue::Array(parts) => {
                for part in parts {
                    visit::deep(|| self.parameter(part));
                }
            }
            TermValue::Object(members) => {
                visit::sort_object(members);
                for (_, value) in members {
                    visit::deep(|| self.parameter(value));
                }
            }
            TermValue::Call(_) => {
                self.refuse(&term.location, "rule arguments cannot contain calls");
            }
            _ => {}
        }
    }

    /// Rewrites a rule without its `else`.
    fn rule_without_else(&mut self, rule: &mut Rule) {
        let head = &rule.head;
        let mut used = HashSet::default();
        let parts = steps(&head.reference)
            .iter()
            .chain(&head.key)
            .chain(&head.value);
        for part in parts {
            ALL.term(part, &mut |var, _| {
                used.insert(var.clone());
            });
        }
        self.shadow_functions(rule);
        let at = self.exprs(&mut rule.body);
        self.check_unused(at.as_ref(), &used);
        if has_variables(&rule.head) {
            visit::rewrite_head(&mut rule.head, &mut Rename(&self.scopes));
        }
    }

    /// Renames variables of a body with the name of a built-in function, so that they are not
    /// confused with it.
    fn shadow_functions(&mut self, rule: &Rule) {
        let mut candidates: Vec<_> = NEEDED
            .of_body(&rule.body)
            .into_iter()
            .filter(|var| signature(&var.0).is_some() && self.scopes.local(var).is_none())
            .collect();
        if candidates.is_empty() {
            return;
        }
        candidates.sort();
        let declared = declared(&rule.body);
        let mut modifiers = InModifiers(HashSet::default());
        visit::rule(rule, &mut modifiers);
        for var in candidates {
            if !declared.contains(var) && !modifiers.0.contains(var) {
                self.declare_as(var.clone(), Kind::Seen, None);
            }
        }
    }

    /// Rewrites the expressions of a body in the open scope. Returns the location of the body.
    fn exprs(&mut self, body: &mut Body) -> Option<Location> {
        let first = body.first().map(|expr| expr.location.clone())?;
        let mut rewritten = Body::with_capacity(body.len());
        for expr in std::mem::take(body) {
            if let Some(expr) = self.expr(expr) {
                push(&mut rewritten, expr);
            }
        }
        if rewritten.is_empty() {
            let term = Term {
                value: TermValue::Bool(true),
                location: first.clone(),
            };
            rewritten.push(expression(ExprTerms::Term(Box::new(term)), first.clone()));
        }
        *body = rewritten;
        Some(first)
    }

    /// Reports unused declarations of the open scope. `body` is the location of the body, and
    /// `used` are the variables used outside of it.
    fn check_unused(&mut self, body: Option<&Location>, used: &HashSet<Var>) {
        let (found, unused) = self.before;
        if self.found.len() > found || self.unused.len() > unused {
            return;
        }
        for (var, at) in self.scopes.unused() {
            let at = at.as_ref().or(body);
            if let Some(at) = at
                && !used.contains(&var)
                && !is_local(&var)
            {
                let message = format!("declared var {} unused", display_name(&var));
                self.unused
                    .push(LanguageError::at(Code::Compile, at, message));
            }
        }
    }
}

/// Whether a head has terms that are not scalars.
pub(super) fn has_variables(head: &Head) -> bool {
    let parts = steps(&head.reference).iter().chain(&head.args);
    parts
        .chain(&head.key)
        .chain(&head.value)
        .any(|term| !is_scalar(term))
}

/// Renames the variables of a head to their names in the body.
struct Rename<'s>(&'s Scopes);

impl Rewrite for Rename<'_> {
    fn term(&mut self, term: &mut Term) -> bool {
        if let TermValue::Var(var) = &mut term.value
            && let Some(local) = self.0.local(var)
        {
            *var = local;
        }
        true
    }
}

/// Collects the variables of modifiers.
struct InModifiers(HashSet<Var>);

impl<'t> Visit<'t> for InModifiers {
    fn with(&mut self, with: &'t With) -> bool {
        let scan = Scan {
            call_heads: false,
            ..ALL
        };
        for term in [&with.target, &with.value] {
            scan.term(term, &mut |var, _| {
                self.0.insert(var.clone());
            });
        }
        true
    }
}

/// Returns the name of the called function for messages.
fn called(call: &[Term]) -> String {
    let name = operator(call).and_then(dotted);
    name.map(|name| name.to_string()).unwrap_or_default()
}

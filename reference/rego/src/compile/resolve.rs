//! Name resolution: imports and the rules of the own package become references from the root,
//! unless a local variable shadows them.

use super::names::first_number;
use super::vars::{ALL, declared, root_document};
use super::{CompilationUnit, Diagnostics, ModuleSet};
use crate::error::{Code, LanguageError};
use crate::hash::{HashMap, HashSet};
use crate::syntax::visit::{deep, each_rule, sort_object, sort_set};
use crate::syntax::{Expr, ExprTerms, Import, Location, Ref, Rule, Term, TermValue, Var};

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, module_set: &ModuleSet) -> Diagnostics {
    unit.next_local = unit.next_local.max(first_number(&unit.module.rules));
    let package = unit.module.package.path.clone();
    let mut resolver = Resolver::new(&package, &unit.module.imports, module_set);
    let mut found = Diagnostics::new();
    each_rule(&mut unit.module.rules, |rule| {
        found.extend(resolver.rule(rule));
    });
    found
}

/// Returns the name that an import introduces.
pub(super) fn import_name(import: &Import) -> Option<Var> {
    if let Some(alias) = &import.alias {
        return Some(alias.clone());
    }
    match &import.path.value {
        TermValue::Var(var) => Some(var.clone()),
        TermValue::Ref(path) => match &path.last()?.value {
            TermValue::Var(var) => Some(var.clone()),
            TermValue::String(name) => Some(Var(name.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// Meaning of the names in scope.
struct Resolver {
    globals: HashMap<Var, Ref>,
    /// Number of open scopes that declare each name as a local variable.
    hidden: HashMap<Var, usize>,
}

impl Resolver {
    /// Creates a resolver for the names of a package, which imports override.
    fn new(package: &[Term], imports: &[Import], module_set: &ModuleSet) -> Self {
        let mut globals = HashMap::default();
        for name in module_set.exports(package) {
            let mut path = Ref::from(package);
            if let Some(location) = package.first().map(|term| term.location.clone()) {
                path.push(Term {
                    value: TermValue::String(name.0.clone()),
                    location,
                });
            }
            globals.insert(name, path);
        }
        for import in imports {
            if let (Some(name), TermValue::Ref(path)) = (import_name(import), &import.path.value)
                && !is_language_import(path)
            {
                globals.insert(name, path.clone());
            }
        }
        Self {
            globals,
            hidden: HashMap::default(),
        }
    }

    fn rule(&mut self, rule: &mut Rule) -> Option<LanguageError> {
        let mut names = HashSet::default();
        for arg in &rule.head.args {
            if let Some(name) = parameters(arg, &mut names) {
                let message = format!(
                    "args must not shadow {} (use a different variable name)",
                    name.0
                );
                return Some(LanguageError::at(Code::Compile, &rule.location, message));
            }
        }
        names.extend(declared(&rule.body));
        self.within(names, |resolver| {
            let head = &mut rule.head;
            resolver.terms(head.reference.get_mut(1..).unwrap_or_default());
            for term in head.key.iter_mut().chain(&mut head.value) {
                resolver.term(term);
            }
            resolver.exprs(&mut rule.body);
        });
        None
    }

    fn within(&mut self, names: HashSet<Var>, run: impl FnOnce(&mut Self)) {
        let names: Vec<_> = names
            .into_iter()
            .filter(|name| self.globals.contains_key(name))
            .collect();
        for name in &names {
            *self.hidden.entry(name.clone()).or_default() += 1;
        }
        run(self);
        for name in &names {
            if let Some(count) = self.hidden.get_mut(name) {
                *count -= 1;
            }
        }
    }

    fn exprs(&mut self, body: &mut [Expr]) {
        for expr in body {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        match &mut expr.terms {
            ExprTerms::Term(term) => self.term(term),
            ExprTerms::Call(parts) => self.terms(parts),
            ExprTerms::Some(decl) => {
                for symbol in &mut decl.symbols {
                    if matches!(symbol.value, TermValue::Call(_)) {
                        self.term(symbol);
                    }
                }
            }
            ExprTerms::Every(every) => {
                let mut names = HashSet::default();
                for term in every.key.iter().chain([&every.value]) {
                    ALL.term(term, &mut |var, _| {
                        names.insert(var.clone());
                    });
                }
                deep(|| {
                    self.within(names, |resolver| {
                        resolver.term(&mut every.domain);
                        resolver.exprs(&mut every.body);
                    });
                });
            }
            ExprTerms::Logic(logic) => deep(|| {
                for operand in &mut logic.operands {
                    self.exprs(&mut operand.body);
                }
            }),
        }
        for with in &mut expr.with {
            self.term(&mut with.target);
            self.term(&mut with.value);
        }
    }

    fn terms(&mut self, terms: &mut [Term]) {
        for term in terms {
            self.term(term);
        }
    }

    fn term(&mut self, term: &mut Term) {
        deep(|| self.value(term));
    }

    fn value(&mut self, term: &mut Term) {
        match &mut term.value {
            TermValue::Var(var) => {
                if let Some(path) = self.path(var, &term.location) {
                    term.value = TermValue::Ref(path);
                }
            }
            TermValue::Ref(parts) => {
                let head = parts.first().and_then(|head| match &head.value {
                    TermValue::Var(var) => self.path(var, &head.location),
                    _ => None,
                });
                self.terms(if head.is_some() {
                    parts.get_mut(1..).unwrap_or_default()
                } else {
                    parts
                });
                if let Some(head) = head {
                    parts.splice(..1, head);
                }
            }
            TermValue::Array(parts) | TermValue::Call(parts) => self.terms(parts),
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
                self.within(declared(&of.body), |resolver| {
                    resolver.term(&mut of.term);
                    resolver.exprs(&mut of.body);
                });
            }
            TermValue::ObjectComprehension(of) => {
                self.within(declared(&of.body), |resolver| {
                    resolver.term(&mut of.key);
                    resolver.term(&mut of.value);
                    resolver.exprs(&mut of.body);
                });
            }
            TermValue::Template(template) => self.exprs(&mut template.parts),
            _ => {}
        }
    }

    /// Returns the reference that a name is resolved to; `None` if it is not global.
    fn path(&self, var: &Var, location: &Location) -> Option<Ref> {
        let path = self.globals.get(var)?;
        if self.hidden.get(var).is_some_and(|count| *count > 0) {
            return None;
        }
        let steps = path.iter().map(|step| Term {
            value: step.value.clone(),
            location: location.clone(),
        });
        Some(steps.collect())
    }
}

/// Whether an import only enables language features.
fn is_language_import(path: &[Term]) -> bool {
    matches!(
        path.first().map(|head| &head.value),
        Some(TermValue::Var(var)) if matches!(&*var.0, "future" | "rego")
    )
}

/// Adds the variables that a parameter binds. Returns the parameter itself if it is a root
/// document.
fn parameters(term: &Term, names: &mut HashSet<Var>) -> Option<Var> {
    if let Some(root) = root_document(term) {
        return Some(root.clone());
    }
    deep(|| match &term.value {
        TermValue::Var(var) => {
            names.insert(var.clone());
            None
        }
        TermValue::Ref(parts) | TermValue::Array(parts) => {
            parts.iter().find_map(|part| parameters(part, names))
        }
        TermValue::Object(members) => members
            .iter()
            .find_map(|(key, value)| parameters(key, names).or_else(|| parameters(value, names))),
        _ => None,
    })
}

//! Checks the targets of `with`, and moves values that must be evaluated ahead of the expression.

use super::names::{Names, operator};
use super::vars::{is_operator, push, requires_evaluation};
use super::{CompilationUnit, Diagnostics, ModuleSet, QueryUnit};
use crate::error::{Code, LanguageError};
use crate::hash::HashMap;
use crate::syntax::terms::{constant, dotted, operator as name_of};
use crate::syntax::visit::{self, Rewrite, each_rule};
use crate::syntax::{Body, Term, TermValue, With};
use crate::types::{Signature, signature};

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, module_set: &ModuleSet) -> Diagnostics {
    let mut modifiers = Modifiers {
        names: Names::of_module(&mut unit.next_local),
        module_set,
        unsafe_functions: &[],
        found: Diagnostics::new(),
    };
    each_rule(&mut unit.module.rules, |rule| {
        visit::rewrite_head(&mut rule.head, &mut modifiers);
        visit::rewrite_body(&mut rule.body, &mut modifiers);
    });
    modifiers.found
}

/// Rewrites a query.
pub(super) fn query(unit: &mut QueryUnit, module_set: &ModuleSet) -> Diagnostics {
    let mut modifiers = Modifiers {
        names: Names::of_query(&mut unit.next_local, &unit.body),
        module_set,
        unsafe_functions: UNSAFE_IN_QUERIES,
        found: Diagnostics::new(),
    };
    visit::rewrite_body(&mut unit.body, &mut modifiers);
    modifiers.found
}

/// Functions that queries must not call.
pub(super) const UNSAFE_IN_QUERIES: &[&str] = &["http.send"];

struct Modifiers<'n, 'w> {
    names: Names<'n>,
    module_set: &'w ModuleSet,
    unsafe_functions: &'static [&'static str],
    found: Diagnostics,
}

impl Rewrite for Modifiers<'_, '_> {
    fn body(&mut self, body: &mut Body) -> bool {
        let mut result = Body::with_capacity(body.len());
        // Expressions that were generated from one have the same modifiers, whose values are
        // evaluated once for all of them.
        let mut hoisted: HashMap<(u32, u32), Term> = HashMap::default();
        for mut expr in std::mem::take(body) {
            for with in &mut expr.with {
                let place = (with.location.row, with.location.col);
                match self.check(with) {
                    Ok(true) => match hoisted.get(&place) {
                        Some(local) => with.value = local.clone(),
                        None => {
                            push(&mut result, self.names.hoist(&mut with.value));
                            hoisted.insert(place, with.value.clone());
                        }
                    },
                    Ok(false) => {}
                    Err(error) => {
                        // The rest of the body would only repeat the error.
                        self.found.push(*error);
                        return false;
                    }
                }
            }
            push(&mut result, expr);
        }
        *body = result;
        true
    }
}

type Checked = Result<bool, Box<LanguageError>>;

impl Modifiers<'_, '_> {
    /// Checks a modifier. Returns whether its value must be evaluated first.
    fn check(&self, with: &mut With) -> Checked {
        name_function(&mut with.value);
        let target = self.function(&with.target)?;
        if is_reference_to(&with.target, "data") {
            self.check_document(with)
        } else if is_reference_to(&with.target, "input") {
            Ok(requires_evaluation(&with.value))
        } else if let Some(function) = target {
            name_function(&mut with.target);
            check_target(function, &with.target)?;
            self.value_of_function(&with.value)
        } else {
            Err(refuse(
                Code::Type,
                &with.target,
                "with keyword target must reference existing input, data, or a function",
            ))
        }
    }

    fn check_document(&self, with: &With) -> Checked {
        let TermValue::Ref(reference) = &with.target.value else {
            return Ok(requires_evaluation(&with.value));
        };
        let mut node = Some(self.module_set.root());
        let steps = reference.get(1..).unwrap_or_default();
        for (index, step) in steps.iter().enumerate() {
            let key = constant(step);
            node = key.and_then(|key| node?.child(&key)).map(|child| &**child);
            if index + 1 < steps.len() && node.is_some_and(|node| node.rules.is_some()) {
                return Err(refuse(
                    Code::Compile,
                    &with.target,
                    "with keyword cannot partially replace virtual document(s)",
                ));
            }
        }
        let replaced = node.and_then(|node| node.rules.as_ref());
        if replaced.is_some_and(|rules| rules.arity > 0) {
            return self.value_of_function(&with.value);
        }
        if let TermValue::Ref(value) = &with.value.value
            && self
                .module_set
                .rules(value)
                .is_some_and(|rules| rules.arity > 0)
        {
            return Ok(false);
        }
        Ok(requires_evaluation(&with.value))
    }

    /// Checks the replacement of a function: another function, which is not evaluated, or a value.
    fn value_of_function(&self, value: &Term) -> Checked {
        if let TermValue::Ref(reference) = &value.value
            && self.exists(reference)
        {
            return Ok(false);
        }
        Ok(self.function(value)?.is_none() && requires_evaluation(value))
    }

    fn exists(&self, reference: &[Term]) -> bool {
        crate::syntax::terms::data_path(reference)
            .is_some_and(|path| self.module_set.find(&path).is_some())
    }

    /// Returns the built-in function that a term names.
    fn function(&self, term: &Term) -> Result<Option<&'static Signature>, Box<LanguageError>> {
        let reference = match &term.value {
            TermValue::Ref(reference) => Some(reference.as_slice()),
            _ => name_of(std::slice::from_ref(term)),
        };
        let Some(name) = reference.and_then(dotted) else {
            return Ok(None);
        };
        if self.unsafe_functions.contains(&&*name) {
            let message = format!(
                "with keyword replacing built-in function: target must not be unsafe: \"{name}\""
            );
            return Err(refuse(Code::Compile, term, message));
        }
        Ok(signature(&name))
    }
}

/// Converts a variable that names a function to a reference.
fn name_function(term: &mut Term) {
    if let TermValue::Var(name) = &term.value
        && signature(&name.0).is_some()
    {
        term.value = operator(&name.0, &term.location).value;
    }
}

fn check_target(function: &Signature, target: &Term) -> Result<(), Box<LanguageError>> {
    let what = match function.name {
        "eq" | "rego.metadata.chain" | "rego.metadata.rule" => {
            format!("replacement of \"{}\" invalid", function.name)
        }
        name if name.starts_with("internal.") => {
            format!("replacement of internal function \"{name}\" invalid")
        }
        _ if function.relation => "target must not be a relation".to_owned(),
        _ if function.void => "target must not be a void function".to_owned(),
        _ => return Ok(()),
    };
    let message = format!("with keyword replacing built-in function: {what}");
    Err(refuse(Code::Compile, target, message))
}

fn is_reference_to(term: &Term, root: &str) -> bool {
    match &term.value {
        TermValue::Ref(reference) => reference
            .first()
            .is_some_and(|head| is_operator(head, root)),
        _ => false,
    }
}

fn refuse(code: Code, term: &Term, message: impl Into<String>) -> Box<LanguageError> {
    Box::new(LanguageError::at(code, &term.location, message))
}

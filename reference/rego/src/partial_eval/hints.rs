//! Hints: suggested corrections for references to undefined names.

use strsim::levenshtein;

use super::terms;
use super::unknowns::{References, Root};
use crate::compile::rule_tree::CompiledRule;
use crate::hash::HashSet;
use crate::syntax::terms::{constant, is_var, term_of_value};
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Expr, ExprTerms, Location, Term, TermValue, Var};
use crate::{Policy, Value};

/// Maximum edit distance, in characters, between a name and its suggested correction.
const MAX_EDIT_DISTANCE: usize = 3;

/// Maximum number of rules whose references are collected.
const MAX_RULES: usize = 1000;

/// Suggested correction of an undefined reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Message that names the reference and the suggested correction.
    pub message: String,
    /// Location of the expression that contains the reference.
    pub location: Location,
}

/// References to parts of the input in the expressions of a rule and of the rules that it reads.
#[derive(Debug, Default)]
pub struct InputReferences(Vec<(Vec<Value>, Location)>);

impl Policy {
    /// Collects references to the input in the rules at a path below `data` and in all rules that
    /// they read.
    pub fn input_references(&self, path: &[Value]) -> InputReferences {
        let module_set = self.module_set();
        let node = module_set.root().find(path);
        let sets = node.map(|node| node.extent()).unwrap_or_default();
        let mut open: Vec<&CompiledRule> = Vec::new();
        for set in sets {
            open.extend(set.all().into_iter().map(|rule| &**rule));
        }
        let mut seen = HashSet::default();
        let mut found = InputReferences::default();
        while let Some(rule) = open.pop() {
            if seen.len() >= MAX_RULES || !seen.insert(std::ptr::from_ref(rule).addr()) {
                continue;
            }
            let chain = std::iter::successors(Some(rule.ast()), |rule| rule.else_rule.as_deref());
            for part in chain {
                visit::rule(part, &mut found);
            }
            let mut read = Vec::new();
            for dependency in rule.reads().iter().flatten() {
                dependency.rules(module_set, &mut read);
            }
            open.extend(read.into_iter().map(|rule| &**rule));
        }
        found
    }
}

impl InputReferences {
    /// Suggests corrections for references that are missing in the input and whose name is similar
    /// to that of an unknown.
    pub fn hints(&self, unknowns: &References, input: Option<&Value>) -> Vec<Hint> {
        let mut hints = Vec::new();
        for (path, location) in &self.0 {
            if unknowns.overlap(Root::Input, path) || is_there(path, input) {
                continue;
            }
            let Some(suggestion) = unknowns.nearest(Root::Input, path, distance) else {
                continue;
            };
            let rest = path.get(suggestion.len()..).unwrap_or_default();
            let hint = Hint {
                message: format!(
                    "{} undefined, did you mean {}?",
                    written(path),
                    written(&[suggestion, rest].concat())
                ),
                location: location.clone(),
            };
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        hints
    }
}

impl<'t> Visit<'t> for InputReferences {
    fn expr(&mut self, expr: &'t Expr) -> bool {
        let operands = match &expr.terms {
            ExprTerms::Term(term) => std::slice::from_ref(&**term),
            ExprTerms::Call(call) => call.get(1..).unwrap_or_default(),
            _ => &[],
        };
        // A negated expression is satisfied if the reference is undefined.
        if !expr.negated {
            let paths = operands.iter().filter_map(input_path);
            self.0
                .extend(paths.map(|path| (path, expr.location.clone())));
        }
        true
    }
}

/// Returns the constant steps at the beginning of a reference to a part of the input.
fn input_path(term: &Term) -> Option<Vec<Value>> {
    let TermValue::Ref(reference) = &term.value else {
        return None;
    };
    let (head, steps) = reference.split_first()?;
    let steps = steps.iter().map_while(constant);
    let names: Vec<Value> = steps.take_while(|step| step.as_str().is_some()).collect();
    (is_var(head, "input") && !names.is_empty()).then_some(names)
}

fn is_there(path: &[Value], input: Option<&Value>) -> bool {
    let mut names = path.iter().filter_map(Value::as_str);
    input.is_some_and(|input| names.try_fold(input, Value::get).is_some())
}

/// Returns the edit distance of two paths, if it is small enough for a suggestion.
fn distance(one: &[Value], other: &[Value]) -> Option<usize> {
    let apart = levenshtein(&dotted(one), &dotted(other));
    (1..=MAX_EDIT_DISTANCE).contains(&apart).then_some(apart)
}

/// Formats the reference with these names below `input`, in Rego syntax.
fn written(names: &[Value]) -> String {
    let head = terms::var(&Var("input".into()), &terms::nowhere());
    let steps = names.iter().map(term_of_value);
    TermValue::Ref(std::iter::once(head).chain(steps).collect()).to_string()
}

/// Joins names with dots, for the edit distance.
fn dotted(names: &[Value]) -> String {
    let names = names.iter().filter_map(Value::as_str);
    names.collect::<Vec<_>>().join(".")
}

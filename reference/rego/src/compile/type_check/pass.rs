//! Passes of type inference: the paths whose types are inferred in one round, in their order.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::environment::TypeNode;
use super::scope::Scope;
use crate::Value;
use crate::compile::Diagnostics;
use crate::compile::build::Build;
use crate::compile::graph::{Dependency, selected};
use crate::compile::rule_tree::{CompiledRule, Node, SourceNames};
use crate::error::LanguageError;
use crate::hash::HashMap;
use crate::parallel;
use crate::syntax::terms::{Path, constant};
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Rule, Term, TermValue, Var};
use crate::types::Type;

/// Paths whose types are inferred in one round.
pub(super) struct Pass<'r> {
    /// The paths in sorted order; the other fields refer to them by index.
    pub(super) places: Vec<TypedRule<'r>>,
    /// Indices of the paths, each after those that it depends on.
    pub(super) order: Vec<usize>,
}

/// A path with its dependencies.
pub(super) struct TypedRule<'r> {
    pub(super) path: &'r Path,
    /// Indices of the paths of the round that the rules at this path read.
    pub(super) reads: Vec<usize>,
    /// Whether the type of the path depends only on the types of the paths in `reads`, see
    /// [`super::topological`].
    pub(super) is_free: bool,
}

impl<'r> Pass<'r> {
    pub(super) fn path(&self, number: usize) -> Option<&'r Path> {
        self.places.get(number).map(|place| place.path)
    }
}

/// Rules of the units and of all other modules.
pub(super) struct Rules<'b> {
    pub(super) build: &'b Build,
    units: HashMap<&'b str, (usize, SourceNames)>,
}

impl<'b> Rules<'b> {
    pub(super) fn new(build: &'b Build, written: Vec<SourceNames>) -> Self {
        let units = build.units.iter().zip(written).enumerate();
        let units = units.map(|(at, (unit, written))| (&*unit.id, (at, written)));
        Self {
            build,
            units: units.collect(),
        }
    }

    pub(super) fn at(&self, path: &[Value]) -> Vec<&'b Arc<CompiledRule>> {
        let node = self.build.module_set.find(path);
        node.and_then(|node| node.rules.as_ref())
            .map(|rules| rules.all())
            .unwrap_or_default()
    }

    /// Returns the current syntax tree of a rule.
    pub(super) fn ast(&self, rule: &'b CompiledRule) -> &'b Rule {
        let unit = self
            .units
            .get(&*rule.module)
            .and_then(|(at, _)| self.build.units.get(*at));
        let ast = unit.and_then(|unit| unit.module.rules.get(rule.position));
        ast.unwrap_or_else(|| rule.ast())
    }

    /// Sorts paths by dependency. Iterative, because chains of rules can be long.
    pub(super) fn ordered<'r>(&self, round: &'r BTreeSet<Path>) -> Pass<'r> {
        let paths: Vec<&Path> = round.iter().collect();
        let places = parallel::each(&mut paths.clone(), |path| TypedRule {
            path,
            reads: self.read_by(path, &paths),
            is_free: is_free(self.build.module_set.root(), path),
        });
        // Number of dependencies of a path that are not visited yet; `None` before its own visit.
        let mut left: Vec<Option<usize>> = vec![None; places.len()];
        let mut order = Vec::with_capacity(places.len());
        for start in 0..places.len() {
            let mut open = Vec::from_iter((left.get(start) == Some(&None)).then_some(start));
            while let Some(number) = open.last().copied() {
                let reads = places.get(number).map_or(&[][..], |place| &place.reads);
                let Some(left_here) = left.get_mut(number) else {
                    break;
                };
                let rest = left_here.unwrap_or(reads.len());
                *left_here = Some(rest.saturating_sub(1));
                let next = rest.checked_sub(1).and_then(|last| reads.get(last));
                match next {
                    Some(next) => open.extend((left.get(*next) == Some(&None)).then_some(*next)),
                    None => {
                        open.pop();
                        order.push(number);
                    }
                }
            }
        }
        Pass { places, order }
    }

    /// Returns the indices of the given paths that the rules of a path read.
    pub(super) fn read_by(&self, path: &[Value], paths: &[&Path]) -> Vec<usize> {
        let mut targets = Vec::new();
        for rule in self.at(path) {
            for dependency in rule.reads().iter().flatten() {
                for target in &dependency.targets {
                    selected(self.build.module_set.root(), target, &mut targets);
                }
            }
        }
        let numbers = targets.iter().filter_map(|rule| {
            let path: Path = rule.path().collect();
            paths.binary_search(&&path).ok()
        });
        let mut numbers: Vec<usize> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Returns the type that the rules of a path define, and their errors.
    pub(super) fn check(&self, path: &[Value], types: &TypeNode) -> (Option<Type>, Diagnostics) {
        let mut found = Diagnostics::new();
        let (mut of, mut is_lost) = (None, false);
        for rule in self.at(path) {
            let unit = self.units.get(&*rule.module);
            let written = unit.map_or(rule.written(), |(_, written)| written);
            let mut scope = Scope::of_rules(&self.build.module_set, types, written.clone());
            let mut next = Some(self.ast(rule));
            while let Some(ast) = next {
                let (more, errors) =
                    check_rule(&mut scope, ast, rule.ground.saturating_sub(rule.package));
                let is_function = |of: &Option<Type>| matches!(of, Some(Type::Function(_)));
                of = if !errors.is_empty() {
                    // Rules that read it must not have errors because of this one.
                    match rule.ground < rule.reference.len() {
                        true => of,
                        false => Some(Type::any()),
                    }
                } else if of.is_some() && more.is_some() && is_function(&of) != is_function(&more) {
                    // OPA does not know a function that follows a definition with errors.
                    is_lost = true;
                    None
                } else {
                    Type::merge(of, more)
                };
                found.extend(errors);
                next = ast.else_rule.as_deref();
            }
        }
        // An absent type would mean that it is not known yet.
        (of.or(is_lost.then_some(Type::Null)), found)
    }
}

/// Whether the type of a path depends only on the types of the paths that its rules read, and
/// affects only paths that read it, regardless of the order.
fn is_free(root: &Node, path: &[Value]) -> bool {
    let mut node = root;
    for step in path {
        if node.rules.is_some() {
            return false;
        }
        match node.child(step) {
            Some(child) => node = child,
            // The path has no rules any more.
            None => return true,
        }
    }
    let rules = node.rules.iter().flat_map(|rules| rules.all());
    let mut reads = rules.flat_map(|rule| rule.reads().iter().flatten());
    node.is_leaf() && reads.all(|dependency| is_plain(root, dependency))
}

/// Whether a reference leads by names directly to a document, without rules on its path.
fn is_plain(root: &Node, dependency: &Dependency) -> bool {
    let ([target], None) = (dependency.targets.as_slice(), &dependency.variable) else {
        return false;
    };
    let mut node = root;
    for step in target.iter().skip(1) {
        if let Some(rules) = &node.rules {
            // A step into a value that is read as a whole.
            return node.is_leaf() && rules.all().iter().any(|rule| rule.is_ground());
        }
        if !matches!(step.value, TermValue::String(_)) {
            return false;
        }
        match constant(step).and_then(|key| node.child(&key)) {
            Some(child) => node = child,
            // A base document.
            None => return true,
        }
    }
    true
}

/// Returns the type that one rule defines at its path, which is a prefix of its reference, and its
/// errors.
fn check_rule(
    scope: &mut Scope<'_>,
    rule: &Rule,
    ground: usize,
) -> (Option<Type>, Vec<LanguageError>) {
    scope.check_body(&rule.body, |scope, found| {
        if !found.is_empty() {
            return (None, found);
        }
        let head = &rule.head;
        if !head.args.is_empty() {
            let mut unknown = Vars(Vec::new());
            for arg in &head.args {
                visit::term(arg, &mut unknown);
            }
            for var in unknown.0 {
                if scope.of_var(&var).is_none() {
                    scope.bind(&var, Some(Type::any()));
                }
            }
            let args = head.args.iter().map(|arg| scope.of_term(arg)).collect();
            let result = head.value.as_ref().and_then(|value| scope.of_term(value));
            return (Some(Type::function(args, result)), found);
        }
        let of = match (&head.value, &head.key) {
            (Some(value), _) => scope.of_term(value),
            (None, Some(key)) => scope.of_term(key).map(|key| Type::set(Some(key))),
            (None, None) => None,
        };
        // The remaining steps are keys of nested objects.
        let steps = head.reference.get(ground..).unwrap_or_default();
        let of = steps.iter().rev().fold(of, |of, step| {
            let (of, key) = (of?, scope.of_term(step)?);
            Some(Type::object(Vec::new(), Some((Some(key), Some(of)))))
        });
        (of, found)
    })
}

struct Vars(Vec<Var>);

impl<'t> Visit<'t> for Vars {
    fn term(&mut self, term: &'t Term) -> bool {
        if let TermValue::Var(var) = &term.value {
            self.0.push(var.clone());
        }
        true
    }
}

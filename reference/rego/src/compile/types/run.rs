//! The types of rules, those first that others need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Type;
use super::environment::TypeNode;
use super::scope::Scope;
use crate::Value;
use crate::compile::Found;
use crate::compile::build::Build;
use crate::compile::graph::selected;
use crate::compile::terms::Path;
use crate::compile::tree::{CompiledRule, Written};
use crate::compile::visit::{self, Visit};
use crate::error::LanguageError;
use crate::hash::HashMap;
use crate::parallel;
use crate::syntax::{Rule, Term, TermValue, Var};

/// Types the rules that have changed, then those whose types follow from theirs.
pub(in crate::compile) fn run(build: &mut Build) -> Found {
    let mut types = TypeNode::clone(&build.world.types);
    let mut mistakes: BTreeMap<Path, Found> = BTreeMap::new();
    let mut round: BTreeSet<Path> = build.changed.clone();
    let rules = Rules::new(build);
    // All that are compiled now have their turn in the first round, behind what they read.
    let has_others = !build.world.modules.is_empty();
    // Every round follows the dependencies one step further, and there are no cycles.
    while !round.is_empty() {
        let mut next = BTreeSet::new();
        let ordered = rules.ordered(&round);
        let places = ordered.iter().enumerate().filter(|_| has_others);
        let places: BTreeMap<_, _> = places.map(|(place, path)| (*path, place)).collect();
        for (place, path) in ordered.iter().copied().enumerate() {
            let before = types.find(path).and_then(|node| node.value().cloned());
            let (of, found) = rules.check(path, &types);
            types.set(path, of);
            if found.is_empty() {
                mistakes.remove(path);
            } else {
                mistakes.insert(path.clone(), found);
            }
            let after = types.find(path).and_then(TypeNode::value);
            if has_others && before.as_ref() != after {
                // Those whose turn is still to come in this round need no other.
                let mut dependents = build.world.dependents(path);
                dependents.retain(|other| places.get(other).is_none_or(|other| *other < place));
                next.extend(dependents);
            }
        }
        round = next;
    }
    let mut found: Found = mistakes.into_values().flatten().collect();
    found.sort_by_cached_key(|error| {
        let place = error.location.as_ref();
        (
            place.map(|place| (place.file.clone(), place.row, place.col)),
            error.to_string(),
        )
    });
    build.world.types = types;
    found
}

/// The rules of the units and of all other modules.
struct Rules<'b> {
    build: &'b Build,
    units: HashMap<&'b str, (usize, Written)>,
}

impl<'b> Rules<'b> {
    fn new(build: &'b Build) -> Self {
        let units = build.units.iter().enumerate();
        let units = units.map(|(at, unit)| {
            let written = unit.written.iter().cloned().collect();
            (&*unit.id, (at, Arc::new(written)))
        });
        Self {
            build,
            units: units.collect(),
        }
    }

    fn at(&self, path: &[Value]) -> Vec<&'b Arc<CompiledRule>> {
        let node = self.build.world.find(path);
        node.and_then(|node| node.rules.as_ref())
            .map(|rules| rules.all())
            .unwrap_or_default()
    }

    /// The tree of a rule as it is now.
    fn ast(&self, rule: &'b CompiledRule) -> &'b Rule {
        let unit = self
            .units
            .get(&*rule.module)
            .and_then(|(at, _)| self.build.units.get(*at));
        let ast = unit.and_then(|unit| unit.module.rules.get(rule.position));
        ast.unwrap_or(&rule.ast)
    }

    /// These places, each behind those that it reads. Without recursion, because chains of rules
    /// can be long.
    fn ordered<'r>(&self, round: &'r BTreeSet<Path>) -> Vec<&'r Path> {
        let mut round: Vec<&Path> = round.iter().collect();
        let wanted = round.clone();
        let mut reads = parallel::each(&mut round, |path| self.read_by(path, &wanted));
        let mut done = vec![false; round.len()];
        let mut ordered = Vec::with_capacity(round.len());
        for start in 0..round.len() {
            if done.get(start) != Some(&false) {
                continue;
            }
            let mut open = vec![start];
            while let Some(number) = open.last().copied() {
                if let Some(is_done) = done.get_mut(number) {
                    *is_done = true;
                }
                match reads.get_mut(number).and_then(Vec::pop) {
                    Some(next) => open.extend((done.get(next) == Some(&false)).then_some(next)),
                    None => {
                        open.pop();
                        ordered.extend(round.get(number));
                    }
                }
            }
        }
        ordered
    }

    /// Those of the wanted places that the rules of a place read, by their numbers.
    fn read_by(&self, path: &[Value], wanted: &[&Path]) -> Vec<usize> {
        let mut targets = Vec::new();
        for rule in self.at(path) {
            for dependency in rule.reads().iter().flatten() {
                for target in &dependency.targets {
                    selected(self.build.world.root(), target, &mut targets);
                }
            }
        }
        let numbers = targets.iter().filter_map(|rule| {
            let path: Path = rule.path().collect();
            wanted.binary_search(&&path).ok()
        });
        let mut numbers: Vec<usize> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The type that the rules of a place give, and their mistakes.
    fn check(&self, path: &[Value], types: &TypeNode) -> (Option<Type>, Found) {
        let mut found = Found::new();
        let (mut of, mut is_lost) = (None, false);
        for rule in self.at(path) {
            let unit = self.units.get(&*rule.module);
            let written = unit.map_or(&rule.written, |(_, written)| written);
            let mut scope = Scope::of_rules(&self.build.world, types, written.clone());
            let mut next = Some(self.ast(rule));
            while let Some(ast) = next {
                let (more, mistakes) =
                    check_rule(&mut scope, ast, rule.ground.saturating_sub(rule.package));
                let is_function = |of: &Option<Type>| matches!(of, Some(Type::Function(_)));
                of = if !mistakes.is_empty() {
                    // Others that read it have no mistake because of this one.
                    match rule.ground < rule.reference.len() {
                        true => of,
                        false => Some(Type::any()),
                    }
                } else if of.is_some() && more.is_some() && is_function(&of) != is_function(&more) {
                    // OPA does not know a function behind a definition with mistakes.
                    is_lost = true;
                    None
                } else {
                    Type::merge(of, more)
                };
                found.extend(mistakes);
                next = ast.else_rule.as_deref();
            }
        }
        // Nothing would stand for what is not known yet.
        (of.or(is_lost.then_some(Type::Null)), found)
    }
}

/// The type that one rule gives to its place, which has the first steps of its reference, and its
/// mistakes.
fn check_rule(
    scope: &mut Scope<'_>,
    rule: &Rule,
    ground: usize,
) -> (Option<Type>, Vec<LanguageError>) {
    scope.look(&rule.body, |scope, found| {
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
        // Steps behind the place are keys of nested objects.
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

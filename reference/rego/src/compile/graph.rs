//! Dependency graph of rules.
//!
//! A variable that can only have values that are evident from the source is expanded to those, so
//! that `some x in ["a", "b"]; data[x].p` does not read every rule below `data`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::build::Build;
use super::module_set::ModuleSet;
use super::rule_tree::{CompiledRule, Node};
use super::{CompilationUnit, Diagnostics};
use crate::Value;
use crate::hash::HashMap;
use crate::parallel;
use crate::syntax::terms::{Path, constant, data_prefix, is_equality, operands};
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Expr, Ref, Rule, Term, TermValue, Var};

/// Maximum number of targets that one reference is expanded to.
const MAX_TARGETS: usize = 64;

/// A reference that a rule reads.
#[derive(Debug)]
pub(crate) struct Dependency {
    /// References that it is expanded to: one for each combination of values that its variables can
    /// have, or only the reference itself.
    pub(crate) targets: Vec<Ref>,
    /// Context of the reference for error messages, if the reference has variables.
    pub(super) variable: Option<Variable>,
}

/// A reference with variables.
#[derive(Debug)]
pub(super) struct Variable {
    /// The reference before its expansion.
    pub(super) written: Ref,
    /// The rule that contains the reference.
    pub(super) rule: Arc<Rule>,
    /// Index of the expression with the reference; the number of expressions if it is in the head.
    pub(super) at: usize,
}

impl Dependency {
    /// Returns the constant prefixes of the targets.
    pub(crate) fn paths(&self) -> impl Iterator<Item = Path> {
        self.targets.iter().filter_map(|target| data_prefix(target))
    }

    /// Returns the reference that selects rules: the only target, or the original reference.
    pub(super) fn selecting(&self) -> Option<&Ref> {
        match (self.targets.as_slice(), &self.variable) {
            ([only], _) => Some(only),
            (_, Some(variable)) => Some(&variable.written),
            (targets, None) => targets.first(),
        }
    }

    /// Collects the rules that the reference can denote.
    pub(crate) fn rules<'w>(
        &self,
        module_set: &'w ModuleSet,
        found: &mut Vec<&'w Arc<CompiledRule>>,
    ) {
        for target in &self.targets {
            selected(module_set.root(), target, found);
        }
    }
}

/// References that a rule reads, followed by those that each of its `else` branches reads.
pub(crate) type Reads = Arc<[Vec<Dependency>]>;

/// Collects the references of the rules of all units, and records them in the rule tree.
pub(super) fn connect(build: &mut Build) -> Diagnostics {
    let module_set = &build.module_set;
    let paths = parallel::each(&mut build.units, |unit| reads_of(unit, module_set));
    for (unit, paths) in build.units.iter().zip(paths) {
        for path in paths {
            build.module_set.readers.add(&path, &unit.id);
        }
    }
    Diagnostics::new()
}

/// Collects the references of the rules of a unit, and records them in the rule tree.
fn reads_of(unit: &CompilationUnit, module_set: &ModuleSet) -> BTreeSet<Path> {
    let inserted = module_set.inserted.get(&unit.id);
    let inserted = inserted.iter().flat_map(|rules| &rules.all);
    let mut paths = BTreeSet::new();
    for (rule, inserted) in unit.module.rules.iter().zip(inserted) {
        let chain = std::iter::successors(Some(rule), |rule| rule.else_rule.as_deref());
        let reads: Reads = chain.map(dependencies).collect();
        paths.extend(reads.iter().flatten().flat_map(Dependency::paths));
        inserted.reads.get_or_init(|| reads);
    }
    paths
}

/// Returns the references of a rule, without its `else`.
fn dependencies(rule: &Rule) -> Vec<Dependency> {
    let mut reader = Reader {
        rule,
        copy: None,
        known: HashMap::default(),
        at: 0,
        found: Vec::new(),
    };
    for (index, expr) in rule.body.iter().enumerate() {
        reader.at = index;
        visit::expr(expr, &mut reader);
        reader.record_values(expr);
    }
    reader.at = rule.body.len();
    visit::head(&rule.head, &mut reader);
    // Most rules have one reference or none, and a policy retains the list.
    reader.found.shrink_to_fit();
    reader.found
}

struct Reader<'r> {
    rule: &'r Rule,
    copy: Option<Arc<Rule>>,
    /// Values that variables can have in the expressions not yet visited.
    known: HashMap<Var, Vec<Value>>,
    at: usize,
    found: Vec<Dependency>,
}

impl<'r> Visit<'r> for Reader<'r> {
    fn term(&mut self, term: &'r Term) -> bool {
        if let TermValue::Ref(reference) = &term.value
            && reference
                .first()
                .is_some_and(|head| crate::syntax::terms::is_var(head, "data"))
        {
            let steps = reference.get(1..).unwrap_or_default();
            let dependency = if steps.iter().all(|step| constant(step).is_some()) {
                Dependency {
                    targets: vec![reference.clone()],
                    variable: None,
                }
            } else {
                let rule = self.rule;
                let rule = self
                    .copy
                    .get_or_insert_with(|| Arc::new(without_else(rule)))
                    .clone();
                Dependency {
                    targets: self.expanded(reference),
                    variable: Some(Variable {
                        written: reference.clone(),
                        rule,
                        at: self.at,
                    }),
                }
            };
            self.found.push(dependency);
        }
        true
    }
}

impl Reader<'_> {
    /// Records the values that `x = …` gives a variable, unless an earlier expression did.
    fn record_values(&mut self, expr: &Expr) {
        if expr.negated || !expr.with.is_empty() || !is_equality(expr) {
            return;
        }
        let [left, right] = operands(expr) else {
            return;
        };
        for (var, term) in [(left, right), (right, left)] {
            if let TermValue::Var(var) = &var.value
                && let Some(values) = self.values(term)
            {
                self.known.entry(var.clone()).or_insert(values);
                return;
            }
        }
    }

    /// Returns the values that a term can have, if they are evident from the source.
    fn values(&self, term: &Term) -> Option<Vec<Value>> {
        match &term.value {
            TermValue::Var(var) => self.known.get(var).cloned(),
            TermValue::Ref(reference) => {
                let (head, steps) = reference.split_first()?;
                let mut values = self.values(head)?;
                for step in steps {
                    values = step_into(&values, step)?;
                }
                Some(values)
            }
            _ => Some(vec![constant(term)?]),
        }
    }

    /// Returns the references that a reference is expanded to.
    fn expanded(&self, reference: &Ref) -> Vec<Ref> {
        let mut all = vec![reference.clone()];
        for (index, step) in reference.iter().enumerate().skip(1) {
            if constant(step).is_some() {
                continue;
            }
            let values = self.values(step).filter(|values| !values.is_empty());
            let Some(values) = values.filter(|values| all.len() * values.len() <= MAX_TARGETS)
            else {
                continue;
            };
            let mut next = Vec::with_capacity(all.len() * values.len());
            for reference in &all {
                for value in &values {
                    let mut reference = reference.clone();
                    if let Some(step) = reference.get_mut(index) {
                        step.value = crate::syntax::terms::of_value(value, &step.location);
                    }
                    next.push(reference);
                }
            }
            all = next;
        }
        all
    }
}

/// Returns the members that a step selects in any of the values.
fn step_into(values: &[Value], step: &Term) -> Option<Vec<Value>> {
    let mut next = Vec::new();
    for value in values {
        match constant(step) {
            Some(key) => next.extend(member(value, &key)),
            None => next.extend(members(value)?.take(MAX_TARGETS + 1)),
        }
        if next.len() > MAX_TARGETS {
            return None;
        }
    }
    Some(next)
}

fn member(value: &Value, key: &Value) -> Option<Value> {
    match value {
        Value::Array(items) => match key {
            Value::Number(index) => items.get(usize::try_from(index.as_i64()?).ok()?).cloned(),
            _ => None,
        },
        Value::Object(object) => object.get_value(key).cloned(),
        Value::Set(set) => set.get(key).cloned(),
        _ => None,
    }
}

/// Returns the members of a collection: items, values of objects, members of sets.
pub(super) fn members(value: &Value) -> Option<Box<dyn Iterator<Item = Value> + '_>> {
    Some(match value {
        Value::Array(items) => Box::new(items.iter().cloned()),
        Value::Object(object) => Box::new(object.values().cloned()),
        Value::Set(set) => Box::new(set.iter().cloned()),
        _ => return None,
    })
}

fn without_else(rule: &Rule) -> Rule {
    Rule {
        default: rule.default,
        head: rule.head.clone(),
        body: rule.body.clone(),
        else_rule: None,
        annotations: Vec::new(),
        location: rule.location.clone(),
    }
}

/// Collects the rules that a reference can denote: those at its path, those above that can contain
/// it, and all below.
pub(crate) fn selected<'n>(
    root: &'n Node,
    reference: &[Term],
    found: &mut Vec<&'n Arc<CompiledRule>>,
) {
    let mut open = vec![(root, 1)];
    while let Some((node, index)) = open.pop() {
        let Some(step) = reference.get(index) else {
            for rules in node.extent() {
                found.extend(rules.all());
            }
            continue;
        };
        let children: Vec<_> = match constant(step) {
            Some(key) => node.child(&key).into_iter().collect(),
            None => node.children().map(|(_, child)| child).collect(),
        };
        for child in children {
            if let Some(rules) = &child.rules
                // Below the last step all rules are collected anyway.
                && index + 1 < reference.len()
            {
                let all = rules.all().into_iter();
                found.extend(all.filter(|rule| intersects(&rule.reference, reference, index + 1)));
            }
            open.push((child, index + 1));
        }
    }
}

/// Whether two references can denote the same document, compared from the step with index `from`.
pub(super) fn intersects(left: &[Term], right: &[Term], from: usize) -> bool {
    let steps = left.iter().zip(right).skip(from);
    steps
        .into_iter()
        .all(|(left, right)| match (constant(left), constant(right)) {
            (Some(left), Some(right)) => left == right,
            _ => true,
        })
}

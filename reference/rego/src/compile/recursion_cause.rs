//! Cause of recursion: the variable through which a rule may refer to itself, and the origin of its
//! values.

use thin_vec::ThinVec;

use super::graph::{Dependency, Variable, intersects, members};
use super::reachable_rules::{ReachableRules, Vertex};
use super::rule_tree::CompiledRule;
use crate::Value;
use crate::hash::{HashMap, HashSet};
use crate::syntax::terms::{
    constant, data_prefix, dotted, is_equality, is_var, operands, operator, shown,
};
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Ref, Rule, Term, TermValue, Var};
use crate::types::Type;
use crate::types::signature;

/// Maximum number of conditions that are listed.
const MAX_CONDITIONS: usize = 2;

/// Maximum number of members that are listed; more are only counted.
const MAX_MEMBERS: usize = 5;

/// Origin of the value of a variable.
enum Origin {
    Input(Ref),
    Rule(Ref),
    Collection(Value),
    Builtin(String),
    Key,
    Parameter,
}

/// Returns the reference with a variable through which one vertex may lead to the other, unless
/// another reference leads there unconditionally.
pub(super) fn variable<'b>(
    reached: &ReachableRules<'b>,
    from: Vertex,
    to: Vertex,
) -> Option<&'b Dependency> {
    let target = *reached.rules.get(to.0)?;
    let mut cause = None;
    for dependency in reached.dependencies(from) {
        let mut references = dependency.targets.iter();
        if !references.any(|reference| intersects(&target.reference, reference, 1)) {
            continue;
        }
        let (Some(variable), Some(selecting)) = (&dependency.variable, dependency.selecting())
        else {
            return None;
        };
        let bound = bound_before(variable);
        if always(selecting, target, &bound) {
            return None;
        }
        cause = cause.or(Some(dependency));
    }
    cause
}

/// Returns the explanation of the first edge of a path that depends on a variable.
pub(super) fn explain(reached: &ReachableRules<'_>, path: &[Vertex]) -> String {
    for (index, pair) in path.windows(2).enumerate() {
        let [from, to] = pair else {
            continue;
        };
        if let Some(dependency) = variable(reached, *from, *to) {
            let place = (index > 0).then_some(*from);
            return sentence(reached, dependency, *from, *to, place).unwrap_or_default();
        }
    }
    String::new()
}

fn sentence(
    reached: &ReachableRules<'_>,
    dependency: &Dependency,
    from: Vertex,
    to: Vertex,
    place: Option<Vertex>,
) -> Option<String> {
    let rule = *reached.rules.get(from.0)?;
    let target = *reached.rules.get(to.0)?;
    let variable = dependency.variable.as_ref()?;
    let selecting = dependency.selecting()?;
    let name = |var: &Var| reached.written(rule, var);
    let steps = variable.written.len().min(target.reference.len());
    let written = variable.written.get(..steps)?;
    let mut text = format!(" ({}", shown(written, &name));
    if let Some(place) = place {
        text.push_str(" in ");
        text.push_str(&reached.name(place)?);
    }
    let bound = bound_before(variable);
    let conditions = conditions(written, target, positions(selecting, target, &bound));
    let origins = origins(variable, selecting);
    let met = |(step, value): &(&Term, Value)| possible(step, value, &origins);
    match conditions {
        Some(conditions)
            if (1..=MAX_CONDITIONS).contains(&conditions.len()) && conditions.iter().all(met) =>
        {
            text.push_str(" refers to ");
            text.push_str(&reached.name(to)?);
            for (index, (step, value)) in conditions.iter().enumerate() {
                text.push_str(if index == 0 { " if " } else { " and " });
                let step_name = shown_term(step, &name);
                text.push_str(&format!("{step_name} is {}", printed(value)));
                if let Some(note) =
                    step_note(step, &step_name, &origins, &name, || reached.name(from))
                {
                    text.push_str(&format!(" ({note})"));
                }
            }
        }
        _ => {
            text.push_str(" could refer to ");
            text.push_str(&reached.name(to)?);
        }
    }
    text.push(')');
    Some(text)
}

/// Returns the variables that can have a value when the expression with the reference is evaluated.
fn bound_before(variable: &Variable) -> HashSet<Var> {
    struct Vars(HashSet<Var>);
    impl<'t> Visit<'t> for Vars {
        fn term(&mut self, term: &'t Term) -> bool {
            if let TermValue::Var(var) = &term.value {
                self.0.insert(var.clone());
            }
            true
        }
    }
    let mut vars = Vars(HashSet::default());
    visit::head(&variable.rule.head, &mut vars);
    for expr in variable.rule.body.iter().take(variable.at) {
        visit::expr(expr, &mut vars);
    }
    vars.0
}

/// Returns the variable steps of a reference at positions where a rule has constants; `None` if a
/// constant step differs from the rule's.
fn needed(reference: &[Term], rule: &CompiledRule, bound: &HashSet<Var>) -> Option<Vec<usize>> {
    let mut open = Vec::new();
    for (index, (step, place)) in reference
        .iter()
        .zip(rule.reference.iter())
        .enumerate()
        .skip(1)
    {
        let Some(value) = constant(place) else {
            continue;
        };
        if let TermValue::Var(var) = &step.value
            && !bound.contains(var)
            && reference
                .iter()
                .filter(|other| is_var(other, &var.0))
                .count()
                == 1
        {
            continue;
        }
        match constant(step) {
            Some(step) if step == value => {}
            Some(_) => return None,
            None => open.push(index),
        }
    }
    Some(open)
}

/// Whether a reference selects a rule regardless of its variables.
fn always(reference: &[Term], rule: &CompiledRule, bound: &HashSet<Var>) -> bool {
    needed(reference, rule, bound).is_some_and(|open| open.is_empty())
}

fn positions(reference: &[Term], rule: &CompiledRule, bound: &HashSet<Var>) -> Vec<usize> {
    needed(reference, rule, bound).unwrap_or_default()
}

/// Returns the steps with the values that the rule needs, without duplicates; `None` if a step
/// needs two.
fn conditions<'t>(
    reference: &'t [Term],
    rule: &CompiledRule,
    positions: Vec<usize>,
) -> Option<Vec<(&'t Term, Value)>> {
    let mut found: Vec<(&Term, Value)> = Vec::new();
    for position in positions {
        let step = reference.get(position)?;
        let value = constant(rule.reference.get(position)?)?;
        match found.iter().find(|(other, _)| *other == step) {
            Some((_, other)) if *other != value => return None,
            Some(_) => {}
            None => found.push((step, value)),
        }
    }
    Some(found)
}

/// Whether a variable can have a value, according to its origin.
fn possible(step: &Term, value: &Value, origins: &HashMap<Var, Origin>) -> bool {
    let TermValue::Var(var) = &step.value else {
        return true;
    };
    match origins.get(var) {
        Some(Origin::Collection(collection)) => {
            members(collection).is_some_and(|mut members| members.any(|member| member == *value))
        }
        Some(Origin::Builtin(name)) => {
            let function = signature(name).and_then(|signature| signature.of.as_function());
            let result = function.and_then(|function| function.result.as_ref());
            let of = Type::of(value);
            result
                .and_then(|result| result.of.as_ref())
                .is_none_or(|result| result.contains(&of))
        }
        _ => true,
    }
}

/// Returns the origins of the variables of a reference, from the head and earlier expressions.
fn origins(variable: &Variable, selecting: &[Term]) -> HashMap<Var, Origin> {
    let rule = &variable.rule;
    let mut bindings: HashMap<&Var, &Term> = HashMap::default();
    let mut results: HashMap<&Var, String> = HashMap::default();
    for expr in rule.body.iter().take(variable.at) {
        if expr.negated || !expr.with.is_empty() {
            continue;
        }
        let of = operands(expr);
        if is_equality(expr) {
            if let [left, right] = of {
                for (var, term) in [(left, right), (right, left)] {
                    if let TermValue::Var(var) = &var.value {
                        bindings.entry(var).or_insert(term);
                    }
                }
            }
        } else if let crate::syntax::ExprTerms::Call(call) = &expr.terms
            && let Some(name) = operator(call).and_then(dotted)
            && signature(&name).is_some_and(|signature| of.len() == signature.arity + 1)
            && let Some(TermValue::Var(var)) = of.last().map(|term| &term.value)
        {
            results.insert(var, name.to_string());
        }
    }
    let mut found = HashMap::default();
    for step in selecting.iter().skip(1) {
        if let TermValue::Var(var) = &step.value
            && let Some(origin) = origin(var, rule, &bindings, &results)
        {
            found.insert(var.clone(), origin);
        }
    }
    found
}

fn origin(
    var: &Var,
    rule: &Rule,
    bindings: &HashMap<&Var, &Term>,
    results: &HashMap<&Var, String>,
) -> Option<Origin> {
    let mut var = var;
    // A chain of equal variables that is longer than the body is cyclic.
    for _ in 0..=rule.body.len() {
        if let Some(name) = results.get(var) {
            return Some(Origin::Builtin(name.clone()));
        }
        match bindings.get(var).map(|term| &term.value) {
            Some(TermValue::Var(next)) => {
                var = next;
                continue;
            }
            Some(TermValue::Ref(reference)) => {
                let steps = reference.iter().skip(1);
                let ground = 1 + steps.take_while(|step| constant(step).is_some()).count();
                let ground = ThinVec::from(reference.get(..ground).unwrap_or_default());
                match reference.as_slice() {
                    [head, ..] if is_var(head, "input") => return Some(Origin::Input(ground)),
                    [head, ..] if is_var(head, "data") => return Some(Origin::Rule(ground)),
                    [head, step] if constant(step).is_none() => {
                        if let Some(collection) = collection(head, bindings) {
                            return Some(Origin::Collection(collection));
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        let head = &rule.head;
        let mut keys = head.reference.iter().skip(1).chain(&head.key);
        if keys.any(|key| is_var(key, &var.0)) {
            return Some(Origin::Key);
        }
        let is_parameter = head.args.iter().any(|arg| is_var(arg, &var.0));
        return is_parameter.then_some(Origin::Parameter);
    }
    None
}

fn collection(term: &Term, bindings: &HashMap<&Var, &Term>) -> Option<Value> {
    let mut term = term;
    for _ in 0..=bindings.len() {
        match &term.value {
            TermValue::Var(var) => term = bindings.get(var)?,
            _ => break,
        }
    }
    constant(term).filter(|value| members(value).is_some())
}

fn step_note(
    step: &Term,
    shown_step: &str,
    origins: &HashMap<Var, Origin>,
    name: &dyn Fn(&Var) -> Option<Var>,
    rule: impl Fn() -> Option<String>,
) -> Option<String> {
    let var = match &step.value {
        TermValue::Ref(reference) => {
            return data_prefix(reference)
                .map(|_| "rule values aren't known at compile time".to_owned());
        }
        TermValue::Var(var) => var,
        _ => return None,
    };
    Some(match origins.get(var)? {
        Origin::Input(from) => format!("{shown_step} comes from {}", shown(from, name)),
        Origin::Rule(from) => format!(
            "{shown_step} comes from rule {}, whose value isn't known at compile time",
            shown(from, name)
        ),
        Origin::Collection(values) => match members(values).map_or(0, Iterator::count) {
            many if many > MAX_MEMBERS => format!("{shown_step} is one of {many} values"),
            _ => format!("{shown_step} is one of {}", printed(values)),
        },
        Origin::Builtin(function) => format!("{shown_step} is computed by {function}"),
        Origin::Key => format!("{shown_step} is a key of {}", rule()?),
        Origin::Parameter => format!("{shown_step} is an argument of {}", rule()?),
    })
}

fn shown_term(term: &Term, name: &dyn Fn(&Var) -> Option<Var>) -> String {
    let mut term = term.clone();
    crate::syntax::terms::rename(&mut term, name);
    term.to_string()
}

fn printed(value: &Value) -> String {
    crate::syntax::terms::term_of_value(value).to_string()
}

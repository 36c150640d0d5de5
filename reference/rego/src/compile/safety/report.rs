//! Errors of unsafe variables.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Diagnostics;
use super::super::rule_tree::ground_steps;
use super::super::vars::{display_name, is_local};
use super::order::UnsafeExpr;
use crate::error::{Code, LanguageError};
use crate::hash::{HashMap, HashSet};
use crate::syntax::visit::all_rules;
use crate::syntax::{Location, Rule, TermValue, Var};

/// Words that authors may have meant as keywords, which is noted in messages.
const KEYWORDS: &[&str] = &["and", "contains", "every", "if", "in", "not", "or"];

/// Rows that contain rules of several names: there a message names the rule.
pub(super) struct Scopes {
    shared: HashSet<u32>,
}

impl Scopes {
    pub(super) fn of(rules: &[Rule]) -> Self {
        let mut first: HashMap<u32, &Rule> = HashMap::default();
        let mut shared = HashSet::default();
        for rule in all_rules(rules) {
            let row = rule.location.row;
            let other = first.entry(row).or_insert(rule);
            if name(other) != name(rule) {
                shared.insert(row);
            }
        }
        Self { shared }
    }

    /// Returns the part of a message that names the rule.
    pub(super) fn of_rule(&self, rule: &Rule) -> String {
        if !self.shared.contains(&rule.location.row) {
            return String::new();
        }
        let reference = &rule.head.reference;
        let name = reference.get(..ground_steps(reference)).unwrap_or_default();
        format!(" in rule {}", TermValue::Ref(name.into()))
    }
}

/// Returns the constant steps of a rule's reference.
fn name(rule: &Rule) -> &[crate::syntax::Term] {
    let reference = &rule.head.reference;
    reference.get(..ground_steps(reference)).unwrap_or_default()
}

/// Returns the errors of one rule or query, in source order: each variable once, at the first
/// expression that needs it. Targets of `:=` are reported only if no other variable is.
pub(super) fn unsafe_var_errors(
    blocked: &[UnsafeExpr],
    written: &[(Var, Var)],
    scope: &str,
) -> Diagnostics {
    if blocked.is_empty() {
        return Diagnostics::new();
    }
    let written: HashMap<_, _> = written.iter().map(|(local, name)| (local, name)).collect();
    let author = |var: &'_ Var| -> Var { (*written.get(var).unwrap_or(&var)).clone() };
    let mut places: BTreeMap<&Var, &Location> = BTreeMap::new();
    let mut targets = HashSet::default();
    for UnsafeExpr {
        at,
        vars,
        targets: own,
    } in blocked
    {
        for var in vars {
            let place = places.entry(var).or_insert(at);
            if before(at, place) {
                *place = at;
            }
        }
        for var in own.iter().flatten() {
            targets.insert(var.clone());
            targets.insert(author(var));
        }
    }
    let mut pairs: Vec<_> = places
        .into_iter()
        .map(|(var, at)| (var, author(var), at))
        .collect();
    pairs.retain(|(_, name, _)| !is_local(name));
    // At one location named variables precede wildcards.
    pairs.sort_by_key(|(_, name, at)| (&at.file, at.row, at.col, name.is_wildcard()));
    let is_target = |var: &Var, name: &Var| targets.contains(var) || targets.contains(name);
    if pairs.iter().any(|(var, name, _)| !is_target(var, name)) {
        pairs.retain(|(var, name, _)| !is_target(var, name));
    }
    let mut found = Diagnostics::new();
    for (_, name, at) in pairs {
        let name = display_name(&name);
        let hint = if KEYWORDS.contains(&name) {
            format!(" (hint: `import future.keywords.{name}` to import a future keyword)")
        } else {
            String::new()
        };
        let message = format!("var {name} is unsafe{scope}{hint}");
        found.push(LanguageError::at(Code::UnsafeVar, at, message));
    }
    if found.is_empty() {
        found = expressions(blocked, scope);
    }
    found
}

/// Reports the expressions if only generated variables are unbound.
fn expressions(blocked: &[UnsafeExpr], scope: &str) -> Diagnostics {
    let mut blocked: Vec<_> = blocked.iter().collect();
    blocked.sort_by_key(|blocked| (&blocked.at.file, blocked.at.row, blocked.at.col));
    let mut seen = BTreeSet::new();
    let mut found = Diagnostics::new();
    for UnsafeExpr { at, vars, .. } in blocked {
        let before = seen.len();
        seen.extend(vars.iter().filter(|var| is_local(var)));
        if seen.len() > before {
            let message = format!("expression is unsafe{scope}");
            found.push(LanguageError::at(Code::UnsafeVar, at, message));
        }
    }
    found
}

fn before(left: &Location, right: &Location) -> bool {
    (&left.file, left.row, left.col) < (&right.file, right.row, right.col)
}

//! Inlining of rules of support modules.

use std::collections::BTreeMap;

use super::super::Unsupported;
use super::super::condition::Condition;
use super::operand::Operand;
use super::{Scope, Translator};
use crate::Value;
use crate::syntax::{Location, Rule};

/// Branch of a rule: its value, and the condition for it.
type Branch = (Operand, Condition);

impl Translator<'_> {
    /// Returns the value of the rules at a path; `None` if there are none.
    pub(super) fn rule(
        &mut self,
        path: &[Value],
        location: &Location,
    ) -> Result<Option<Operand>, Unsupported> {
        let Some(rules) = self.rules.get(path).cloned() else {
            return Ok(None);
        };
        let refusal = |what: &str| {
            let steps = path.iter().filter_map(Value::as_str).collect::<Vec<_>>();
            Unsupported::at(
                location,
                format!("use of {what} in data.{}", steps.join(".")),
            )
        };
        if rules.iter().any(|rule| !rule.head.args.is_empty()) {
            return Err(refusal("function"));
        }
        if rules.iter().any(|rule| rule.head.value.is_none()) {
            return Err(refusal("multi-value rule"));
        }
        self.deeper(location, |deeper| {
            let mut chains = Vec::new();
            let mut default = None;
            for rule in &rules {
                if rule.default {
                    let (value, _) = deeper.branch(rule, location)?;
                    default = Some(value);
                } else {
                    chains.push(deeper.chain(rule, location)?);
                }
            }
            let any = chains.iter().flatten().map(|(_, when)| when.clone());
            let none = Condition::any(any).negated(location);
            let mut cases = match chains.len() {
                1 => chains.pop().unwrap_or_default(),
                _ => join(chains, location).ok_or_else(|| refusal("multi-value rule"))?,
            };
            cases.extend(default.map(|default| (default, none)));
            Ok(Some(Operand::Choice(cases)))
        })
    }

    /// Returns the branches of a rule, each of which applies if none of the preceding ones does.
    fn chain(&mut self, rule: &Rule, location: &Location) -> Result<Vec<Branch>, Unsupported> {
        let mut chain = Vec::new();
        let mut before = Vec::new();
        let mut next = Some(rule);
        while let Some(rule) = next {
            let (value, holds) = self.branch(rule, location)?;
            let earlier = Condition::any(before.iter().cloned());
            let when = Condition::all([holds.clone(), earlier.negated(location)]);
            if when.size() > super::MAX_PARTS {
                return Err(super::too_large(location));
            }
            chain.push((value, when));
            before.push(holds);
            next = rule.else_rule.as_deref();
        }
        Ok(chain)
    }

    /// Returns the value and the condition of a rule, regardless of its other branches.
    fn branch(&mut self, rule: &Rule, location: &Location) -> Result<Branch, Unsupported> {
        let mut scope = Scope::default();
        let mut holds = Condition::Constant(true);
        if !rule.default {
            let body = self.body(&rule.body, &mut scope);
            // Only one reason is reported per location.
            holds = body.map_err(|refusals| match refusals.into_iter().next() {
                Some(refusal) => refusal,
                None => super::too_large(location),
            })?;
        }
        let value = match &rule.head.value {
            Some(value) => self.operand(value, &mut scope, Some("eq"), location)?,
            None => Operand::Constant(Value::Bool(true)),
        };
        Ok((value, holds))
    }
}

/// Joins the branches of the rules of one path: a row for which rules have different values gets no
/// value. `None` if some value is not known.
fn join(chains: Vec<Vec<Branch>>, location: &Location) -> Option<Vec<Branch>> {
    let mut by_value: BTreeMap<Value, Vec<Condition>> = BTreeMap::new();
    for (value, when) in chains.into_iter().flatten() {
        match value {
            Operand::Constant(value) => by_value.entry(value).or_default().push(when),
            _ => return None,
        }
    }
    let by_value: Vec<(Value, Condition)> = by_value
        .into_iter()
        .map(|(value, when)| (value, Condition::any(when)))
        .collect();
    let cases = by_value.iter().map(|(value, when)| {
        let others = by_value.iter().filter(|(other, _)| other != value);
        let others = Condition::any(others.map(|(_, when)| when.clone()));
        let when = Condition::all([when.clone(), others.negated(location)]);
        (Operand::Constant(value.clone()), when)
    });
    Some(cases.collect())
}

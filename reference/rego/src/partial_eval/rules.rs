//! Rules and functions that depend on something unknown: the residual solutions of each are
//! computed once and reused.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::bindings::Bindings;
use super::expr_stats::Saved;
use super::solver::{Flow, OnValue, Solver};
use super::terms::{self, Sym, all_vars};
use super::unknowns::Root;
use super::value_ref::Walk;
use crate::Value;
use crate::compile::rule_tree::{CompiledRule, Node, RuleKind, RuleSet};
use crate::error::EvalError;
use crate::hash::HashMap;
use crate::syntax::visit::{self, Rewrite};
use crate::syntax::{Rule, Term, TermValue, Var};

/// One residual solution of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Solution {
    /// Conditions of the solution.
    pub(super) saved: Vec<Saved>,
    /// Steps from the path of the rules to the value; none except for partial objects.
    path: Vec<Sym>,
    /// Value of the document, or member of it if it is a set.
    value: Sym,
    /// Whether the value is a member of a set.
    is_member: bool,
}

type RuleResult = Result<Vec<Solution>, Box<EvalError>>;

impl<'p> Solver<'p> {
    /// Visits the values that a reference reaches through the rules of a node.
    pub(super) fn rules(
        &mut self,
        path: &[Value],
        node: &'p Node,
        set: &'p RuleSet,
        walk: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        if set.kind == RuleKind::Function {
            return Ok(());
        }
        if self.is_opaque(path) {
            let whole = self.supported(path, walk.location);
            return self.walk(Sym::Term(whole), walk, each);
        }
        if !self.depends.rules(node, set) {
            return self.known_rules(path, walk, each);
        }
        match set.kind {
            RuleKind::Complete => self.complete(set, walk, each),
            _ if walk.steps.is_empty() => {
                let whole = self.supported(path, walk.location);
                each(self, Sym::Term(whole))
            }
            _ => self.parts(path, node, set, walk, each),
        }
    }

    /// Whether the rules at a path must not be inlined.
    fn is_opaque(&self, path: &[Value]) -> bool {
        self.opaque.cover(Root::Data, path) || self.opaque.below(Root::Data, path)
    }

    /// Visits the values that a reference reaches through rules that do not depend on unknowns.
    fn known_rules(&mut self, path: &[Value], walk: Walk<'_>, each: OnValue<'_, 'p>) -> Flow {
        let mut path = path.to_vec();
        let mut rest = walk;
        while let Some((step, tail)) = rest.split()
            && let Sym::Known(key) = self.bindings.resolved(step.clone())
        {
            path.push(key);
            rest = tail;
        }
        match self.document(&path, walk.location)? {
            Some(value) => self.walk(Sym::Known(value), rest, each),
            None => Ok(()),
        }
    }

    /// Visits each possible value of complete rules.
    fn complete(&mut self, set: &'p RuleSet, walk: Walk<'_>, each: OnValue<'_, 'p>) -> Flow {
        let address = std::ptr::from_ref(set).addr();
        // Complete rules have one value, so the value chosen earlier on this path is used again.
        if let Some(value) = self.bindings.chosen.get(&address).cloned() {
            return self.walk(value, walk, each);
        }
        let solutions = self.solutions(address, |solver| {
            let mut found = Vec::new();
            for rule in &set.rules {
                solver.chain(rule, 0, &[], &mut found)?;
            }
            Ok(distinct(found))
        })?;
        // A solution can be used several times on one path, for example under `not`.
        let solutions = solutions.iter().map(|one| self.renamed(one)).collect();
        let default = set.default.as_deref();
        let default = default.and_then(|rule| rule.ast().head.value.clone());
        let default = default.map(|value| self.plug(0, &value));
        self.choose(solutions, default, walk, &mut |solver, value| {
            solver.bindings.choose(address, value.clone());
            solver.walk(value, walk, each)
        })
    }

    /// Calls the continuation with each of several values, or with the default if none is defined.
    pub(super) fn choose(
        &mut self,
        solutions: Vec<Solution>,
        default: Option<Sym>,
        walk: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        if let Some(sure) = solutions.iter().find(|one| one.saved.is_empty()) {
            return match walk.accepts(&sure.value) {
                true => each(self, sure.value.clone()),
                false => Ok(()),
            };
        }
        let default = default.filter(|value| walk.accepts(value));
        let bodies: Vec<_> = match default {
            Some(_) => solutions.iter().map(|one| one.saved.clone()).collect(),
            None => Vec::new(),
        };
        for Solution { saved, value, .. } in solutions {
            if walk.accepts(&value) {
                self.apply(saved, |solver| each(solver, value))?;
            }
        }
        match default {
            Some(default) => self.none_of(&bodies, &mut |solver| each(solver, default.clone())),
            None => Ok(()),
        }
    }

    /// Calls the continuation under the conditions of a solution.
    pub(super) fn apply(
        &mut self,
        saved: Vec<Saved>,
        next: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        self.step()?;
        let mark = self.bindings.checkpoint();
        self.bindings.add(saved);
        let flow = next(self);
        self.bindings.undo(mark);
        flow
    }

    /// Visits the values that a reference reaches through partial rules.
    fn parts(
        &mut self,
        path: &[Value],
        node: &'p Node,
        set: &'p RuleSet,
        walk: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let address = std::ptr::from_ref(set).addr();
        let depth = path.len() + 1;
        let solutions = self.solutions(address, |solver| {
            let mut found = Vec::new();
            for set in extent(node, set) {
                for rule in &set.rules {
                    solver.chain(rule, depth, &[], &mut found)?;
                }
            }
            Ok(distinct(found))
        })?;
        // After the path to a set, one more step names a member.
        let steps = |one: &Solution| one.path.len() + usize::from(one.is_member);
        let longest = solutions.iter().map(steps).max();
        if longest.is_some_and(|longest| longest > walk.steps.len()) {
            // The reference denotes a document to which several rules contribute.
            let whole = self.supported(path, walk.location);
            return self.walk(Sym::Term(whole), walk, each);
        }
        for solution in solutions.iter() {
            let mut solution = self.renamed(solution);
            let saved = std::mem::take(&mut solution.saved);
            self.apply(saved, |solver| {
                solver.part(&solution, &solution.path, walk, each)
            })?;
        }
        Ok(())
    }

    /// Unifies the remaining steps with the path and the value of a solution.
    fn part(
        &mut self,
        solution: &Solution,
        path: &[Sym],
        walk: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        if let Some((key, path)) = path.split_first() {
            let Some((step, rest)) = walk.split() else {
                return Ok(());
            };
            return self.if_unified(step, key.clone(), walk.location, |solver| {
                solver.part(solution, path, rest, each)
            });
        }
        if !solution.is_member {
            return self.walk(solution.value.clone(), walk, each);
        }
        match walk.split() {
            Some((step, rest)) => {
                self.if_unified(step, solution.value.clone(), walk.location, |s| {
                    let member = match step {
                        Sym::Known(_) => step.clone(),
                        Sym::Term(_) => solution.value.clone(),
                    };
                    s.walk(member, rest, each)
                })
            }
            None => Ok(()),
        }
    }

    /// Returns the solutions of rules, which are computed on first use, independently of the
    /// bindings on the current search path.
    fn solutions(
        &mut self,
        address: usize,
        find: impl FnOnce(&mut Self) -> RuleResult,
    ) -> Result<Rc<Vec<Solution>>, Box<EvalError>> {
        if let Some(known) = self.solved.get(&address) {
            return Ok(known.clone());
        }
        let chosen = std::mem::take(&mut self.bindings.chosen);
        let found = visit::deep(|| find(self));
        self.bindings.chosen = chosen;
        let found = Rc::new(found?);
        self.solved.insert(address, found.clone());
        Ok(found)
    }

    /// Adds the solutions of a rule, and those of each `else` branch under the condition that the
    /// preceding branches are undefined. `depth` is the number of steps to the rules, including
    /// `data`; 0 if the rule defines the whole value.
    pub(super) fn chain(
        &mut self,
        rule: &'p CompiledRule,
        depth: usize,
        args: &[Sym],
        found: &mut Vec<Solution>,
    ) -> Flow {
        let mut earlier: Vec<Vec<Saved>> = Vec::new();
        let mut branch = Some(rule.ast());
        while let Some(ast) = branch {
            branch = ast.else_rule.as_deref();
            let mut solutions = Vec::new();
            let mark = self.bindings.checkpoint();
            let flow = self.none_of(&earlier, &mut |solver| {
                solver.branch(rule, ast, (depth, mark), args, &mut solutions)
            });
            self.bindings.undo(mark);
            flow?;
            let is_sure = solutions.iter().any(|one| one.saved.is_empty());
            if branch.is_some() {
                earlier.extend(solutions.iter().map(|one| one.saved.clone()));
            }
            found.extend(solutions);
            if is_sure {
                break;
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        rule: &'p CompiledRule,
        ast: &'p Rule,
        (depth, mark): (usize, super::bindings::Checkpoint),
        args: &[Sym],
        found: &mut Vec<Solution>,
    ) -> Flow {
        let frame = self.bindings.frame();
        let head = &ast.head;
        for (parameter, arg) in head.args.iter().zip(args) {
            let parameter = self.plug(frame, parameter);
            if !self.unify(parameter, arg.clone(), &head.location) {
                return Ok(());
            }
        }
        self.trace_rule(frame, crate::trace::Op::Enter, ast);
        let path = match depth {
            0 => &[],
            depth => rule.reference.get(depth..).unwrap_or_default(),
        };
        self.body(frame, &ast.body, &mut |solver| {
            solver.trace_rule(frame, crate::trace::Op::Exit, ast);
            let path = path.iter().map(|step| solver.plug(frame, step)).collect();
            let Some(value) = head.value.as_ref().or(head.key.as_ref()) else {
                return Ok(());
            };
            let value = solver.plug(frame, value);
            let Some(saved) = solver.typed(mark) else {
                return Ok(());
            };
            solver.charge(&saved)?;
            found.push(Solution {
                saved,
                path,
                value,
                is_member: head.value.is_none(),
            });
            Ok(())
        })
    }

    /// Returns a copy of a solution with fresh variables.
    fn renamed(&mut self, solution: &Solution) -> Solution {
        let mut renaming = Renaming {
            bindings: &mut self.bindings,
            names: HashMap::default(),
        };
        let mut solution = solution.clone();
        for part in &mut solution.saved {
            match part {
                ground if ground.is_ground() => {}
                Saved::Expr(expr) => expr.change(|expr| visit::rewrite_expr(expr, &mut renaming)),
                Saved::Defined(term) => {
                    term.change(|term| visit::rewrite_term(term, &mut renaming));
                }
            }
        }
        for sym in solution.path.iter_mut().chain([&mut solution.value]) {
            if let Sym::Term(term) = sym {
                visit::rewrite_term(term, &mut renaming);
            }
        }
        solution
    }
}

/// Removes duplicates and preserves the order of first occurrence.
pub(super) fn distinct<T: Ord>(mut found: Vec<T>) -> Vec<T> {
    if found.len() < 2 {
        return found;
    }
    let mut seen = BTreeSet::new();
    let first: Vec<_> = found.iter().map(|one| seen.insert(one)).collect();
    let mut first = first.into_iter();
    found.retain(|_| first.next().unwrap_or(true));
    found
}

/// Returns the rules of a node, including those below if they extend a partial object.
pub(super) fn extent<'n>(node: &'n Node, set: &'n RuleSet) -> Vec<&'n RuleSet> {
    if set.kind == RuleKind::PartialObject && !node.is_leaf() {
        return node.extent().into_iter().map(AsRef::as_ref).collect();
    }
    vec![set]
}

/// Renames the generated variables of a solution.
struct Renaming<'s, 'm> {
    bindings: &'s mut Bindings<'m>,
    names: HashMap<Var, Var>,
}

impl Rewrite for Renaming<'_, '_> {
    fn term(&mut self, term: &mut Term) -> bool {
        if let TermValue::Var(name) = &mut term.value
            && name.0.starts_with("__local")
        {
            if let Some(other) = self.names.get(name) {
                *name = other.clone();
            } else {
                let other = self.bindings.fresh();
                self.names.insert(name.clone(), other.clone());
                *name = other;
            }
        }
        true
    }
}

/// Returns every variable of the saved parts.
pub(super) fn saved_vars(saved: &[Saved]) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    for part in saved {
        match part {
            Saved::Expr(expr) => found.extend(all_vars(expr)),
            Saved::Defined(term) => found.extend(terms::vars(term)),
        }
    }
    found
}

//! A compiled rule: its signature, and its body after each stage.

use std::sync::{Arc, LazyLock, OnceLock};

use thin_vec::ThinVec;

use super::CompilationUnit;
use super::graph::{Dependency, Reads};
use crate::Value;
use crate::hash::HashMap;
use crate::ir::lower::Lowered;
use crate::syntax::terms::{constant, is_scalar};
use crate::syntax::{
    Annotations, Body, ExprTerms, Head, Location, Ref, Rule, Term, TermValue, Var,
};

/// The names that authors wrote, by the generated variables that took their place.
pub(crate) type SourceNames = Arc<HashMap<Var, Var>>;

/// A rule with what the compiler knows about it. It knows no other rules, because it is part of
/// many policies, so others must be looked up in the policy that is evaluated.
///
/// It is at its place before it went through all stages. Until then its tree is with its unit, and
/// here is what others must know of it.
#[derive(Debug)]
pub(crate) struct CompiledRule {
    /// Its reference from the root: `data`, its package, its own reference.
    pub(crate) reference: Arc<[Term]>,
    /// The number of steps of `reference` that are constant, `data` among them.
    pub(crate) ground: usize,
    /// The id of its module.
    pub(crate) module: Arc<str>,
    /// The place of the rule in its module.
    pub(crate) position: usize,
    /// The number of steps of its package, `data` among them.
    pub(crate) package: usize,
    /// The number of parameters; 0 unless it is a function.
    pub(super) arity: usize,
    /// Whether it gives members of a set.
    is_multi_value: bool,
    /// Whether it gives the value when no other does.
    is_default: bool,
    /// Whether it had no body and a value without references or calls before the last stages.
    was_constant: bool,
    /// The annotations of its METADATA blocks.
    annotations: Vec<Arc<Annotations>>,
    /// What the stages left of it.
    finished: OnceLock<Finished>,
    /// What the rule, then each `else` behind it, reads.
    pub(super) reads: OnceLock<Reads>,
    /// What the evaluator made of it when it was first needed.
    pub(crate) lowered: OnceLock<Arc<Lowered>>,
}

/// A rule that went through all stages.
#[derive(Debug)]
struct Finished {
    /// The rule as the compiler left it, with its `else` chain.
    ast: Box<Rule>,
    /// Whether it has no body and a value without references or calls.
    is_constant: bool,
    /// The names that authors wrote.
    written: SourceNames,
}

/// What is left of a rule that is still with its unit: nothing.
static UNFINISHED: LazyLock<Finished> = LazyLock::new(|| {
    let location = Location {
        file: "".into(),
        row: 0,
        col: 0,
        offset: 0,
        length: 0,
    };
    Finished {
        ast: Box::new(Rule {
            default: false,
            head: Head {
                name: None,
                reference: Ref::new(),
                args: ThinVec::new(),
                key: None,
                value: None,
                assign: false,
                value_generated: false,
                location: location.clone(),
            },
            body: Body::new(),
            else_rule: None,
            annotations: Vec::new(),
            location,
        }),
        is_constant: false,
        written: SourceNames::default(),
    }
});

impl CompiledRule {
    /// What others must know of the rule at some position of a unit. The reference is its own
    /// from the root.
    pub(super) fn new(
        unit: &CompilationUnit,
        position: usize,
        rule: &Rule,
        reference: Arc<[Term]>,
    ) -> Self {
        Self {
            ground: ground_steps(&reference),
            reference,
            module: unit.id.clone(),
            position,
            package: unit.module.package.path.len(),
            arity: rule.head.args.len(),
            is_multi_value: rule.head.value.is_none(),
            is_default: rule.default,
            was_constant: is_constant(rule),
            annotations: rule.annotations.clone(),
            finished: OnceLock::new(),
            reads: OnceLock::new(),
            lowered: OnceLock::new(),
        }
    }

    /// Gives it the tree that the stages left.
    pub(super) fn finish(&self, rule: Rule, written: SourceNames) {
        self.finished.get_or_init(|| Finished {
            is_constant: is_constant(&rule),
            ast: Box::new(rule),
            written,
        });
    }

    /// Whether it went through all stages.
    pub(super) fn is_finished(&self) -> bool {
        self.finished.get().is_some()
    }

    /// The rule as the compiler left it, with its `else` chain; an empty one until then.
    pub(crate) fn ast(&self) -> &Rule {
        &self.left().ast
    }

    /// The names that authors wrote.
    pub(crate) fn written(&self) -> &SourceNames {
        &self.left().written
    }

    fn left(&self) -> &Finished {
        self.finished.get().unwrap_or_else(|| &UNFINISHED)
    }

    /// Whether it has no body and a value without references or calls, as far as that is known.
    pub(super) fn is_constant(&self) -> bool {
        let finished = self.finished.get();
        finished.map_or(self.was_constant, |finished| finished.is_constant)
    }

    /// The annotations of its METADATA blocks.
    pub(super) fn annotations(&self) -> &[Arc<Annotations>] {
        &self.annotations
    }

    /// Whether it gives the value when no other does.
    pub(super) fn is_default(&self) -> bool {
        self.is_default
    }

    /// The steps below `data` to the place where the rule is.
    pub(crate) fn path(&self) -> impl Iterator<Item = Value> {
        let steps = self.reference.get(1..self.ground).unwrap_or_default();
        steps.iter().filter_map(constant)
    }

    /// Whether the reference has no variables.
    pub(crate) fn is_ground(&self) -> bool {
        self.ground == self.reference.len()
    }

    /// Whether it is a function.
    pub(crate) fn is_function(&self) -> bool {
        self.arity > 0
    }

    /// Whether it gives members of a set.
    pub(crate) fn is_multi_value(&self) -> bool {
        self.is_multi_value
    }

    /// What the rule, then each `else` behind it, reads.
    pub(crate) fn reads(&self) -> &[Vec<Dependency>] {
        self.reads.get().map(AsRef::as_ref).unwrap_or_default()
    }

    /// Whether the rule, or an `else` behind it, reads anything.
    pub(super) fn reads_any(&self) -> bool {
        self.reads().iter().any(|reads| !reads.is_empty())
    }

    /// The order of rules in one place.
    pub(super) fn order(&self) -> (usize, &str, usize) {
        (self.package, &self.module, self.position)
    }
}

/// Whether a rule has a value without references or calls, and no body but the generated one.
fn is_constant(rule: &Rule) -> bool {
    let is_true = match rule.body.as_slice() {
        [only] if !only.negated && only.with.is_empty() => {
            matches!(&only.terms, ExprTerms::Term(term) if term.value == TermValue::Bool(true))
        }
        _ => false,
    };
    is_true
        && rule
            .head
            .value
            .as_ref()
            .is_some_and(|value| match value.value {
                TermValue::Var(_) => true,
                _ => constant(value).is_some(),
            })
}

/// The number of leading steps of a reference that are constant; the first always counts.
pub(crate) fn ground_steps(reference: &[Term]) -> usize {
    let steps = reference.iter().skip(1).take_while(|step| is_scalar(step));
    (steps.count() + 1).min(reference.len())
}

//! Compiled rules: the signature of a rule, and its syntax tree after the last stage.

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

/// Source names of variables, by the generated variables that replaced them.
pub(crate) type SourceNames = Arc<HashMap<Var, Var>>;

/// A rule and the compiler's information on it. It does not point to other rules, because it is
/// part of many policies; others must be looked up in the policy under evaluation.
///
/// It is inserted into the rule tree before it has passed all stages. Until it has, its syntax tree
/// is in its unit, and this contains only the information that other rules need.
#[derive(Debug)]
pub(crate) struct CompiledRule {
    /// Reference from the root: `data`, its package, its own reference.
    pub(crate) reference: Arc<[Term]>,
    /// Number of constant steps of `reference`, including `data`.
    pub(crate) ground: usize,
    /// Id of the rule's module.
    pub(crate) module: Arc<str>,
    /// Index of the rule in its module.
    pub(crate) position: usize,
    /// Number of steps of the rule's package, including `data`.
    pub(crate) package: usize,
    /// Number of parameters; 0 if the rule is not a function.
    pub(super) arity: usize,
    /// Whether the rule defines members of a set.
    is_multi_value: bool,
    /// Whether the rule is a default rule.
    is_default: bool,
    /// Whether the rule had no body and a value without references or calls before the last stages.
    was_constant: bool,
    /// Annotations of the rule's METADATA blocks.
    annotations: Vec<Arc<Annotations>>,
    /// Result of the stages.
    finished: OnceLock<Finished>,
    /// References that the rule reads, followed by those of each of its `else` branches.
    pub(super) reads: OnceLock<Reads>,
    /// Lowered form, created by the evaluator on first use.
    pub(crate) lowered: OnceLock<Arc<Lowered>>,
}

/// A rule that has passed all stages.
#[derive(Debug)]
struct Finished {
    /// Compiled rule, with its `else` chain.
    ast: Box<Rule>,
    /// Whether the rule has no body and a value without references or calls.
    is_constant: bool,
    /// Source names of the rule's variables.
    written: SourceNames,
}

/// Placeholder for a rule that is still in its unit.
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
    /// Creates the entry for the rule at a position of a unit. `reference` is the reference from
    /// the root.
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

    /// Stores the compiled syntax tree.
    pub(super) fn finish(&self, rule: Rule, written: SourceNames) {
        self.finished.get_or_init(|| Finished {
            is_constant: is_constant(&rule),
            ast: Box::new(rule),
            written,
        });
    }

    /// Whether the rule has passed all stages.
    pub(super) fn is_finished(&self) -> bool {
        self.finished.get().is_some()
    }

    /// Returns the compiled rule, with its `else` chain; an empty rule until it is finished.
    pub(crate) fn ast(&self) -> &Rule {
        &self.left().ast
    }

    /// Returns the source names of the rule's variables.
    pub(crate) fn written(&self) -> &SourceNames {
        &self.left().written
    }

    fn left(&self) -> &Finished {
        self.finished.get().unwrap_or_else(|| &UNFINISHED)
    }

    /// Whether the rule has no body and a value without references or calls, as far as is known.
    pub(super) fn is_constant(&self) -> bool {
        let finished = self.finished.get();
        finished.map_or(self.was_constant, |finished| finished.is_constant)
    }

    /// Returns the annotations of the rule's METADATA blocks.
    pub(super) fn annotations(&self) -> &[Arc<Annotations>] {
        &self.annotations
    }

    /// Whether the rule is a default rule.
    pub(super) fn is_default(&self) -> bool {
        self.is_default
    }

    /// Returns the steps below `data` to the node that contains the rule.
    pub(crate) fn path(&self) -> impl Iterator<Item = Value> {
        let steps = self.reference.get(1..self.ground).unwrap_or_default();
        steps.iter().filter_map(constant)
    }

    /// Whether the reference has no variables.
    pub(crate) fn is_ground(&self) -> bool {
        self.ground == self.reference.len()
    }

    /// Whether the rule is a function.
    pub(crate) fn is_function(&self) -> bool {
        self.arity > 0
    }

    /// Whether the rule defines members of a set.
    pub(crate) fn is_multi_value(&self) -> bool {
        self.is_multi_value
    }

    /// Returns the references that the rule reads, then those of each of its `else` branches.
    pub(crate) fn reads(&self) -> &[Vec<Dependency>] {
        self.reads.get().map(AsRef::as_ref).unwrap_or_default()
    }

    /// Whether the rule, or an `else` branch of it, has any references.
    pub(super) fn reads_any(&self) -> bool {
        self.reads().iter().any(|reads| !reads.is_empty())
    }

    /// Returns the sort key of rules of one node.
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

/// Returns the number of leading constant steps of a reference; the first always counts.
pub(crate) fn ground_steps(reference: &[Term]) -> usize {
    let steps = reference.iter().skip(1).take_while(|step| is_scalar(step));
    (steps.count() + 1).min(reference.len())
}

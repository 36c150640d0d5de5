//! The compiler stages, from syntax trees to a policy that can be evaluated, in the order they run.
//!
//! A stage looks at every touched module before the next stage begins, and the first stage that
//! finds mistakes is the last to run, so that mistakes do not breed others.

use std::sync::Arc;

use crate::error::LanguageError;
use crate::syntax::{Body, Module, Var};

mod base_conflicts;
mod build;
mod calls;
mod compiler;
mod comprehension_terms;
mod deprecated;
mod duplicate_imports;
mod dynamic_terms;
mod equals;
mod expr_terms;
mod graph;
mod head_refs;
mod head_terms;
pub(crate) mod index;
mod keyword_overrides;
mod locals;
mod metadata_calls;
mod module_set;
mod names;
mod outputs;
mod persistent_tree;
mod policy;
mod print_calls;
mod query;
mod recursion;
mod recursion_cause;
mod references;
mod resolve;
mod rule;
mod rule_conflicts;
mod rule_paths;
pub(crate) mod rule_tree;
mod safety;
mod template_strings;
pub(crate) mod type_check;
mod unify;
mod vars;
mod void_calls;
mod with;

pub use compiler::Compiler;
pub(crate) use module_set::ModuleSet;
pub use policy::{CompiledModule, Policy};

use build::Build;
use rule_tree::ModuleInterface;

/// A module on its way through the stages.
#[derive(Debug)]
pub(crate) struct CompilationUnit {
    /// Its id.
    pub(crate) id: Arc<str>,
    /// Its tree, rewritten by each stage.
    pub(crate) module: Module,
    /// The names that authors wrote, by the generated variables that took their place.
    pub(crate) written: Vec<(Var, Var)>,
    /// The number of the next generated variable.
    pub(crate) next_local: usize,
    /// The tree that was given, if it has no text.
    given: Option<Arc<Module>>,
    /// What others see of it.
    outline: Arc<ModuleInterface>,
}

/// A query on its way through the stages.
#[derive(Debug)]
pub(crate) struct QueryUnit {
    /// Its tree, rewritten by each stage.
    pub(crate) body: Body,
    /// The names that authors wrote, by the generated variables that took their place.
    pub(crate) written: Vec<(Var, Var)>,
    /// The number of the next generated variable.
    pub(crate) next_local: usize,
}

/// Mistakes of a stage.
pub(crate) type Diagnostics = Vec<LanguageError>;

/// A step of a run.
enum Step {
    /// Stages that look at each module by itself, and at what it can see of the others. One module
    /// goes through all of them before the next does, unless a stage finds what stops it.
    Modules(&'static [ModuleStage]),
    /// Looks at all modules together.
    All(fn(&mut Build) -> Diagnostics),
    /// The same, and the next stage runs even after mistakes.
    Lenient(fn(&mut Build) -> Diagnostics),
}

/// A stage that looks at each module by itself.
enum ModuleStage {
    /// After mistakes the next stage does not run.
    Strict(fn(&mut CompilationUnit, &ModuleSet) -> Diagnostics),
    /// The next stage runs even after mistakes.
    Lenient(fn(&mut CompilationUnit, &ModuleSet) -> Diagnostics),
    /// The answer tells whether the next stage must not run.
    Mixed(fn(&mut CompilationUnit, &ModuleSet) -> (Diagnostics, bool)),
}

impl ModuleStage {
    /// What it finds, and whether the next stage must not run.
    fn run(&self, unit: &mut CompilationUnit, module_set: &ModuleSet) -> (Diagnostics, bool) {
        match self {
            Self::Strict(run) => {
                let found = run(unit, module_set);
                let stops = !found.is_empty();
                (found, stops)
            }
            Self::Lenient(run) => (run(unit, module_set), false),
            Self::Mixed(run) => run(unit, module_set),
        }
    }
}

/// The stages of modules. References in heads must be rewritten before the rules are planted,
/// and everything that generates variables comes before safety.
const STAGES: &[Step] = &[
    Step::Modules(&[
        ModuleStage::Strict(resolve::run),
        ModuleStage::Strict(head_refs::run),
        ModuleStage::Lenient(keyword_overrides::run),
        ModuleStage::Lenient(duplicate_imports::run),
    ]),
    Step::All(Build::plant),
    Step::Modules(&[
        ModuleStage::Mixed(locals::run),
        ModuleStage::Strict(template_strings::run),
        ModuleStage::Strict(void_calls::run),
        ModuleStage::Strict(print_calls::run),
        ModuleStage::Strict(expr_terms::run),
        ModuleStage::Strict(metadata_calls::run),
    ]),
    Step::All(graph::connect),
    Step::Modules(&[
        ModuleStage::Strict(comprehension_terms::run),
        ModuleStage::Strict(head_terms::run),
        ModuleStage::Strict(with::run),
    ]),
    Step::All(rule_conflicts::run),
    Step::Modules(&[
        ModuleStage::Strict(calls::run),
        ModuleStage::Strict(safety::heads),
        ModuleStage::Strict(safety::run),
        ModuleStage::Strict(equals::run),
        ModuleStage::Strict(dynamic_terms::run),
    ]),
    Step::All(recursion::run),
    Step::Lenient(type_check::check_rules),
    Step::Lenient(deprecated::run),
];

/// What looks at a query, step by step.
type QueryStage = fn(&mut QueryUnit, &ModuleSet) -> Diagnostics;

/// The stages of queries, of which the first makes the values of expressions answers.
const QUERY_STAGES: &[QueryStage] = &[
    query::capture,
    locals::query,
    template_strings::query,
    void_calls::query,
    print_calls::query,
    expr_terms::query,
    comprehension_terms::query,
    with::query,
    calls::query,
    safety::query,
    dynamic_terms::query,
    type_check::check_query,
];

/// Compiles a query: the rewritten body and the names that authors wrote.
///
/// # Errors
/// All mistakes of the first stage that finds any.
pub(crate) fn query(policy: &Policy, body: Body) -> Result<QueryUnit, crate::Errors> {
    run_query(policy, body, QUERY_STAGES)
}

/// The same for a query that is evaluated partially: the values of its expressions are not asked
/// for.
///
/// # Errors
/// As [`query()`].
pub(crate) fn partial_query(policy: &Policy, body: Body) -> Result<QueryUnit, crate::Errors> {
    run_query(policy, body, QUERY_STAGES.get(1..).unwrap_or_default())
}

fn run_query(
    policy: &Policy,
    body: Body,
    stages: &[QueryStage],
) -> Result<QueryUnit, crate::Errors> {
    let mut unit = QueryUnit {
        body,
        written: Vec::new(),
        next_local: 0,
    };
    for stage in stages {
        let mut found = stage(&mut unit, policy.module_set());
        if !found.is_empty() {
            if found.len() > build::MAX_ERRORS {
                found.truncate(build::MAX_ERRORS);
                found.push(build::limit_reached());
            }
            return Err(crate::Errors(found));
        }
    }
    Ok(unit)
}

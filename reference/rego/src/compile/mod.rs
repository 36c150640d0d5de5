//! The compiler stages, from syntax trees to a policy that can be evaluated, in the order they run.
//!
//! A stage processes every affected module before the next stage begins, and the first stage that
//! reports errors is the last to run, so that errors do not cause further errors.

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
mod evaluable;
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
mod reachable_rules;
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

/// A module during compilation.
#[derive(Debug)]
pub(crate) struct CompilationUnit {
    /// Id of the module.
    pub(crate) id: Arc<str>,
    /// Syntax tree of the module, rewritten by each stage.
    pub(crate) module: Module,
    /// Source names of variables, by the generated variables that replaced them.
    pub(crate) written: Vec<(Var, Var)>,
    /// Number of the next generated variable.
    pub(crate) next_local: usize,
    /// The original tree, if the module has no source.
    original: Option<Arc<Module>>,
    /// Interface of the module to other modules.
    outline: Arc<ModuleInterface>,
}

/// A query during compilation.
#[derive(Debug)]
pub(crate) struct QueryUnit {
    /// Syntax tree of the query, rewritten by each stage.
    pub(crate) body: Body,
    /// Source names of variables, by the generated variables that replaced them.
    pub(crate) written: Vec<(Var, Var)>,
    /// Number of the next generated variable.
    pub(crate) next_local: usize,
}

/// Errors of a stage.
pub(crate) type Diagnostics = Vec<LanguageError>;

/// Step of a compiler run.
enum Step {
    /// Stages that process each module separately, with access to the interfaces of the others.
    /// Each module passes through all of them before the next, unless a stage stops it.
    Modules(&'static [ModuleStage]),
    /// Processes all modules together.
    All(fn(&mut Build) -> Diagnostics),
    /// Like `All`, but the next stage runs even after errors.
    Lenient(fn(&mut Build) -> Diagnostics),
}

/// Stage that processes each module separately.
enum ModuleStage {
    /// The next stage does not run after errors.
    Strict(fn(&mut CompilationUnit, &ModuleSet) -> Diagnostics),
    /// The next stage runs even after errors.
    Lenient(fn(&mut CompilationUnit, &ModuleSet) -> Diagnostics),
    /// Also returns whether the next stage must not run.
    Mixed(fn(&mut CompilationUnit, &ModuleSet) -> (Diagnostics, bool)),
}

impl ModuleStage {
    /// Runs the stage. Returns the errors, and whether the next stage must not run.
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

/// Compiler stages of modules, in order. References in heads must be rewritten before the rules are
/// inserted into the rule tree, and safety runs after everything that generates variables.
const STAGES: &[Step] = &[
    Step::Modules(&[
        ModuleStage::Strict(resolve::run),
        ModuleStage::Strict(head_refs::run),
        ModuleStage::Lenient(keyword_overrides::run),
        ModuleStage::Lenient(duplicate_imports::run),
    ]),
    Step::All(Build::insert_rules),
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

/// Compiler stage that processes a query.
type QueryStage = fn(&mut QueryUnit, &ModuleSet) -> Diagnostics;

/// Compiler stages of queries, in order. The first rewrites the query so that the results contain
/// the value of each expression.
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

/// Compiles a query to a rewritten body and the source names of its variables.
///
/// # Errors
/// All errors of the first stage that reports any.
pub(crate) fn query(policy: &Policy, body: Body) -> Result<QueryUnit, crate::Errors> {
    run_query(policy, body, QUERY_STAGES)
}

/// Compiles a query for partial evaluation, which does not need the values of its expressions.
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

//! From syntax trees to a policy that can be evaluated: the stages, in the order they run.
//!
//! A stage looks at every touched module before the next stage begins, and the first stage that
//! finds mistakes is the last to run, so that mistakes do not breed others.

use std::sync::Arc;

use crate::error::LanguageError;
use crate::syntax::{Body, Module, Var};

mod build;
mod compiler;
mod graph;
pub(crate) mod index;
mod policy;
mod references;
pub(crate) mod terms;
pub(crate) mod tree;
pub(crate) mod types;
mod world;

pub use compiler::Compiler;
pub use policy::{CompiledModule, Policy};
pub(crate) use world::World;

use build::Build;
use tree::Outline;

/// A module on its way through the stages.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Its id.
    pub(crate) id: Arc<str>,
    /// Its tree, rewritten by each stage.
    pub(crate) module: Module,
    /// The names that authors wrote, by the generated variables that took their place.
    pub(crate) written: Vec<(Var, Var)>,
    /// The number of the next generated variable.
    pub(crate) next_local: usize,
    /// The tree that was given.
    parsed: Arc<Module>,
    /// What others see of it.
    outline: Arc<Outline>,
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
pub(crate) type Found = Vec<LanguageError>;

/// A step of a run.
enum Step {
    /// Looks at each module by itself, and at what it can see of the others.
    Module(fn(&mut Unit, &World) -> Found),
    /// Looks at all modules together.
    All(fn(&mut Build) -> Found),
    /// The same, and the next stage runs even after mistakes.
    Lenient(fn(&mut Build) -> Found),
}

/// The stages of modules. References in heads must be rewritten before the rules are planted,
/// and everything that generates variables comes before safety.
const STAGES: &[Step] = &[
    // Step::Module(resolve::run), … : references, heads, keyword overrides, imports.
    Step::All(Build::plant),
    // Local variables, template strings, void calls, print calls, expression terms, metadata.
    // Then the dependency graph. Comprehension terms, references in heads, `with`.
    // Conflicts, undefined functions, safety, equality, dynamic terms, recursion, types.
];

/// What looks at a query, step by step.
type QueryStage = fn(&mut QueryUnit, &World) -> Found;

/// The stages of queries.
const QUERY_STAGES: &[QueryStage] = &[];

/// Compiles a query: the rewritten body and the names that authors wrote.
///
/// # Errors
/// All mistakes of the first stage that finds any.
pub(crate) fn query(policy: &Policy, body: Body) -> Result<QueryUnit, crate::Errors> {
    let mut unit = QueryUnit {
        body,
        written: Vec::new(),
        next_local: 0,
    };
    for stage in QUERY_STAGES {
        let mut found = stage(&mut unit, policy.world());
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

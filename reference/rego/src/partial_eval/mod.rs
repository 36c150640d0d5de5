//! Partial evaluation: the residual of a query when some documents are unknown.
//!
//! The [`solver`] searches all ways to satisfy the query: it binds variables to known values
//! ([`bindings`], [`unify`]), inlines rules and functions ([`value_ref`], [`rules`], [`calls`]),
//! and saves expressions that cannot be decided. Negations are evaluated separately ([`negation`]).
//! Expressions that do not depend on unknowns ([`depends`]) go to the evaluator, and those that
//! cannot be decomposed are preserved ([`preserve`]), with copies of the rules they refer to
//! ([`support`]). [`copy_propagation`] replaces variables that are bound to references, and
//! [`assemble`] builds bodies from the saved expressions ([`expr_stats`]). The analysis of policy
//! and unknowns is cached ([`analysis_cache`]). [`hints`] suggests corrections of misspelt names.

mod analysis_cache;
mod assemble;
mod bindings;
mod calls;
mod copy_propagation;
mod depends;
mod expr_stats;
mod hints;
mod negation;
mod preserve;
mod rules;
mod solver;
mod support;
mod terms;
mod type_prune;
mod unify;
mod unknowns;
mod value_ref;
mod watch;

use std::collections::BTreeSet;
use std::fmt;

pub use hints::{Hint, InputReferences};
pub use unknowns::References;

use crate::Value;
use crate::compile::{self, Policy};
use crate::error::{Errors, EvalError};
use crate::eval::{Evaluation, QueryOptions, forbidden};
use crate::hash::HashMap;
use crate::json_ast::body;
use crate::meter::AbortReason;
use crate::syntax::{Body, Expr, Module, Var};
use crate::trace::Op;
use crate::types::signature;
use crate::value::{JsonSink, TextSink, ValueSink};

use analysis_cache::AnalysisPool;
use expr_stats::Saved;
use solver::Solver;
use watch::TraceContext;

/// Unknowns and limits of inlining of a partial evaluation.
#[derive(Debug, Clone)]
pub struct PartialOptions {
    /// Unknown documents. They are unknown even if the evaluation has a value for them.
    pub unknowns: References,
    /// Rules that are not inlined, including all rules below their paths: the residual refers to
    /// copies of them in the support modules.
    pub disable_inlining: References,
    /// Whether nondeterministic functions, such as `http.send`, are evaluated. If not, calls of
    /// them remain in the residual.
    pub nondeterministic_builtins: bool,
}

impl PartialOptions {
    /// Whether calls of nondeterministic functions remain in the residual.
    fn preserves_nondeterministic_calls(&self) -> bool {
        !self.nondeterministic_builtins
    }
}

impl Default for PartialOptions {
    /// Returns options for which the input is unknown and everything is inlined.
    fn default() -> Self {
        Self {
            unknowns: References::input(),
            disable_inlining: References::default(),
            nondeterministic_builtins: false,
        }
    }
}

/// Residual of a query.
///
/// For all values of the unknowns, the query holds if one of the bodies does, evaluated with the
/// same base documents and the support modules. (A conflict between rules, which makes the query
/// fail, may go unnoticed.) Variables that the author of the query named have the same values as in
/// the query.
#[derive(Debug, Clone)]
pub struct Residual {
    /// Alternative residual bodies. A body without expressions is always satisfied; if there are no
    /// bodies, the query never is. Expressions have the locations of their sources.
    pub queries: Vec<Body>,
    /// Modules that the bodies refer to, in the package `partial` and below.
    pub support: Vec<Module>,
}

impl Residual {
    /// Returns the residual in the format of the Compile API: `queries` and `support`, which are
    /// omitted if they are empty.
    pub fn to_json(&self) -> Value {
        ValueSink::filled(|out| self.write(out))
    }

    /// Appends the compact JSON encoding of [`to_json`](Self::to_json).
    pub fn append_text(&self, out: &mut Vec<u8>) {
        TextSink::append(out, |out| self.write(out));
    }

    fn write(&self, out: &mut impl JsonSink) {
        out.object(|out| {
            if !self.queries.is_empty() {
                out.name("queries");
                out.list(|out| self.queries.iter().for_each(|query| body(out, query)));
            }
            if !self.support.is_empty() {
                out.name("support");
                out.list(|out| self.support.iter().for_each(|module| module.write(out)));
            }
        });
    }
}

/// Compiled query for partial evaluation, which can be evaluated any number of times.
///
/// ```
/// use rego::value::from_json;
/// use rego::{Compiler, Evaluation, Module, PartialOptions, PartialQuery, Policy, QueryOptions};
///
/// let text = "package example\n\nallow if input.level > data.least\n";
/// let module = Module::parse("example.rego", text)?;
/// let policy = Compiler::new(&Policy::default()).put("example.rego", module).compile()?;
/// let documents = from_json(br#"{"least": 3}"#)?;
///
/// let query = PartialQuery::parse(&policy, "data.example.allow", &QueryOptions::default())?;
/// let residual = query.evaluate(&mut Evaluation::new(&documents), &PartialOptions::default())?;
/// assert_eq!(residual.queries[0][0].to_string(), "gt(input.level, 3)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PartialQuery {
    policy: Policy,
    body: Body,
    written: HashMap<Var, Var>,
    /// Variables that the author of the query named.
    named: Vec<Var>,
    shelf: AnalysisPool,
}

impl PartialQuery {
    /// Parses and compiles a query.
    ///
    /// # Errors
    /// All errors of the first compilation step that fails.
    pub fn parse(policy: &Policy, text: &str, options: &QueryOptions<'_>) -> Result<Self, Errors> {
        Self::compile(policy, crate::Query::read(text)?, options)
    }

    /// Compiles a query.
    ///
    /// # Errors
    /// All errors of the first compilation step that fails: unsafe variables, undefined or
    /// forbidden functions, type errors.
    pub fn compile(
        policy: &Policy,
        body: Body,
        options: &QueryOptions<'_>,
    ) -> Result<Self, Errors> {
        let unit = compile::partial_query(policy, body)?;
        let forbidden = forbidden(&unit.body, options);
        if !forbidden.is_empty() {
            return Err(Errors(forbidden));
        }
        Ok(Self {
            policy: policy.clone(),
            named: named_variables(&unit.body),
            shelf: AnalysisPool::default(),
            body: unit.body,
            written: unit.written.into_iter().collect(),
        })
    }

    /// Evaluates the query as far as the unknowns permit. `print` of the evaluation is not used,
    /// because a printed expression may never be reached.
    ///
    /// # Errors
    /// A conflict between rules that do not depend on unknowns, a result that is too large or takes
    /// too long to compute, or the cancellation of the evaluation.
    pub fn evaluate(
        &self,
        evaluation: &mut Evaluation<'_>,
        options: &PartialOptions,
    ) -> Result<Residual, EvalError> {
        let analysis = self.shelf.take(
            &options.unknowns,
            options.preserves_nondeterministic_calls(),
        );
        let meter = evaluation.meter();
        let mut solver = Solver::new(&self.policy, evaluation, &meter, options, analysis);
        if let Some(tracer) = &mut evaluation.tracer {
            solver.watch = Some(TraceContext::new(&mut **tracer, &self.written));
        }
        let found = self.search(&mut solver);
        self.shelf.put(solver.into_analysis());
        // A value that was too large to become a term is missing in the result.
        meter.check_valid().map_err(AbortReason::error)?;
        found.map_err(|error| *error)
    }

    fn search<'p>(&'p self, solver: &mut Solver<'p>) -> Result<Residual, Box<EvalError>> {
        let named = &self.named;
        for name in named {
            solver.bindings.assign_name(0, name, name.clone());
        }
        let mut found: Vec<Vec<Saved>> = Vec::new();
        solver.trace_query(Op::Enter, &self.body);
        solver.body(0, &self.body, &mut |solver| {
            solver.trace_query(Op::Exit, &self.body);
            if let Some(mut saved) = solver.typed(bindings::Checkpoint::default()) {
                let at = terms::nowhere();
                for name in named {
                    let value = solver.bindings.lookup(0, name).into_term(&at, solver.meter);
                    let variable = terms::var(name, &at);
                    if value != variable {
                        let equal = terms::call("eq", [variable, value], &at);
                        saved.push(Saved::expr(equal));
                    }
                }
                solver.charge(&saved)?;
                found.push(copy_propagation::references(saved));
            }
            Ok(())
        })?;
        let found = rules::distinct(found);
        // The saved parts are not shared from here on, so that they need not be copied.
        solver.solved.clear();
        let queries = found.into_iter();
        let queries = queries.map(|saved| assemble::open(saved, &mut solver.bindings));
        let mut queries: Vec<Body> = queries.collect();
        if queries.iter().any(Body::is_empty) {
            queries = vec![Body::new()];
        }
        let support = solver.modules(&queries);
        Ok(Residual { queries, support })
    }
}

/// Returns the variables that the author of a query named.
fn named_variables(body: &[Expr]) -> Vec<Var> {
    let names = body.iter().flat_map(terms::expr_vars);
    let names: BTreeSet<_> = names
        .filter(|name| !name.is_generated() && signature(&name.0).is_none())
        .collect();
    names.into_iter().collect()
}

impl fmt::Debug for PartialQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.body).finish()
    }
}

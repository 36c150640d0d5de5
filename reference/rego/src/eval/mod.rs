//! Evaluation of queries over a compiled policy.
//!
//! [`lower`](crate::ir::lower) turns queries, and rules when they are first needed, into the
//! [IR](crate::ir). The [`machine`] evaluates bodies: [`deterministic`] evaluates expressions with
//! at most one solution inline, [`iteration`] loops over collections, [`expr`] evaluates all other
//! expressions with a continuation, [`unify`] is unification, [`value_ref`] and [`data_ref`]
//! resolve references, and [`rules`], [`partial_rules`] and [`functions`] evaluate the rules of
//! policies. Results are memoized in [`memo`].

use crate::syntax::Location;

mod binding;
mod builtin;
mod comprehension;
mod conflicts;
mod data_ref;
mod deterministic;
mod evaluation;
mod every;
mod expr;
mod functions;
mod ground_eval;
mod indexed_scan;
mod iteration;
mod labels;
mod logic;
mod machine;
mod memo;
mod mocks;
mod partial_rules;
mod prefix_cache;
mod query;
mod rule_lookup;
mod rules;
mod scratch;
mod source_map;
mod trace;
mod unify;
mod unparse;
mod value_ref;
mod walk;
mod with;

pub use evaluation::{Evaluation, Print, Solution};
pub(crate) use ground_eval::{GroundEvaluator, Prepared};
pub(crate) use query::forbidden;
pub use query::{Query, QueryOptions};
pub(crate) use value_ref::{member, stored};

/// Returns the location of generated nodes.
pub(crate) fn no_location() -> Location {
    Location {
        file: "".into(),
        row: 0,
        col: 0,
        offset: 0,
        length: 0,
    }
}

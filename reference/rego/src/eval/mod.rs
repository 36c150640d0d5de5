//! Evaluation of queries over a compiled policy.
//!
//! [`lower`] makes the compiled form ([`ir`]) of queries, and of rules when they are first needed. The
//! [`machine`] works off bodies: [`once`] finds what has one solution at most, [`items`] goes through collections, [`expr`] says what each
//! kind of expression does otherwise, [`unify`] makes terms equal, [`reference`] and [`document`] follow references, [`rules`], [`partial`] and [`functions`]
//! evaluate what policies define. What was found is kept in [`memo`].

use crate::syntax::Location;

mod builtin;
mod rule_lookup;
mod comprehension;
mod ground_eval;
mod conflicts;
mod data_ref;
mod evaluation;
mod every;
mod expr;
mod functions;
mod binding;
mod ir;
mod iteration;
mod indexed_scan;
mod labels;
mod logic;
mod lower;
mod machine;
mod memo;
mod mocks;
mod source_map;
mod deterministic;
mod partial_rules;
mod query;
mod value_ref;
mod scratch;
mod rules;
mod prefix_cache;
mod unparse;
mod trace;
mod walk;
mod unify;
mod with;

pub(crate) use ground_eval::{GroundEvaluator, Prepared};
pub use evaluation::{Evaluation, Print, Solution};
pub(crate) use lower::Lowered;
pub(crate) use query::forbidden;
pub use query::{Query, QueryOptions};
pub(crate) use value_ref::{member, stored};

/// The place of what stands nowhere.
pub(crate) fn no_location() -> Location {
    Location {
        file: "".into(),
        row: 0,
        col: 0,
        offset: 0,
        length: 0,
    }
}

//! Evaluation of queries over a compiled policy.
//!
//! [`lower`] makes the compiled form ([`ir`]) of queries, and of rules when they are first needed. The
//! [`machine`] works off bodies: [`once`] finds what has one solution at most, [`items`] goes through collections, [`expr`] says what each
//! kind of expression does otherwise, [`unify`] makes terms equal, [`reference`] and [`document`] follow references, [`rules`], [`partial`] and [`functions`]
//! evaluate what policies define. What was found is kept in [`memo`].

use crate::syntax::Location;

mod builtin;
mod choose;
mod collect;
mod concrete;
mod conflicts;
mod document;
mod evaluation;
mod every;
mod expr;
mod functions;
mod held;
mod ir;
mod items;
mod keyed;
mod labels;
mod logic;
mod lower;
mod machine;
mod memo;
mod mocks;
mod nodes;
mod once;
mod partial;
mod query;
mod reference;
mod room;
mod rules;
mod seen;
mod shown;
mod trace;
mod tree;
mod unify;
mod with;

pub(crate) use concrete::{Concrete, Prepared};
pub use evaluation::{Evaluation, Print, Solution};
pub(crate) use lower::Lowered;
pub(crate) use query::forbidden;
pub use query::{Query, QueryOptions};
pub(crate) use reference::{member, stored};

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

//! Random policies, queries and documents.
//!
//! Everything is generated from a byte string, each byte of which decides one choice, so that a
//! test tool that shrinks bytes shrinks policies: without bytes left, the simplest choice is taken.
//! Terms are generated for the kind of value that is needed, so that most policies are valid and do
//! something; some contain errors that compilers have to find.

mod body;
mod choices;
pub mod measured;
mod mistakes;
mod module;
mod template;
mod terms;
mod world;

pub use choices::Choices;
pub use module::{module, query};
pub use world::{INPUTS, documents, input};

/// References to the rules of a generated policy.
pub const QUERIES: &[&str] = &[
    "data.m.r0",
    "data.m.r1",
    "data.m.r2",
    "data.m.r3",
    "data.m.r4",
    "data.m.r5",
    "data.m",
];

//! Random policies, queries and documents.
//!
//! Everything is made from a string of bytes, each of which decides one choice, so that a test
//! tool that shrinks bytes shrinks policies: without bytes left, the simplest choice is taken.
//! Terms are made for the kind of value that is needed, so that most policies are sound and do
//! something; some hold mistakes that compilers have to find.

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

/// The rules of a generated policy, as references to ask for.
pub const QUERIES: &[&str] = &[
    "data.m.r0",
    "data.m.r1",
    "data.m.r2",
    "data.m.r3",
    "data.m.r4",
    "data.m.r5",
    "data.m",
];

#![doc = include_str!("../README.md")]

mod builtins;
mod compile;
pub mod error;
mod eval;
pub mod syntax;
pub mod trace;
pub mod value;

pub use error::{Errors, EvalError};
pub use trace::Tracer;
pub use value::Value;

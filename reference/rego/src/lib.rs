#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(feature = "http"),
    expect(
        dead_code,
        reason = "helpers of the built-in functions that are left out"
    )
)]

#[cfg(feature = "crypto")]
pub mod aws;
mod builtins;
mod compile;
pub mod error;
mod eval;
pub mod filter;
mod hash;
pub mod host;
mod ir;
pub mod json_ast;
#[cfg(feature = "crypto")]
pub mod jwt;
mod location;
mod lookup;
mod meter;
mod parallel;
mod partial_eval;
pub mod syntax;
pub mod trace;
mod types;
pub mod value;
#[cfg(feature = "crypto")]
pub mod x509;

pub use builtins::{
    Builtin, BuiltinLimit, CacheLimits, Caches, Glob, Maximum, builtin_limits, builtins,
};
pub use compile::{CompiledModule, Compiler, Policy};
pub use error::{Errors, EvalError};
pub use eval::{Evaluation, Print, Query, QueryOptions, Solution};
pub use host::Host;
pub use meter::{AbortReason, Governor, Limits, VALUE_BYTES};
pub use partial_eval::{Hint, InputReferences, PartialOptions, PartialQuery, References, Residual};
pub use syntax::{Module, Version};
pub use trace::Tracer;
pub use value::Value;

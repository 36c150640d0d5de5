//! Type checker: infers the types of rules and checks expressions against them.

mod body;
mod details;
mod environment;
mod inference;
mod pass;
mod query;
mod refs;
mod scope;
mod topological;
mod unify;

pub(crate) use details::argument_error;
pub(crate) use environment::TypeNode;
pub(in crate::compile) use inference::run as check_rules;
pub(crate) use query::run as check_query;
pub(crate) use scope::Scope;
pub(crate) use unify::fits;

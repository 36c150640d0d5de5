//! From text to the syntax tree.

mod ast;
mod location;

pub use ast::{
    Annotations, Body, Comment, Comprehension, Every, Expr, ExprTerms, Head, Import, Module,
    ObjectComprehension, Package, Ref, Rule, SomeDecl, Template, Term, TermValue, Var, With,
};
pub use location::Location;

//! From text to the syntax tree.

mod annotations;
mod ast;
pub mod format;
mod lexer;
mod location;
mod parser;
mod token;

pub use ast::{
    Annotations, Body, Comment, Comprehension, Connective, Every, Expr, ExprTerms, Head, Import,
    Logic, Module, ObjectComprehension, Operand, Package, Ref, Rule, SomeDecl, Template, Term,
    TermValue, Var, With,
};
pub use location::Location;
pub use parser::{MAX_NESTING, parse_module, parse_query};

impl Module {
    /// Reads a module, see [`parse_module`].
    pub fn parse(id: &str, text: &str) -> Result<Self, crate::Errors> {
        parse_module(id, text)
    }
}

//! Syntax: lexer, parser and syntax tree.

pub use crate::location::{FileId, Location};

mod annotations;
mod ast;
pub mod format;
mod lexer;
mod parser;
pub(crate) mod terms;
mod token;
mod version;
pub(crate) mod visit;

pub use ast::{
    Annotations, Body, Comment, Comprehension, Connective, Every, Expr, ExprTerms, Head, Import,
    Logic, Module, ObjectComprehension, Operand, Package, Ref, Rule, SomeDecl, Template, Term,
    TermValue, Var, With,
};
pub use parser::{MAX_NESTING, parse_module, parse_module_as, parse_query, parse_query_as};
pub(crate) use token::is_keyword;
pub use version::Version;

/// Calls a function with enough stack for one more level of nesting. The parser permits trees that
/// are deeper than a thread's stack.
pub(crate) fn deep<R>(run: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, run)
}

/// Like [`deep`], for work inside a term; without `is_nested`, the stack suffices already.
pub(crate) fn deep_in<R>(is_nested: bool, run: impl FnOnce() -> R) -> R {
    match is_nested {
        true => deep(run),
        false => run(),
    }
}

impl Module {
    /// Parses a module of Rego v1, see [`parse_module`].
    pub fn parse(id: &str, text: &str) -> Result<Self, crate::Errors> {
        parse_module(id, text)
    }

    /// Parses a module of a given version, see [`parse_module_as`].
    pub fn parse_as(id: &str, text: &str, version: Version) -> Result<Self, crate::Errors> {
        parse_module_as(id, text, version)
    }

    /// Parses modules of one version, each an id and a source, on all processors if there are many.
    /// The results are in the order of the sources.
    pub fn parse_all(
        texts: &[(String, String)],
        version: Version,
    ) -> Vec<Result<Self, crate::Errors>> {
        let mut texts: Vec<_> = texts.iter().collect();
        crate::parallel::each(&mut texts, |(id, text)| Self::parse_as(id, text, version))
    }
}

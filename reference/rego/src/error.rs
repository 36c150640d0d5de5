//! Errors in policies and queries, and errors of their evaluation.

use std::fmt;

use crate::Value;
use crate::location::Location;

/// Error codes of the compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// `rego_parse_error`
    Parse,
    /// `rego_compile_error`
    Compile,
    /// `rego_type_error`
    Type,
    /// `rego_unsafe_var_error`
    UnsafeVar,
    /// `rego_recursion_error`
    Recursion,
}

impl Code {
    /// Returns the name of the code in responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "rego_parse_error",
            Self::Compile => "rego_compile_error",
            Self::Type => "rego_type_error",
            Self::UnsafeVar => "rego_unsafe_var_error",
            Self::Recursion => "rego_recursion_error",
        }
    }
}

/// One error in a module or query.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageError {
    /// Error code.
    pub code: Code,
    /// Human-readable message.
    pub message: String,
    /// Location; absent if the error has none.
    pub location: Option<Location>,
    /// Details: `line` and `idx` of a parse error, `have` and `want` of a type error.
    pub details: Option<Value>,
}

impl LanguageError {
    /// Creates an error at a location.
    pub fn at(code: Code, location: &Location, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            location: Some(location.clone()),
            details: None,
        }
    }
}

impl fmt::Display for LanguageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Location { file, row, col, .. }) = &self.location {
            if file.is_empty() {
                write!(f, "{row}:{col}: ")?;
            } else {
                write!(f, "{file}:{row}: ")?;
            }
        }
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

/// All errors of one stage, at least one; if more than ten, ten and one that reports the limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Errors(pub Vec<LanguageError>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [only] => write!(f, "1 error occurred: {only}"),
            all => {
                write!(f, "{} errors occurred:", all.len())?;
                all.iter().try_for_each(|error| write!(f, "\n{error}"))
            }
        }
    }
}

impl std::error::Error for Errors {}

/// Error codes of the evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvalCode {
    /// `eval_conflict_error`: two rules define different values for one document.
    Conflict,
    /// `eval_builtin_error`: a built-in function failed.
    Builtin,
    /// `eval_type_error`: an operand has the wrong type.
    Type,
    /// `eval_with_merge_error`: a `with` modifier does not fit the document it changes.
    WithMerge,
    /// `eval_cancel_error`: the evaluation was cancelled, or its time is over.
    Cancelled,
    /// `eval_internal_error`: a limit of the evaluator was reached.
    Internal,
    /// `eval_memory_error`: the memory that all evaluations share is exhausted.
    Memory,
    /// `eval_inline_error`: an inline evaluation has to be repeated as one that may take longer.
    NotInline,
}

impl EvalCode {
    /// Returns the name of the code in responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conflict => "eval_conflict_error",
            Self::Builtin => "eval_builtin_error",
            Self::Type => "eval_type_error",
            Self::WithMerge => "eval_with_merge_error",
            Self::Cancelled => "eval_cancel_error",
            Self::Internal => "eval_internal_error",
            Self::Memory => "eval_memory_error",
            Self::NotInline => "eval_inline_error",
        }
    }
}

/// Error of the evaluation of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalError {
    /// Error code.
    pub code: EvalCode,
    /// Human-readable message.
    pub message: String,
    /// Source location.
    pub location: Option<Location>,
    /// Open queries, innermost first: their ids and their current locations.
    pub stack: Vec<(u64, Location)>,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Location { file, row, col, .. }) = &self.location {
            if file.is_empty() {
                write!(f, "{row}:{col}: ")?;
            } else {
                write!(f, "{file}:{row}: ")?;
            }
        }
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for EvalError {}

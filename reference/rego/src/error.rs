//! What can be wrong with a policy or query, and what can fail while it is evaluated.

use std::fmt;

use crate::Value;
use crate::location::Location;

/// The kinds of mistakes in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// The name that clients see.
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

/// One mistake in a module or query.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageError {
    /// Its kind.
    pub code: Code,
    /// What is wrong, for people.
    pub message: String,
    /// Where; absent where no place is to blame.
    pub location: Option<Location>,
    /// More about it: `line` and `idx` of a parse error, `have` and `want` of a type error.
    pub details: Option<Value>,
}

impl LanguageError {
    /// A mistake at a place.
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

/// All mistakes that were found in one step, at least one; at most ten and then one that says so.
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

/// The kinds of failures while a query is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalCode {
    /// `eval_conflict_error`: two rules give one document different values.
    Conflict,
    /// `eval_builtin_error`: a built-in function failed.
    Builtin,
    /// `eval_type_error`: an operand has the wrong type.
    Type,
    /// `eval_with_merge_error`: a `with` modifier does not fit the document it changes.
    WithMerge,
    /// `eval_cancel_error`: whoever asked is gone, or the time is over.
    Cancelled,
    /// `eval_internal_error`: a limit of the evaluator was reached.
    Internal,
    /// `eval_memory_error`: all evaluations together have no memory left for now.
    Memory,
    /// `eval_trial_error`: a trial has to be repeated where it may take longer.
    Trial,
}

impl EvalCode {
    /// The name that clients see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conflict => "eval_conflict_error",
            Self::Builtin => "eval_builtin_error",
            Self::Type => "eval_type_error",
            Self::WithMerge => "eval_with_merge_error",
            Self::Cancelled => "eval_cancel_error",
            Self::Internal => "eval_internal_error",
            Self::Memory => "eval_memory_error",
            Self::Trial => "eval_trial_error",
        }
    }
}

/// A failure while a query is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalError {
    /// Its kind.
    pub code: EvalCode,
    /// What failed, for people.
    pub message: String,
    /// Where.
    pub location: Option<Location>,
    /// The queries that were open, innermost first: their ids and the places they had reached.
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

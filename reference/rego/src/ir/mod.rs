//! Intermediate representation (IR) that the machine evaluates: variables are numbered slots of a
//! frame, constants are shared values, references are split into their steps, and built-in
//! functions are resolved.
//!
//! It does not contain the syntax tree: expressions and closed bodies are numbered in the order in
//! which `eval::source_map` visits them, and only a traced evaluation looks up their source.

pub(crate) mod item_conditions;
pub(crate) mod lower;

use std::sync::Arc;

use crate::Value;
use crate::builtins::{Cost, FastPath, Function};
use crate::syntax::{Connective, Location, Var};

/// A variable, as an index into the frame.
pub(crate) type Slot = usize;

/// Program of one frame: a query, or one rule of a document. The closures in its body share its
/// frame.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Names of the slots, for traces, answers and messages.
    pub(crate) names: Vec<Var>,
    /// Conditions of the query or rule.
    pub(crate) body: Body,
    /// Head of a rule; empty for a query.
    pub(crate) head: Head,
}

impl Program {
    /// Returns the value of a rule if it is constant and unconditional once this number of
    /// expressions at the beginning of its body is satisfied.
    pub(crate) fn constant(&self, proven: usize) -> Option<&Value> {
        let is_true = |expr: &Expr| {
            !expr.negated
                && expr.with.is_empty()
                && matches!(expr.kind, Kind::Holds(Operand::Known(Value::Bool(true))))
        };
        match &self.head.value {
            Some(Operand::Known(value)) => {
                let mut rest = self.body.exprs.iter().skip(proven);
                rest.all(is_true).then_some(value)
            }
            _ => None,
        }
    }
}

/// Head of a rule.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Steps from the root document to the rule, including those of its package.
    pub(crate) path: Vec<Operand>,
    /// Parameters of a function.
    pub(crate) args: Vec<Operand>,
    /// Member that the rule adds to a partial set.
    pub(crate) key: Option<Operand>,
    /// Value; absent for partial sets.
    pub(crate) value: Option<Operand>,
}

/// Conjunction of expressions.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// The expressions in the order of their evaluation.
    pub(crate) exprs: Vec<Expr>,
    /// Number of the body among the bodies of the program.
    pub(crate) node: usize,
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr {
    /// Condition that the expression tests.
    pub(crate) kind: Kind,
    /// `not`
    pub(crate) negated: bool,
    /// Replacements by `with` while the expression is evaluated.
    pub(crate) with: Vec<With>,
    /// Conditions on the items that the expression iterates over. Items are looked up by the first
    /// condition with a known value.
    pub(crate) keyed: Vec<Keyed>,
    /// Source location.
    pub(crate) location: Location,
    /// Number of the expression among the expressions of the program.
    pub(crate) node: usize,
}

/// Condition on a variable whose values an expression enumerates: an equation that follows the
/// expression in the body, with nothing between the two that could fail or be observed.
#[derive(Debug)]
pub(crate) struct Keyed {
    /// Variable that is bound to each item.
    pub(crate) item: Slot,
    /// Steps from the item to that part of it which is one side of the equation.
    pub(crate) path: Vec<Value>,
    /// Index of the equation in the body.
    pub(crate) equation: usize,
    /// Whether the side that does not contain the item is the right operand.
    pub(crate) is_right: bool,
}

/// Kind of an expression.
#[derive(Debug)]
pub(crate) enum Kind {
    /// The operand has a value that is not `false`.
    Holds(Operand),
    /// Both sides are equal, or can be unified.
    Unify(Operand, Operand),
    /// A built-in function has a result.
    Builtin(Box<BuiltinCall>),
    /// A function of the policy has a result.
    Function(Box<FunctionCall>),
    /// A condition holds for every member.
    Every(Box<Every>),
    /// Bodies have solutions, or have none.
    Logic(Connective, Vec<Body>),
}

/// A term. After compilation only the two sides of an equation and terms that are expressions can
/// be references or comprehensions; the parts of other terms are variables or constants.
///
/// Partial evaluation extends the machine here: a slot whose variable is bound to something unknown
/// is unbound too. Where plain evaluation requires a bound slot and finds none, an expression is
/// saved.
#[derive(Debug)]
pub(crate) enum Operand {
    /// A constant.
    Known(Value),
    /// A variable.
    Var(Slot),
    /// An array that contains variables.
    Array(Vec<Operand>),
    /// An object that contains variables.
    Object(Vec<(Operand, Operand)>),
    /// A set that contains variables.
    Set(Vec<Operand>),
    /// A reference.
    Reference(Box<Reference>),
    /// A comprehension.
    Comprehension(Box<Comprehension>),
}

/// Root of a reference.
#[derive(Debug)]
pub(crate) enum Root {
    /// `data`
    Data,
    /// `input`
    Input,
    /// A variable, or a collection that is indexed in place.
    Term(Operand),
}

/// A reference.
#[derive(Debug)]
pub(crate) struct Reference {
    /// Unique number of the reference among all programs.
    pub(crate) id: u64,
    /// Root of the reference.
    pub(crate) root: Root,
    /// Steps after the root.
    pub(crate) steps: Vec<Step>,
    /// Number of leading steps that are constant throughout an evaluation.
    pub(crate) fixed: usize,
}

impl Reference {
    /// Returns the leading steps that are constant throughout an evaluation.
    pub(crate) fn fixed(&self) -> &[Step] {
        self.steps.get(..self.fixed).unwrap_or_default()
    }
}

/// A step of a reference.
#[derive(Debug)]
pub(crate) enum Step {
    /// This key, or each key that matches if the term has unbound variables.
    One(Operand),
    /// Every key. The variable is not used anywhere else, so only traces bind it.
    Any(Slot),
}

/// Array, set or object comprehension.
#[derive(Debug)]
pub(crate) struct Comprehension {
    /// Kind of the collection, and the terms that it collects.
    pub(crate) collect: Collect,
    /// Body whose solutions are collected.
    pub(crate) body: Body,
    /// Location of the comprehension or of its key.
    pub(crate) location: Location,
}

/// Result that a comprehension builds from the solutions of its body.
#[derive(Debug)]
pub(crate) enum Collect {
    /// An array of the values of this term.
    Array(Operand),
    /// A set of the values of this term.
    Set(Operand),
    /// An object of the values of this key and this value.
    Object(Operand, Operand),
}

/// Implementation of a built-in function.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operator {
    /// Computes a result.
    Function(Cost, Function),
    /// `walk`: has several results.
    Walk,
    /// `internal.print`
    Print,
    /// `trace`
    Note,
    /// Not implemented; the call is an error.
    Unsupported,
}

/// A built-in function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Builtin {
    /// Name of the function.
    pub(crate) name: &'static str,
    /// Implementation.
    pub(crate) operator: Operator,
    /// Fast path for two small operands.
    pub(crate) quick: Option<FastPath>,
    /// Whether equal calls may have different results; an evaluation reuses the first one.
    pub(crate) nondeterministic: bool,
    /// Whether the function has no result.
    pub(crate) void: bool,
    /// Whether the function allocates its result, rather than selecting a part of an operand.
    pub(crate) makes: bool,
    /// Number of operands of the function.
    pub(crate) arity: usize,
}

/// A call of a built-in function.
#[derive(Debug)]
pub(crate) struct BuiltinCall {
    /// The function.
    pub(crate) builtin: Builtin,
    /// Operands. The result is unified with an additional last operand; without one, it must not be
    /// `false`.
    pub(crate) args: Vec<Operand>,
}

/// A call of a function of the policy.
#[derive(Debug)]
pub(crate) struct FunctionCall {
    /// Steps from the root document to the function.
    pub(crate) path: Vec<Value>,
    /// Operands. The value of the function is unified with an additional last operand.
    pub(crate) args: Vec<Operand>,
}

/// `every k, v in xs { … }`
#[derive(Debug)]
pub(crate) struct Every {
    /// Variable of the index or key.
    pub(crate) key: Option<Slot>,
    /// Variable of the member.
    pub(crate) value: Slot,
    /// Collection.
    pub(crate) domain: Operand,
    /// Condition for each member.
    pub(crate) body: Body,
}

/// Replacement by `with`.
#[derive(Debug)]
pub(crate) struct With {
    /// Replaced document or function.
    pub(crate) target: Target,
    /// Replacement value or function.
    pub(crate) value: Replacement,
}

/// Target of `with`.
#[derive(Debug)]
pub(crate) enum Target {
    /// `input` or a part of it.
    Input(Vec<Value>),
    /// Document, by the steps below `data`.
    Data(Vec<Value>),
    /// Built-in function. Functions of the policy are documents until they are looked up.
    Function(FunctionName),
}

/// Replacement.
#[derive(Debug)]
pub(crate) enum Replacement {
    /// A value.
    Value(Operand),
    /// Name that may be that of a function.
    Function(Arc<Callee>),
}

/// Name that may be that of a function.
#[derive(Debug)]
pub(crate) struct Callee {
    /// The name.
    pub(crate) name: FunctionName,
    /// Term to evaluate if no such function exists.
    pub(crate) operand: Operand,
}

/// Name of a function.
#[derive(Debug, Clone)]
pub(crate) enum FunctionName {
    /// A built-in function.
    Builtin(&'static str),
    /// Function of the policy, by the steps below `data`.
    Policy(Vec<Value>),
}

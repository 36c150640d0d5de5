//! Intermediate representation (IR) that is evaluated: variables are numbered slots of a frame,
//! constants are shared values, references are split into their steps, and built-in functions are
//! resolved.
//!
//! It does not repeat the syntax tree: expressions and closed bodies are numbered in the order in
//! which `eval::source_map` visits them, and only a traced evaluation looks them up.

pub(crate) mod item_conditions;
pub(crate) mod lower;

use std::sync::Arc;

use crate::Value;
use crate::builtins::{Cost, Function, Quick};
use crate::syntax::{Connective, Location, Var};

/// A variable, as an index into the frame.
pub(crate) type Slot = usize;

/// Program of one frame: a query, or one rule of a document. The closures in its body share its
/// frame.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Names of the slots, for traces, answers and messages.
    pub(crate) names: Vec<Var>,
    /// Conditions.
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

/// The head of a rule.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Steps from the root document to the rule, including those of its package.
    pub(crate) path: Vec<Operand>,
    /// Parameters of a function.
    pub(crate) args: Vec<Operand>,
    /// Member of a partial set.
    pub(crate) key: Option<Operand>,
    /// Value; absent for partial sets.
    pub(crate) value: Option<Operand>,
}

/// Conjunction of expressions.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// The expressions in the order of their evaluation.
    pub(crate) exprs: Vec<Expr>,
    /// Number among the bodies of the program.
    pub(crate) node: usize,
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr {
    /// Condition that the expression tests.
    pub(crate) kind: Kind,
    /// `not`
    pub(crate) negated: bool,
    /// Replacements while it is evaluated.
    pub(crate) with: Vec<With>,
    /// Conditions on the items that it iterates over. Items are looked up by the first one with a
    /// known value.
    pub(crate) keyed: Vec<Keyed>,
    /// Source location.
    pub(crate) location: Location,
    /// Number among the expressions of the program.
    pub(crate) node: usize,
}

/// Condition on a variable whose values an expression enumerates: an equation that follows the
/// expression in the body, with nothing between the two that could fail or be observed.
#[derive(Debug)]
pub(crate) struct Keyed {
    /// The variable.
    pub(crate) item: Slot,
    /// Steps from its value to the side of the equation that contains it.
    pub(crate) path: Vec<Value>,
    /// Index of the equation in the body.
    pub(crate) equation: usize,
    /// Whether the other side is the right operand.
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
    /// An array with variables in it.
    Array(Vec<Operand>),
    /// An object with variables in it.
    Object(Vec<(Operand, Operand)>),
    /// A set with variables in it.
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
    /// Number among all references of all programs.
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
    /// This key, or, if it has unbound variables, each key that matches.
    One(Operand),
    /// Every key. The variable is not used anywhere else, so only traces bind it.
    Any(Slot),
}

/// Array, set or object comprehension.
#[derive(Debug)]
pub(crate) struct Comprehension {
    /// Kind and terms of the result.
    pub(crate) collect: Collect,
    /// Conditions.
    pub(crate) body: Body,
    /// Location of the comprehension or of its key.
    pub(crate) location: Location,
}

/// Result that a comprehension builds from the solutions of its body.
#[derive(Debug)]
pub(crate) enum Collect {
    /// An array of this term.
    Array(Operand),
    /// A set of this term.
    Set(Operand),
    /// An object of this key and value.
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
    pub(crate) quick: Option<Quick>,
    /// Whether the same call must have the same result throughout an evaluation.
    pub(crate) nondeterministic: bool,
    /// Whether it has no result.
    pub(crate) void: bool,
    /// Whether it allocates its result, rather than selects it.
    pub(crate) makes: bool,
    /// The number of its operands.
    pub(crate) arity: usize,
}

/// A call of a built-in function.
#[derive(Debug)]
pub(crate) struct BuiltinCall {
    /// The function.
    pub(crate) builtin: Builtin,
    /// Operands. The result is unified with an additional last one; without it, the result must not
    /// be `false`.
    pub(crate) args: Vec<Operand>,
}

/// A call of a function of the policy.
#[derive(Debug)]
pub(crate) struct FunctionCall {
    /// Steps from the root document to the function.
    pub(crate) path: Vec<Value>,
    /// Operands. The value is unified with an additional last one.
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
    /// Meaning if no such function exists.
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

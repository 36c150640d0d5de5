//! Intermediate representation (IR) that is evaluated: variables are numbered slots of a frame,
//! constants are shared values, references are split into their steps, and built-in functions are
//! resolved.
//!
//! It does not repeat the syntax tree: expressions and closed bodies are numbered in the order
//! in which [`crate::eval::source_map`] meets them, and only a traced evaluation looks them up.

pub(crate) mod item_conditions;
pub(crate) mod lower;

use std::sync::Arc;

use crate::Value;
use crate::builtins::{Cost, Function, Quick};
use crate::syntax::{Connective, Location, Var};

/// A variable: its place in the frame.
pub(crate) type Slot = usize;

/// What is evaluated in one frame: a query, or one rule of several that make a document. The
/// closures in its body share its frame.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// The names of the slots, for traces, answers and messages.
    pub(crate) names: Vec<Var>,
    /// What must hold.
    pub(crate) body: Body,
    /// The rule's head; nothing of it is known for a query.
    pub(crate) head: Head,
}

impl Program {
    /// The value of a rule that has it whenever so many expressions at the beginning of its body
    /// hold.
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
    /// The steps from the root of all documents to the rule, its package's among them.
    pub(crate) path: Vec<Operand>,
    /// The parameters of a function.
    pub(crate) args: Vec<Operand>,
    /// What a partial set contains.
    pub(crate) key: Option<Operand>,
    /// The value; absent for partial sets.
    pub(crate) value: Option<Operand>,
}

/// Expressions that all must hold.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// The expressions in the order of their evaluation.
    pub(crate) exprs: Vec<Expr>,
    /// Its number among the bodies of the program.
    pub(crate) node: usize,
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr {
    /// What it says.
    pub(crate) kind: Kind,
    /// `not`
    pub(crate) negated: bool,
    /// What is replaced while it is evaluated.
    pub(crate) with: Vec<With>,
    /// What holds for the items that it goes through. They are looked up by the first that is
    /// known.
    pub(crate) keyed: Vec<Keyed>,
    /// Where it stands.
    pub(crate) location: Location,
    /// Its number among the expressions of the program.
    pub(crate) node: usize,
}

/// What must hold for a variable whose values an expression goes through: an equation that follows
/// it in the body, with nothing between the two that could fail or be noticed.
#[derive(Debug)]
pub(crate) struct Keyed {
    /// The variable.
    pub(crate) item: Slot,
    /// The steps from its value to the side of the equation that is in it.
    pub(crate) path: Vec<Value>,
    /// The place of the equation in the body.
    pub(crate) equation: usize,
    /// Whether the other side is the right one.
    pub(crate) is_right: bool,
}

/// What an expression says.
#[derive(Debug)]
pub(crate) enum Kind {
    /// The operand has a value that is not `false`.
    Holds(Operand),
    /// Both sides are equal, or become so.
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

/// A term. After the compiler's work only the two sides of an equation and lone terms are
/// references or comprehensions; what stands inside other terms is a variable or constant.
///
/// Partial evaluation extends the machine here: a slot whose variable stands for something
/// unknown has no value either, and every place that finds no value in a slot where plain
/// evaluation must have one is a place where an expression is saved.
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

/// Where a reference begins.
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
    /// Its number among all references of all programs.
    pub(crate) id: u64,
    /// Where it begins.
    pub(crate) root: Root,
    /// The steps behind the root.
    pub(crate) steps: Vec<Step>,
    /// How many steps at its beginning are the same each time.
    pub(crate) fixed: usize,
}

impl Reference {
    /// The steps at its beginning that are the same each time.
    pub(crate) fn fixed(&self) -> &[Step] {
        self.steps.get(..self.fixed).unwrap_or_default()
    }
}

/// A step of a reference.
#[derive(Debug)]
pub(crate) enum Step {
    /// This one, or, if it has unbound variables, each that fits.
    One(Operand),
    /// Each. The variable is used nowhere else, so only traces bind it.
    Any(Slot),
}

/// The three comprehensions.
#[derive(Debug)]
pub(crate) struct Comprehension {
    /// What is made of the answers.
    pub(crate) collect: Collect,
    /// What must hold.
    pub(crate) body: Body,
    /// Where it stands, or its key.
    pub(crate) location: Location,
}

/// What a comprehension makes of its body's answers.
#[derive(Debug)]
pub(crate) enum Collect {
    /// An array of this term.
    Array(Operand),
    /// A set of this term.
    Set(Operand),
    /// An object of this key and value.
    Object(Operand, Operand),
}

/// What a call does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operator {
    /// Computes.
    Function(Cost, Function),
    /// `walk`: has many results.
    Walk,
    /// `internal.print`
    Print,
    /// `trace`
    Note,
    /// Does nothing here; the call is undefined.
    Unsupported,
}

/// A built-in function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Builtin {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) operator: Operator,
    /// How it computes two small operands.
    pub(crate) quick: Option<Quick>,
    /// Whether the same call must have the same result throughout an evaluation.
    pub(crate) nondeterministic: bool,
    /// Whether it has no result.
    pub(crate) void: bool,
    /// Whether it makes its result, and does not only choose it.
    pub(crate) makes: bool,
    /// The number of its operands.
    pub(crate) arity: usize,
}

/// A call of a built-in function.
#[derive(Debug)]
pub(crate) struct BuiltinCall {
    /// The function.
    pub(crate) builtin: Builtin,
    /// The operands. The result is unified with a last one more than the function takes; without
    /// it, the result must not be `false`.
    pub(crate) args: Vec<Operand>,
}

/// A call of a function of the policy.
#[derive(Debug)]
pub(crate) struct FunctionCall {
    /// The steps from the root of all documents to the function.
    pub(crate) path: Vec<Value>,
    /// The operands; a last one more than the function has parameters is unified with its value.
    pub(crate) args: Vec<Operand>,
}

/// `every k, v in xs { … }`
#[derive(Debug)]
pub(crate) struct Every {
    /// The variable of the index or name.
    pub(crate) key: Option<Slot>,
    /// The variable of the member.
    pub(crate) value: Slot,
    /// The collection.
    pub(crate) domain: Operand,
    /// What must hold for each member.
    pub(crate) body: Body,
}

/// A replacement.
#[derive(Debug)]
pub(crate) struct With {
    /// What is replaced.
    pub(crate) target: Target,
    /// By what.
    pub(crate) value: Replacement,
}

/// What `with` replaces.
#[derive(Debug)]
pub(crate) enum Target {
    /// `input` or a part of it.
    Input(Vec<Value>),
    /// A document, given by the steps below `data`.
    Data(Vec<Value>),
    /// A built-in function. Those of the policy are documents until it is looked up.
    Function(FunctionName),
}

/// What takes the place.
#[derive(Debug)]
pub(crate) enum Replacement {
    /// A value.
    Value(Operand),
    /// What may be a function.
    Function(Arc<Callee>),
}

/// A name that may be a function's.
#[derive(Debug)]
pub(crate) struct Callee {
    /// The name.
    pub(crate) name: FunctionName,
    /// What it means if it is none.
    pub(crate) operand: Operand,
}

/// How a function is called.
#[derive(Debug, Clone)]
pub(crate) enum FunctionName {
    /// A built-in function.
    Builtin(&'static str),
    /// One of the policy, given by the steps below `data`.
    Policy(Vec<Value>),
}

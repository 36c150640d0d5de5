//! The syntax tree. The parser makes it, the stages of the compiler rewrite it in place, and the
//! Policy API answers with the rewritten form.
//!
//! Nodes are compared by what they mean: locations, annotations and comments do not count.

use std::fmt;
use std::sync::Arc;

use thin_vec::ThinVec;

use super::{FileId, Location, Version};
use crate::Value;
use crate::value::{ByteString, Number, Object};

/// The name of a variable. Names that authors cannot write mark generated variables: `$0` is a
/// wildcard, `__local0__` a rewritten local.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub Arc<str>);

/// A reference: the head, then the steps. The head is a variable, or a call or collection that
/// is indexed in place. Steps with dots and brackets are the same.
pub type Ref = ThinVec<Term>;

/// Expressions that all must hold.
pub type Body = ThinVec<Expr>;

/// A term and where it stands.
#[derive(Debug)]
pub struct Term {
    /// The term.
    pub value: TermValue,
    /// Where it stands.
    pub location: Location,
}

/// Anything that has a value, or gets one. The kinds are in their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TermValue {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number with its text.
    Number(Number),
    /// A string, without its quotes and escapes.
    String(Arc<str>),
    /// A string that is not UTF-8, which only partial evaluation makes.
    Bytes(ByteString),
    /// A string with expressions in it.
    Template(Box<Template>),
    /// A variable.
    Var(Var),
    /// A reference of one or more terms.
    Ref(Ref),
    /// An array.
    Array(ThinVec<Term>),
    /// An object, its members in the order of their keys, of which none is twice.
    Object(ThinVec<(Term, Term)>),
    /// A set, its members in their order, each once.
    Set(ThinVec<Term>),
    /// `[term | body]`
    ArrayComprehension(Box<Comprehension>),
    /// `{key: value | body}`
    ObjectComprehension(Box<ObjectComprehension>),
    /// `{term | body}`
    SetComprehension(Box<Comprehension>),
    /// A call: the operator, a reference, and its operands.
    Call(ThinVec<Term>),
}

/// A comprehension of single terms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Comprehension {
    /// What is collected.
    pub term: Term,
    /// What must hold for each.
    pub body: Body,
}

/// A comprehension of pairs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectComprehension {
    /// The member's name.
    pub key: Term,
    /// The member's value.
    pub value: Term,
    /// What must hold for each.
    pub body: Body,
}

/// A template string: literal parts are strings, the others single-term expressions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Template {
    /// The parts in their order; literal text is an expression of one string term.
    pub parts: ThinVec<Expr>,
    /// For each part whether it is literal text, or a constant instead of an expression.
    pub literal: Vec<bool>,
    /// Whether it was written between backquotes.
    pub multi_line: bool,
}

/// An expression of a body.
#[derive(Debug)]
pub struct Expr {
    /// What it says.
    pub terms: ExprTerms,
    /// `not`
    pub negated: bool,
    /// The `with` modifiers in their order.
    pub with: ThinVec<With>,
    /// Its place in the body, from 0.
    pub index: usize,
    /// Whether the compiler or the parser made it, such as the body of a rule without one.
    pub generated: bool,
    /// Whether it is an equality that was written with `:=`; the compiler sets this, and the
    /// left side of such an expression only takes what the right side gives.
    pub assigned: bool,
    /// Where it stands.
    pub location: Location,
}

/// What an expression says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExprTerms {
    /// A term that must be neither undefined nor false.
    Term(Box<Term>),
    /// A call, infix operators among them: the operator, a reference, and the operands, where a
    /// last one more than the function takes is unified with its result.
    Call(ThinVec<Term>),
    /// `some x, y` or `some k, v in xs`
    Some(SomeDecl),
    /// `every k, v in xs { … }`
    Every(Box<Every>),
    /// `not { … }`, `a and b`, `a or b`
    Logic(Box<Logic>),
}

/// A declaration of variables.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SomeDecl {
    /// The variables, or one call of `internal.member_2` or `internal.member_3`.
    pub symbols: ThinVec<Term>,
}

/// A condition on every member of a domain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Every {
    /// The variable of the index or name, if it was given.
    pub key: Option<Term>,
    /// The variable of the member.
    pub value: Term,
    /// The collection.
    pub domain: Term,
    /// What must hold for each member.
    pub body: Body,
}

/// What must hold of bodies. What they bind stays in them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Logic {
    /// How the bodies are connected.
    pub connective: Connective,
    /// One body for `not`, two for the others.
    pub operands: Vec<Operand>,
}

/// How bodies are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Connective {
    /// The body has no solution.
    Not,
    /// Both bodies have a solution.
    And,
    /// One of the bodies has a solution.
    Or,
}

/// A body on one side of a connective.
#[derive(Debug, Clone)]
pub struct Operand {
    /// What it says.
    pub body: Body,
    /// Whether it was written in braces; only then it can declare variables.
    pub explicit: bool,
}

/// `with target as value`
#[derive(Debug, Clone)]
pub struct With {
    /// A reference into `input` or `data`, or to a function.
    pub target: Term,
    /// What stands in its place.
    pub value: Term,
    /// Where it stands.
    pub location: Location,
}

/// `package a.b`
#[derive(Debug, Clone)]
pub struct Package {
    /// The reference, beginning with `data`.
    pub path: Ref,
    /// Where it stands.
    pub location: Location,
}

/// `import data.a.b as c`
#[derive(Debug, Clone)]
pub struct Import {
    /// The reference, beginning with `data`, `input`, `future` or `rego`.
    pub path: Term,
    /// The name it gets, if one was given.
    pub alias: Option<Var>,
    /// Where it stands.
    pub location: Location,
}

/// The head of a rule.
#[derive(Debug, Clone)]
pub struct Head {
    /// The first step of the reference, where it alone names the rule: not in `p.q.r := 1`.
    pub name: Option<Var>,
    /// The rule's place below its package: the name, then further steps.
    pub reference: Ref,
    /// The parameters, if it is a function; `()` is no function.
    pub args: ThinVec<Term>,
    /// What a partial set contains (`contains x`), or the last step of a partial object's reference.
    pub key: Option<Term>,
    /// The value; absent for partial sets.
    pub value: Option<Term>,
    /// Whether it was written with `:=`.
    pub assign: bool,
    /// Whether the value was left out and is `true` therefore.
    pub value_generated: bool,
    /// Where it stands.
    pub location: Location,
}

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// `default`
    pub default: bool,
    /// The head.
    pub head: Head,
    /// The body; one generated expression `true` if none was written.
    pub body: Body,
    /// The rule behind `else`.
    pub else_rule: Option<Box<Rule>>,
    /// The annotations of its METADATA blocks.
    pub annotations: Vec<Arc<Annotations>>,
    /// Where it stands.
    pub location: Location,
}

/// One METADATA block.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotations {
    /// What it is about: `package`, `subpackages`, `rule` or `document`.
    pub scope: Arc<str>,
    /// The block as a document: `title`, `description`, `organizations`, `related_resources`,
    /// `authors`, `schemas`, `entrypoint`, `custom`, `labels`, without members that are empty.
    /// References are arrays of their steps.
    pub value: Value,
    /// What the block says to the compiler of filters: `unknowns` and `mask_rule`.
    pub compile: Option<Value>,
    /// Where the block stands.
    pub location: Location,
    /// The last row of the block.
    pub end_row: u32,
}

impl Annotations {
    /// Its `labels`, if it has any.
    pub(crate) fn labels(&self) -> Option<&Object> {
        self.value.as_object()?.get("labels")?.as_object()
    }
}

/// A comment.
#[derive(Debug, Clone)]
pub struct Comment {
    /// The text behind `#`.
    pub text: Arc<str>,
    /// Where it stands.
    pub location: Location,
}

/// A module.
#[derive(Debug, Clone)]
pub struct Module {
    /// The id under which it was given, used in locations.
    pub file: FileId,
    /// The text it was parsed from; empty if a program made the tree.
    pub text: Arc<str>,
    /// The version that the text was said to be of.
    pub(crate) read_as: Version,
    /// The version whose rules it keeps: v1 also for a text of v0 with `import rego.v1`.
    pub version: Version,
    /// The package.
    pub package: Package,
    /// The imports in their order.
    pub imports: Vec<Import>,
    /// The rules in their order.
    pub rules: Vec<Rule>,
    /// Every METADATA block, in the order of the text.
    pub annotations: Vec<Arc<Annotations>>,
    /// Every comment, in the order of the text.
    pub comments: Vec<Comment>,
}

impl Package {
    /// The names behind `data`.
    pub fn names(&self) -> Vec<String> {
        let steps = self.path.iter().skip(1);
        let names = steps.filter_map(|step| match &step.value {
            TermValue::String(name) => Some(name.to_string()),
            _ => None,
        });
        names.collect()
    }
}

impl Connective {
    /// The keyword.
    pub fn name(self) -> &'static str {
        match self {
            Self::Not => "not",
            Self::And => "and",
            Self::Or => "or",
        }
    }
}

// Every way down a tree goes through one of these two again and again.
impl Clone for Term {
    fn clone(&self) -> Self {
        super::deep_in(self.value.nests(), || Self {
            value: self.value.clone(),
            location: self.location.clone(),
        })
    }
}

impl TermValue {
    /// Whether other terms can be part of it.
    pub(crate) fn has_parts(&self) -> bool {
        !self.is_scalar() && !matches!(self, Self::Var(_))
    }

    /// Whether it is null, a boolean, a number or a string.
    pub(crate) fn is_scalar(&self) -> bool {
        matches!(
            self,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Bytes(_)
        )
    }

    /// Whether parts of it can have parts of their own. Most references have none that do.
    pub(crate) fn nests(&self) -> bool {
        match self {
            Self::Ref(parts) | Self::Array(parts) | Self::Set(parts) | Self::Call(parts) => {
                parts.iter().any(|part| part.value.has_parts())
            }
            _ => self.has_parts(),
        }
    }
}

impl Clone for Expr {
    fn clone(&self) -> Self {
        super::deep(|| Self {
            terms: self.terms.clone(),
            negated: self.negated,
            with: self.with.clone(),
            index: self.index,
            generated: self.generated,
            assigned: self.assigned,
            location: self.location.clone(),
        })
    }
}

impl Var {
    /// Whether authors cannot name it: a wildcard or a name that the compiler made.
    pub fn is_generated(&self) -> bool {
        self.0.starts_with('$') || self.0.starts_with("__local")
    }

    /// Whether it was written `_`.
    pub fn is_wildcard(&self) -> bool {
        self.0.starts_with('$')
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Compares nodes by the named parts only.
macro_rules! compare_by {
    ($node:ty, $($part:ident),+) => {
        impl PartialEq for $node {
            fn eq(&self, other: &Self) -> bool {
                $(self.$part == other.$part)&&+
            }
        }
        impl Eq for $node {}
        impl PartialOrd for $node {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $node {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                ($(&self.$part,)+).cmp(&($(&other.$part,)+))
            }
        }
    };
}

compare_by!(Term, value);
compare_by!(Expr, index, negated, terms, with);
compare_by!(Operand, body);
compare_by!(With, target, value);
compare_by!(Package, path);
compare_by!(Import, path, alias);
compare_by!(Head, reference, args, key, value, assign);
compare_by!(Rule, default, head, body, else_rule);

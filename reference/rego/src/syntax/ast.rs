//! The syntax tree. The parser creates it, the stages of the compiler rewrite it in place, and the
//! Policy API returns the rewritten form.
//!
//! Nodes are compared by their meaning: locations, annotations and comments do not count.

use std::fmt;
use std::sync::Arc;

use thin_vec::ThinVec;

use super::{FileId, Location, Version};
use crate::Value;
use crate::value::{ByteString, Number, Object};

/// Name of a variable. Names that are not valid in source code mark generated variables: `$0` is a
/// wildcard, `__local0__` a rewritten local.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub Arc<str>);

/// A reference: the head, then the steps. The head is a variable, or a call or collection that is
/// indexed in place. Steps with dots and brackets are equivalent.
pub type Ref = ThinVec<Term>;

/// Conjunction of expressions.
pub type Body = ThinVec<Expr>;

/// A term and its location.
#[derive(Debug)]
pub struct Term {
    /// The term.
    pub value: TermValue,
    /// Source location.
    pub location: Location,
}

/// A term. The kinds are in their sort order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TermValue {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number with its source text.
    Number(Number),
    /// A string, without its quotes and escapes.
    String(Arc<str>),
    /// A string that is not UTF-8, which only partial evaluation creates.
    Bytes(ByteString),
    /// A string with expressions in it.
    Template(Box<Template>),
    /// A variable.
    Var(Var),
    /// A reference of one or more terms.
    Ref(Ref),
    /// An array.
    Array(ThinVec<Term>),
    /// An object, with its members sorted by unique keys.
    Object(ThinVec<(Term, Term)>),
    /// A set, with its members sorted and unique.
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
    /// Term that is collected for each solution of the body.
    pub term: Term,
    /// Body whose solutions yield the terms.
    pub body: Body,
}

/// A comprehension of pairs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectComprehension {
    /// Key that is collected for each solution of the body.
    pub key: Term,
    /// Value that is collected for each solution of the body.
    pub value: Term,
    /// Body whose solutions yield the terms.
    pub body: Body,
}

/// A template string: literal parts are strings, the others single-term expressions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Template {
    /// Parts in order; literal text is an expression of one string term.
    pub parts: ThinVec<Expr>,
    /// For each part, whether it is literal text or a constant that replaces an expression.
    pub literal: Vec<bool>,
    /// Whether the template was written between backquotes.
    pub multi_line: bool,
}

/// An expression of a body.
#[derive(Debug)]
pub struct Expr {
    /// The content of the expression.
    pub terms: ExprTerms,
    /// Whether the expression is negated with `not`.
    pub negated: bool,
    /// The `with` modifiers in order.
    pub with: ThinVec<With>,
    /// Index of the expression in its body, from 0.
    pub index: usize,
    /// Whether the compiler or the parser generated the expression, as for a rule without a body.
    pub generated: bool,
    /// Whether the expression is an equality that was written with `:=`, so that its left side only
    /// receives the value of the right side. The compiler sets this.
    pub assigned: bool,
    /// Source location.
    pub location: Location,
}

/// Content of an expression.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExprTerms {
    /// A term that must be neither undefined nor false.
    Term(Box<Term>),
    /// A call, including infix operators: the operator, a reference, and the operands. An
    /// additional last operand is unified with the result of the function.
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
    /// Variable of the index or key, if it was specified.
    pub key: Option<Term>,
    /// Variable of the member.
    pub value: Term,
    /// The collection.
    pub domain: Term,
    /// Condition for each member.
    pub body: Body,
}

/// A condition on bodies. Bindings in a body stay local to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Logic {
    /// The connective.
    pub connective: Connective,
    /// One body for `not`, two for the others.
    pub operands: Vec<Operand>,
}

/// Connective of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Connective {
    /// The body has no solution.
    Not,
    /// Both bodies have a solution.
    And,
    /// One of the bodies has a solution.
    Or,
}

/// Operand of a connective.
#[derive(Debug, Clone)]
pub struct Operand {
    /// The body.
    pub body: Body,
    /// Whether the operand was written in braces; only then can it declare variables.
    pub explicit: bool,
}

/// `with target as value`
#[derive(Debug, Clone)]
pub struct With {
    /// A reference into `input` or `data`, or to a function.
    pub target: Term,
    /// The replacement.
    pub value: Term,
    /// Source location.
    pub location: Location,
}

/// `package a.b`
#[derive(Debug, Clone)]
pub struct Package {
    /// Reference, beginning with `data`.
    pub path: Ref,
    /// Source location.
    pub location: Location,
}

/// `import data.a.b as c`
#[derive(Debug, Clone)]
pub struct Import {
    /// Reference, beginning with `data`, `input`, `future` or `rego`.
    pub path: Term,
    /// The alias, if one was specified.
    pub alias: Option<Var>,
    /// Source location.
    pub location: Location,
}

/// The head of a rule.
#[derive(Debug, Clone)]
pub struct Head {
    /// First step of the reference, if that alone is the name of the rule: not for `p.q.r := 1`.
    pub name: Option<Var>,
    /// Path of the rule below its package: the name, then further steps.
    pub reference: Ref,
    /// Parameters of a function; empty for rules that are not functions, and for `()`.
    pub args: ThinVec<Term>,
    /// Member of a partial set (`contains x`), or the last step of a partial object's reference.
    pub key: Option<Term>,
    /// Value; absent for partial sets.
    pub value: Option<Term>,
    /// Whether the head was written with `:=`.
    pub assign: bool,
    /// Whether the value was omitted and is therefore `true`.
    pub value_generated: bool,
    /// Source location.
    pub location: Location,
}

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Whether the rule is a `default` rule.
    pub default: bool,
    /// The head.
    pub head: Head,
    /// The body; one generated expression `true` if none was written.
    pub body: Body,
    /// The rule after `else`.
    pub else_rule: Option<Box<Rule>>,
    /// Annotations of its METADATA blocks.
    pub annotations: Vec<Arc<Annotations>>,
    /// Source location.
    pub location: Location,
}

/// One METADATA block.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotations {
    /// Scope: `package`, `subpackages`, `rule` or `document`.
    pub scope: Arc<str>,
    /// The block as a document: `title`, `description`, `organizations`, `related_resources`,
    /// `authors`, `schemas`, `entrypoint`, `custom`, `labels`, without empty members. References
    /// are arrays of their steps.
    pub value: Value,
    /// Settings for the translation to filters: `unknowns` and `mask_rule`.
    pub compile: Option<Value>,
    /// Source location of the block.
    pub location: Location,
    /// Last row of the block.
    pub end_row: u32,
}

impl Annotations {
    /// Returns the `labels` of the block, if it has any.
    pub(crate) fn labels(&self) -> Option<&Object> {
        self.value.as_object()?.get("labels")?.as_object()
    }
}

/// A comment.
#[derive(Debug, Clone)]
pub struct Comment {
    /// The text after `#`.
    pub text: Arc<str>,
    /// Source location.
    pub location: Location,
}

/// A module.
#[derive(Debug, Clone)]
pub struct Module {
    /// Id of the module, used in locations.
    pub file: FileId,
    /// Source that it was parsed from; empty for a generated tree.
    pub text: Arc<str>,
    /// Version that was requested for the source.
    pub(crate) read_as: Version,
    /// Effective version: v1 also for a v0 source with `import rego.v1`.
    pub version: Version,
    /// The package.
    pub package: Package,
    /// Imports in order.
    pub imports: Vec<Import>,
    /// Rules in order.
    pub rules: Vec<Rule>,
    /// Every METADATA block, in source order.
    pub annotations: Vec<Arc<Annotations>>,
    /// Every comment, in source order.
    pub comments: Vec<Comment>,
}

impl Package {
    /// Returns the steps of the path after `data`.
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
    /// Returns the keyword of the connective.
    pub fn name(self) -> &'static str {
        match self {
            Self::Not => "not",
            Self::And => "and",
            Self::Or => "or",
        }
    }
}

// Every recursion into a tree passes repeatedly through one of these two.
impl Clone for Term {
    fn clone(&self) -> Self {
        super::deep_in(self.value.nests(), || Self {
            value: self.value.clone(),
            location: self.location.clone(),
        })
    }
}

impl TermValue {
    /// Whether the term can contain other terms.
    pub(crate) fn has_parts(&self) -> bool {
        !self.is_scalar() && !matches!(self, Self::Var(_))
    }

    /// Whether the term is null, a boolean, a number or a string.
    pub(crate) fn is_scalar(&self) -> bool {
        matches!(
            self,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Bytes(_)
        )
    }

    /// Whether some part of the term can contain other terms. Most references have no such parts.
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
    /// Whether the name is not valid in source code: that of a wildcard or a generated variable.
    pub fn is_generated(&self) -> bool {
        self.0.starts_with('$') || self.0.starts_with("__local")
    }

    /// Whether the variable was written as `_`.
    pub fn is_wildcard(&self) -> bool {
        self.0.starts_with('$')
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Implements the comparison of nodes by the named fields only.
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

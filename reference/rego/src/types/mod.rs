//! Static types of values and functions, and the declarations of the built-in functions.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use crate::Value;

mod algebra;
mod parse;
mod print;
mod signatures;

pub(crate) use print::{document, operands};
pub(crate) use signatures::{Signature, declarations, signature};

/// A type with more parts than this becomes `any`, so that a module cannot make the compiler
/// compare more than it wrote.
const MAX_SIZE: u32 = 1 << 15;

/// A type nested deeper than this becomes `any`.
const MAX_DEPTH: u16 = 128;

/// The type of a value. Parts of which nothing is known yet are absent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Type {
    /// `null`
    Null,
    /// `boolean`
    Boolean,
    /// `number`
    Number,
    /// `string`
    String,
    /// Arrays.
    Array(Arc<Array>),
    /// Objects.
    Object(Arc<Object>),
    /// Sets.
    Set(Arc<Set>),
    /// Any of these types, in their order; any type at all if there are none.
    Any(Arc<Union>),
    /// Functions.
    Function(Arc<Function>),
}

/// How much there is to a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TypeSize {
    size: u32,
    depth: u16,
    unknown: bool,
}

/// Arrays: the types of the first items, then of all further ones.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Array {
    pub(crate) rest: Option<Type>,
    pub(crate) items: Vec<Option<Type>>,
    weight: TypeSize,
    values: Derived,
}

/// Objects: members that are known, in the order of their names, and what others look like.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Object {
    pub(crate) rest: Option<(Option<Type>, Option<Type>)>,
    pub(crate) members: Vec<(Value, Option<Type>)>,
    weight: TypeSize,
    keys: Derived,
    values: Derived,
}

/// A type that follows from the parts of another, once it was asked for. It tells nothing more,
/// so all are equal.
#[derive(Debug, Default)]
struct Derived(OnceLock<Option<Type>>);

impl Derived {
    fn get(&self, derive: impl FnOnce() -> Option<Type>) -> Option<Type> {
        self.0.get_or_init(derive).clone()
    }
}

impl PartialEq for Derived {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Derived {}

impl PartialOrd for Derived {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Derived {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

/// Sets; without a type of members the empty set.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Set {
    pub(crate) of: Option<Type>,
    weight: TypeSize,
}

/// One of several types.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Union {
    pub(crate) of: Vec<Type>,
    weight: TypeSize,
}

/// An operand or result, with its name where the declaration has one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operand {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) of: Option<Type>,
}

/// Functions.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    pub(crate) args: Vec<Operand>,
    /// Absent for functions that are called for their effect only.
    pub(crate) result: Option<Operand>,
    /// What may follow the operands, any number of times.
    pub(crate) variadic: Option<Operand>,
}

impl TypeSize {
    const LEAF: Self = Self {
        size: 1,
        depth: 1,
        unknown: false,
    };

    /// The weight of a type of these parts.
    fn of<'t>(parts: impl IntoIterator<Item = Option<&'t Type>>) -> Self {
        let mut sum = Self::LEAF;
        for part in parts {
            match part {
                Some(part) => {
                    let weight = part.weight();
                    sum.size = sum.size.saturating_add(weight.size);
                    sum.depth = sum.depth.max(weight.depth.saturating_add(1));
                    sum.unknown |= weight.unknown;
                }
                None => {
                    sum.size = sum.size.saturating_add(1);
                    sum.unknown = true;
                }
            }
        }
        sum
    }

    fn too_much(self) -> bool {
        self.size > MAX_SIZE || self.depth > MAX_DEPTH
    }
}

impl Type {
    /// The type of all values.
    pub(crate) fn any() -> Self {
        Self::Any(Arc::new(Union {
            of: Vec::new(),
            weight: TypeSize::LEAF,
        }))
    }

    /// Arrays that begin with these items and go on with the others.
    pub(crate) fn array(items: Vec<Option<Type>>, rest: Option<Type>) -> Self {
        let parts = items.iter().map(Option::as_ref);
        let weight = TypeSize::of(parts.chain(rest.as_ref().map(Some)));
        if weight.too_much() {
            return Self::any();
        }
        Self::Array(Arc::new(Array {
            rest,
            items,
            weight,
            values: Derived::default(),
        }))
    }

    /// Objects that have these members, and perhaps others.
    pub(crate) fn object(
        mut members: Vec<(Value, Option<Type>)>,
        rest: Option<(Option<Type>, Option<Type>)>,
    ) -> Self {
        members.sort_by(|(left, _), (right, _)| left.cmp(right));
        let known = members.iter().map(|(_, of)| of.as_ref());
        let more = rest
            .iter()
            .flat_map(|(key, of)| [key.as_ref(), of.as_ref()]);
        let weight = TypeSize::of(known.chain(more));
        if weight.too_much() {
            return Self::any();
        }
        Self::Object(Arc::new(Object {
            rest,
            members,
            weight,
            keys: Derived::default(),
            values: Derived::default(),
        }))
    }

    /// Sets of such members.
    pub(crate) fn set(of: Option<Type>) -> Self {
        let mut weight = TypeSize::of(of.as_ref().map(Some));
        weight.unknown |= of.is_none();
        if weight.too_much() {
            return Self::any();
        }
        Self::Set(Arc::new(Set { of, weight }))
    }

    /// A function of operands without names.
    pub(crate) fn function(args: Vec<Option<Type>>, result: Option<Type>) -> Self {
        let unnamed = |of| Operand { name: None, of };
        Self::Function(Arc::new(Function {
            args: args.into_iter().map(unnamed).collect(),
            result: result.map(|of| unnamed(Some(of))),
            variadic: None,
        }))
    }

    /// One of several types; the caller has sorted them and left out what is there twice.
    fn one_of(of: Vec<Type>) -> Self {
        let mut weight = TypeSize::of(of.iter().map(Some));
        // What a union says is known, even where one of its types has unknown parts.
        weight.unknown = false;
        if weight.too_much() {
            return Self::any();
        }
        Self::Any(Arc::new(Union { of, weight }))
    }

    fn weight(&self) -> TypeSize {
        match self {
            Self::Null | Self::Boolean | Self::Number | Self::String => TypeSize::LEAF,
            Self::Array(array) => array.weight,
            Self::Object(object) => object.weight,
            Self::Set(set) => set.weight,
            Self::Any(any) => any.weight,
            Self::Function(function) => {
                let args = function.args.iter().map(|arg| arg.of.as_ref());
                let result = function
                    .result
                    .as_ref()
                    .and_then(|result| result.of.as_ref());
                TypeSize::of(args.chain([result]))
            }
        }
    }

    /// Whether a part of it is not known.
    pub(crate) fn is_unknown(&self) -> bool {
        self.weight().unknown
    }

    /// Whether it is the type of all values.
    pub(crate) fn is_any(&self) -> bool {
        matches!(self, Self::Any(any) if any.of.is_empty())
    }

    /// The function, if it is one.
    pub(crate) fn as_function(&self) -> Option<&Function> {
        match self {
            Self::Function(function) => Some(function),
            _ => None,
        }
    }
}

/// The names of the known members of objects, in their order; those of each type of a union.
pub(crate) fn keys_of(of: &Type) -> Vec<Value> {
    let mut keys: Vec<Value> = match of {
        Type::Object(object) => object.members.iter().map(|(key, _)| key.clone()).collect(),
        Type::Any(any) => any.of.iter().flat_map(keys_of).collect(),
        _ => Vec::new(),
    };
    keys.sort_unstable();
    keys.dedup();
    keys
}
